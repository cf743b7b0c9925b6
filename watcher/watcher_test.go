package watcher

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"ragd/internal/fault"
	"ragd/kbroot"
)

func TestChangesAtAnyDepthAreToldBeforeTheBarrierReturns(t *testing.T) {
	t.Parallel()
	r := newRig(t, map[string]string{"k/a.md": "1", "k/x/y/z.md": "deep", "k2/b.md": "2"})
	r.barrier()
	r.equal("at the start")
	steps := []struct {
		name string
		do   func() error
	}{
		{"edit three levels deep", func() error { return os.WriteFile(r.path("k/x/y/z.md"), []byte("changed"), 0o644) }},
		{"mkdir -p and a file at once", func() error {
			if err := os.MkdirAll(r.path("k/n1/n2/n3/n4"), 0o755); err != nil {
				return err
			}
			return os.WriteFile(r.path("k/n1/n2/n3/n4/f.md"), []byte("x"), 0o644)
		}},
		{"atomic save", func() error {
			if err := os.WriteFile(r.path("k/a.md.tmp"), []byte("new text"), 0o644); err != nil {
				return err
			}
			return os.Rename(r.path("k/a.md.tmp"), r.path("k/a.md"))
		}},
		{"editor's save dance", func() error {
			if err := os.Rename(r.path("k/a.md"), r.path("k/a.md~")); err != nil {
				return err
			}
			if err := os.WriteFile(r.path("k/a.md"), []byte("newer text"), 0o644); err != nil {
				return err
			}
			return os.Remove(r.path("k/a.md~"))
		}},
		{"folder renamed", func() error { return os.Rename(r.path("k/n1"), r.path("k/m1")) }},
		{"file in the renamed folder", func() error { return os.WriteFile(r.path("k/m1/n2/n3/n4/g.md"), []byte("y"), 0o644) }},
		{"folder moved to another KB", func() error { return os.Rename(r.path("k/m1/n2"), r.path("k2/n2")) }},
		{"edit in the moved folder", func() error { return os.WriteFile(r.path("k2/n2/n3/n4/f.md"), []byte("xx"), 0o644) }},
		{"folder moved and moved back", func() error {
			if err := os.Rename(r.path("k2/n2"), r.path("k2/tmp2")); err != nil {
				return err
			}
			return os.Rename(r.path("k2/tmp2"), r.path("k2/n2"))
		}},
		{"edit after moving back", func() error { return os.WriteFile(r.path("k2/n2/n3/n4/f.md"), []byte("xxx"), 0o644) }},
		{"folder moved out", func() error { return os.Rename(r.path("k2/n2"), filepath.Join(filepath.Dir(r.dir), "outside")) }},
		{"folder moved in", func() error { return os.Rename(filepath.Join(filepath.Dir(r.dir), "outside"), r.path("k/in")) }},
		{"edit in the folder that moved in", func() error { return os.WriteFile(r.path("k/in/n3/n4/f.md"), []byte("xxxx"), 0o644) }},
		{"new KB with a file", func() error {
			if err := os.Mkdir(r.path("k3"), 0o755); err != nil {
				return err
			}
			return os.WriteFile(r.path("k3/f.md"), []byte("k3"), 0o644)
		}},
		{"KB renamed", func() error { return os.Rename(r.path("k3"), r.path("k4")) }},
		{"edit in the renamed KB", func() error { return os.WriteFile(r.path("k4/f.md"), []byte("k4!"), 0o644) }},
		{"KB removed", func() error { return os.RemoveAll(r.path("k4")) }},
		{"folder replaced by a file", func() error {
			if err := os.RemoveAll(r.path("k/in")); err != nil {
				return err
			}
			return os.WriteFile(r.path("k/in"), []byte("file now"), 0o644)
		}},
		{"file replaced by a folder", func() error {
			if err := os.Remove(r.path("k/in")); err != nil {
				return err
			}
			if err := os.Mkdir(r.path("k/in"), 0o755); err != nil {
				return err
			}
			return os.WriteFile(r.path("k/in/f.md"), nil, 0o644)
		}},
		{"rule added", func() error { return os.WriteFile(r.path("k/.gitignore"), []byte("x/\n"), 0o644) }},
		{"rule removed", func() error { return os.Remove(r.path("k/.gitignore")) }},
		{"edit in the folder that is back", func() error { return os.WriteFile(r.path("k/x/y/z.md"), []byte("back"), 0o644) }},
		{"rule in the root", func() error { return os.WriteFile(r.path(".ragdignore"), []byte("k2\n"), 0o644) }},
		{"rule in the root removed", func() error { return os.Remove(r.path(".ragdignore")) }},
		{"the last file of a KB removed", func() error { return os.Remove(r.path("k2/b.md")) }},
	}
	for _, s := range steps {
		must(t, s.do())
		r.barrier()
		r.equal("after: " + s.name)
		if t.Failed() {
			return
		}
	}
	for _, h := range r.hints() {
		if h.Kind == kbroot.ChangeTree && h.KB == "" || h.Kind != kbroot.ChangeBarrier && h.Root != "r" {
			t.Errorf("hint without KB or root: %+v", h)
		}
	}
}

