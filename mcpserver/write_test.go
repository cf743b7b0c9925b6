package mcpserver

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ragd/internal/store"
)

func TestAddedDocumentIsWrittenQueuedFoundAndReplaced(t *testing.T) {
	w := newWorld(t)
	_, addr := startServer(t, w, Options{Agent: Agent{Name: "scribe"}})
	c := dial(t, addr)
	add := func(text string) addOut {
		out, shown := ok[addOut](c, "rag_add_document", m{"kb": "fresh", "path": "sub/dir/a.md", "content": text})
		if !strings.Contains(shown, "queued") {
			t.Error(shown)
		}
		return out
	}
	if out := add("the first fox"); out != (addOut{KB: "fresh", Path: "sub/dir/a.md", Queued: true}) {
		t.Errorf("%+v", out)
	}
	if out := add("the second fox"); !out.Replaced {
		t.Errorf("%+v", out)
	}
	found, _ := ok[searchOut](c, "rag_search", m{"query": "second fox"})
	if len(found.Results) != 1 || found.Results[0].Path != "sub/dir/a.md" {
		t.Errorf("%+v", found)
	}
	ok[addOut](c, "rag_add_document", m{"kb": "fresh", "path": "empty.md", "content": ""})
	c.refused("rag_add_document", m{"kb": "fresh", "path": "a.pdf", "content": "x"}, "not_text")
	c.refused("rag_add_document", m{"kb": "fresh", "path": ".git/hooks/pre-commit", "content": "x"}, "ignored_path")
	if len(w.audit) != 4 {
		t.Fatalf("%d audit entries", len(w.audit))
	}
	first, second, bad := w.audit[0], w.audit[1], w.audit[3]
	if first.Agent != "scribe" || first.Before != "" || first.After == "" || second.Before != first.After || second.After == second.Before || first.Outcome != "ok" {
		t.Errorf("%+v %+v", first, second)
	}
	if bad.Outcome != "ignored_path" || bad.After != bad.Before {
		t.Errorf("%+v", bad)
	}
}

func TestDocumentsOverTheSizeLimitAreRefused(t *testing.T) {
	_, addr := startServer(t, newWorld(t), Options{Limits: Limits{DocumentBytes: 10}})
	c := dial(t, addr)
	ok[addOut](c, "rag_add_document", m{"kb": "k", "path": "a.md", "content": "0123456789"})
	if f := c.refused("rag_add_document", m{"kb": "k", "path": "a.md", "content": "0123456789é"}, "too_large"); !strings.Contains(f.Message, "12") || !strings.Contains(f.Message, "10") {
		t.Errorf("%+v", f)
	}
}

func TestDeletedDocumentIsGoneAndAnAbsentOneIsNotClaimed(t *testing.T) {
	w := newWorld(t, "notes")
	w.put("notes", "a.md", "the fox")
	_, addr := startServer(t, w, Options{})
	c := dial(t, addr)
	out, _ := ok[deleteOut](c, "rag_delete_document", m{"kb": "notes", "path": "a.md"})
	if out != (deleteOut{"notes", "a.md", true}) {
		t.Errorf("%+v", out)
	}
	if _, err := os.Stat(filepath.Join(w.root, "notes", "a.md")); err == nil {
		t.Error("the file is still there")
	}
	if found, _ := ok[searchOut](c, "rag_search", m{"query": "fox"}); len(found.Results) != 0 {
		t.Errorf("%+v", found)
	}
	out, text := ok[deleteOut](c, "rag_delete_document", m{"kb": "notes", "path": "a.md"})
	if out.Existed || !strings.Contains(text, "nothing was deleted") {
		t.Errorf("%+v %s", out, text)
	}
	w.put("notes", "book.xlsx", "x")
	w.set("notes", "book.xlsx › Sheet 1", func(d *fakeDoc) { d.rec.State, d.rec.RevisionID = store.StateIndexed, "r" })
	c.refused("rag_delete_document", m{"kb": "notes", "path": "book.xlsx › Sheet 1"}, "part_of_document")
}

func TestKBIsOnlyDeletedWhenConfirmed(t *testing.T) {
	w := newWorld(t, "notes", "mount")
	w.put("notes", "a.md", "x")
	w.put("notes", "b.md", "x")
	w.put("mount", "c.md", "x")
	w.kbs["mount"].info.Mounted = true
	_, addr := startServer(t, w, Options{})
	c := dial(t, addr)
	for _, args := range []m{{"kb": "notes"}, {"kb": "notes", "confirm": false}, {"kb": "notes", "confirm": "false"}} {
		if f := c.refused("rag_delete_kb", args, "confirm_required"); !strings.Contains(f.Message, "2 documents") {
			t.Errorf("%+v", f)
		}
	}
	out, _ := ok[deleteKBOut](c, "rag_delete_kb", m{"kb": "notes", "confirm": "true"})
	if !out.Existed || out.Documents != 2 {
		t.Errorf("%+v", out)
	}
	if _, err := os.Stat(filepath.Join(w.root, "notes")); err == nil {
		t.Error("the folder is still there")
	}
	out, _ = ok[deleteKBOut](c, "rag_delete_kb", m{"kb": "notes", "confirm": true})
	if out.Existed || out.Documents != 0 {
		t.Errorf("%+v", out)
	}
	out, text := ok[deleteKBOut](c, "rag_delete_kb", m{"kb": "mount", "confirm": true})
	if !out.Existed || out.Note == "" || !strings.Contains(text, "kept") {
		t.Errorf("%+v %s", out, text)
	}
	if _, err := os.Stat(filepath.Join(w.root, "mount", "c.md")); err != nil {
		t.Error("a mounted file was deleted")
	}
}

func TestReindexReportsCounts(t *testing.T) {
	w := newWorld(t, "notes")
	_, addr := startServer(t, w, Options{})
	c := dial(t, addr)
	out, _ := ok[reindexOut](c, "rag_reindex", m{})
	if out != (reindexOut{1, 2, 3, 4, 5, 3}) {
		t.Errorf("%+v", out)
	}
	ok[reindexOut](c, "rag_reindex", m{"kb": "notes", "force": "true"})
	if !slices.Equal(w.reindex, []string{" false", "notes true"}) {
		t.Errorf("%q", w.reindex)
	}
}
