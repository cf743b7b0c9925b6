package mcpserver

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"ragd/internal/search"
	"ragd/internal/store"
	"ragd/internal/wire"
	"ragd/kbroot"
)

// world is a small daemon in memory, over real files in a temporary folder.
type world struct {
	t    testing.TB
	root string

	mu    sync.Mutex
	kbs   map[string]*fakeKB
	jobs  []store.Job
	fail  error // what every store read answers, when set
	audit []Audit

	files    Files           // instead of the fake
	around   func(Deps) Deps // put between the server and all of this
	onSearch func(ctx context.Context, req search.Request) (*search.Response, error)
	onWait   func(ctx context.Context, kbs []string) ([]kbroot.DocPath, int, []string, error)
	reindex  []string
	watchers []wire.Watcher
	embedder wire.Embedder
}

type fakeKB struct {
	info store.KBInfo
	docs map[string]*fakeDoc
}

type fakeDoc struct {
	rec       store.DocRecord
	revisions []fakeRevision // oldest first
}

type fakeRevision struct {
	uid, text  string
	front      map[string]any
	frontError string
}

func newWorld(t testing.TB, kbs ...string) *world {
	t.Helper()
	w := &world{t: t, root: t.TempDir(), kbs: make(map[string]*fakeKB), embedder: wire.Embedder{State: "off"}}
	for _, name := range kbs {
		w.addKB(name)
	}
	return w
}

func (w *world) deps() Deps {
	files := w.files
	if files == nil {
		files = (*fakeFiles)(w)
	}
	return Deps{
		Store: (*fakeStore)(w), Search: (*fakeSearch)(w), Files: files, Index: (*fakeIndex)(w),
		Fresh: (*fakeFresh)(w), Status: (*fakeStatus)(w), Chunks: (*fakeStore)(w), Docs: (*fakeStore)(w),
		Audit: func(a Audit) { w.mu.Lock(); w.audit = append(w.audit, a); w.mu.Unlock() },
	}
}

func (w *world) addKB(name string) *fakeKB {
	k := &fakeKB{info: store.KBInfo{ID: int64(len(w.kbs) + 1), Name: name, Root: "main", Dir: filepath.Join(w.root, name)}, docs: map[string]*fakeDoc{}}
	w.kbs[name] = k
	if err := os.MkdirAll(k.info.Dir, 0o755); err != nil {
		w.t.Fatal(err)
	}
	return k
}

// put writes a file and indexes it at once.
func (w *world) put(kb, path, text string) {
	w.t.Helper()
	w.write(kb, path, text)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.indexLocked(kb, path)
}

// index indexes a file that is there already.
func (w *world) index(kb, path string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.indexLocked(kb, path)
}

func (w *world) write(kb, path, text string) {
	w.t.Helper()
	name := filepath.Join(w.root, kb, path)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) indexLocked(kb, path string) {
	k := w.kbs[kb]
	data, err := os.ReadFile(filepath.Join(w.root, kb, path))
	if err != nil {
		w.t.Fatal(err)
	}
	e, err := w.deps().Files.Stat(kbroot.DocPath{KB: kb, Path: path})
	if err != nil {
		w.t.Fatal(err)
	}
	d := k.docs[path]
	if d == nil {
		d = &fakeDoc{}
		k.docs[path] = d
	}
	sum := sha256.Sum256(data)
	uid := hex.EncodeToString(sum[:16])
	d.revisions = append(d.revisions, fakeRevision{uid: uid, text: string(data)})
	d.rec = store.DocRecord{
		ID: k.info.ID*1000 + int64(len(k.docs)), KB: kb, Path: path, State: store.StateIndexed, Size: int64(len(data)), Chunks: 1, RevisionID: uid,
		Stat: statOf(e), Hash: sum, MediaType: "text/markdown", Meta: store.DocMeta{Title: filepath.Base(path)},
	}
}

// set changes a document under the lock.
func (w *world) set(kb, path string, f func(d *fakeDoc)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	d := w.kbs[kb].docs[path]
	if d == nil {
		d = &fakeDoc{rec: store.DocRecord{KB: kb, Path: path}}
		w.kbs[kb].docs[path] = d
	}
	f(d)
}

type fakeStore world

func (s *fakeStore) lock() func() { s.mu.Lock(); return s.mu.Unlock }

