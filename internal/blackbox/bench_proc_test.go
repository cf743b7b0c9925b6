package blackbox

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// memory reads a field of /proc/PID/status, in MB; -1 where there is none.
func memory(pid int, field string) float64 {
	data, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, field+":"); ok {
			kb, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			if err == nil {
				return kb * 1024 / mega
			}
		}
	}
	return -1
}

// cpuSeconds is what a process has used so far (USER_HZ is 100 on Linux).
func cpuSeconds(pid int) float64 {
	data, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, _ := strings.Cut(string(data), ") ")
	f := strings.Fields(rest)
	if len(f) < 13 {
		return 0
	}
	user, _ := strconv.ParseFloat(f[11], 64)
	system, _ := strconv.ParseFloat(f[12], 64)
	return (user + system) / 100
}

// treeBytes is the size of all files below a folder.
func treeBytes(b testing.TB, dir string) float64 {
	b.Helper()
	var n int64
	must(b, filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			n += info.Size()
		}
		return err
	}))
	return float64(n)
}

// drained waits until the queue is empty and nothing is being scanned.
func (h *home) drained(b testing.TB, documents int64) {
	b.Helper()
	for deadline := time.Now().Add(20 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
		st := h.status(b)
		if st.Documents+st.Queue.Failed >= documents && st.Queue.Pending+st.Queue.Processing == 0 && st.Phase == "idle" {
			return
		}
		if time.Now().After(deadline) {
			b.Fatalf("not drained: %d of %d documents, %+v", st.Documents, documents, st.Queue)
		}
	}
}

// beside runs do over and over until stopped, and hands over how long each took.
func beside(do func() error) (stop func() ([]time.Duration, error)) {
	var ended atomic.Bool
	type result struct {
		took []time.Duration
		err  error
	}
	out := make(chan result, 1)
	go func() {
		var r result
		for !ended.Load() && r.err == nil {
			start := time.Now()
			r.err = do()
			r.took = append(r.took, time.Since(start))
			time.Sleep(20 * time.Millisecond)
		}
		out <- r
	}()
	return func() ([]time.Duration, error) { ended.Store(true); r := <-out; return r.took, r.err }
}