func TestLinksInsideTheRootAreFollowedByTheWatches(t *testing.T) {
	t.Parallel()
	r := newRig(t, map[string]string{".store/d/deep/f.md": "1", ".store/one.md": "one", "k/a.md": "a", "other/sub/o.md": "o"})
	r.barrier()
	steps := []struct {
		name string
		do   func() error
	}{
		{"link to a folder", func() error { return os.Symlink("../.store/d", r.path("k/d")) }},
		{"edit behind the link", func() error { return os.WriteFile(r.path(".store/d/deep/f.md"), []byte("22"), 0o644) }},
		{"new folder behind the link", func() error {
			put(t, r.dir, map[string]string{".store/d/deep/new/g.md": "x"})
			return nil
		}},
		{"link to a file", func() error { return os.Symlink("../.store/one.md", r.path("k/one.md")) }},
		{"edit of the linked file", func() error { return os.WriteFile(r.path(".store/one.md"), []byte("changed"), 0o644) }},
		{"link into another KB", func() error { return os.Symlink("../other/sub", r.path("k/sub")) }},
		{"edit seen in both KBs", func() error { return os.WriteFile(r.path("other/sub/o.md"), []byte("both"), 0o644) }},
		{"link removed", func() error { return os.Remove(r.path("k/sub")) }},
		{"edit after the link is gone", func() error { return os.WriteFile(r.path("other/sub/o.md"), []byte("other only"), 0o644) }},
		{"link turned elsewhere", func() error {
			if err := os.Remove(r.path("k/d")); err != nil {
				return err
			}
			return os.Symlink("../.store/d/deep", r.path("k/d"))
		}},
		{"edit behind the turned link", func() error { return os.WriteFile(r.path(".store/d/deep/f.md"), []byte("333"), 0o644) }},
		{"loops", func() error {
			for name, to := range map[string]string{"k/loop": ".", "k/up": "..", "k/out": "/etc", "k/nowhere": "x", "k/self": "self"} {
				if err := os.Symlink(to, r.path(name)); err != nil {
					return err
				}
			}
			return nil
		}},
	}
	for _, s := range steps {
		must(t, s.do())
		r.barrier()
		r.equal("after: " + s.name)
		if t.Failed() {
			return
		}
	}
}

func TestCheckoutOfAnotherBranchIsTold(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	r := newRig(t, map[string]string{"k/": ""})
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main"}, args...)...)
		cmd.Dir = r.path("k")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	tree := func(text string, dirs int) {
		files := map[string]string{}
		for i := range 600 {
			files[fmt.Sprintf("k/d%d/e%d/f%d.md", i%dirs, i%7, i)] = fmt.Sprint(text, i)
		}
		put(t, r.dir, files)
	}
	git("init", "-q")
	tree("main", 20)
	git("add", ".")
	git("commit", "-q", "-m", "one")
	git("checkout", "-q", "-b", "other")
	git("rm", "-q", "-r", ".")
	tree("other", 31)
	git("add", ".")
	git("commit", "-q", "-m", "two")
	for _, branch := range []string{"main", "other", "main"} {
		git("checkout", "-q", branch)
		r.barrier()
		r.equal("after checkout of " + branch)
	}
}

