package mcpserver

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ragd/internal/search"
	"ragd/internal/store"
	"ragd/internal/wire"
)

func TestForeignKBAndUnknownKBGetTheSameAnswer(t *testing.T) {
	w := newWorld(t, "mine", "foreign", "mine-too")
	for _, kb := range []string{"mine", "foreign", "mine-too"} {
		w.put(kb, "a.md", "the fox of "+kb)
	}
	w.mu.Lock()
	for i, id := range []int64{w.kbs["mine"].info.ID, w.kbs["foreign"].info.ID} {
		w.jobs = append(w.jobs, store.Job{ID: int64(i + 1), KB: id, KBName: []string{"mine", "foreign"}[i], Path: "x", State: store.JobFailed, Stage: "extract"})
	}
	w.mu.Unlock()
	w.watchers = []wire.Watcher{{Root: "main", Mode: "events"}, {Root: "elsewhere", Mode: "degraded", Reason: "secret"}}
	_, addr := startServer(t, w, Options{Agent: Agent{Name: "a", KBs: []string{"mine*"}}})
	c := dial(t, addr)
	same := func(tool string, args m) {
		t.Helper()
		args["kb"] = "foreign"
		a := c.tool(tool, args)
		args["kb"] = "unknown"
		b := c.tool(tool, args)
		if string(a.raw) != strings.ReplaceAll(string(b.raw), "unknown", "foreign") {
			t.Errorf("%s tells them apart:\n%s\n%s", tool, a.raw, b.raw)
		}
	}
	for tool, args := range map[string]m{
		"rag_search": {"query": "fox"}, "rag_list_documents": {}, "rag_read": {"path": "a.md"}, "rag_delete_document": {"path": "a.md"}, "rag_reindex": {}, "rag_status": {},
		"rag_add_document": {"path": "b.md", "content": "x"}, "rag_delete_kb": {"confirm": true},
	} {
		same(tool, args)
	}
	same("rag_delete_kb", m{})
	if _, err := os.Stat(filepath.Join(w.root, "foreign", "a.md")); err != nil {
		t.Fatal("the foreign document is gone")
	}
	if _, err := os.Stat(filepath.Join(w.root, "unknown")); err == nil {
		t.Fatal("a KB outside the scope was made")
	}
	for name, got := range map[string]string{
		"search": string(c.tool("rag_search", m{"query": "fox"}).raw), "kbs": string(c.tool("rag_list_kbs", m{}).raw), "status": string(c.tool("rag_status", m{}).raw),
		"jobs": string(c.tool("rag_jobs", m{}).raw), "resources": string(c.request("resources/list", m{}).Result), "completion": string(c.completeKB("").Result),
	} {
		if strings.Contains(got, "foreign") || strings.Contains(got, "secret") {
			t.Errorf("%s shows what is foreign: %s", name, got)
		}
		if !strings.Contains(got, "mine") && name != "status" {
			t.Errorf("%s does not show what is mine: %s", name, got)
		}
	}
	a, b := c.request("resources/read", m{"uri": "rag://foreign/a.md"}), c.request("resources/read", m{"uri": "rag://unknown/a.md"})
	if a.Error == nil || b.Error == nil || a.Error.Code != codeNoResource || strings.ReplaceAll(b.Error.Message, "unknown", "foreign") != a.Error.Message {
		t.Errorf("%+v / %+v", a.Error, b.Error)
	}
	st, _ := ok[statusOut](c, "rag_status", m{})
	if st.KBs != 2 || st.Documents != 2 || len(st.Watchers) != 1 {
		t.Errorf("%+v", st)
	}
	ok[reindexOut](c, "rag_reindex", m{"force": true})
	if want := []string{"mine true", "mine-too true"}; !slices.Equal(w.reindex, want) {
		t.Errorf("reindexed %v, want %v", w.reindex, want)
	}
}

