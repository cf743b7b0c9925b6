package mcpserver

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ragd/internal/fault"
	"ragd/internal/store"
	"ragd/internal/wire"
)

func TestCatalogueStatesSchemasAndAllFourHints(t *testing.T) {
	_, addr := startServer(t, newWorld(t), Options{})
	c := dial(t, addr)
	schemas(t, c) // all compile
	var list struct {
		Tools []struct {
			Name, Title, Description string
			Annotations              map[string]any
		}
	}
	if err := json.Unmarshal(c.request("tools/list", m{}).Result, &list); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, x := range list.Tools {
		names = append(names, x.Name)
		for _, h := range []string{"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"} {
			if _, ok := x.Annotations[h].(bool); !ok {
				t.Errorf("%s does not state %s", x.Name, h)
			}
		}
		if len(x.Description) < 80 || x.Title == "" {
			t.Errorf("%s is hardly described", x.Name)
		}
		changes := slices.Contains([]string{"rag_add_document", "rag_delete_document", "rag_delete_kb", "rag_reindex"}, x.Name)
		if x.Annotations["readOnlyHint"] == changes {
			t.Errorf("%s: readOnlyHint %v", x.Name, x.Annotations["readOnlyHint"])
		}
	}
	for _, want := range []string{"rag_search", "rag_read", "rag_list_kbs", "rag_list_documents", "rag_add_document", "rag_delete_document", "rag_delete_kb", "rag_reindex", "rag_status", "rag_jobs"} {
		if !slices.Contains(names, want) {
			t.Errorf("%s is not listed", want)
		}
	}
	if names[0] != "rag_search" || names[1] != "rag_read" {
		t.Errorf("find and read do not come first: %v", names)
	}
}

func listedTools(c *client) string { return string(c.request("tools/list", m{}).Result) }

func TestCoreSurfaceHidesAdvancedToolsButCallsThem(t *testing.T) {
	w := newWorld(t, "notes")
	_, addr := startServer(t, w, Options{Surface: SurfaceCore})
	c := dial(t, addr)
	if l := listedTools(c); strings.Contains(l, "rag_delete_kb") || !strings.Contains(l, "rag_search") {
		t.Error(l)
	}
	c.refused("rag_delete_kb", m{"kb": "notes"}, "confirm_required")
}

func TestReadOnlyAgentIsRefusedWritingAndNotShownIt(t *testing.T) {
	w := newWorld(t, "notes")
	w.put("notes", "a.md", "x")
	_, addr := startServer(t, w, Options{Agent: Agent{Name: "reader", ReadOnly: true}})
	c := dial(t, addr)
	for name, args := range map[string]m{
		"rag_add_document": {"kb": "notes", "path": "b.md", "content": "x"}, "rag_delete_document": {"kb": "notes", "path": "a.md"},
		"rag_delete_kb": {"kb": "notes", "confirm": true}, "rag_reindex": {},
	} {
		if strings.Contains(listedTools(c), `"`+name+`"`) {
			t.Errorf("%s is listed", name)
		}
		c.refused(name, args, "read_only")
		c.refused(name, m{"nonsense": 1}, "read_only")
	}
	if _, err := os.Stat(filepath.Join(w.root, "notes", "a.md")); err != nil {
		t.Error(err)
	}
	ok[readOut](c, "rag_read", m{"kb": "notes", "path": "a.md"})
}

func TestToolsAnAgentMayNotCallDoNotExistForIt(t *testing.T) {
	_, addr := startServer(t, newWorld(t, "notes"), Options{Agent: Agent{Tools: []string{"rag_search"}}})
	c := dial(t, addr)
	a := c.request("tools/call", m{"name": "rag_status", "arguments": m{}})
	b := c.request("tools/call", m{"name": "rag_nonsense", "arguments": m{}})
	if a.Error == nil || b.Error == nil || strings.ReplaceAll(a.Error.Message, "rag_status", "X") != strings.ReplaceAll(b.Error.Message, "rag_nonsense", "X") {
		t.Errorf("%+v / %+v", a.Error, b.Error)
	}
	if l := listedTools(c); strings.Contains(l, "rag_status") || !strings.Contains(l, "rag_search") {
		t.Error(l)
	}
}

