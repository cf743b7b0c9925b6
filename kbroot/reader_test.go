package kbroot

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

var (
	longAgo = time.Now().Add(-time.Hour) // what is open may be used again
	text    = map[string]string{"k/d/a.md": "one", "k/d/b.md": "two", "k/top.md": "three", "other/d/a.md": "four"}
)

// readEntry is the verdict of a document and, where it is one, its text.
func readEntry(t *testing.T, r *Reader, p DocPath, since time.Time) (Code, string) {
	t.Helper()
	e, f, _, err := r.OpenEntry(p, since)
	must(t, err)
	if e.DocPath != p {
		t.Errorf("asked for %v, answered about %v", p, e.DocPath)
	}
	if f == nil {
		return e.Verdict.Code, ""
	}
	defer func() { _ = f.Close() }()
	b, err := io.ReadAll(f)
	must(t, err)
	return e.Verdict.Code, string(b)
}

func expectText(t *testing.T, r *Reader, p DocPath, since time.Time, code Code, want string) {
	t.Helper()
	if got, text := readEntry(t, r, p, since); got != code || text != want {
		t.Errorf("%v: %v %q, want %v %q", p, got, text, code, want)
	}
}

func TestReaderOpensEveryDocumentWhateverCameBefore(t *testing.T) {
	s, dir := rootSet(t)
	put(t, dir, text)
	put(t, dir, map[string]string{"k/.gitignore": "*.log\n", "k/d/x.log": "no", "k/d/sub/": ""})
	r := s.NewReader()
	defer r.Close()
	for range 2 {
		expectText(t, r, DocPath{"k", "d/a.md"}, longAgo, OK, "one")
		expectText(t, r, DocPath{"k", "d/b.md"}, longAgo, OK, "two")
		expectText(t, r, DocPath{"k", "d/x.log"}, longAgo, IgnoredRule, "")
		expectText(t, r, DocPath{"k", "d/none.md"}, longAgo, Missing, "")
		expectText(t, r, DocPath{"k", "d/sub"}, longAgo, OK, "")
		expectText(t, r, DocPath{"other", "d/a.md"}, longAgo, OK, "four")
		expectText(t, r, DocPath{"k", "top.md"}, longAgo, OK, "three")
		expectText(t, r, DocPath{"nokb", "top.md"}, longAgo, Missing, "")
	}
	for _, bad := range []string{"../other/d/a.md", "/etc/passwd", "d//a.md", ""} {
		if _, _, _, err := r.OpenEntry(DocPath{"k", bad}, longAgo); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}

func TestReaderSeesEveryChangeBeforeItsTime(t *testing.T) {
	doc := DocPath{"k", "d/a.md"}
	changes := map[string]struct {
		change func(t *testing.T, dir string)
		code   Code
		text   string
	}{
		"a rule in the folder": {func(t *testing.T, dir string) { put(t, dir, map[string]string{"k/d/.ragdignore": "a.md\n"}) }, IgnoredRule, ""},
		"a rule above":         {func(t *testing.T, dir string) { put(t, dir, map[string]string{"k/.gitignore": "d/\n"}) }, IgnoredRule, ""},
		"another folder in its place": {func(t *testing.T, dir string) {
			must(t, os.Rename(filepath.Join(dir, "k/d"), filepath.Join(dir, "k/old")))
			put(t, dir, map[string]string{"k/d/a.md": "new"})
		}, OK, "new"},
		"a link that leads out in its place": {func(t *testing.T, dir string) {
			must(t, os.Rename(filepath.Join(dir, "k/d"), filepath.Join(dir, "k/old")))
			out := t.TempDir()
			put(t, out, map[string]string{"a.md": "secret"})
			must(t, os.Symlink(out, filepath.Join(dir, "k/d")))
		}, Missing, ""},
		"another knowledge base of the name": {func(t *testing.T, dir string) {
			must(t, os.Rename(filepath.Join(dir, "k"), filepath.Join(dir, "was")))
			must(t, os.Rename(filepath.Join(dir, "other"), filepath.Join(dir, "k")))
		}, OK, "four"},
	}
	for name, c := range changes {
		t.Run(name, func(t *testing.T) {
			s, dir := rootSet(t)
			put(t, dir, text)
			r := s.NewReader()
			defer r.Close()
			expectText(t, r, doc, longAgo, OK, "one")
			c.change(t, dir)
			expectText(t, r, doc, time.Now(), c.code, c.text)
		})
	}
}

// Without a time that asks for it, a folder that lost its files is still
// looked at again: the open one may be no longer the one at that path.
func TestReaderLooksAgainForWhatIsMissing(t *testing.T) {
	s, dir := rootSet(t)
	put(t, dir, text)
	r := s.NewReader()
	defer r.Close()
	expectText(t, r, DocPath{"k", "d/a.md"}, longAgo, OK, "one")
	must(t, os.RemoveAll(filepath.Join(dir, "k/d")))
	expectText(t, r, DocPath{"k", "d/a.md"}, longAgo, Missing, "")
	put(t, dir, map[string]string{"k/d/a.md": "again"})
	expectText(t, r, DocPath{"k", "d/a.md"}, longAgo, OK, "again")
}

func TestReaderFollowsANewConfiguration(t *testing.T) {
	s, dir := rootSet(t)
	put(t, dir, text)
	r := s.NewReader()
	defer r.Close()
	expectText(t, r, DocPath{"k", "d/a.md"}, longAgo, OK, "one")
	o := s.Options()
	o.Exclude = []string{"a.md"}
	must(t, s.Reconfigure(o))
	expectText(t, r, DocPath{"k", "d/a.md"}, longAgo, IgnoredRule, "")
}

func TestReaderKeepsAFewFoldersOnly(t *testing.T) {
	s, dir := rootSet(t)
	r := s.NewReader()
	defer r.Close()
	const folders = 3 * keptFolders
	for i := range folders {
		put(t, dir, map[string]string{fmt.Sprintf("k/d%02d/a.md", i): fmt.Sprint(i)})
	}
	for _, step := range []int{1, folders - 1, 5} { // in order, backwards and mixed
		for i := range folders {
			i = i * step % folders
			expectText(t, r, DocPath{"k", fmt.Sprintf("d%02d/a.md", i)}, longAgo, OK, fmt.Sprint(i))
		}
	}
	if len(r.kept) != keptFolders {
		t.Errorf("%d folders are kept", len(r.kept))
	}
}

func TestReaderHoldsNothingWhenClosed(t *testing.T) {
	s, dir := rootSet(t)
	put(t, dir, text)
	r := s.NewReader()
	expectText(t, r, DocPath{"k", "d/a.md"}, longAgo, OK, "one")
	expectText(t, r, DocPath{"other", "d/a.md"}, longAgo, OK, "four")
	if runtime.GOOS != "linux" {
		t.Skip("open files are counted on Linux only")
	}
	if n := openBelow(t, dir); n == 0 {
		t.Fatal("the reader keeps no folder open")
	}
	r.Close()
	if n := openBelow(t, dir); n != 0 {
		t.Errorf("%d folders are still open", n)
	}
	expectText(t, r, DocPath{"k", "d/b.md"}, longAgo, OK, "two")
	r.Close()
}

// openBelow counts this process's open files at or below a folder.
func openBelow(t *testing.T, dir string) (n int) {
	t.Helper()
	fds, err := os.ReadDir("/proc/self/fd")
	must(t, err)
	for _, fd := range fds {
		if p, err := os.Readlink("/proc/self/fd/" + fd.Name()); err == nil && strings.HasPrefix(p, dir) {
			n++
		}
	}
	return n
}

func BenchmarkReader(b *testing.B) {
	s, _ := benchTree(b, 20, 10)
	r := s.NewReader()
	defer r.Close()
	for b.Loop() {
		_, f, _, err := r.OpenEntry(DocPath{"k", "d07/e00/file-003.md"}, longAgo)
		must(b, err)
		_ = f.Close()
	}
}