func TestRootThatGoesAndComesBack(t *testing.T) {
	t.Parallel()
	r := newRig(t, map[string]string{"k/a.md": "1", "k/x/b.md": "2"})
	r.until("the root is watched", r.mode(ModeEvents))
	aside := r.dir + "-aside"
	must(t, os.Rename(r.dir, aside))
	r.until("the root is unavailable", r.mode(ModeUnavailable))
	must(t, os.Rename(aside, r.dir))
	r.until("the root is back", r.mode(ModeEvents))
	must(t, os.WriteFile(r.path("k/x/b.md"), []byte("changed"), 0o644))
	r.settle("an edit after the return")

	must(t, os.Rename(r.dir, aside))
	put(t, r.dir, map[string]string{"k/new.md": "in the new root"})
	r.settle("another folder in the root's place")
	put(t, r.dir, map[string]string{"k/x/later.md": "x"})
	r.settle("an edit in the other folder")

	must(t, os.RemoveAll(r.dir))
	r.until("the root is unavailable", r.mode(ModeUnavailable))
	put(t, r.dir, map[string]string{"k/again.md": "x"})
	r.settle("a root that was removed and made again")
}

func TestIgnoredFoldersAreNotWatchedAndChmodIsNoHint(t *testing.T) {
	t.Parallel()
	r := newRig(t, map[string]string{
		"k/a.md": "1", "k/node_modules/m/x.md": "", "k/.git/objects/aa/": "", "k/.hid/h.md": "", "k/out/o.md": "", "k/.gitignore": "out/\n", "k/s/t.md": "",
	})
	r.barrier()
	if n := r.w.State()[0].Watches; n != 3 { // the root, k, k/s
		t.Errorf("%d folders are watched, want 3", n)
	}
	r.hints()
	must(t, os.Chmod(r.path("k/a.md"), 0o600))
	must(t, os.Chtimes(r.path("k/a.md"), time.Now(), time.Now()))
	must(t, os.WriteFile(r.path("k/out/o.md"), []byte("x"), 0o644))
	must(t, os.WriteFile(r.path("k/a.md~"), []byte("x"), 0o644))
	must(t, os.WriteFile(r.path("k/.a.md.swp"), []byte("x"), 0o644))
	r.barrier()
	for _, h := range r.hints() {
		if h.Kind != kbroot.ChangeBarrier {
			t.Errorf("hint %+v", h)
		}
	}
}

func TestReconcileArmsNewRootsAndDropsOldOnes(t *testing.T) {
	t.Parallel()
	r := newRig(t, map[string]string{"k/a.md": "1"})
	r.barrier()
	other := filepath.Join(t.TempDir(), "notes")
	put(t, other, map[string]string{"n.md": "note"})
	must(t, r.set.Reconfigure(kbroot.Options{Mounts: []kbroot.MountSpec{{Name: "notes", Dir: other}}}))
	r.w.Reconcile()
	r.settle("a mount in place of the root")
	must(t, os.WriteFile(filepath.Join(other, "n.md"), []byte("edited"), 0o644))
	r.barrier()
	r.equal("after an edit in the mount")
	dropped := false
	for _, h := range r.hints() {
		dropped = dropped || h.Kind == kbroot.ChangeRoot && h.Root == "r"
	}
	if s := r.w.State(); len(s) != 1 || s[0].Name != "notes" || !dropped {
		t.Errorf("state %+v, hint for the dropped root: %v", s, dropped)
	}
}