func TestListKBsCountsAndSortsByName(t *testing.T) {
	w := newWorld(t, "zeta", "alpha", "new\nline")
	w.put("alpha", "a.md", "12345")
	w.put("alpha", "b.md", "123")
	if err := os.Mkdir(filepath.Join(w.root, "empty"), 0o755); err != nil { // on disk, not indexed yet
		t.Fatal(err)
	}
	_, addr := startServer(t, w, Options{})
	out, text := ok[listKBsOut](dial(t, addr), "rag_list_kbs", m{})
	want := []kbRow{{"alpha", 2, 2, 8}, {"empty", 0, 0, 0}, {"new\nline", 0, 0, 0}, {"zeta", 0, 0, 0}}
	if !slices.Equal(out.KBs, want) || out.Total != 4 {
		t.Errorf("%+v", out)
	}
	if !strings.Contains(text, "alpha: 2 documents") || !strings.Contains(text, `new\nline: 0`) {
		t.Error(text)
	}
}

func TestNoKBsSaysWhereToPutFolders(t *testing.T) {
	w := newWorld(t)
	_, addr := startServer(t, w, Options{})
	c := dial(t, addr)
	out, text := ok[listKBsOut](c, "rag_list_kbs", m{})
	if out.KBs == nil || len(out.KBs) != 0 || !strings.Contains(strings.ToLower(text), "no knowledge bases") || !strings.Contains(text, w.root) {
		t.Errorf("%+v %s", out, text)
	}
	found, _ := ok[searchOut](c, "rag_search", m{"query": "x"})
	if !strings.Contains(found.Reason, w.root) {
		t.Errorf("%+v", found)
	}
}

func TestListDocumentsPagesThroughAllInOrder(t *testing.T) {
	w := newWorld(t, "notes")
	var want []string
	for i := range 25 {
		p := fmt.Sprintf("d%d/file %02d.md", i%3, i)
		w.put("notes", p, "x")
		want = append(want, p)
	}
	w.set("notes", "d9/gone.pdf", func(d *fakeDoc) { d.rec.State, d.rec.Reason = store.StateExcluded, "no reader for PDF" })
	w.set("notes", "d9/caf\xe9.md", func(d *fakeDoc) { d.rec.State = store.StateFailed; d.rec.Reason = "broken" })
	want = append(want, "d9/gone.pdf", "d9/caf�E9.md")
	slices.Sort(want)
	want[len(want)-2], want[len(want)-1] = "d9/caf�E9.md", "d9/gone.pdf"
	_, addr := startServer(t, w, Options{})
	c := dial(t, addr)
	for _, limit := range []int{1, 4, 9, 100} {
		var got []string
		args := m{"kb": "notes", "limit": limit}
		for {
			out, text := ok[listDocumentsOut](c, "rag_list_documents", args)
			if out.Total != 27 || len(out.Documents) > limit || out.KB != "notes" {
				t.Fatalf("%+v", out)
			}
			for _, d := range out.Documents {
				got = append(got, d.Path)
			}
			if out.NextCursor == "" {
				break
			}
			if !strings.Contains(text, out.NextCursor) {
				t.Error("the text does not say how to get the rest")
			}
			args["cursor"] = out.NextCursor
		}
		if !slices.Equal(got, want) {
			t.Errorf("limit %d: %q", limit, got)
		}
	}
	out, text := ok[listDocumentsOut](c, "rag_list_documents", m{"kb": "notes"})
	last := out.Documents[26]
	if last.Status != "excluded" || last.Reason != "no reader for PDF" || !strings.Contains(text, "excluded") || !strings.Contains(text, last.Reason) {
		t.Errorf("%+v\n%s", last, text)
	}
	if out.Freshness.Failed != 1 {
		t.Errorf("%+v", out.Freshness)
	}
}

func TestPagesOfEndlessPathsStayWithinBudget(t *testing.T) {
	w := newWorld(t, "notes")
	long := strings.Repeat(strings.Repeat("x", 200)+"/", 15)
	for i := range 60 {
		w.set("notes", fmt.Sprintf("%s%03d", long, i), func(d *fakeDoc) { d.rec.State = store.StateIndexed })
	}
	_, addr := startServer(t, w, Options{})
	c := dial(t, addr)
	seen, args := 0, m{"kb": "notes", "limit": 1000}
	for {
		r := c.tool("rag_list_documents", args)
		if len(r.raw) > 120_000 {
			t.Fatalf("a page of %d characters", len(r.raw))
		}
		var out listDocumentsOut
		if err := json.Unmarshal(r.Data, &out); err != nil {
			t.Fatal(err)
		}
		if seen += len(out.Documents); out.NextCursor == "" {
			break
		}
		args["cursor"] = out.NextCursor
	}
	if seen != 60 {
		t.Errorf("%d documents in all", seen)
	}
}