func (s *fakeStore) KBs(context.Context) ([]store.KBInfo, error) {
	defer s.lock()()
	if s.fail != nil {
		return nil, s.fail
	}
	var out []store.KBInfo
	for _, k := range s.kbs {
		out = append(out, k.info)
	}
	return out, nil
}

func (s *fakeStore) pick(ids []int64) []*fakeKB {
	var out []*fakeKB
	for _, k := range s.kbs {
		if ids == nil || slices.Contains(ids, k.info.ID) {
			out = append(out, k)
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].info.Name < out[j].info.Name })
	return out
}

func (s *fakeStore) KBStats(_ context.Context, ids []int64) ([]store.KBStats, error) {
	defer s.lock()()
	var out []store.KBStats
	for _, k := range s.pick(ids) {
		st := store.KBStats{KBInfo: k.info}
		for _, d := range k.docs {
			switch d.rec.State {
			case store.StatePending:
				st.Pending++
			case store.StateFailed:
				st.Failed++
			case store.StateExcluded:
				st.Excluded++
			}
			if d.rec.RevisionID != "" {
				st.Documents++
				st.Chunks += d.rec.Chunks
				st.Bytes += d.rec.Size
			}
		}
		out = append(out, st)
	}
	return out, s.fail
}

func (s *fakeStore) Queue(ctx context.Context, ids []int64) (store.Queue, error) {
	p, f, err := s.Freshness(ctx, ids)
	return store.Queue{Pending: p, Failed: f}, err
}

func (s *fakeStore) BacklogOf(_ context.Context, ids []int64) (int64, error) {
	return int64(len(ids)), nil
}

func (s *fakeStore) Freshness(ctx context.Context, ids []int64) (pending, failed int64, err error) {
	stats, err := s.KBStats(ctx, ids)
	for _, st := range stats {
		pending += st.Pending
		failed += st.Failed
	}
	return pending, failed, err
}

func (s *fakeStore) byID(id int64) *fakeKB {
	for _, k := range s.kbs {
		if k.info.ID == id {
			return k
		}
	}
	return nil
}

func (s *fakeStore) Documents(_ context.Context, kb int64, p store.Page, _ []store.State) ([]store.DocRecord, int64, bool, error) {
	defer s.lock()()
	if s.fail != nil {
		return nil, 0, false, s.fail
	}
	var paths []string
	k := s.byID(kb)
	for path := range k.docs {
		if path > p.After {
			paths = append(paths, path)
		}
	}
	sort.Strings(paths)
	more := len(paths) > p.Limit
	var out []store.DocRecord
	for _, path := range paths[:min(len(paths), p.Limit)] {
		out = append(out, k.docs[path].rec)
	}
	return out, int64(len(k.docs)), more, nil
}

func (s *fakeStore) Document(_ context.Context, kb int64, path string) (store.DocRecord, bool, error) {
	defer s.lock()()
	if d, ok := s.byID(kb).docs[path]; ok {
		return d.rec, true, s.fail
	}
	return store.DocRecord{}, false, s.fail
}

func (s *fakeStore) Flagged(_ context.Context, docs []int64) (map[int64]string, error) {
	defer s.lock()()
	why := map[int64]string{}
	for _, k := range s.kbs {
		for _, d := range k.docs {
			if q := qualityOf(d.rec); q != nil && q.Flag != "" && slices.Contains(docs, d.rec.ID) {
				why[d.rec.ID] = q.Flag
			}
		}
	}
	return why, s.fail
}

func (s *fakeStore) ReadRevision(_ context.Context, kb int64, path, uid string, offset, limit int) (Text, bool, error) {
	defer s.lock()()
	d, ok := s.byID(kb).docs[path]
	if !ok || d.rec.RevisionID == "" {
		return Text{}, false, s.fail
	}
	want := uid
	if want == "" {
		want = d.rec.RevisionID
	}
	for _, r := range d.revisions {
		if r.uid == want {
			runes := []rune(r.text)
			from := min(offset, len(runes))
			return Text{
				RevisionID: r.uid, Title: d.rec.Meta.Title, Front: r.front, FrontError: r.frontError, Current: r.uid == d.rec.RevisionID,
				Content: string(runes[from:min(from+limit, len(runes))]), TotalChars: len(runes),
			}, true, s.fail
		}
	}
	return Text{}, false, s.fail
}

