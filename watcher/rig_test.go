package watcher

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"ragd/kbroot"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func put(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if strings.HasSuffix(name, "/") {
			must(t, os.MkdirAll(path, 0o755))
			continue
		}
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, []byte(text), 0o644))
	}
}

// rig is a watcher over one root, and a receiver that does with the hints
// what an indexer does: look at the disk where a hint points, and nowhere
// else. What it believes then must equal the disk.
type rig struct {
	t    *testing.T
	dir  string
	set  *kbroot.Set
	w    *Watcher
	stop func()

	mu    sync.Mutex
	docs  map[kbroot.DocPath]string
	log   []kbroot.Change
	block chan struct{} // while set and open, the receiver stands still
}

func newRig(t *testing.T, files map[string]string, change ...func(*Options, *kbroot.Options)) *rig {
	t.Helper()
	base := t.TempDir()
	dir := filepath.Join(base, "kbs")
	must(t, os.Mkdir(dir, 0o755))
	put(t, dir, files)
	ko := kbroot.Options{Roots: []kbroot.RootSpec{{Name: "r", Dir: dir}}}
	o := Options{
		Quiet: 20 * time.Millisecond, MaxDelay: 200 * time.Millisecond, PollInterval: 50 * time.Millisecond,
		CookieDir: filepath.Join(base, "cookies"), Logger: slog.New(slog.NewTextHandler(testLog{t}, nil)),
	}
	for _, c := range change {
		c(&o, &ko)
	}
	set, err := kbroot.New(ko)
	must(t, err)
	o.Set = set
	w, err := New(o)
	must(t, err)
	r := &rig{t: t, dir: dir, set: set, w: w, docs: map[kbroot.DocPath]string{}}
	ctx, cancel := context.WithCancel(context.Background())
	out := make(chan kbroot.Change)
	var wg sync.WaitGroup
	wg.Add(2)
	go func() {
		defer wg.Done()
		if err := w.Run(ctx, out); !errors.Is(err, context.Canceled) {
			t.Errorf("Run ended with %v", err)
		}
	}()
	go func() {
		defer wg.Done()
		r.receive(ctx, out)
	}()
	r.stop = sync.OnceFunc(func() { cancel(); wg.Wait() })
	t.Cleanup(r.stop)
	return r
}

type testLog struct{ t *testing.T }

func (l testLog) Write(p []byte) (int, error) {
	l.t.Logf("%s", strings.TrimSpace(string(p)))
	return len(p), nil
}

func (r *rig) receive(ctx context.Context, in <-chan kbroot.Change) {
	for {
		select {
		case <-ctx.Done():
			return
		case c := <-in:
			r.mu.Lock()
			block := r.block
			r.mu.Unlock()
			if block != nil {
				select {
				case <-block:
				case <-ctx.Done():
					return
				}
			}
			r.apply(ctx, c)
		}
	}
}

func (r *rig) apply(ctx context.Context, c kbroot.Change) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.log = append(r.log, c)
	switch c.Kind {
	case kbroot.ChangeBarrier:
		close(c.Ack)
	case kbroot.ChangePath:
		e, err := r.set.Stat(c.DocPath)
		if err != nil {
			return
		}
		r.forget(func(d kbroot.DocPath) bool { return within(d, c.DocPath) })
		if e.Mode.IsDir() && e.Verdict.Code == kbroot.OK {
			r.walk(ctx, c.KB, c.Path)
		} else if e.Verdict.Code == kbroot.OK {
			r.docs[c.DocPath] = stateOf(e)
		}
	case kbroot.ChangeTree:
		r.forget(func(d kbroot.DocPath) bool { return within(d, c.DocPath) })
		r.walk(ctx, c.KB, c.Path)
	case kbroot.ChangeRoot:
		r.forget(func(kbroot.DocPath) bool { return true })
		kbs, err := r.set.KBs()
		if err != nil {
			return
		}
		for _, kb := range kbs {
			r.walk(ctx, kb.Name, "")
		}
	}
}

func within(d, top kbroot.DocPath) bool {
	return d.KB == top.KB && (top.Path == "" || d.Path == top.Path || strings.HasPrefix(d.Path, top.Path+"/"))
}

