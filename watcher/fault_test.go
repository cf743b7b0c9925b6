package watcher

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"

	"ragd/kbroot"
)

// faulty is the real backend, made to fail on command.
type faulty struct {
	backend
	events chan fsnotify.Event
	errs   chan error
	closed chan struct{}

	mu       *sync.Mutex
	failFrom *int // Add fails from this many watches on; below 0: never
	failWith *error
	added    map[string]bool
	stall    *chan struct{} // while open, events stay where they are
}

// faults makes backends and keeps the newest at hand.
type faults struct {
	mu       sync.Mutex
	failFrom int
	failWith error
	newErr   error
	stall    chan struct{}
	last     *faulty
	made     int
}

func (f *faults) option(o *Options, _ *kbroot.Options) { o.newBackend = f.make }

func (f *faults) make() (backend, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.newErr != nil {
		return nil, f.newErr
	}
	b, err := newFSNotify()
	if err != nil {
		return nil, err
	}
	f.made++
	f.last = &faulty{
		backend: b, events: make(chan fsnotify.Event), errs: make(chan error), closed: make(chan struct{}),
		mu: &f.mu, failFrom: &f.failFrom, failWith: &f.failWith, added: map[string]bool{}, stall: &f.stall,
	}
	go f.last.pump()
	go f.last.pumpErrors()
	return f.last, nil
}

// pump passes events on until the real backend closes.
func (b *faulty) pump() {
	defer close(b.events)
	for ev := range b.backend.Events() {
		b.mu.Lock()
		stall := *b.stall
		b.mu.Unlock()
		if stall != nil {
			<-stall
		}
		b.events <- ev
	}
}

// pumpErrors ends with the real backend; Close lets go of one it holds.
func (b *faulty) pumpErrors() {
	for err := range b.backend.Errors() {
		select {
		case b.errs <- err:
		case <-b.closed:
		}
	}
}

func (b *faulty) Add(dir string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if strings.HasSuffix(dir, "cookies") {
		return b.backend.Add(dir)
	}
	if *b.failFrom >= 0 && len(b.added) >= *b.failFrom && !b.added[dir] {
		return *b.failWith
	}
	b.added[dir] = true
	return b.backend.Add(dir)
}

func (b *faulty) Remove(dir string) error {
	b.mu.Lock()
	delete(b.added, dir)
	b.mu.Unlock()
	return b.backend.Remove(dir)
}

func (b *faulty) Events() <-chan fsnotify.Event { return b.events }
func (b *faulty) Errors() <-chan error          { return b.errs }

// Close ends the pump too, which may hold an event nobody takes any more.
func (b *faulty) Close() error {
	close(b.closed)
	err := b.backend.Close()
	for range b.events {
		// drained
	}
	return err
}

func (f *faults) set(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
}

func (f *faults) backend() *faulty {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.last
}

func TestWatchLimitDegradesToPollingAndRecovers(t *testing.T) {
	t.Parallel()
	for _, errno := range []syscall.Errno{syscall.ENOSPC, syscall.EMFILE} {
		t.Run(errno.Error(), func(t *testing.T) {
			t.Parallel()
			f := &faults{failFrom: 4, failWith: fmt.Errorf("inotify: %w", errno)}
			r := newRig(t, map[string]string{"k/a/x.md": "", "k/b/x.md": "", "k/c/x.md": "", "k/d/e/x.md": ""}, f.option)
			r.until("the root is degraded", r.mode(ModeDegraded))
			s := r.w.State()[0]
			if s.Watches != 4 || s.Reason == "" || !strings.Contains(s.Advice, "sysctl fs.inotify.max_user_") {
				t.Errorf("state %+v", s)
			}
			must(t, os.WriteFile(r.path("k/d/e/x.md"), []byte("not watched, polled"), 0o644))
			r.settle("an edit in a folder that is not watched")
			must(t, os.RemoveAll(r.path("k/d")))
			r.settle("a removal there")
			put(t, r.dir, map[string]string{"k/d/e/f/y.md": "2"})
			r.barrier()
			r.equal("after a barrier of a degraded root")
			f.set(func() { f.failFrom = -1 })
			r.until("the root recovers alone", r.mode(ModeEvents))
			if s := r.w.State()[0]; s.Reason != "" || s.Advice != "" || s.Watches != 8 {
				t.Errorf("state after recovery %+v", s)
			}
			must(t, os.WriteFile(r.path("k/d/e/f/y.md"), []byte("watched again"), 0o644))
			r.barrier()
			r.equal("after the recovery")
		})
	}
}

