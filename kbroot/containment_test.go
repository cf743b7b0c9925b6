//go:build unix

package kbroot

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"ragd/internal/fault"
)

func TestPathTricksGetOneSameRefusal(t *testing.T) {
	t.Parallel()
	s, dir := rootSet(t)
	put(t, dir, map[string]string{"k/a.md": "a"})
	put(t, filepath.Dir(dir), map[string]string{"secret.md": "s"})
	for _, p := range []string{
		"", ".", "..", "/", "/etc/passwd", "../secret.md", "../../etc/passwd", "a/../../x", "a/..", "a//b", "a/", "./", "a/./b", "a\x00b",
		strings.Repeat("a/", 2100) + "b", strings.Repeat("x", 256), dir + "/k/a.md",
	} {
		_, serr := s.Stat(DocPath{"k", p})
		_, _, oerr := s.Open(DocPath{"k", p})
		_, werr := s.WriteFile(DocPath{"k", p}, nil)
		_, rerr := s.Remove(DocPath{"k", p})
		for _, err := range []error{serr, oerr, werr, rerr} {
			if e, ok := fault.As(err); !ok || e.Kind != fault.Invalid || e.Code != "bad_path" {
				t.Errorf("%.40q: %v", p, err)
			}
		}
	}
	for in, want := range map[string]string{"./a.md": "a.md", "..foo": "..foo", "a/...": "a/...", "a b": "a b", `a\b`: `a\b`, "~/x": "~/x", strings.Repeat("x", 255): strings.Repeat("x", 255)} {
		if got, err := CleanPath(in); err != nil || got != want {
			t.Errorf("CleanPath(%q) = %q, %v", in, got, err)
		}
	}
	for _, name := range []string{"", ".", "..", "a/b", "../k", "a\x00", strings.Repeat("x", 256)} {
		if _, err := s.CreateKB(name); fault.KindOf(err) != fault.Invalid {
			t.Errorf("CreateKB(%.20q): %v", name, err)
		}
	}
}

func TestLinksAreFollowedOnceAndNeverOut(t *testing.T) {
	t.Parallel()
	s, dir := rootSet(t)
	put(t, dir, map[string]string{
		"k/a.md": "a", "k/d/b.md": "b", ".store/x/s.md": "s", ".store/f.md": "f", "other/o.md": "o", ".store/x/.git/config": "", ".store/.env": "", ".store/x/y/z.md": "",
	})
	put(t, filepath.Dir(dir), map[string]string{"outside.md": "!", "outdir/x.md": "!"})
	for name, to := range map[string]string{
		"k/loop": ".", "k/up": "..", "k/upup": "../..", "k/host.md": "/etc/hostname", "k/out.md": "../../outside.md", "k/outdir": "../../outdir",
		"k/nowhere.md": "nothing", "k/self": "self", "k/again.md": "a.md", "k/againdir": "d", "k/d/back": "..",
		"k/x": "../.store/x", "k/f.md": filepath.Join(dir, ".store/f.md"), "k/o.md": "../other/o.md", "k/env": "../.store/.env",
		".store/x/more": "y", ".store/x/loop": ".", "k/git": "../.store/x/.git",
	} {
		must(t, os.Symlink(to, filepath.Join(dir, name)))
	}
	same(t, "walk", walked(t, s, "k", ""), []string{
		"a.md", "again.md (excluded_symlink)", "againdir (excluded_symlink)", "d/b.md", "d/back (excluded_symlink)", "f.md", "host.md (excluded_symlink)",
		"loop (excluded_symlink)", "nowhere.md (excluded_symlink)", "o.md", "out.md (excluded_symlink)", "outdir (excluded_symlink)", "self (excluded_symlink)",
		"up (excluded_symlink)", "upup (excluded_symlink)", "x/loop (excluded_symlink)", "x/more (excluded_symlink)", "x/s.md", "x/y/z.md",
	})
	for path, text := range map[string]string{"f.md": "f", "x/s.md": "s", "o.md": "o"} {
		f, _, err := s.Open(DocPath{"k", path})
		must(t, err)
		b, err := io.ReadAll(f)
		must(t, errors.Join(err, f.Close()))
		if string(b) != text {
			t.Errorf("%s holds %q", path, b)
		}
	}
	for _, path := range []string{"host.md", "out.md", "outdir/x.md", "upup/outside.md", "up/other/o.md", "env", "loop/a.md"} {
		if f, _, err := s.Open(DocPath{"k", path}); err == nil {
			f.Close()
			t.Errorf("%s was opened", path)
		}
		if _, err := s.WriteFile(DocPath{"k", path}, []byte("x")); err == nil {
			t.Errorf("%s was written", path)
		}
	}
	if b, err := os.ReadFile(filepath.Join(filepath.Dir(dir), "outside.md")); err != nil || string(b) != "!" {
		t.Errorf("outside is %q, %v", b, err)
	}
}

