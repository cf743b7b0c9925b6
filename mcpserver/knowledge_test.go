package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ragd/internal/search"
	"ragd/internal/store"
)

func TestListChunksTakesALiteralPrefixOfTheSourcePath(t *testing.T) {
	w := newWorld(t, "a", "a-b", "A")
	for _, p := range []string{"x_y.md", "xzy.md", "x%y.md", "dir/f.md", "caf\xe9.md"} {
		w.put("a", p, p)
	}
	w.put("a-b", "x.md", "1")
	w.put("A", "x.md", "1")
	w.set("a", "xzy.md", func(d *fakeDoc) { d.rec.Meta.ArtifactID = "art-1" })
	_, addr := startServer(t, w, Options{})
	c := dial(t, addr)
	for prefix, want := range map[string][]string{
		"":  {"A/x.md", "a-b/x.md", "a/caf�E9.md", "a/dir/f.md", "a/x%y.md", "a/x_y.md", "a/xzy.md"},
		"a": {"a-b/x.md", "a/caf�E9.md", "a/dir/f.md", "a/x%y.md", "a/x_y.md", "a/xzy.md"}, "a/x_": {"a/x_y.md"}, "a/x%": {"a/x%y.md"}, "a-": {"a-b/x.md"}, "A/": {"A/x.md"},
		"a/caf�E9": {"a/caf�E9.md"}, "b": {}, "a/dir/f.md/": {}, "a/X": {},
	} {
		out, text := ok[listChunksOut](c, "list_chunks", m{"prefix": prefix})
		var got []string
		for _, e := range out.Entries {
			got = append(got, e.SourcePath)
			if e.LastSyncedAt != "2023-11-14T22:13:20.123Z" || len(e.ContentHash) != 64 || (e.IdentityID != nil) != (e.SourcePath == "a/xzy.md") {
				t.Errorf("%+v", e)
			}
		}
		if !slices.Equal(got, want) && len(got)+len(want) > 0 || out.Total != int64(len(want)) || out.Truncated || out.Prefix != prefix || !out.Success || out.Summary == "" {
			t.Errorf("%q: %+v, want %v", prefix, out, want)
		}
		var same listChunksOut
		if err := json.Unmarshal([]byte(text), &same); err != nil || fmt.Sprint(same.Total, same.Summary) != fmt.Sprint(out.Total, out.Summary) {
			t.Errorf("the text is not the same JSON: %v %s", err, text)
		}
	}
	out, _ := ok[listChunksOut](c, "list_chunks", m{"prefix": "", "limit": 3})
	if len(out.Entries) != 3 || out.Total != 7 || !out.Truncated {
		t.Errorf("%+v", out)
	}
	r := c.tool("list_chunks", m{"prefix": ""})
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(r.Data, &keys); err != nil || len(keys) != 6 {
		t.Errorf("%d keys: %s", len(keys), r.Data)
	}
}

func TestListChunksCountsSupersededChunksOnlyWhenAsked(t *testing.T) {
	w := newWorld(t, "a")
	w.put("a", "x.md", "one")
	w.put("a", "x.md", "two")
	w.put("a", "gone.md", "g")
	w.set("a", "gone.md", func(d *fakeDoc) { d.rec.RevisionID = "" })
	_, addr := startServer(t, w, Options{})
	c := dial(t, addr)
	out, _ := ok[listChunksOut](c, "list_chunks", m{"prefix": "a/"})
	if len(out.Entries) != 1 || out.Entries[0].ChunkCount != 1 || out.Entries[0].ActiveCount != 1 {
		t.Errorf("%+v", out)
	}
	out, _ = ok[listChunksOut](c, "list_chunks", m{"prefix": "a/", "includeDeprecated": true})
	if len(out.Entries) != 2 || out.Entries[1].ChunkCount != 2 || out.Entries[1].ActiveCount != 1 || out.Entries[0].ActiveCount != 0 {
		t.Errorf("%+v", out)
	}
}

