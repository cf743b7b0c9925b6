package blackbox

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// path is a file or folder below the root.
func (h *home) path(rel string) string { return filepath.Join(h.root, rel) }

// write puts a file in place, making its folders.
func (h *home) write(t testing.TB, rel, text string) string {
	t.Helper()
	file := h.path(rel)
	must(t, os.MkdirAll(filepath.Dir(file), 0o755))
	must(t, os.WriteFile(file, []byte(text), 0o644))
	return file
}

func (h *home) remove(t testing.TB, rel string) {
	t.Helper()
	must(t, os.RemoveAll(h.path(rel)))
}

func (h *home) rename(t testing.TB, from, to string) {
	t.Helper()
	must(t, os.Rename(h.path(from), h.path(to)))
}

// newKB makes a knowledge base of the test's own in a daemon that others use too.
func (h *home) newKB(t testing.TB) string {
	t.Helper()
	name := strings.Map(func(r rune) rune {
		if r == '/' || r == ',' || r < ' ' {
			return '-'
		}
		return r
	}, t.Name())
	must(t, os.Mkdir(h.path(name), 0o755))
	t.Cleanup(func() { _ = os.RemoveAll(h.path(name)) })
	return name
}

// many writes n small files, a hundred to a folder, and returns their paths in the KB.
func (h *home) many(t testing.TB, kb string, n int, text func(i int) string) []string {
	t.Helper()
	paths := make([]string, n)
	for i := range paths {
		paths[i] = fmt.Sprintf("d%03d/f%05d.md", i/100, i)
		if i%100 == 0 {
			must(t, os.MkdirAll(filepath.Dir(h.path(kb+"/"+paths[i])), 0o755))
		}
		must(t, os.WriteFile(h.path(kb+"/"+paths[i]), []byte(text(i)), 0o644))
	}
	return paths
}