func TestLinkedFirstLevelFolderIsAKBWhenItStaysInside(t *testing.T) {
	t.Parallel()
	s, dir := rootSet(t)
	put(t, dir, map[string]string{".store/n/a.md": "a", ".store/n/sub/b.md": "b"})
	put(t, filepath.Dir(dir), map[string]string{"out/x.md": ""})
	for name, to := range map[string]string{"in": ".store/n", "out": "../out", "me": ".", "gone": "nothing"} {
		must(t, os.Symlink(to, filepath.Join(dir, name)))
	}
	kbs, err := s.KBs()
	must(t, err)
	if len(kbs) != 1 || kbs[0].Name != "in" {
		t.Errorf("KBs %+v", kbs)
	}
	same(t, "walk", walked(t, s, "in", ""), []string{"a.md", "sub/b.md"})
	if n := s.Roots()[0].Notes; len(n) != 3 {
		t.Errorf("notes %q", n)
	}
	must(t, os.Mkdir(filepath.Join(dir, "nothing"), 0o755))
	if _, ok := s.KB("gone"); !ok {
		t.Error("a link whose target came is no KB")
	}
}

// asNobody runs fn with the file permissions of an unprivileged user, on its
// own thread, where the test itself may be anybody's.
func asNobody(t *testing.T, fn func()) {
	t.Helper()
	if os.Geteuid() != 0 {
		fn()
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		if runtime.GOOS != "linux" || !setFSUser(65534) {
			return
		}
		fn()
	}()
	<-done
}

func TestWhatCannotBeReadIsNotGone(t *testing.T) {
	t.Parallel()
	s, dir := rootSet(t)
	put(t, dir, map[string]string{"k/a.md": "", "k/shut/b.md": "", "k/no.md": "", "k/shut2/c/d.md": "", "k/z.md": ""})
	for p := dir; p != os.TempDir() && p != "/"; p = filepath.Dir(p) {
		must(t, os.Chmod(p, 0o755))
	}
	for _, p := range []string{"k/shut", "k/no.md", "k/shut2/c"} {
		must(t, os.Chmod(filepath.Join(dir, p), 0))
		defer os.Chmod(filepath.Join(dir, p), 0o755)
	}
	st := s.state.Load()
	if st.uid == 0 {
		st.uid = 65534
	}
	asNobody(t, func() {
		var got []string
		err := s.Walk(context.Background(), "k", "", func(e Entry) error {
			got = append(got, e.Path+" "+string(e.Verdict.Code))
			return nil
		})
		same(t, "walk", got, []string{"a.md ok", "no.md excluded_access", "z.md ok"})
		var inc *IncompleteError
		if !errors.As(err, &inc) {
			t.Fatalf("walk: %v", err)
		}
		same(t, "unread", inc.Subs, []string{"shut", "shut2/c"})
		if _, err := s.Stat(DocPath{"k", "shut/b.md"}); fault.KindOf(err) != fault.Unavailable {
			t.Errorf("stat in a folder that cannot be read: %v", err)
		}
		if _, _, err := s.Open(DocPath{"k", "no.md"}); fault.KindOf(err) != fault.Permanent {
			t.Errorf("open: %v", err)
		}
	})
}

func TestAnUnreadableRootIsUnavailableNotEmpty(t *testing.T) {
	t.Parallel()
	s, dir := rootSet(t)
	put(t, dir, map[string]string{"k/a.md": "a"})
	if _, ok := s.KB("k"); !ok {
		t.Fatal("no KB k")
	}
	aside := dir + "-aside"
	must(t, os.Rename(dir, aside))
	check := func(what string) {
		t.Helper()
		if r := s.Roots()[0]; r.Available || r.Reason == "" {
			t.Errorf("%s: %+v", what, r)
		}
		for name, err := range map[string]error{
			"stat":               func() error { _, err := s.Stat(DocPath{"k", "a.md"}); return err }(),
			"stat of another KB": func() error { _, err := s.Stat(DocPath{"j", "a.md"}); return err }(),
			"walk":               s.Walk(context.Background(), "k", "", func(Entry) error { return nil }),
			"fingerprint":        func() error { _, err := s.Fingerprint("kbs"); return err }(),
			"write":              func() error { _, err := s.WriteFile(DocPath{"k", "b.md"}, nil); return err }(),
		} {
			if e, ok := fault.As(err); !ok || e.Kind != fault.Unavailable || e.Code != "root_unavailable" {
				t.Errorf("%s, %s: %v", what, name, err)
			}
		}
		if _, ok := s.KB("k"); !ok {
			t.Errorf("%s: the KB is forgotten", what)
		}
	}
	check("missing")
	must(t, os.WriteFile(dir, nil, 0o644))
	check("a file")
	must(t, os.Remove(dir))
	must(t, syscall.Mkfifo(dir, 0o644))
	check("a pipe")
	must(t, os.Remove(dir))
	must(t, os.Rename(aside, dir))
	if v := verdict(t, s, "k", "a.md"); v.Code != OK {
		t.Errorf("after the return: %+v", v)
	}
}

func TestWalkOfAReplacedRootIsNotBelieved(t *testing.T) {
	t.Parallel()
	s, dir := rootSet(t)
	put(t, dir, map[string]string{"k/a.md": "a", "k/b/c.md": ""})
	err := s.Walk(context.Background(), "k", "", func(e Entry) error {
		if e.Path == "a.md" {
			must(t, os.Rename(dir, dir+"-aside"))
			must(t, os.Mkdir(dir, 0o755))
		}
		return nil
	})
	if fault.KindOf(err) != fault.Unavailable {
		t.Errorf("walk: %v", err)
	}
}