func TestListChunksFailsInItsOwnShape(t *testing.T) {
	w := newWorld(t, "a")
	_, addr := startServer(t, w, Options{})
	c := dial(t, addr)
	code := func(args m) string {
		r := c.tool("list_chunks", args)
		var f listChunksFailure
		if err := json.Unmarshal(r.Data, &f); err != nil || !r.IsError || !f.Error || f.Message == "" || f.AIInstruction == "" || r.text() != string(r.Data) {
			t.Errorf("%v %+v", err, f)
		}
		return f.Code
	}
	if got := code(m{}); got != "INVALID_ARGUMENT" {
		t.Error(got)
	}
	if got := code(m{"prefix": "", "limit": 1001}); got != "INVALID_ARGUMENT" {
		t.Error(got)
	}
	w.fail = errors.New("disk I/O error")
	if got := code(m{"prefix": ""}); got != "DATABASE_ERROR" {
		t.Error(got)
	}
	s := &tool{name: "list_chunks", failure: chunksFailure, run: func(context.Context, *call) (*reply, error) { panic("x") }}
	srv := New(Options{}, w.deps())
	r := srv.call(context.WithValue(context.Background(), requestKey{}, &request{sess: newSession("s", "", nil, 0, nil)}), s)
	if !strings.Contains(string(r.RawStructuredContent), "UNKNOWN_ERROR") {
		t.Errorf("%s", r.RawStructuredContent)
	}
}

func TestFindDocsListsByNamespaceAndPathUpToFiveHundred(t *testing.T) {
	w := newWorld(t, "a", "b")
	for i := range 499 {
		w.put("b", fmt.Sprintf("f%03d.md", i), "x")
	}
	w.put("a", "z.md", "x")
	w.set("a", "z.md", func(d *fakeDoc) {
		d.rec.Meta = store.DocMeta{Title: "T", Type: "adr", Status: "canon", Tags: []string{"x"}, Created: "2024-01-01"}
	})
	_, addr := startServer(t, w, Options{})
	c := dial(t, addr)
	out, _ := ok[findDocsOut](c, "capsid_find_docs", m{})
	if out.Count != 500 || out.Limit != 500 || out.Truncated || out.Note != "" || out.Documents[0].Namespace != "a" || out.Documents[499].Path != "f498.md" {
		t.Errorf("%d %v %q", out.Count, out.Truncated, out.Note)
	}
	first := out.Documents[0]
	if first.ID != "a/z.md" || first.Title != "T" || first.Type != "adr" || first.Status != "canon" || first.Tags[0] != "x" || *first.CreatedAt != "2024-01-01" || first.UpdatedAt == nil {
		t.Errorf("%+v", first)
	}
	if d := out.Documents[1]; d.Type != "note" || d.Status != "published" || d.Tags == nil || d.CreatedAt != nil {
		t.Errorf("%+v", d)
	}
	w.put("a", "zz.md", "x")
	if out, _ = ok[findDocsOut](c, "capsid_find_docs", m{"action": "list"}); out.Count != 500 || !out.Truncated || out.Note == "" {
		t.Errorf("%d %v %q", out.Count, out.Truncated, out.Note)
	}
	for _, args := range []m{{"type": "adr"}, {"status": "canon"}, {"action": "glob", "glob": "*z.md", "namespace": "a"}} {
		if out, _ = ok[findDocsOut](c, "capsid_find_docs", args); len(out.Documents) == 0 || out.Documents[0].Path != "z.md" {
			t.Errorf("%v: %+v", args, out)
		}
	}
	if out, _ = ok[findDocsOut](c, "capsid_find_docs", m{"type": "unheard-of"}); out.Documents == nil || out.Count != 0 {
		t.Errorf("%+v", out)
	}
	c.refused("capsid_find_docs", m{"action": "glob"}, "missing_argument")
	c.refused("capsid_find_docs", m{"action": "search"}, "missing_argument")
	c.refused("capsid_find_docs", m{"action": "namespaces", "namespace": "a"}, "invalid_argument")
	c.refused("capsid_find_docs", m{"action": "list", "query": "x"}, "invalid_argument")
	c.refused("capsid_find_docs", m{"namespace": "zzz"}, "kb_not_found")
}

