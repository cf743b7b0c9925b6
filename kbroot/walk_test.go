//go:build unix

package kbroot

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"ragd/internal/fault"
)

func TestWalkIsOrderedByTheBytesOfThePath(t *testing.T) {
	t.Parallel()
	s, dir := rootSet(t)
	names := []string{"a/b.md", "a-b.md", "a.md", "a/b/c.md", "a b.md", "a_b.md", "A.md", "a/.x/h.md", "ü.md", "z/1.md", "z.d/1.md", "new\nline.md", "bad\xff.md", "😀.md", "a%b.md"}
	files := map[string]string{}
	for _, n := range names {
		files["k/"+n] = n
	}
	put(t, dir, files)
	want := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return strings.Contains(n, ".x") })
	slices.Sort(want)
	same(t, "walk", walked(t, s, "k", ""), want)
	same(t, "walk of a", walked(t, s, "k", "a"), []string{"a/b.md", "a/b/c.md"})
	same(t, "walk of a file", walked(t, s, "k", "a/b.md"), []string{"a/b.md"})
	same(t, "walk of nothing", walked(t, s, "k", "nothing/at/all"), nil)
	same(t, "walk of no KB", walked(t, s, "none", ""), nil)
}

func TestSpecialFilesAreListedAndNeverOpened(t *testing.T) {
	t.Parallel()
	s, dir := rootSet(t)
	put(t, dir, map[string]string{"k/": "", "k/ok.md": "x", "k/big.md": strings.Repeat("x", 100)})
	must(t, syscall.Mkfifo(filepath.Join(dir, "k/p.md"), 0o644))
	must(t, os.Symlink("p.md", filepath.Join(dir, "k/q.md")))
	must(t, os.Symlink("/dev/zero", filepath.Join(dir, "k/zero.md")))
	must(t, s.Reconfigure(Options{Roots: []RootSpec{{Dir: dir}}, MaxFileBytes: 50}))
	same(t, "walk", walked(t, s, "k", ""), []string{
		"big.md (excluded_size)", "ok.md", "p.md (excluded_special)", "q.md (excluded_special)", "zero.md (excluded_symlink)"})
	for _, name := range []string{"big.md", "p.md", "q.md", "zero.md"} {
		if _, _, err := s.Open(DocPath{"k", name}); fault.KindOf(err) != fault.Permanent {
			t.Errorf("open %s: %v", name, err)
		}
	}
	f, fi, err := s.Open(DocPath{"k", "ok.md"})
	must(t, err)
	defer f.Close()
	if fi.Size() != 1 {
		t.Errorf("size %d", fi.Size())
	}
}

func TestWalkOfFiftyThousandFilesIsFast(t *testing.T) {
	if testing.Short() {
		t.Skip("makes 50,000 files")
	}
	s, dir := rootSet(t)
	for i := range 500 {
		sub := filepath.Join(dir, "k", fmt.Sprintf("d%02d/e%02d", i%20, i/20))
		must(t, os.MkdirAll(sub, 0o755))
		for j := range 100 {
			f, err := os.Create(filepath.Join(sub, fmt.Sprintf("file-%03d.md", j)))
			must(t, err)
			must(t, f.Close())
		}
	}
	put(t, dir, map[string]string{"k/.gitignore": "*.log\nbuild/\n/tmp\n**/cache/**\nfoo*.bak\n", "k/d01/.gitignore": "!x.log\n"})
	best := time.Hour
	for range 3 {
		n := 0
		start := time.Now()
		must(t, s.Walk(context.Background(), "k", "", func(Entry) error { n++; return nil }))
		best = min(best, time.Since(start))
		if n != 50000 {
			t.Fatalf("%d files", n)
		}
	}
	t.Logf("50,000 files in %v", best)
	if best > 5*time.Second { // a fence against blow-ups, not a benchmark
		t.Errorf("a walk of 50,000 files took %v", best)
	}
}

func TestWalkEndsWithTheErrorOfTheCallback(t *testing.T) {
	t.Parallel()
	s, dir := rootSet(t)
	put(t, dir, map[string]string{"k/a.md": "", "k/b/c.md": ""})
	stop := errors.New("stop")
	n := 0
	err := s.Walk(context.Background(), "k", "", func(Entry) error { n++; return stop })
	if !errors.Is(err, stop) || n != 1 {
		t.Errorf("err %v after %d", err, n)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := s.Walk(ctx, "k", "", func(Entry) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled walk: %v", err)
	}
}