func (s *fakeStore) ListJobs(_ context.Context, q JobQuery) ([]store.Job, int64, error) {
	defer s.lock()()
	var out []store.Job
	var total int64
	for _, j := range slices.Backward(s.jobs) {
		if q.State != "" && j.State != q.State || q.KBs != nil && !slices.Contains(q.KBs, j.KB) {
			continue
		}
		total++
		if (q.After == 0 || j.ID < q.After) && len(out) < q.Limit {
			out = append(out, j)
		}
	}
	return out, total, s.fail
}

func (s *fakeStore) ListChunks(_ context.Context, kb int64, prefix string, deprecated bool, limit int) ([]ChunkEntry, int64, error) {
	defer s.lock()()
	var paths []string
	docs := s.byID(kb).docs
	for p, d := range docs {
		if strings.HasPrefix(p, prefix) && (d.rec.RevisionID != "" || deprecated && len(d.revisions) > 0) {
			paths = append(paths, p)
		}
	}
	sort.Strings(paths)
	var out []ChunkEntry
	for _, p := range paths[:min(limit, len(paths))] {
		d := docs[p]
		e := ChunkEntry{Path: p, Chunks: int64(len(d.revisions)), LastSynced: time.UnixMilli(1700000000123), Hash: d.rec.Hash, ArtifactID: d.rec.Meta.ArtifactID}
		if d.rec.RevisionID != "" {
			e.Active = 1
		}
		out = append(out, e)
	}
	return out, int64(len(paths)), s.fail
}

func (s *fakeStore) FindDocs(_ context.Context, kb int64, f DocFilter, limit int) ([]store.DocRecord, error) {
	defer s.lock()()
	var paths []string
	docs := s.byID(kb).docs
	for p, d := range docs {
		globbed := f.Glob == "" || f.Glob == "*" || strings.HasSuffix(p, strings.TrimPrefix(f.Glob, "*"))
		if d.rec.RevisionID != "" && globbed && (f.Type == "" || f.Type == orElse(d.rec.Meta.Type, "note")) && (f.Status == "" || f.Status == orElse(d.rec.Meta.Status, "published")) {
			paths = append(paths, p)
		}
	}
	sort.Strings(paths)
	var out []store.DocRecord
	for _, p := range paths[:min(limit, len(paths))] {
		out = append(out, docs[p].rec)
	}
	return out, s.fail
}

type fakeSearch world

// Search finds documents whose text holds the query, in order of KB and path.
func (s *fakeSearch) Search(ctx context.Context, req search.Request) (*search.Response, error) {
	if s.onSearch != nil {
		return s.onSearch(ctx, req)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	resp := &search.Response{}
	for _, k := range (*fakeStore)(s).pick(req.KBs) {
		var paths []string
		for p := range k.docs {
			paths = append(paths, p)
		}
		sort.Strings(paths)
		for _, p := range paths {
			d := k.docs[p]
			text := ""
			for _, r := range d.revisions {
				if r.uid == d.rec.RevisionID {
					text = r.text
				}
			}
			at := strings.Index(text, req.Query)
			retired := d.rec.Meta.Status == "closed" || d.rec.Meta.Status == "superseded"
			if d.rec.RevisionID == "" || at < 0 || retired && !req.IncludeRetired {
				continue
			}
			if len(resp.Hits) == req.TopK {
				resp.Truncated = true
				return resp, nil
			}
			content := cutFront(text, req.SnippetChars)
			resp.Hits = append(resp.Hits, search.Hit{
				DocumentID: d.rec.ID, KB: k.info.Name, Path: p, Title: d.rec.Meta.Title, Status: orElse(d.rec.Meta.Status, "published"), Canon: d.rec.Meta.Canon, RevisionID: d.rec.RevisionID, FirstLine: 1, LastLine: 1 + strings.Count(text, "\n"),
				Score: 1 / float64(2+len(resp.Hits)), Match: "keyword", Content: content, Truncated: len(content) < len(text),
				Marks: [][2]int{{at, at + len(req.Query)}},
			})
		}
	}
	return resp, nil
}

func runes(s string) int { return utf8.RuneCountInString(s) }
