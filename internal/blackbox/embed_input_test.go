package blackbox

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"ragd/internal/embed/embedtest"
)

func TestHostileTextsCostNoOtherTextItsVectors(t *testing.T) {
	t.Parallel()
	h := newHome(t, "EMBEDDINGS_ENABLED=true", "CHUNK_MAX_CHARS=100000")
	h.write(t, "notes/faces.md", "🎉😀🎉 👍🏽 👨‍👩‍👧‍👦\n")
	h.write(t, "notes/control.txt", strings.Repeat("\x1b[31m----\x1b[0m ++++++ .......\n", 50))
	h.write(t, "notes/letter.txt", strings.Repeat("a", 10<<20))
	h.write(t, "notes/long.txt", strings.Repeat("the committee reviews the annual report and adjourns ", 1900)) // 100,000 characters
	h.write(t, "notes/mixed.txt", "\ufeffﬁne \u202e\u200b 日本語 \u0301\u0301 ﷽﷽ "+strings.Repeat("́", 3000)+"\n")
	h.write(t, "notes/house.md", "The boiler is serviced every October by Nordheim.\n")
	h.write(t, "notes/bread.md", "Knead the dough for ten minutes and let it rest.\n")
	h.serve(t)
	eventually(t, "all is embedded", func() string {
		st := h.status(t)
		if e := st.Embedder; e.State != "ready" || e.Total < 100 || e.Backlog != 0 || e.Failed != 0 || st.Queue.Pending+st.Queue.Processing > 0 {
			return fmt.Sprintf("%+v %+v", e, st.Queue)
		}
		return ""
	})
	for query, want := range map[string]string{"who looks after the heating": "house.md", "baking": "bread.md", "yearly review of a board": "long.txt"} {
		if res, paths := h.meaning(t, query); res.Fallback != "" || len(paths) == 0 || paths[0] != want {
			t.Errorf("%s: %v %q", query, paths, res.Fallback)
		}
	}
	jobs, err := h.admin().Jobs(context.Background(), "failed", 10)
	must(t, err)
	if len(jobs.Jobs) != 0 {
		t.Errorf("parked: %+v", jobs.Jobs)
	}
}

func TestAHundredLikeChunksLeaveFourPlacesOfFiveToOthers(t *testing.T) {
	t.Parallel()
	h := newHome(t, "EMBEDDINGS_ENABLED=true")
	var b strings.Builder
	for i := range 100 {
		fmt.Fprintf(&b, "## Part %d\n\nThe boiler is serviced. %s\n\n", i, strings.Repeat("The boiler is warm and stands in the cellar. ", 20))
	}
	h.write(t, "notes/log.md", b.String())
	for name, text := range map[string]string{
		"who":  "Nordheim services the boiler every October.",
		"when": "The boiler is due for its service in autumn.",
		"cost": "Last year the service of the boiler cost 180 euros.",
		"part": "At its last service the boiler got a new pump.",
		"call": "Call the fitter when the boiler needs a service.",
	} {
		h.write(t, "notes/"+name+".md", text+"\n")
	}
	h.serve(t)
	eventually(t, "all is embedded", func() string {
		if e := h.status(t).Embedder; e.Total < 100 || e.Backlog != 0 {
			return fmt.Sprintf("%+v", e)
		}
		return ""
	})
	for _, mode := range []string{"hybrid", "meaning"} {
		for _, query := range []string{"the boiler is serviced", "boiler service"} {
			res, err := h.admin().Search(context.Background(), query, "", mode, 5, false)
			must(t, err)
			seen := map[string]bool{}
			for _, hit := range res.Results {
				seen[hit.Path] = true
			}
			if len(seen) != 5 {
				t.Errorf("%s, %s: %d documents: %v", mode, query, len(seen), seen)
			}
		}
	}
}

func TestDeletedTextsGiveTheirSpaceBack(t *testing.T) {
	t.Parallel()
	s := embedtest.NewServer(t, 1024)
	h := newHome(t, serverEnv(s.URL, "m", "RAGD_RETENTION_REVISIONS=0", "RAGD_RETENTION_DELETED_DAYS=0")...)
	paths := h.many(t, "notes", 150, func(i int) string {
		var b strings.Builder
		for k := range 400 {
			fmt.Fprintf(&b, "w%dx%d ", i, k)
		}
		return b.String()
	})
	h.write(t, "notes/kept.md", "The walrus sleeps.\n")
	h.serve(t)
	eventually(t, "all is embedded", func() string {
		if e := h.status(t).Embedder; e.Total < 150 || e.Backlog != 0 {
			return fmt.Sprintf("%+v", e)
		}
		return ""
	})
	full := h.status(t).Index.Bytes
	for _, p := range paths {
		must(t, os.Remove(h.path("notes/"+p)))
	}
	eventually(t, "the space is given back", func() string {
		if now := h.status(t).Index.Bytes; now > full/3 {
			return fmt.Sprintf("%d of %d bytes", now, full)
		}
		return ""
	})
	if _, paths := h.meaning(t, "walrus"); len(paths) != 1 || paths[0] != "kept.md" {
		t.Errorf("by meaning: %v", paths)
	}
}

