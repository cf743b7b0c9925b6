package indexer

import (
	"testing"

	"ragd/internal/extract"
)

// newerFormat is an extractor of which one format has a later version.
type newerFormat struct {
	extract.Extractor
	name string
}

func (n newerFormat) Lookup(path string) (extract.Format, string, bool) {
	f, reason, ok := n.Extractor.Lookup(path)
	if f.Name == n.name {
		f.Version++
	}
	return f, reason, ok
}

// TestANewVersionOfAReaderReadsItsOwnFormatAgain and nothing else.
func TestANewVersionOfAReaderReadsItsOwnFormatAgain(t *testing.T) {
	r := newRig(t)
	r.write("kb/note.md", "osmium in a note")
	r.write("kb/table.csv", "metal,use\nosmium,pens\n")
	r.write("kb/tool.go", "package tool\n\n// osmium\nfunc f() {\n}\n")
	r.write("kb/tool.kt", "// osmium\nfun f() {\n}\n")
	r.hintRoot()
	r.settle()
	read := func() map[string]int {
		r.ext.mu.Lock()
		defer r.ext.mu.Unlock()
		out := map[string]int{}
		for path, n := range r.ext.count {
			out[path] = n
		}
		return out
	}
	before := read()
	opened := r.ext.Extractor
	for _, c := range []struct{ format, path string }{{"csv", "table.csv"}, {"markdown", "note.md"}} {
		r.close()
		r.ext.Extractor = newerFormat{opened, c.format}
		r.open()
		r.start()
		r.settle()
		after := read()
		for path, n := range after {
			want := before[path]
			if path == c.path {
				want++
			}
			if n != want {
				t.Errorf("a new version of %s: %s was read %d times, want %d", c.format, path, n-before[path], want-before[path])
			}
		}
		r.found("osmium", "kb/note.md", "kb/table.csv", "kb/tool.go", "kb/tool.kt")
		r.close()
		r.ext.Extractor = opened // back to the version it was: that format is read once more
		r.open()
		r.start()
		r.settle()
		before = read()
	}
}