func TestFindDocsSearchGivesDocumentsWithRelevantCanonFirst(t *testing.T) {
	w := newWorld(t, "a")
	w.put("a", "x.md", "x")
	for i := range 40 {
		w.put("a", fmt.Sprintf("%02d.md", i), "the fox")
	}
	w.set("a", "07.md", func(d *fakeDoc) { d.rec.Meta.Status = "closed" })
	var asked search.Request
	w.onSearch = func(_ context.Context, req search.Request) (*search.Response, error) {
		asked = req
		hit := func(i int, score float64, canon bool, status string) search.Hit {
			return search.Hit{KB: "a", Path: fmt.Sprintf("%02d.md", i), Score: score, Canon: canon, Status: status, Match: "keyword", Content: "the fox"}
		}
		resp := &search.Response{Fallback: "no embedder"}
		resp.Hits = append(resp.Hits, hit(0, 0.9, false, ""), hit(0, 0.8, false, ""), hit(1, 0.6, true, "published"), hit(2, 0.5, false, "canon"), hit(3, 0.2, true, ""))
		for i := 4; i < 40; i++ {
			resp.Hits = append(resp.Hits, hit(i, 0.1, false, ""))
		}
		return resp, nil
	}
	_, addr := startServer(t, w, Options{})
	c := dial(t, addr)
	out, _ := ok[findDocsOut](c, "capsid_find_docs", m{"action": "search", "query": "fox", "type": "adr", "namespace": "a"})
	var got []string
	for _, d := range out.Documents {
		got = append(got, d.Path)
	}
	if want := []string{"01.md", "02.md", "00.md", "03.md"}; len(got) != 25 || !slices.Equal(got[:4], want) || !out.Truncated || out.Limit != 25 || out.Fallback != "no embedder" || out.Documents[0].Snippet != "the fox" || out.Documents[0].Match != "keyword" {
		t.Errorf("%v %+v", got, out)
	}
	if asked.IncludeRetired || !slices.Equal(asked.Types, []string{"adr"}) || asked.PerDocument != 1 || len(asked.KBs) != 1 {
		t.Errorf("%+v", asked)
	}
	w.onSearch = nil
	for _, include := range []bool{false, true} {
		out, _ := ok[findDocsOut](c, "capsid_find_docs", m{"action": "search", "query": "fox", "include_retired": include})
		if has := slices.ContainsFunc(out.Documents, func(d docRow) bool { return d.Path == "07.md" }); has != include {
			t.Errorf("include_retired %v: listed %v", include, has)
		}
	}
}

