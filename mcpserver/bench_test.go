package mcpserver

import (
	"fmt"
	"strings"
	"testing"
)

// BenchmarkSearchCall is what the front door costs: one default search with
// ten full excerpts over a socket, with a searcher that takes no time.
func BenchmarkSearchCall(b *testing.B) {
	w := newWorld(b, "notes")
	w.onSearch = fat("dir/", 5000, "lorem ipsum dolor sit amet ")
	_, addr := startServer(b, w, Options{})
	c := dial(b, addr)
	for b.Loop() {
		if m := c.request("tools/call", m{"name": "rag_search", "arguments": m{"query": "x"}}); m.Error != nil {
			b.Fatal(m.Error)
		}
	}
}

func BenchmarkReadCall(b *testing.B) {
	w := newWorld(b, "notes")
	w.put("notes", "a.md", strings.Repeat("lorem ipsum ", 8000))
	_, addr := startServer(b, w, Options{})
	c := dial(b, addr)
	for b.Loop() {
		if m := c.request("tools/call", m{"name": "rag_read", "arguments": m{"kb": "notes", "path": "a.md"}}); m.Error != nil {
			b.Fatal(m.Error)
		}
	}
}

func BenchmarkListDocumentsCall(b *testing.B) {
	w := newWorld(b, "notes")
	for i := range 1000 {
		w.set("notes", fmt.Sprintf("dir/file%04d.md", i), func(*fakeDoc) {})
	}
	_, addr := startServer(b, w, Options{})
	c := dial(b, addr)
	for b.Loop() {
		if m := c.request("tools/call", m{"name": "rag_list_documents", "arguments": m{"kb": "notes"}}); m.Error != nil {
			b.Fatal(m.Error)
		}
	}
}
