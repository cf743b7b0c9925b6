package mcpserver

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"testing"

	"ragd/internal/search"
	"ragd/internal/store"
	"ragd/kbroot"
)

// diary notes every question that a server asks of the parts it speaks for.
type diary struct {
	mu    sync.Mutex
	lines []string
}

func (d *diary) note(format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lines = append(d.lines, fmt.Sprintf(format, args...))
}

func (d *diary) take() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := strings.Join(d.lines, "\n")
	d.lines = nil
	return all
}

type noted struct {
	*diary
	d Deps
}

func (n noted) deps() Deps {
	d := n.d
	d.Store, d.Search, d.Files, d.Index, d.Fresh, d.Chunks, d.Docs = notedStore{n}, notedSearch{n}, notedFiles{n}, notedIndex{n}, notedFresh{n}, notedLists{n}, notedLists{n}
	return d
}

type notedStore struct{ noted }

func (n notedStore) KBs(ctx context.Context) ([]store.KBInfo, error) {
	n.note("KBs")
	return n.d.Store.KBs(ctx)
}

func (n notedStore) KBStats(ctx context.Context, kbs []int64) ([]store.KBStats, error) {
	n.note("KBStats %v", kbs)
	return n.d.Store.KBStats(ctx, kbs)
}

func (n notedStore) Queue(ctx context.Context, kbs []int64) (store.Queue, error) {
	n.note("Queue %v", kbs)
	return n.d.Store.Queue(ctx, kbs)
}

func (n notedStore) Freshness(ctx context.Context, kbs []int64) (int64, int64, error) {
	n.note("Freshness %v", kbs)
	return n.d.Store.Freshness(ctx, kbs)
}

func (n notedStore) BacklogOf(ctx context.Context, kbs []int64) (int64, error) {
	n.note("BacklogOf %v", kbs)
	return n.d.Store.BacklogOf(ctx, kbs)
}

func (n notedStore) Documents(ctx context.Context, kb int64, p store.Page, states []store.State) ([]store.DocRecord, int64, bool, error) {
	n.note("Documents %d %v %v", kb, p, states)
	return n.d.Store.Documents(ctx, kb, p, states)
}

func (n notedStore) Document(ctx context.Context, kb int64, path string) (store.DocRecord, bool, error) {
	n.note("Document %d %s", kb, path)
	return n.d.Store.Document(ctx, kb, path)
}

func (n notedStore) ReadRevision(ctx context.Context, kb int64, path, uid string, offset, limit int) (Text, bool, error) {
	n.note("ReadRevision %d %s", kb, path)
	return n.d.Store.ReadRevision(ctx, kb, path, uid, offset, limit)
}

func (n notedStore) Flagged(ctx context.Context, docs []int64) (map[int64]string, error) {
	n.note("Flagged %v", docs)
	return n.d.Store.Flagged(ctx, docs)
}

func (n notedStore) ListJobs(ctx context.Context, q JobQuery) ([]store.Job, int64, error) {
	n.note("ListJobs %v", q)
	return n.d.Store.ListJobs(ctx, q)
}

type notedSearch struct{ noted }

func (n notedSearch) Search(ctx context.Context, r search.Request) (*search.Response, error) {
	n.note("Search %v", r.KBs)
	return n.d.Search.Search(ctx, r)
}

type notedLists struct{ noted }

func (n notedLists) ListChunks(ctx context.Context, kb int64, prefix string, deprecated bool, limit int) ([]ChunkEntry, int64, error) {
	n.note("ListChunks %d %s", kb, prefix)
	return n.d.Chunks.ListChunks(ctx, kb, prefix, deprecated, limit)
}

func (n notedLists) FindDocs(ctx context.Context, kb int64, f DocFilter, limit int) ([]store.DocRecord, error) {
	n.note("FindDocs %d %v", kb, f)
	return n.d.Docs.FindDocs(ctx, kb, f, limit)
}

type notedFiles struct{ noted }

func (n notedFiles) Roots() []kbroot.RootState { n.note("Roots"); return n.d.Files.Roots() }
func (n notedFiles) KBs() ([]kbroot.KB, error) { n.note("disk KBs"); return n.d.Files.KBs() }

func (n notedFiles) KB(name string) (kbroot.KB, bool) {
	n.note("disk KB %s", name)
	return n.d.Files.KB(name)
}

func (n notedFiles) Stat(p kbroot.DocPath) (kbroot.Entry, error) {
	n.note("Stat %v", p)
	return n.d.Files.Stat(p)
}

func (n notedFiles) Open(p kbroot.DocPath) (*os.File, fs.FileInfo, error) {
	n.note("Open %v", p)
	return n.d.Files.Open(p)
}

func (n notedFiles) WriteFileIn(root string, p kbroot.DocPath, data []byte) (bool, error) {
	n.note("WriteFileIn %s %v", root, p)
	return n.d.Files.WriteFileIn(root, p, data)
}

func (n notedFiles) Remove(p kbroot.DocPath) (bool, error) {
	n.note("Remove %v", p)
	return n.d.Files.Remove(p)
}

func (n notedFiles) RemoveKB(name string) error {
	n.note("RemoveKB %s", name)
	return n.d.Files.RemoveKB(name)
}

type notedIndex struct{ noted }

func (n notedIndex) Reindex(ctx context.Context, kb string, force bool) (Counts, error) {
	n.note("Reindex %s", kb)
	return n.d.Index.Reindex(ctx, kb, force)
}

