package blackbox

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// kills is how often the suite kills the daemon; RAGD_TEST_KILLS raises it.
func kills(t *testing.T) int {
	s := os.Getenv("RAGD_TEST_KILLS")
	if s == "" {
		if testing.Short() || raceBuild {
			return 4 // the program without the detector is the one that is worth killing
		}
		return 10
	}
	n, err := strconv.Atoi(s)
	must(t, err)
	return n
}

// TestKilledAtAnyMomentTheIndexOpensAndEndsEqualToTheDisk is one world that
// lives through many crashes, while files come, change and go.
func TestKilledAtAnyMomentTheIndexOpensAndEndsEqualToTheDisk(t *testing.T) {
	h := newHome(t)
	seed := uint64(time.Now().UnixNano())
	rng := rand.New(rand.NewPCG(seed, 7))
	t.Logf("seed %d", seed)
	text := func(i, version int) string {
		return fmt.Sprintf("# File %d\n\nversion %d of uniq%dv%d\n\n%s", i, version, i, version, strings.Repeat("Some more text to be indexed here. ", rng.IntN(120)))
	}
	const files = 240
	name := func(i int) string { return fmt.Sprintf("kb/d%d/f%d.md", i%12, i) }
	for i := range files {
		h.write(t, name(i), text(i, 0))
	}
	n := kills(t)
	for round := 1; round <= n; round++ {
		h.start(t)
		churn := rng.IntN(60)
		for range churn {
			i := rng.IntN(files)
			switch rng.IntN(5) {
			case 0:
				h.remove(t, name(i))
			case 1:
				if err := os.Rename(h.path(name(i)), h.path(fmt.Sprintf("kb/moved%d.md", i))); err == nil {
					continue
				}
				fallthrough
			default:
				h.write(t, name(i), text(i, round))
			}
		}
		// From "hardly started" to "all done".
		time.Sleep(time.Duration(rng.IntN(900)) * time.Millisecond)
		h.kill(t)
		h.doctor(t)
		if t.Failed() {
			t.Fatalf("after kill %d of %d", round, n)
		}
	}
	h.serve(t)
	h.equalsDisk(t, "kb")
	h.doctor(t)
	if log := h.log(); strings.Contains(log, "set aside") {
		t.Error("a crash was taken for damage")
	}
}