func TestReadingPagesGivesTheTextBackExactly(t *testing.T) {
	w := newWorld(t, "notes")
	text := strings.Repeat("Zeile 1 ✓\r\n\ttab \x1b[31m 𠜎😀 e\u0301\n", 400)
	w.put("notes", "a.md", text)
	_, addr := startServer(t, w, Options{})
	c := dial(t, addr)
	for _, limit := range []int{1000, 4097, 100_000} {
		var got strings.Builder
		for offset := 0; ; {
			out, shown := ok[readOut](c, "rag_read", m{"kb": "notes", "path": "a.md", "offset": offset, "limit_chars": limit})
			if out.Offset != offset || out.Limit != limit || out.TotalChars != runes(text) || strings.Contains(shown, "\x1b") {
				t.Fatalf("%+v", out)
			}
			got.WriteString(out.Content)
			if offset += runes(out.Content); !out.Truncated {
				break
			}
			if !strings.Contains(shown, fmt.Sprintf("offset %d", offset)) {
				t.Error("the text does not say how to go on")
			}
		}
		if got.String() != text {
			t.Errorf("pages of %d do not give the text back", limit)
		}
	}
	past, _ := ok[readOut](c, "rag_read", m{"kb": "notes", "path": "a.md", "offset": 1 << 30})
	if past.Content != "" || past.Truncated {
		t.Errorf("past the end: %+v", past)
	}
}

func TestReadTellsFrontMatterApartAndSurvivesAnyYAML(t *testing.T) {
	w := newWorld(t, "notes")
	w.put("notes", "a.md", "body")
	var nan float64
	nan /= nan
	deep := any("x")
	for range 100 {
		deep = []any{deep}
	}
	w.set("notes", "a.md", func(d *fakeDoc) {
		d.revisions[0].front = map[string]any{"tags": []any{"a", 1}, "odd": map[any]any{1: true}, "nan": nan, "at": time.Unix(0, 0).UTC(), "deep": deep, "n": 5}
		d.revisions[0].frontError = "front matter: unreadable, line 3"
	})
	_, addr := startServer(t, w, Options{})
	out, text := ok[readOut](dial(t, addr), "rag_read", m{"kb": "notes", "path": "a.md"})
	if fmt.Sprint(out.FrontMatter["tags"]) != "[a 1]" || out.FrontMatter["at"] != "1970-01-01T00:00:00Z" || out.FrontMatter["nan"] != "NaN" || out.Content != "body" || out.FrontError == "" {
		t.Errorf("%+v", out)
	}
	if !strings.Contains(text, "line 3") || !strings.HasSuffix(text, "\nbody") {
		t.Error(text)
	}
}