func TestStatusTellsAnAgentOfItsOwnBacklogAlone(t *testing.T) {
	w := newWorld(t, "mine", "foreign")
	w.put("mine", "a.md", "one")
	w.put("mine", "b.md", "two")
	w.embedder = wire.Embedder{State: "ready", Model: "m", Backlog: 900, Embedded: 4100, Total: 5000, Rate: 3, ETASeconds: 300}
	_, addr := startServer(t, w, Options{Agent: Agent{Name: "a", KBs: []string{"mine"}}})
	st, text := ok[statusOut](dial(t, addr), "rag_status", m{})
	if e := st.Embedder; e.Backlog != 1 || e.Total != 2 || e.Embedded != 1 || e.Rate != 0 || e.ETA != 0 || strings.Contains(text, "900") || strings.Contains(text, "5000") {
		t.Errorf("%+v\n%s", e, text)
	}
	_, addr = startServer(t, w, Options{})
	if st, _ := ok[statusOut](dial(t, addr), "rag_status", m{}); st.Embedder.Backlog != 900 || st.Embedder.Total != 5000 {
		t.Errorf("%+v", st.Embedder)
	}
}

func TestAnAgentWithNoKBsSeesNothingAtAll(t *testing.T) {
	w := newWorld(t, "foreign")
	w.put("foreign", "a.md", "the fox")
	w.set("foreign", "f.pdf", func(d *fakeDoc) { d.rec.State = store.StateFailed })
	w.jobs = []store.Job{{ID: 1, KB: 1, KBName: "foreign", Path: "f.pdf", State: store.JobFailed}}
	// A store and a searcher that take an empty list for "all".
	d := w.deps()
	d.Store, d.Search = allForNone{d.Store}, allForNoneSearch{d.Search}
	s := New(Options{Agent: Agent{KBs: []string{}}}, d)
	for name, args := range map[string]string{
		"rag_list_kbs": "", "rag_search": `{"query":"fox"}`, "rag_status": "", "rag_jobs": "", "rag_reindex": "", "list_chunks": `{"prefix":""}`, "capsid_find_docs": "", "search_knowledge": `{"query":"fox"}`,
	} {
		i := slices.IndexFunc(s.tools, func(t *tool) bool { return t.name == name })
		req := &request{sess: newSession("s", "", nil, 0, nil), args: json.RawMessage(args)}
		r := s.call(context.WithValue(context.Background(), requestKey{}, req), s.tools[i])
		for _, leak := range []string{"foreign", "a.md", `"documents":1`, `"failed":1`} {
			if strings.Contains(string(r.RawStructuredContent), leak) {
				t.Errorf("%s shows %s: %s", name, leak, r.RawStructuredContent)
			}
		}
	}
	if len(w.reindex) != 0 {
		t.Errorf("reindexed %v", w.reindex)
	}
}

type allForNone struct{ Store }

func orNil(ids []int64) []int64 {
	if len(ids) == 0 {
		return nil
	}
	return ids
}

func (s allForNone) KBStats(ctx context.Context, ids []int64) ([]store.KBStats, error) {
	return s.Store.KBStats(ctx, orNil(ids))
}

func (s allForNone) Queue(ctx context.Context, ids []int64) (store.Queue, error) {
	return s.Store.Queue(ctx, orNil(ids))
}

func (s allForNone) Freshness(ctx context.Context, ids []int64) (int64, int64, error) {
	return s.Store.Freshness(ctx, orNil(ids))
}

func (s allForNone) ListJobs(ctx context.Context, q JobQuery) ([]store.Job, int64, error) {
	q.KBs = orNil(q.KBs)
	return s.Store.ListJobs(ctx, q)
}

type allForNoneSearch struct{ Searcher }

func (s allForNoneSearch) Search(ctx context.Context, r search.Request) (*search.Response, error) {
	r.KBs = orNil(r.KBs)
	return s.Searcher.Search(ctx, r)
}