func TestBarrierIsSharedAndEndsWithTheWatcher(t *testing.T) {
	t.Parallel()
	r := newRig(t, map[string]string{"k/a.md": "1"})
	r.barrier()
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(r.barrier)
	}
	wg.Wait()
	n := 0
	for _, h := range r.hints() {
		if h.Kind == kbroot.ChangeBarrier {
			n++
		}
	}
	if n > 40 {
		t.Errorf("51 calls made %d barriers", n)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := r.w.Barrier(ctx); err == nil {
		t.Error("a cancelled barrier returned no error")
	}
	r.stop()
	if err := r.w.Barrier(context.Background()); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("barrier of a stopped watcher: %v", err)
	}
}

func TestSlowReceiverLosesNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t, map[string]string{"k/a.md": "1"})
	r.barrier()
	block := make(chan struct{})
	r.mu.Lock()
	r.block = block
	r.mu.Unlock()
	for i := range 300 {
		put(t, r.dir, map[string]string{fmt.Sprintf("k/d%d/e%d/f%d.md", i%10, i%30, i): "x"})
	}
	must(t, os.RemoveAll(r.path("k/d3")))
	r.mu.Lock()
	r.block = nil
	r.mu.Unlock()
	close(block)
	r.barrier()
	r.equal("after the receiver stood still")
}

// TestRandomChangesAreAllTold is the promise as a whole: whatever happens on
// disk, after a barrier the hints have told it.
func TestRandomChangesAreAllTold(t *testing.T) {
	t.Parallel()
	for seed := range uint64(8) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := newRig(t, map[string]string{"k/a.md": "1", "k/d/b.md": "2", "j/c.md": "3", ".store/s/f.md": "s"})
			rnd := rand.New(rand.NewPCG(seed, 3))
			for round := range 60 {
				var done []string
				for range 1 + rnd.IntN(12) {
					done = append(done, randomChange(r, rnd))
				}
				r.barrier()
				r.equal(fmt.Sprintf("round %d, after %q", round, done))
				if t.Failed() {
					return
				}
			}
		})
	}
}

var randomNames = []string{"a.md", "b.md", "d", "e", "f", "g.txt", "x y", "ü"}

func randomPath(r *rig, rnd *rand.Rand) string {
	p := []string{"k", "j", "m", ".store"}[rnd.IntN(4)]
	for n := rnd.IntN(4); n >= 0; n-- {
		p += "/" + randomNames[rnd.IntN(len(randomNames))]
		if n == 0 || rnd.IntN(3) == 0 {
			break
		}
	}
	return p
}

// randomChange does something that may well fail (a parent that is a file,
// say); a failed change is one more thing the watcher has to bear.
func randomChange(r *rig, rnd *rand.Rand) string {
	p, q := randomPath(r, rnd), randomPath(r, rnd)
	switch n := rnd.IntN(20); {
	case n < 7:
		_ = os.MkdirAll(filepath.Dir(r.path(p)), 0o755)
		_ = os.WriteFile(r.path(p), make([]byte, rnd.IntN(100)), 0o644)
		return "write " + p
	case n < 9:
		_ = os.MkdirAll(r.path(p), 0o755)
		return "mkdir " + p
	case n < 14:
		_ = os.Rename(r.path(p), r.path(q))
		return "mv " + p + " " + q
	case n < 17:
		_ = os.RemoveAll(r.path(p))
		return "rm " + p
	case n < 18:
		rel, _ := filepath.Rel(filepath.Dir(r.path(p)), r.path(q))
		_ = os.Symlink(rel, r.path(p))
		return "ln " + rel + " " + p
	case n < 19:
		dir := filepath.Dir(p)
		_ = os.WriteFile(r.path(dir+"/.gitignore"), []byte(randomNames[rnd.IntN(len(randomNames))]+"\n"), 0o644)
		return "ignore in " + dir
	default:
		kb := []string{"k", "j", "m"}
		_ = os.Rename(r.path(kb[rnd.IntN(3)]), r.path(kb[rnd.IntN(3)]))
		return "rename a KB"
	}
}
