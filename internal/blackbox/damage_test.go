package blackbox

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestADamagedIndexIsSetAsideAndBuiltAnew(t *testing.T) {
	t.Parallel()
	for name, harm := range map[string]func(data []byte) []byte{
		"truncated": func(d []byte) []byte { return d[:384] },
		"half":      func(d []byte) []byte { return d[:len(d)/2] },
		"garbage":   func([]byte) []byte { return []byte(strings.Repeat("not a database ", 4000)) },
		"header":    func(d []byte) []byte { copy(d, "XQLite format 3\x00"); return d },
		"garbage inside": func(d []byte) []byte {
			for i := 4096; i < len(d); i++ {
				d[i] = byte(i * 31)
			}
			return d
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := withDaemon(t)
			h.write(t, "kb/a.md", "manatee survives damage")
			h.finds(t, "kb", "manatee", "a.md")
			h.stop(t)
			file := h.data("index.db")
			data, err := os.ReadFile(file)
			must(t, err)
			must(t, os.WriteFile(file, harm(data), 0o600))
			h.serve(t)
			h.finds(t, "kb", "manatee", "a.md")
			h.doctor(t)
			kept, err := filepath.Glob(h.data("*corrupt*"))
			must(t, err)
			if len(kept) == 0 {
				t.Error("the damaged index was not kept")
			}
			if n := strings.Count(tail(h.proc.log, 1000), "set aside"); n != 1 {
				t.Errorf("%d warnings", n)
			}
			if st := h.status(t); st.Index.Quarantined == "" {
				t.Error("status does not tell")
			}
			h.stop(t)
			h.serve(t)
			if again, _ := filepath.Glob(h.data("*corrupt*")); len(again) != len(kept) {
				t.Errorf("set aside again: %q", again)
			}
			h.finds(t, "kb", "manatee", "a.md")
		})
	}
}

func TestAnIndexThatMayNotBeReadIsLeftAloneAndNamed(t *testing.T) {
	t.Parallel()
	h := withDaemon(t)
	h.write(t, "kb/a.md", "okay so far")
	h.finds(t, "kb", "okay", "a.md")
	h.stop(t)
	file := h.data("index.db")
	if os.Getuid() == 0 {
		// Root reads everything but a folder as a file.
		must(t, os.Rename(file, file+".was"))
		must(t, os.Mkdir(file, 0o700))
	} else {
		must(t, os.Chmod(file, 0))
	}
	code, _, errOut := h.ragd("serve")
	if code == 0 || !strings.Contains(errOut, file) {
		t.Errorf("exit code %d, %q does not name %s", code, errOut, file)
	}
	if kept, _ := filepath.Glob(h.data("*corrupt*")); len(kept) > 0 {
		t.Errorf("it was moved: %q", kept)
	}
	if os.Getuid() == 0 {
		must(t, os.Remove(file))
		must(t, os.Rename(file+".was", file))
	} else {
		must(t, os.Chmod(file, 0o600))
	}
	h.serve(t)
	h.finds(t, "kb", "okay", "a.md")
}

func TestAFullDiskPausesIndexingAndLosesNothing(t *testing.T) {
	h := newHome(t)
	disk := filepath.Join(h.dir, "tiny")
	must(t, os.Mkdir(disk, 0o700))
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=24m"); err != nil {
		t.Skipf("a small file system cannot be mounted: %v", err)
	}
	t.Cleanup(func() { _ = h.shut(); _ = syscall.Unmount(disk, 0) })
	h.env = append(h.env, "DB_PATH="+filepath.Join(disk, "index.db"))
	h.serve(t)
	h.write(t, "kb/first.md", "coati while there is room")
	h.finds(t, "kb", "coati", "first.md")
	ballast := filepath.Join(disk, "ballast")
	fill := func() {
		f, err := os.Create(ballast)
		must(t, err)
		defer func() { _ = f.Close() }()
		block := make([]byte, 64<<10)
		for {
			if _, err := f.Write(block); err != nil {
				return
			}
		}
	}
	fill()
	h.many(t, "bulk", 300, func(i int) string {
		return fmt.Sprintf("coati serial%d %s", i, strings.Repeat(fmt.Sprintf("w%d ", i*7), 400))
	})
	eventually(t, "the full disk is told", func() string {
		st := h.status(t)
		if st.Phase != "paused" {
			return st.Phase
		}
		if st.PausedReason == "" {
			return "no reason"
		}
		return ""
	})
	h.finds(t, "kb", "coati", "first.md")
	if jobs := h.status(t).Queue; jobs.Failed > 0 {
		t.Errorf("a full disk burnt attempts: %+v", jobs)
	}
	must(t, os.Remove(ballast))
	eventually(t, "indexing goes on when there is space", func() string {
		if got := h.indexed(t, "bulk"); len(got) != 300 {
			return fmt.Sprintf("%d of 300, %s", len(got), h.status(t).PausedReason)
		}
		return ""
	})
	h.finds(t, "bulk", "serial299", "d002/f00299.md")
	h.doctor(t)
	h.stop(t)
}
