package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func (s *served) exists(path string) bool {
	_, err := os.Lstat(s.path(path))
	return err == nil
}

func TestWritingTools(t *testing.T) {
	s := serveWith(t, "[embeddings]\nenabled = false\n[[mount]]\nname = \"fixed\"\ndir = \"~/fixed\"\n[[mount]]\nname = \"open\"\ndir = \"~/open\"\nwritable = true\n"+
		"[[agent]]\nname = \"tenant\"\nroot = \"other\"\n[[agent]]\nname = \"mounted\"\nroot = \"open\"\n", map[string]string{
		"kbs/al/a.md": "the pump", "kbs/al/link.md": "x", "other/far/f.md": "the far pump", "fixed/m.md": "the mounted pump", "open/o.md": "the open pump", "outside/secret.md": "secret",
	}, "RAGD_MAX_FILE_BYTES", "4096")
	must(t, os.Symlink(s.path("outside"), s.path("kbs/al/way")))
	must(t, os.Remove(s.path("kbs/al/link.md")))
	must(t, os.Symlink(s.path("outside/secret.md"), s.path("kbs/al/link.md")))
	c := s.fresh()
	found := func(q string) string {
		c.settle()
		return all(c.call("rag_search", obj{"query": q}).list("results"), "path")
	}
	add := func(kb, path, content string) obj {
		return c.call("rag_add_document", obj{"kb": kb, "path": path, "content": content})
	}

	t.Run("rag_add_document writes the file, makes KB and folders, and queues it", func(t *testing.T) {
		r := add("new", "deep/er/n.md", "zebra text")
		want(t, "answer", fmt.Sprint(r["kb"], r["path"], r["queued"], r["replaced"]), "newdeep/er/n.mdtrue false")
		text, err := os.ReadFile(s.path("kbs/new/deep/er/n.md"))
		must(t, err)
		want(t, "file", string(text), "zebra text")
		want(t, "found", found("zebra"), "deep/er/n.md")
		left, err := os.ReadDir(s.path("kbs/new/deep/er"))
		must(t, err)
		want(t, "files in the folder", len(left), 1)
	})
	t.Run("overwriting is allowed and said", func(t *testing.T) {
		want(t, "replaced", add("new", "deep/er/n.md", "giraffe text")["replaced"], true)
		want(t, "old text", found("zebra"), "")
		want(t, "new text", found("giraffe"), "deep/er/n.md")
	})
	t.Run("the cap on size is that of indexing", func(t *testing.T) {
		add("new", "full.md", strings.Repeat("x", 4096))
		r := c.refused("rag_add_document", obj{"kb": "new", "path": "over.md", "content": strings.Repeat("x", 4097)})
		if r.str("code") != "too_large" || !strings.Contains(r.str("message"), "4096") || s.exists("kbs/new/over.md") {
			t.Errorf("%v", r)
		}
	})
	t.Run("only text and Markdown", func(t *testing.T) {
		want(t, "code", c.refused("rag_add_document", obj{"kb": "al", "path": "x.pdf", "content": "x"}).str("code"), "not_text")
	})
	t.Run("links on the way are not followed, and nothing outside is touched", func(t *testing.T) {
		for _, path := range []string{"way/new.md", "way/secret.md"} {
			c.refused("rag_add_document", obj{"kb": "al", "path": path, "content": "x"})
			c.any("rag_delete_document", obj{"kb": "al", "path": path})
		}
		c.any("rag_add_document", obj{"kb": "al", "path": "link.md", "content": "overwritten"})
		c.any("rag_delete_document", obj{"kb": "al", "path": "link.md"})
		text, err := os.ReadFile(s.path("outside/secret.md"))
		if err != nil || string(text) != "secret" || s.exists("outside/new.md") {
			t.Errorf("%q %v", text, err)
		}
	})
	t.Run("a mounted folder is written only where the settings allow it", func(t *testing.T) {
		for tool, args := range map[string]obj{
			"rag_add_document": {"kb": "fixed", "path": "n.md", "content": "x"}, "rag_delete_document": {"kb": "fixed", "path": "m.md"},
		} {
			want(t, tool, c.refused(tool, args).str("code"), "read_only_kb")
		}
		if !s.exists("fixed/m.md") || s.exists("fixed/n.md") {
			t.Error("the mounted folder was written")
		}
		add("open", "n.md", "an okapi")
		want(t, "found", found("okapi"), "n.md")
	})
	t.Run("an agent writes under the root it has selected and nowhere else", func(t *testing.T) {
		tenant, mounted := s.agent("tenant"), s.agent("mounted")
		answer := func(c *mcpClient, kb string) string {
			r, failed := c.any("rag_add_document", obj{"kb": kb, "path": "t.md", "content": "x"})
			return strings.ReplaceAll(fmt.Sprint(failed, r), `"`+kb+`"`, "K")
		}
		if got := answer(tenant, "al"); !strings.Contains(got, "kb_not_found") || s.exists("kbs/al/t.md") {
			t.Errorf("a KB of another root: %s", got)
		}
		tenant.call("rag_add_document", obj{"kb": "mine", "path": "t.md", "content": "the tenant's quagga"})
		if !s.exists("other/mine/t.md") || s.exists("kbs/mine") {
			t.Error("the new KB is not under the agent's root")
		}
		c.settle()
		want(t, "found", all(tenant.call("rag_search", obj{"query": "quagga"}).list("results"), "kb"), "mine")
		want(t, "of another root and absent", answer(mounted, "al"), answer(mounted, "absent"))
		if s.exists("kbs/absent") || s.exists("other/absent") {
			t.Error("an agent made a KB outside its root")
		}
	})
	t.Run("rag_delete_document takes the file and everything of it; an absent one is not claimed", func(t *testing.T) {
		add("al", "gone.md", "the wombat")
		want(t, "found", found("wombat"), "gone.md")
		want(t, "existed", c.call("rag_delete_document", obj{"kb": "al", "path": "gone.md"})["existed"], true)
		want(t, "found after", found("wombat"), "")
		if s.exists("kbs/al/gone.md") {
			t.Error("the file is still there")
		}
		want(t, "existed twice", c.call("rag_delete_document", obj{"kb": "al", "path": "gone.md"})["existed"], false)
		// One that is queued still is gone, too, and does not come back.
		add("al", "queued.md", "the quoll")
		want(t, "existed", c.call("rag_delete_document", obj{"kb": "al", "path": "queued.md"})["existed"], true)
		want(t, "found", found("quoll"), "")
	})
	t.Run("rag_delete_kb without confirm says how many documents would go", func(t *testing.T) {
		s.write("kbs/doomed/a.md", "one")
		s.write("kbs/doomed/b.md", "two")
		s.write("kbs/doomed/bad.pdf", "%PDF-1.4 no")
		c.settle()
		for _, args := range []obj{{"kb": "doomed"}, {"kb": "doomed", "confirm": false}, {"kb": "doomed", "confirm": nil}} {
			if r := c.refused("rag_delete_kb", args); r.str("code") != "confirm_required" || !strings.Contains(r.str("message"), "3 documents") || !s.exists("kbs/doomed/a.md") {
				t.Errorf("%v: %v", args, r)
			}
		}
		r := c.call("rag_delete_kb", obj{"kb": "doomed", "confirm": "true"})
		want(t, "answer", fmt.Sprint(r["kb"], r["existed"], r["documents"]), "doomedtrue 3")
		if s.exists("kbs/doomed") {
			t.Error("the folder is still there")
		}
		c.settle()
		want(t, "in the list", strings.Contains(all(c.call("rag_list_kbs", obj{}).list("kbs"), "name"), "doomed"), false)
		want(t, "existed twice", c.call("rag_delete_kb", obj{"kb": "doomed", "confirm": true})["existed"], false)
	})
	t.Run("of a mounted folder only the index is deleted", func(t *testing.T) {
		for _, kb := range []string{"fixed", "open"} {
			c.call("rag_delete_kb", obj{"kb": kb, "confirm": true})
			files, err := filepath.Glob(s.path(kb + "/*.md"))
			if err != nil || len(files) == 0 {
				t.Errorf("%s: the files are gone (%v)", kb, err)
			}
		}
	})
	t.Run("rag_reindex counts, and force leaves the old text searchable meanwhile", func(t *testing.T) {
		c.settle()
		s.write("kbs/al/later.md", "the numbat")
		r := c.call("rag_reindex", obj{"kb": "al"})
		for _, field := range []string{"added", "modified", "deleted", "skipped", "excluded", "enqueued"} {
			if _, ok := r[field].(float64); !ok {
				t.Errorf("no number %s in %v", field, r)
			}
		}
		want(t, "found", found("numbat"), "later.md")
		c.call("rag_reindex", obj{"force": true})
		want(t, "at once after force", all(c.call("rag_search", obj{"query": "numbat"}).list("results"), "path"), "later.md")
		want(t, "in the end", found("numbat"), "later.md")
	})
}