func TestFindDocsNamespacesGiveRemotesWithoutSecrets(t *testing.T) {
	w := newWorld(t, "plain", "repo")
	git := filepath.Join(w.root, "repo", ".git")
	if err := os.Mkdir(git, 0o755); err != nil {
		t.Fatal(err)
	}
	config := "[core]\n\turl = nope\n[remote \"origin\"]\n\turl = https://me:token@example.org/x.git?key=1\n\tfetch = +refs\n[REMOTE \"two\"]\nURL=git@example.org:y/z.git\n[remote \"l\"]\nurl = /home/me/secret\n[remote \"f\"]\nurl = file:///home/me/secret\n[branch \"m\"]\nurl = no\n[remote \"s\"]\nurl = ssh://git:pw@h/x\n"
	if err := os.WriteFile(filepath.Join(git, "config"), []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	_, addr := startServer(t, w, Options{})
	out, _ := ok[findDocsOut](dial(t, addr), "capsid_find_docs", m{"action": "namespaces"})
	if out.Count != 2 || out.Namespaces[0].Repos == nil || len(out.Namespaces[0].Repos) != 0 {
		t.Errorf("%+v", out)
	}
	if want := []string{"https://example.org/x.git", "git@example.org:y/z.git", "ssh://git@h/x"}; !slices.Equal(out.Namespaces[1].Repos, want) {
		t.Errorf("%v", out.Namespaces[1].Repos)
	}
	other := newWorld(t, "link")
	if err := os.Symlink(git, filepath.Join(other.root, "link", ".git")); err != nil {
		t.Fatal(err)
	}
	if got := gitRemotes(filepath.Join(other.root, "link")); len(got) != 0 {
		t.Errorf("followed a link out of the folder: %v", got)
	}
}

func TestKnowledgeStatusTellsTheThreeStatesApart(t *testing.T) {
	w := newWorld(t, "here", "there", "waiting", "broken", "empty", "foreign")
	w.put("here", "a.md", "x")
	w.put("here", "b.md", "x")
	w.put("there", "c.md", "x")
	w.put("foreign", "c.md", "x")
	w.set("here", "c.pdf", func(d *fakeDoc) { d.rec.State = store.StateFailed })
	w.set("waiting", "p.md", func(d *fakeDoc) { d.rec.State = store.StatePending })
	w.set("broken", "f.pdf", func(d *fakeDoc) { d.rec.State = store.StateFailed })
	w.jobs = []store.Job{{ID: 1, KB: w.kbs["broken"].info.ID, KBName: "broken", Path: "f.pdf", State: store.JobFailed, Message: "encrypted"}}
	w.kbs["there"].info.Root = "other"
	if err := os.RemoveAll(w.kbs["there"].info.Dir); err != nil { // of a root that this fake's disk has not
		t.Fatal(err)
	}
	_, addr := startServer(t, w, Options{Agent: Agent{Name: "a", Root: "main", KBs: []string{"here", "there", "waiting", "broken", "empty"}}})
	c := dial(t, addr)
	for id, want := range map[string]struct {
		indexed, registered bool
		hint                string
	}{
		"here": {true, true, ""}, fmt.Sprint(w.kbs["here"].info.ID): {true, true, ""}, "there": {false, true, "switch to other"}, "waiting": {false, false, "1 document pending"},
		"broken": {false, false, "1 failed (f.pdf: encrypted)"}, "empty": {false, false, "no documents"}, "nowhere": {false, false, "no knowledge base"}, "foreign": {false, false, "no knowledge base"},
	} {
		out, text := ok[knowledgeStatusOut](c, "knowledge_status", m{"projectId": id})
		if out.Indexed != want.indexed || out.RegisteredInUserIndex != want.registered || (out.Hint == "") != want.indexed || !strings.Contains(out.Hint, want.hint) || out.ItemCount != len(out.ImportedItemIDs) || out.ImportedItemIDs == nil {
			t.Errorf("%s: %+v", id, out)
		}
		if !want.indexed && (out.ChunkCount != 0 || out.ItemCount != 0) || want.indexed && (out.ChunkCount != 2 || !slices.Equal(out.ImportedItemIDs, []string{"here/a.md", "here/b.md"})) {
			t.Errorf("%s: %+v", id, out)
		}
		found := c.tool("rag_search", m{"query": "x", "kb": id})
		if !want.indexed != (found.IsError || strings.Contains(string(found.Data), `"results":[]`)) && id != fmt.Sprint(w.kbs["here"].info.ID) {
			t.Errorf("%s: search does not agree: %s", id, found.Data)
		}
		if !strings.HasPrefix(text, "{") {
			t.Error(text)
		}
	}
	a, b := c.tool("knowledge_status", m{"projectId": "foreign"}), c.tool("knowledge_status", m{"projectId": "unknown"})
	if strings.ReplaceAll(string(b.raw), "unknown", "foreign") != string(a.raw) {
		t.Errorf("%s\n%s", a.raw, b.raw)
	}
}

func TestSearchKnowledgeShapesExcludeEachOther(t *testing.T) {
	w := newWorld(t, "k")
	w.put("k", "a.md", "the fox")
	_, addr := startServer(t, w, Options{})
	c := dial(t, addr)
	for code, list := range map[string][]m{
		"knowledge_invalid_request": {
			{"query": "x", "knowledge_item_id": "k/a.md"}, {"query": "x", "offset": 1}, {"query": "x", "knowledge_revision_id": "r"}, {"knowledge_item_id": "k/a.md", "max_results": 3}, {"knowledge_item_id": "k/a.md", "alpha": 1},
			{"query": "x", "max_results": 51}, {"query": "x", "max_results": 0}, {"knowledge_item_id": "k/a.md", "limit_chars": 10001}, {"knowledge_item_id": "k/a.md", "offset": -1}, {"nonsense": 1},
		},
		"knowledge_query_required":       {{}, {"query": ""}, {"query": "", "knowledge_item_id": ""}, {"mode": "hybrid"}},
		"knowledge_item_required":        {{"knowledge_revision_id": "r"}, {"query": "", "knowledge_revision_id": "r"}},
		"knowledge_resource_unavailable": {{"knowledge_item_id": "k/none.md"}, {"knowledge_item_id": "zzz/a.md"}, {"knowledge_item_id": "k"}, {"knowledge_item_id": "k/../a"}, {"knowledge_item_id": "k/a.md", "knowledge_revision_id": "r"}, {"query": "x", "knowledge_base_id": "zzz"}},
	} {
		for _, args := range list {
			c.refused("search_knowledge", args, code)
		}
	}
}

func TestSearchKnowledgeGivesPublishedItemsWithScores(t *testing.T) {
	w := newWorld(t, "k")
	for _, p := range []string{"a.md", "b.md", "draft.md"} {
		w.put("k", p, "the fox "+strings.Repeat("é", 600))
	}
	w.set("k", "draft.md", func(d *fakeDoc) { d.rec.Meta.Status = "draft" })
	_, addr := startServer(t, w, Options{})
	c := dial(t, addr)
	out, _ := ok[knowledgeSearchOut](c, "search_knowledge", m{"query": "fox", "mode": "nonsense", "alpha": 7})
	if out.Type != "knowledge_search" || len(out.Results) != 2 {
		t.Fatalf("%+v", out)
	}
	h := out.Results[0]
	if h.ItemID != "k/a.md" || h.RevisionID == "" || h.Reference != "rag://k/a.md" || h.Scores.Fused <= 0 || h.Scores.Lexical != h.Scores.Fused || runes(h.Excerpt) > excerptChars || h.Source.Path != "a.md" {
		t.Errorf("%+v", h)
	}
	c.refused("search_knowledge", m{"knowledge_item_id": "k/draft.md"}, "knowledge_resource_unavailable")
	var req search.Request
	w.onSearch = func(_ context.Context, r search.Request) (*search.Response, error) {
		req = r
		return &search.Response{}, nil
	}
	for mode, want := range map[string]search.Mode{"": search.ModeHybrid, "lexical": search.ModeKeyword, "semantic": search.ModeMeaning, "rrf": search.ModeRRF, "x": search.ModeHybrid} {
		for alpha, clamped := range map[float64]float64{-3: 0, 0.25: 0.25, 9: 1} {
			out, _ := ok[knowledgeSearchOut](c, "search_knowledge", m{"query": "fox", "mode": mode, "alpha": alpha})
			if req.Mode != want || req.Alpha == nil || *req.Alpha != clamped || out.Reason == "" {
				t.Errorf("%s %v: %+v", mode, alpha, req)
			}
		}
	}
}

func TestAddressedRevisionStaysTheSame(t *testing.T) {
	w := newWorld(t, "k")
	text := strings.Repeat("é𠜎 line\n", 2000)
	w.put("k", "d/a.md", text)
	_, addr := startServer(t, w, Options{Agent: Agent{Name: "me"}})
	c := dial(t, addr)
	read := func(rev string, limit int) (string, knowledgeOut) {
		var all strings.Builder
		for offset := 0; ; {
			args := m{"knowledge_item_id": "k/d/a.md", "offset": offset, "limit_chars": limit}
			if rev != "" {
				args["knowledge_revision_id"] = rev
			}
			out, _ := ok[knowledgeOut](c, "search_knowledge", args)
			all.WriteString(out.Content)
			if offset += runes(out.Content); !out.Truncated {
				return all.String(), out
			}
		}
	}
	got, first := read("", 4000)
	if got != text || first.Type != "knowledge" || first.Owner != "me" || first.Team != "main" || first.Scope != knowledgeScope || first.KBID != "k" || first.TotalChars != runes(text) {
		t.Errorf("%+v", first)
	}
	w.put("k", "d/a.md", "new")
	if got, _ := read(first.RevisionID, 9999); got != text {
		t.Error("the old revision changed")
	}
	if got, _ := read("", 10000); got != "new" {
		t.Errorf("current: %q", got)
	}
	if out, _ := ok[knowledgeSearchOut](c, "search_knowledge", m{"query": "line"}); len(out.Results) != 0 {
		t.Errorf("an old revision was found: %+v", out)
	}
}

func TestSearchKnowledgeCanBeTurnedOffOrWithheld(t *testing.T) {
	w := newWorld(t, "k")
	w.put("k", "a.md", "the fox")
	_, off := startServer(t, w, Options{KnowledgeDisabled: true})
	r := dial(t, off).tool("search_knowledge", m{"query": "fox"})
	if !r.IsError || !strings.Contains(string(r.Data), `"type":"knowledge_unavailable","code":"knowledge_runtime_disabled"`) {
		t.Errorf("%s", r.Data)
	}
	_, no := startServer(t, w, Options{Agent: Agent{NoKnowledge: true}})
	c := dial(t, no)
	c.refused("search_knowledge", m{"query": "fox"}, "knowledge_scope_required")
	if strings.Contains(listedTools(c), `"name":"search_knowledge"`) {
		t.Error("listed without the scope")
	}
}
