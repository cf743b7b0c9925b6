package kbroot

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// put writes files below dir; a name that ends in "/" makes a folder.
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

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// rootSet is a Set of one root "kbs" in a fresh folder.
func rootSet(t testing.TB, change ...func(*Options)) (*Set, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "kbs")
	must(t, os.Mkdir(dir, 0o755))
	o := Options{Roots: []RootSpec{{Dir: dir}}}
	for _, c := range change {
		c(&o)
	}
	s, err := New(o)
	must(t, err)
	return s, dir
}

// walked returns "path" for documents and "path (code)" for the rest.
func walked(t testing.TB, s *Set, kb, sub string) []string {
	t.Helper()
	var list []string
	must(t, s.Walk(context.Background(), kb, sub, func(e Entry) error {
		if e.KB != kb {
			t.Errorf("entry of KB %q in a walk of %q", e.KB, kb)
		}
		at := e.Path
		if e.Verdict.Code != OK {
			at += " (" + string(e.Verdict.Code) + ")"
		}
		list = append(list, at)
		st, err := s.Stat(e.DocPath)
		must(t, err)
		if st != e {
			t.Errorf("Stat and Walk differ:\n stat %+v\n walk %+v", st, e)
		}
		return nil
	}))
	return list
}

func verdict(t testing.TB, s *Set, kb, path string) Verdict {
	t.Helper()
	e, err := s.Stat(DocPath{kb, path})
	must(t, err)
	return e.Verdict
}

func same(t testing.TB, what string, got, want []string) {
	t.Helper()
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s:\n got  %q\n want %q", what, got, want)
	}
}