func (n notedIndex) Enqueue(ctx context.Context, p kbroot.DocPath) error {
	n.note("Enqueue %v", p)
	return n.d.Index.Enqueue(ctx, p)
}

func (n notedIndex) Forget(ctx context.Context, p kbroot.DocPath) (bool, error) {
	n.note("Forget %v", p)
	return n.d.Index.Forget(ctx, p)
}

func (n notedIndex) ForgetKB(ctx context.Context, name string) (bool, int64, error) {
	n.note("ForgetKB %s", name)
	return n.d.Index.ForgetKB(ctx, name)
}

type notedFresh struct{ noted }

func (n notedFresh) Wait(ctx context.Context, kbs []string) ([]kbroot.DocPath, int, []string, error) {
	n.note("Wait %v", kbs)
	return n.d.Fresh.Wait(ctx, kbs)
}

// TestWhatIsNotYoursCostsWhatIsNotThereCosts holds, for every way to name a
// KB, that a foreign one and an absent one lead to the same questions to index
// and disk in the same order: there is nothing that could take another time.
func TestWhatIsNotYoursCostsWhatIsNotThereCosts(t *testing.T) {
	w := newWorld(t, "mine", "theirs")
	w.put("mine", "a.md", "the fox")
	w.put("theirs", "a.md", "the fox")
	var id int64
	w.mu.Lock()
	id = w.kbs["theirs"].info.ID
	w.mu.Unlock()
	for who, agent := range map[string]Agent{"by globs": {Name: "a", KBs: []string{"mine"}}, "by root": {Name: "a", Root: "elsewhere"}} {
		t.Run(who, func(t *testing.T) {
			log := &diary{}
			w.around = func(d Deps) Deps { return noted{log, d}.deps() }
			_, addr := startServer(t, w, Options{Agent: agent})
			c := dial(t, addr)
			requests := map[string]func(kb string) m{
				"resources/read": func(kb string) m { return m{"uri": "rag://" + kb + "/a.md"} },
				"prompts/get": func(kb string) m {
					return m{"name": "what_changed", "arguments": m{"kb": kb}}
				},
				"completion/complete": func(kb string) m {
					return m{"ref": m{"type": "ref/resource", "uri": uriTemplate}, "argument": m{"name": "path", "value": "a"}, "context": m{"arguments": m{"kb": kb}}}
				},
				"completion/complete ": func(kb string) m {
					return m{"ref": m{"type": "ref/prompt", "name": "what_changed"}, "argument": m{"name": "kb", "value": kb}}
				},
				"prompts/get ": func(kb string) m {
					return m{"name": "answer_from_knowledge", "arguments": m{"kb": kb, "question": "x"}}
				},
			}
			for tool, args := range map[string]m{
				"rag_list_documents kb": {}, "rag_search kb": {"query": "fox", "wait_ms": 10}, "rag_read kb": {"path": "a.md"}, "rag_status kb": {}, "rag_reindex kb": {"force": true},
				"rag_add_document kb": {"path": "b.md", "content": "x"}, "rag_delete_document kb": {"path": "a.md"}, "rag_delete_kb kb": {"confirm": true}, "rag_delete_kb  kb": {},
				"capsid_find_docs namespace": {}, "capsid_find_docs  namespace": {"action": "search", "query": "fox"}, "capsid_find_docs   namespace": {"action": "glob", "glob": "*"},
				"list_chunks prefix": {"includeDeprecated": true}, "knowledge_status projectId": {}, "search_knowledge knowledge_base_id": {"query": "fox"}, "search_knowledge knowledge_item_id": {},
			} {
				name, arg, _ := strings.Cut(tool, " ")
				requests["tools/call "+tool] = func(kb string) m {
					args := cloned(args)
					args[strings.TrimSpace(arg)] = kb
					if strings.HasSuffix(arg, "item_id") {
						args["knowledge_item_id"] = kb + "/a.md"
					}
					return m{"name": name, "arguments": args}
				}
			}
			for what, params := range requests {
				if who == "by root" && strings.Contains(what, "knowledge_status") {
					continue // tells which root to select: the KB is the caller's
				}
				method, _, _ := strings.Cut(what, " ")
				answer := func(kb string) (string, string) {
					log.take()
					r := c.request(method, params(kb))
					return strings.ReplaceAll(fmt.Sprintf("%s %+v", r.Result, r.Error), kb, "K"), strings.ReplaceAll(log.take(), kb, "K")
				}
				a, asked := answer("theirs")
				b, askedOfNone := answer("absent")
				if asked != askedOfNone || asked == "" {
					t.Errorf("%s asks for a foreign KB\n%s\nand for one that is not there\n%s", what, asked, askedOfNone)
				}
				if a != b {
					t.Errorf("%s answers\n%s\n%s", what, a, b)
				}
			}
			if who == "by globs" {
				log.take()
				c.tool("knowledge_status", m{"projectId": fmt.Sprint(id)})
				byID := log.take()
				c.tool("knowledge_status", m{"projectId": "99999"})
				if none := log.take(); byID != none {
					t.Errorf("knowledge_status by id asks\n%s\nand\n%s", byID, none)
				}
			}
		})
	}
}

func cloned(a m) m {
	b := m{}
	for k, v := range a {
		b[k] = v
	}
	return b
}