func TestLimitMetByANewFolderDegrades(t *testing.T) {
	t.Parallel()
	f := &faults{failFrom: 3, failWith: syscall.ENOSPC}
	r := newRig(t, map[string]string{"k/a/x.md": ""}, f.option)
	r.until("the root is watched", r.mode(ModeEvents))
	put(t, r.dir, map[string]string{"k/b/x.md": "1"})
	r.until("the root is degraded", r.mode(ModeDegraded))
	must(t, os.WriteFile(r.path("k/b/x.md"), []byte("edited"), 0o644))
	r.settle("an edit in the new folder")
}

func TestOverflowIsCountedAndScanned(t *testing.T) {
	t.Parallel()
	f := &faults{failFrom: -1}
	r := newRig(t, map[string]string{"k/a.md": ""}, f.option)
	r.barrier()
	for range 3 {
		f.backend().errs <- fsnotify.ErrEventOverflow
	}
	r.until("overflows are counted", func() bool { return r.w.State()[0].Overflows == 3 })
	r.settle("after overflows")
	if s := r.w.State()[0]; s.Mode != ModeEvents {
		t.Errorf("state %+v", s)
	}
}

func TestStormOfFilesEndsWithTheDiskTold(t *testing.T) {
	if testing.Short() {
		t.Skip("makes many files")
	}
	t.Parallel()
	f := &faults{failFrom: -1}
	r := newRig(t, map[string]string{"k/a.md": ""}, f.option)
	r.barrier()
	stall := make(chan struct{})
	f.set(func() { f.stall = stall })
	// Changes of mode are the cheapest events; two files in turn, since equal
	// events in a row merge. They fill the system's queue (16,384 by default)
	// and the buffer, so all that follows is dropped.
	must(t, os.WriteFile(r.path("k/b.md"), nil, 0o644))
	for i := range 30000 {
		must(t, os.Chmod(r.path([]string{"k/a.md", "k/b.md"}[i%2]), 0o600))
	}
	for i := range 2000 {
		dir := r.path(fmt.Sprintf("k/d%d", i%50))
		if i < 50 {
			must(t, os.Mkdir(dir, 0o755))
		}
		must(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%d", i)), []byte("x"), 0o644))
	}
	must(t, os.WriteFile(r.path("k/a.md"), []byte("edit"), 0o644))
	f.set(func() { f.stall = nil })
	close(stall)
	r.barrier()
	r.equal("after the storm")
	if limit, err := os.ReadFile("/proc/sys/fs/inotify/max_queued_events"); err == nil && strings.TrimSpace(string(limit)) == "16384" {
		if s := r.w.State()[0]; s.Overflows == 0 || s.Mode != ModeEvents {
			t.Errorf("state %+v", s)
		}
	}
	must(t, os.WriteFile(r.path("k/d7/f7"), []byte("in a folder whose event was dropped"), 0o644))
	r.barrier()
	r.equal("after an edit in a folder whose event was dropped")
}

func TestDeadWatcherIsMadeAnew(t *testing.T) {
	t.Parallel()
	kill := map[string]func(*faulty) error{
		"closed": func(b *faulty) error { return b.backend.Close() },
		"error":  func(b *faulty) error { b.errs <- errors.New("bad file descriptor"); return nil },
	}
	for name, kill := range kill {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &faults{failFrom: -1}
			r := newRig(t, map[string]string{"k/a.md": "", "k/x/y.md": ""}, f.option)
			r.barrier()
			f.set(func() { f.newErr = syscall.EMFILE })
			must(t, kill(f.backend()))
			r.until("the root is degraded", r.mode(ModeDegraded))
			if s := r.w.State()[0]; !strings.Contains(s.Advice, "max_user_instances") && !strings.Contains(s.Reason, "closed") && !strings.Contains(s.Reason, "descriptor") {
				t.Errorf("state %+v", s)
			}
			put(t, r.dir, map[string]string{"k/x/z/n.md": "made while nothing watched"})
			r.settle("a change while the watcher is dead")
			r.barrier() // by scan
			r.equal("after a barrier without a watcher")
			f.set(func() { f.newErr = nil })
			r.until("the watcher is made anew", r.mode(ModeEvents))
			must(t, os.WriteFile(r.path("k/x/z/n.md"), []byte("edited"), 0o644))
			r.barrier()
			r.equal("after the return")
		})
	}
}

