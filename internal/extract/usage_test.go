package extract

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// workerUse is what the idle worker of a pool has taken: seconds of processor
// time so far, and at most so many MB of memory since begin was called last.
// Both are negative where that cannot be told.
type workerUse struct {
	pid     int
	seconds float64
	peak    float64
}

func useOf(p *WorkerPool) workerUse {
	u := workerUse{seconds: -1, peak: -1}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.idle) == 0 {
		return u
	}
	u.pid = p.idle[0].cmd.Process.Pid
	if b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", u.pid)); err == nil {
		_, rest, _ := strings.Cut(string(b), ") ")
		if f := strings.Fields(rest); len(f) > 12 {
			user, _ := strconv.Atoi(f[11])
			system, _ := strconv.Atoi(f[12])
			u.seconds = float64(user+system) / 100
		}
	}
	if b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", u.pid)); err == nil {
		_, rest, _ := strings.Cut(string(b), "VmHWM:")
		if f := strings.Fields(rest); len(f) > 0 {
			kb, _ := strconv.Atoi(f[0])
			u.peak = float64(kb) / 1024
		}
	}
	return u
}

// begin forgets the peak so far.
func (u workerUse) begin() {
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", u.pid), []byte("5"), 0) // where it cannot, the peak is that of the process
}

// since is what was taken since an earlier look, in words.
func (u workerUse) since(before workerUse) (took, peak string) {
	if u.pid != before.pid || u.seconds < 0 || before.seconds < 0 {
		return "–", "ended"
	}
	return fmt.Sprintf("%.2f s", u.seconds-before.seconds), fmt.Sprintf("%.0f MB", u.peak)
}
