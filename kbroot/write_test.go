package kbroot

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"ragd/internal/fault"
)

func code(err error) string {
	if e, ok := fault.As(err); ok {
		return e.Code
	}
	return fmt.Sprint(err)
}

func TestWriteFileMakesKBAndFoldersAndReplacesWhole(t *testing.T) {
	t.Parallel()
	s, dir := rootSet(t)
	for i, text := range []string{"one", "two, longer", ""} {
		replaced, err := s.WriteFile(DocPath{"new kb", "a/b/c.md"}, []byte(text))
		must(t, err)
		if replaced != (i > 0) {
			t.Errorf("round %d: replaced %v", i, replaced)
		}
		b, err := os.ReadFile(filepath.Join(dir, "new kb/a/b/c.md"))
		must(t, err)
		if string(b) != text {
			t.Errorf("the file holds %q", b)
		}
	}
	same(t, "walk", walked(t, s, "new kb", ""), []string{"a/b/c.md"})
	left, err := os.ReadDir(filepath.Join(dir, "new kb/a/b"))
	must(t, err)
	if len(left) != 1 {
		t.Errorf("temporary files are left: %v", left)
	}
}

func TestWriteFileRefusesWhatWouldNeverBeIndexed(t *testing.T) {
	t.Parallel()
	s, dir := rootSet(t, func(o *Options) { o.MaxFileBytes = 10 })
	ro, rw := filepath.Join(filepath.Dir(dir), "ro"), filepath.Join(filepath.Dir(dir), "rw")
	put(t, ro, map[string]string{"x.md": "x"})
	put(t, rw, map[string]string{"x.md": "x"})
	o := s.Options()
	o.Mounts = []MountSpec{{Name: "ro", Dir: ro}, {Name: "rw", Dir: rw, Writable: true}}
	must(t, s.Reconfigure(o))
	put(t, dir, map[string]string{"k/.gitignore": "*.log\nout/\n", "k/d/": "", "k/f.md": "f"})
	for _, c := range []struct{ kb, path, code string }{
		{"k", "x.log", "ignored_path"}, {"k", "out/x.md", "ignored_path"}, {"k", ".hidden.md", "ignored_path"}, {"k", ".git/config", "ignored_path"},
		{"k", "a/.env", "ignored_path"}, {"k", "d", "not_a_file"}, {"k", "f.md/x.md", "not_a_folder"}, {"ro", "y.md", "read_only_kb"}, {"rw", "y.md", "<nil>"},
		{".k", "a.md", "ignored_path"}, {"node_modules", "a.md", "ignored_path"}, {"a/b", "a.md", "bad_kb_name"}, {"b\x1b", "a.md", "bad_kb_name"}, {"fresh", ".env", "ignored_path"},
	} {
		_, err := s.WriteFile(DocPath{c.kb, c.path}, []byte("x"))
		if got := code(err); got != c.code {
			t.Errorf("%s/%s: %s, want %s", c.kb, c.path, got, c.code)
		}
	}
	if _, err := s.WriteFile(DocPath{"k", "big.md"}, make([]byte, 11)); code(err) != "too_large" {
		t.Errorf("too large: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "fresh")); err == nil {
		t.Error("a refused path left a KB behind")
	}
}

func TestRemoveTellsTheTruth(t *testing.T) {
	t.Parallel()
	s, dir := rootSet(t)
	mount := filepath.Join(filepath.Dir(dir), "m")
	put(t, mount, map[string]string{"x.md": "x"})
	o := s.Options()
	o.Mounts = []MountSpec{{Name: "m", Dir: mount}}
	must(t, s.Reconfigure(o))
	put(t, dir, map[string]string{"k/a.md": "", "k/.git/config": "", "k/d/b.md": "", "real/r.md": ""})
	must(t, os.Symlink("../real/r.md", filepath.Join(dir, "k/l.md")))
	for _, c := range []struct {
		kb, path string
		existed  bool
		code     string
	}{
		{"k", "a.md", true, "<nil>"}, {"k", "a.md", false, "<nil>"}, {"none", "a.md", false, "<nil>"}, {"k", ".git/config", false, "ignored_path"},
		{"k", "d", false, "not_a_file"}, {"k", "l.md", true, "<nil>"}, {"m", "x.md", false, "read_only_kb"}, {"m", "y.md", false, "<nil>"},
	} {
		existed, err := s.Remove(DocPath{c.kb, c.path})
		if existed != c.existed || code(err) != c.code {
			t.Errorf("%s/%s: %v, %v", c.kb, c.path, existed, err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "real/r.md")); err != nil {
		t.Error("removing a link removed its target")
	}
	if err := s.RemoveKB("m"); code(err) != "mounted_kb" {
		t.Errorf("RemoveKB of a mount: %v", err)
	}
	if err := s.RemoveKB("none"); code(err) != "kb_not_found" {
		t.Errorf("RemoveKB of nothing: %v", err)
	}
	must(t, s.RemoveKB("k"))
	if _, ok := s.KB("k"); ok {
		t.Error("the KB is still there")
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 || left[0].Name() != "real" {
		t.Errorf("what is left of the root: %v %v", left, err)
	}
}

// A KB that is taken apart, or was when the program was killed, is none, even
// where hidden files are documents.
func TestAKBThatIsTakenApartIsNone(t *testing.T) {
	t.Parallel()
	s, dir := rootSet(t)
	o := s.Options()
	o.Hidden = true
	must(t, s.Reconfigure(o))
	put(t, dir, map[string]string{"k/a.md": "a", tempPrefix + "x/b.md": "b"})
	kbs, err := s.KBs()
	if err != nil || len(kbs) != 1 || kbs[0].Name != "k" {
		t.Errorf("%v %v", kbs, err)
	}
}

func TestRootsAndMountsAreChecked(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put(t, dir, map[string]string{"a/b/": "", "c/": ""})
	must(t, os.Symlink("a", filepath.Join(dir, "link")))
	a, b, c := filepath.Join(dir, "a"), filepath.Join(dir, "a/b"), filepath.Join(dir, "c")
	for name, bad := range map[string]struct {
		o    Options
		code string
	}{
		"nested":             {Options{Roots: []RootSpec{{Dir: a}, {Dir: b}}}, "nested_root"},
		"nested by a link":   {Options{Roots: []RootSpec{{Dir: b}, {Dir: filepath.Join(dir, "link")}}}, "nested_root"},
		"mount in a root":    {Options{Roots: []RootSpec{{Dir: a}}, Mounts: []MountSpec{{Name: "m", Dir: b}}}, "nested_root"},
		"twice":              {Options{Roots: []RootSpec{{Dir: a}, {Dir: a + "/"}}}, "duplicate_root"},
		"relative":           {Options{Roots: []RootSpec{{Dir: "kbs"}}}, "bad_root"},
		"tilde":              {Options{Mounts: []MountSpec{{Name: "m", Dir: "~/notes"}}}, "bad_mount"},
		"mount without name": {Options{Mounts: []MountSpec{{Dir: a}}}, "bad_mount"},
		"name with a slash":  {Options{Mounts: []MountSpec{{Name: "a/b", Dir: a}}}, "bad_mount"},
		"name twice":         {Options{Roots: []RootSpec{{Name: "x", Dir: a}}, Mounts: []MountSpec{{Name: "x", Dir: c}}}, "bad_root"},
		"pattern for nought": {Options{Exclude: []string{"[a"}}, "bad_exclude"},
	} {
		if _, err := New(bad.o); code(err) != bad.code || fault.KindOf(err) != fault.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	s, err := New(Options{Roots: []RootSpec{{Dir: a}, {Dir: filepath.Join(dir, "x/a")}, {Dir: filepath.Join(dir, "missing")}}})
	must(t, err)
	r := s.Roots()
	if len(r) != 3 || r[0].Name != "a" || r[1].Name != "a-2" || !r[0].Available || r[2].Available {
		t.Errorf("roots %+v", r)
	}
	if err := s.Reconfigure(Options{Roots: []RootSpec{{Dir: "x"}}}); err == nil || len(s.Roots()) != 3 {
		t.Error("a wrong configuration replaced the right one")
	}
}

func TestNamesOfKBsAreUnique(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	put(t, base, map[string]string{
		"r1/notes/a.md": "", "r1/other/a.md": "", "r1/loose.md": "", "r2/notes/b.md": "", "r2/m/c.md": "", "r1/notes@r2/x.md": "", "mnt/d.md": "",
	})
	s, err := New(Options{
		Roots:  []RootSpec{{Name: "r1", Dir: filepath.Join(base, "r1")}, {Name: "r2", Dir: filepath.Join(base, "r2")}},
		Mounts: []MountSpec{{Name: "m", Dir: filepath.Join(base, "mnt")}},
	})
	must(t, err)
	want := map[string]string{"notes": "r1/notes", "other": "r1/other", "notes@r2": "r1/notes@r2", "notes@r2#2": "r2/notes", "m@r2": "r2/m", "m": "mnt"}
	kbs, err := s.KBs()
	must(t, err)
	if len(kbs) != len(want) {
		t.Errorf("KBs %+v", kbs)
	}
	for _, kb := range kbs {
		if kb.Dir != filepath.Join(base, want[kb.Name]) {
			t.Errorf("%q is %s", kb.Name, kb.Dir)
		}
		doc, root, ok := s.Locate(filepath.Join(kb.Dir, "sub/x.md"))
		if !ok || doc != (DocPath{kb.Name, "sub/x.md"}) || root != kb.Root {
			t.Errorf("located %+v %q %v", doc, root, ok)
		}
	}
	for path, root := range map[string]string{"r1": "r1", "r1/loose.md": "r1", "r1/.hid/x": "r1", "elsewhere/x": ""} {
		doc, got, ok := s.Locate(filepath.Join(base, path))
		if doc != (DocPath{}) || got != root || ok != (root != "") {
			t.Errorf("%s: located %+v %q %v", path, doc, got, ok)
		}
	}
	if n := s.Roots()[0].Notes; len(n) != 1 || !strings.HasPrefix(n[0], "1 file lies directly in the root") {
		t.Errorf("notes %q", n)
	}
	if _, v, err := s.Explain(filepath.Join(base, "r1/loose.md")); err != nil || v.Code != IgnoredRule || v.Reason == "" {
		t.Errorf("explained: %+v, %v", v, err)
	}
	if _, _, err := s.Explain(filepath.Join(base, "elsewhere/x")); code(err) != "outside_roots" {
		t.Errorf("explained: %v", err)
	}
}

func TestFingerprintTellsFoldersApart(t *testing.T) {
	t.Parallel()
	s, dir := rootSet(t)
	put(t, dir, map[string]string{"k/a.md": "", "j/": ""})
	one, err := s.Fingerprint("kbs")
	must(t, err)
	if one.Entries != 2 || one.Inode == 0 {
		t.Errorf("%+v", one)
	}
	must(t, os.Rename(dir, dir+"-aside"))
	must(t, os.Mkdir(dir, 0o755))
	two, err := s.Fingerprint("kbs")
	must(t, err)
	if two.Inode == one.Inode || two.Entries != 0 {
		t.Errorf("%+v, before %+v", two, one)
	}
}

func TestDisplayPathShowsWhatCannotBeShown(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"a/é.md": "a/é.md", "e\u0301": "é", "bad\xff.md": `bad\xff.md`, "e\u0301\xfe": `é\xfe`, "new\nline": `new\x0aline`, "\x1b[31m": `\x1b[31m`, "\u0085": `\xc2\x85`,
	} {
		if got := DisplayPath(in); got != want {
			t.Errorf("DisplayPath(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestNFCAndNFDAndCaseAreDifferentDocuments(t *testing.T) {
	t.Parallel()
	s, dir := rootSet(t)
	put(t, dir, map[string]string{"k/\u00e9.md": "1", "k/e\u0301.md": "2", "k/a b.md": "", "k/a_b.md": "", "k/a-b.md": ""})
	if got := walked(t, s, "k", ""); len(got) != 5 {
		t.Errorf("walk %q", got)
	}
}

func TestManyCallersAndAReconfiguration(t *testing.T) {
	t.Parallel()
	s, dir := rootSet(t)
	put(t, dir, map[string]string{"k/a.md": "", "k/.gitignore": "*.log\n", "k/b/c.md": ""})
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 50 {
				_ = s.Walk(context.Background(), "k", "", func(Entry) error { return nil })
				_, _ = s.Stat(DocPath{"k", "b/c.md"})
				_, _ = s.KBs()
				if i == 0 {
					if err := s.Reconfigure(Options{Roots: []RootSpec{{Dir: dir}}, Hidden: j%2 == 0}); err != nil {
						t.Error(err)
					}
				}
				if i == 1 {
					_ = os.WriteFile(filepath.Join(dir, fmt.Sprintf("k/%d.md", j)), nil, 0o644)
				}
			}
		})
	}
	wg.Wait()
}

func FuzzCleanPath(f *testing.F) {
	for _, p := range []string{"a/b", "../x", "./a", "a//b", "..foo/bar", "\xff"} {
		f.Add(p)
	}
	f.Fuzz(func(t *testing.T, p string) {
		c, err := CleanPath(p)
		if err != nil {
			return
		}
		if filepath.IsAbs(c) || !filepath.IsLocal(c) || len(c) > maxPathBytes || filepath.Clean(c) != c {
			t.Errorf("CleanPath(%q) = %q", p, c)
		}
		if again, err := CleanPath(c); err != nil || again != c {
			t.Errorf("CleanPath(%q) = %q, %v", c, again, err)
		}
		DisplayPath(p)
	})
}