func (r *rig) forget(which func(kbroot.DocPath) bool) {
	for d := range r.docs {
		if which(d) {
			delete(r.docs, d)
		}
	}
}

func (r *rig) walk(ctx context.Context, kb, sub string) {
	_ = r.set.Walk(ctx, kb, sub, func(e kbroot.Entry) error { // what cannot be walked is not there
		if e.Verdict.Code == kbroot.OK {
			r.docs[e.DocPath] = stateOf(e)
		}
		return nil
	})
}

func stateOf(e kbroot.Entry) string {
	return fmt.Sprintf("%d bytes, inode %d, %s", e.Size, e.Inode, e.ModTime.Format(time.RFC3339Nano))
}

// barrier is Barrier with a limit.
func (r *rig) barrier() {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := r.w.Barrier(ctx); err != nil {
		r.t.Fatalf("barrier: %v", err)
	}
}

// disk is what a full look at the disk finds.
func (r *rig) disk() []string {
	r.t.Helper()
	var list []string
	kbs, err := r.set.KBs()
	must(r.t, err)
	for _, kb := range kbs {
		must(r.t, r.set.Walk(context.Background(), kb.Name, "", func(e kbroot.Entry) error {
			if e.Verdict.Code == kbroot.OK {
				list = append(list, fmt.Sprintf("%s/%q: %s", e.KB, e.Path, stateOf(e)))
			}
			return nil
		}))
	}
	slices.Sort(list)
	return list
}

func (r *rig) believed() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var list []string
	for d, s := range r.docs {
		list = append(list, fmt.Sprintf("%s/%q: %s", d.KB, d.Path, s))
	}
	slices.Sort(list)
	return list
}

// equal fails unless what the hints told equals the disk now.
func (r *rig) equal(when string) {
	r.t.Helper()
	if diff := difference(r.believed(), r.disk()); diff != "" {
		r.t.Errorf("%s, the hints told otherwise than the disk:\n%s\nlast hints: %v\ntree:\n%s", when, diff, r.lastHints(12), r.tree())
	}
}

func (r *rig) tree() string {
	var b strings.Builder
	must(r.t, filepath.WalkDir(r.dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		to, _ := os.Readlink(path) // empty for what is no link
		fmt.Fprintf(&b, " %s %s %s\n", d.Type(), strings.TrimPrefix(path, r.dir), to)
		return nil
	}))
	return b.String()
}

func (r *rig) lastHints(n int) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var list []string
	for _, c := range r.log[max(0, len(r.log)-n):] {
		list = append(list, fmt.Sprintf("%d %s %s/%q", c.Kind, c.Root, c.KB, c.Path))
	}
	return list
}

func difference(got, want []string) string {
	var b strings.Builder
	for _, g := range got {
		if !slices.Contains(want, g) {
			fmt.Fprintf(&b, " told, not on disk: %s\n", g)
		}
	}
	for _, w := range want {
		if !slices.Contains(got, w) {
			fmt.Fprintf(&b, " on disk, not told: %s\n", w)
		}
	}
	return b.String()
}

// settle waits until the hints told what the disk has, without a barrier.
func (r *rig) settle(when string) {
	r.t.Helper()
	r.until(when, func() bool { return slices.Equal(r.believed(), r.disk()) })
}

// until waits for something the watcher is to do by itself.
func (r *rig) until(what string, ok func() bool) {
	r.t.Helper()
	deadline := time.Now().Add(15 * time.Second)
	for !ok() {
		if time.Now().After(deadline) {
			r.t.Fatalf("%s: did not happen; state %+v, last hints %v\n%s", what, r.w.State(), r.lastHints(12), difference(r.believed(), r.disk()))
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func (r *rig) mode(m Mode) func() bool {
	return func() bool {
		s := r.w.State()
		return len(s) > 0 && s[0].Mode == m
	}
}

// hints returns the hints received since the last call.
func (r *rig) hints() []kbroot.Change {
	r.mu.Lock()
	defer r.mu.Unlock()
	l := r.log
	r.log = nil
	return l
}

func (r *rig) path(name string) string { return filepath.Join(r.dir, name) }