func TestReadSaysWhenTheFileHasChangedSince(t *testing.T) {
	w := newWorld(t, "notes")
	w.put("notes", "a.md", "one")
	_, addr := startServer(t, w, Options{})
	c := dial(t, addr)
	read := func() readOut {
		out, _ := ok[readOut](c, "rag_read", m{"kb": "notes", "path": "a.md"})
		return out
	}
	if read().Stale {
		t.Error("fresh text called stale")
	}
	if err := os.Chtimes(filepath.Join(w.root, "notes", "a.md"), time.Now(), time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if read().Stale {
		t.Error("a touched file with the same bytes called stale")
	}
	w.set("notes", "a.md", func(d *fakeDoc) { d.rec.State = store.StatePending })
	if read().Stale {
		t.Error("queued again with the same bytes, called stale")
	}
	w.write("notes", "a.md", "two")
	if out := read(); !out.Stale || out.Content != "one" {
		t.Errorf("%+v", out)
	}
	old := read().RevisionID
	w.put("notes", "a.md", "two")
	if out := read(); out.Stale || out.Content != "two" {
		t.Errorf("%+v", out)
	}
	out, _ := ok[readOut](c, "rag_read", m{"kb": "notes", "path": "a.md", "revision": old})
	if out.Content != "one" || !out.Stale || out.RevisionID != old {
		t.Errorf("an old revision: %+v", out)
	}
	if err := os.Remove(filepath.Join(w.root, "notes", "a.md")); err != nil {
		t.Fatal(err)
	}
	if !read().Stale {
		t.Error("the text of a file that is gone is not called stale")
	}
	c.refused("rag_read", m{"kb": "notes", "path": "a.md", "revision": "0123"}, "revision_not_found")
}

func TestReadSaysWhyThereIsNothingToRead(t *testing.T) {
	w := newWorld(t, "notes")
	w.write("notes", "new.md", "x")
	w.set("notes", "failed.pdf", func(d *fakeDoc) { d.rec.State, d.rec.Reason = store.StateFailed, "encrypted" })
	w.set("notes", "big.bin", func(d *fakeDoc) { d.rec.State, d.rec.Reason = store.StateExcluded, "over 50 MiB" })
	w.set("notes", "queued.md", func(d *fakeDoc) { d.rec.State = store.StatePending })
	_, addr := startServer(t, w, Options{})
	c := dial(t, addr)
	for path, code := range map[string]string{"new.md": "document_not_indexed", "failed.pdf": "document_failed", "big.bin": "document_excluded", "queued.md": "document_not_indexed", "none.md": "document_not_found"} {
		f := c.refused("rag_read", m{"kb": "notes", "path": path}, code)
		if path == "failed.pdf" && !strings.Contains(f.Message, "encrypted") || path == "big.bin" && !strings.Contains(f.Message, "50 MiB") {
			t.Errorf("%+v", f)
		}
	}
}

func TestStatusTellsQueueEmbedderAndWatchers(t *testing.T) {
	w := newWorld(t, "notes", "other")
	w.put("notes", "a.md", "x")
	w.set("notes", "b.md", func(d *fakeDoc) { d.rec.State = store.StatePending })
	w.watchers = []wire.Watcher{{Root: "main", Mode: "degraded", Watches: 3, Reason: "watch limit", Advice: "raise it"}}
	_, addr := startServer(t, w, Options{})
	c := dial(t, addr)
	out, text := ok[statusOut](c, "rag_status", m{})
	if out.KBs != 2 || out.Documents != 1 || out.Chunks != 1 || out.Queue.Pending != 1 || out.Version != "1.2.3" || out.Uptime != 90 || out.Embedder.State != "off" || len(out.Watchers) != 1 {
		t.Errorf("%+v", out)
	}
	for _, want := range []string{"2 knowledge bases", "Queue: 1 pending", "degraded", "raise it", "1.2.3"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %s", want, text)
		}
	}
	if one, _ := ok[statusOut](c, "rag_status", m{"kb": "other"}); one.KBs != 1 || one.Documents != 0 || one.Queue.Pending != 0 {
		t.Errorf("%+v", one)
	}
	found, _ := ok[searchOut](c, "rag_search", m{"query": "x"})
	if len(found.Freshness.Degraded) != 1 || !strings.Contains(found.Freshness.Degraded[0], "watch limit") {
		t.Errorf("%+v", found.Freshness)
	}
}

func TestJobsShowFailuresWithReasonAndQueueFirst(t *testing.T) {
	w := newWorld(t, "notes")
	for i := range 7 {
		w.jobs = append(w.jobs, store.Job{ID: int64(i + 1), KB: 1, KBName: "notes", Path: fmt.Sprintf("f%d.pdf", i), State: store.JobFailed, Stage: "extract", Class: fault.Permanent, Message: "encrypted\x1b", Attempts: 3})
	}
	w.jobs = append(w.jobs, store.Job{ID: 99, KB: 1, KBName: "notes", Path: "p.md", State: store.JobPending, NextTry: time.Unix(100, 0)})
	w.set("notes", "x", func(d *fakeDoc) { d.rec.State = store.StateFailed })
	_, addr := startServer(t, w, Options{})
	c := dial(t, addr)
	out, text := ok[jobsOut](c, "rag_jobs", m{})
	if len(out.Jobs) != 7 || out.Total != 7 || out.Jobs[0].Class != "permanent" || out.Jobs[0].Stage != "extract" || out.Jobs[0].NextTry != nil || out.Jobs[0].Attempts != 3 {
		t.Errorf("%+v", out)
	}
	if first, _, _ := strings.Cut(text, "\n"); first != "Queue: 0 pending, 0 processing, 1 failed" || strings.Contains(text, "\x1b") || !strings.Contains(text, "encrypted") {
		t.Error(text)
	}
	pending, _ := ok[jobsOut](c, "rag_jobs", m{"state": "pending"})
	if len(pending.Jobs) != 1 || pending.Jobs[0].NextTry == nil || *pending.Jobs[0].NextTry != "1970-01-01T00:01:40Z" {
		t.Errorf("%+v", pending)
	}
	var ids []int64
	args := m{"limit": 3}
	for {
		page, _ := ok[jobsOut](c, "rag_jobs", args)
		for _, j := range page.Jobs {
			ids = append(ids, j.ID)
		}
		if page.NextCursor == "" || len(page.Jobs) == 0 {
			break
		}
		args["cursor"] = page.NextCursor
	}
	if !slices.Equal(ids, []int64{7, 6, 5, 4, 3, 2, 1}) {
		t.Errorf("%v", ids)
	}
	c.refused("rag_list_documents", m{"kb": "notes", "cursor": args["cursor"]}, "bad_cursor")
}