func TestPolledRootIsToldWithoutWatches(t *testing.T) {
	t.Parallel()
	r := newRig(t, map[string]string{"k/a.md": "1", "k/x/b.md": "2"}, func(o *Options, _ *kbroot.Options) { o.Poll = []string{"r"} })
	r.until("the root is polled", r.mode(ModePolling))
	r.settle("at the start")
	steps := map[string]func() error{
		"edit":   func() error { return os.WriteFile(r.path("k/x/b.md"), []byte("new"), 0o644) },
		"remove": func() error { return os.Remove(r.path("k/a.md")) },
		"KB":     func() error { return os.Mkdir(r.path("k9"), 0o755) },
		"tree":   func() error { put(t, r.dir, map[string]string{"k9/a/b/c.md": ""}); return nil },
	}
	for _, name := range []string{"edit", "remove", "KB", "tree"} {
		must(t, steps[name]())
		r.settle(name)
	}
	if s := r.w.State()[0]; s.Watches != 0 {
		t.Errorf("a polled root has %d watches", s.Watches)
	}
	put(t, r.dir, map[string]string{"k9/now.md": ""})
	r.barrier()
	r.equal("after a barrier of a polled root")
	r.hints()
	time.Sleep(300 * time.Millisecond) // several polls
	if h := r.hints(); len(h) > 2 {
		t.Errorf("a quiet polled root was hinted: %+v", h)
	}
	aside := r.dir + "-aside"
	must(t, os.Rename(r.dir, aside))
	r.until("the root is unavailable", r.mode(ModeUnavailable))
	must(t, os.Rename(aside, r.dir))
	r.until("the root is polled again", r.mode(ModePolling))
}

func TestBarrierWithoutCookiesScans(t *testing.T) {
	t.Parallel()
	for name, dir := range map[string]string{"none": "", "not writable": "/proc/ragd-no-such-place"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, map[string]string{"k/a.md": "1"}, func(o *Options, _ *kbroot.Options) { o.CookieDir = dir })
			put(t, r.dir, map[string]string{"k/b/c.md": "2"})
			r.barrier()
			r.equal("after the barrier")
		})
	}
	t.Run("removed", func(t *testing.T) {
		t.Parallel()
		cookies := filepath.Join(t.TempDir(), "cookies")
		r := newRig(t, map[string]string{"k/a.md": "1"}, func(o *Options, _ *kbroot.Options) { o.CookieDir = cookies })
		r.barrier()
		must(t, os.RemoveAll(cookies))
		for i := range 3 {
			put(t, r.dir, map[string]string{fmt.Sprintf("k/b%d.md", i): "2"})
			r.barrier()
			r.equal("after the barrier")
		}
	})
}