func TestAServerThatRefusesDimensionsIsAskedWithout(t *testing.T) {
	t.Parallel()
	s := embedtest.NewServer(t, 48)
	s.Fault = func(w http.ResponseWriter, r embedtest.Request) bool {
		if r.Dimensions != nil {
			http.Error(w, `{"error":{"message":"unknown field: dimensions"}}`, http.StatusBadRequest)
		}
		return r.Dimensions != nil
	}
	h := newHome(t, serverEnv(s.URL, "m", "EMBEDDINGS_DIMENSION=48")...)
	for i := range 40 {
		h.write(t, fmt.Sprintf("notes/n%d.md", i), fmt.Sprintf("The walrus of day%d.\n", i))
	}
	h.serve(t)
	h.embedded(t, 40)
	sent := 0
	for _, r := range s.Seen() {
		if r.Dimensions != nil {
			sent++
		}
	}
	if sent != 1 {
		t.Errorf("dimensions were sent %d times", sent)
	}
}

// A stage that cannot go on waits; it does not look at its queue over and over.
func TestAStageThatCannotGoOnCostsNothing(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the CPU time of another process is read from /proc")
	}
	t.Parallel()
	s := embedtest.NewServer(t, 48)
	release := make(chan struct{})
	s.Fault = func(_ http.ResponseWriter, r embedtest.Request) bool {
		if len(r.Input) > 1 || r.Input[0] != "dimension" {
			<-release
		}
		return false
	}
	defer close(release)
	h := newHome(t, serverEnv(s.URL, "m", "EMBEDDINGS_TIMEOUT_MS=600000")...)
	h.many(t, "notes", 300, func(i int) string { return fmt.Sprintf("The walrus of day%d.\n", i) })
	h.serve(t)
	eventually(t, "the server hangs and all is in", func() string {
		if st := h.status(t); len(s.Seen()) < 2 || st.Documents != 300 || st.Phase != "idle" {
			return fmt.Sprintf("%d requests, %+v", len(s.Seen()), st)
		}
		return ""
	})
	time.Sleep(4 * time.Second) // the index is tidied once, when it comes to rest
	before := cpuSeconds(h.pid())
	time.Sleep(2 * time.Second)
	if used := cpuSeconds(h.pid()) - before; used > 0.5 {
		t.Errorf("%.2f CPU seconds in two seconds of waiting", used)
	}
	if n := len(s.Seen()); n > 3 {
		t.Errorf("%d requests to a server that hangs", n)
	}
}

func TestPassagesAreEmbeddedOnNicedThreadsAndNothingGoesOverTheNetwork(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("threads and sockets of another process are read from /proc")
	}
	t.Parallel()
	h := newHome(t, "EMBEDDINGS_ENABLED=true")
	h.many(t, "notes", 150, func(i int) string {
		return fmt.Sprintf("Entry%d. ", i) + strings.Repeat("The walrus sleeps on the ice of the harbour until the tide comes in. ", 20)
	})
	h.serve(t)
	proc := fmt.Sprintf("/proc/%d/", h.pid())
	eventually(t, "a thread is niced", func() string {
		nices := map[string]int{}
		tasks, _ := filepath.Glob(proc + "task/*/stat")
		for _, task := range tasks {
			data, _ := os.ReadFile(task)
			if _, rest, ok := strings.Cut(string(data), ") "); ok {
				if fields := strings.Fields(rest); len(fields) > 16 {
					nices[fields[16]]++
				}
			}
		}
		if nices["10"] == 0 || len(nices) < 2 { // the others are as nice as this test
			return fmt.Sprint(nices)
		}
		return ""
	})
	for _, name := range []string{"net/tcp", "net/tcp6", "net/udp", "net/udp6"} {
		data, _ := os.ReadFile(proc + name)
		fds, _ := filepath.Glob(proc + "fd/*")
		for line := range strings.Lines(string(data)) {
			fields := strings.Fields(line)
			if len(fields) < 10 {
				continue
			}
			if slices.ContainsFunc(fds, func(fd string) bool {
				to, _ := os.Readlink(fd)
				return to == "socket:["+fields[9]+"]"
			}) {
				t.Errorf("the daemon has a network socket: %s", line)
			}
		}
	}
}
