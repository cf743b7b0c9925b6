package indexer

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"ragd/internal/analysis"
	"ragd/internal/extract"
	"ragd/internal/store"
	"ragd/kbroot"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// countingExtractor counts extractions and lets tests interfere with them.
type countingExtractor struct {
	extract.Extractor
	mu     sync.Mutex
	count  map[string]int
	before func(path string) error // nil = no interference
}

func (c *countingExtractor) Extract(ctx context.Context, src extract.Source) (*extract.Document, error) {
	c.mu.Lock()
	c.count[src.Path]++
	before := c.before
	c.mu.Unlock()
	if before != nil {
		if err := before(src.Path); err != nil {
			return nil, err
		}
	}
	return c.Extractor.Extract(ctx, src)
}

func (c *countingExtractor) total() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for _, v := range c.count {
		n += v
	}
	return n
}

func (c *countingExtractor) interfere(fn func(path string) error) {
	c.mu.Lock()
	c.before = fn
	c.mu.Unlock()
}

// faultyStore is the real store with a Commit that tests can make fail.
type faultyStore struct {
	*store.Store
	mu     sync.Mutex
	commit func([]store.Outcome) error
	write  error // what ProbeWrite answers
}

func (f *faultyStore) Commit(ctx context.Context, o []store.Outcome) error {
	f.mu.Lock()
	fn := f.commit
	f.mu.Unlock()
	if fn != nil {
		if err := fn(o); err != nil {
			return err
		}
	}
	return f.Store.Commit(ctx, o)
}

func (f *faultyStore) ProbeWrite(ctx context.Context) error {
	f.mu.Lock()
	err := f.write
	f.mu.Unlock()
	if err != nil {
		return err
	}
	return f.Store.ProbeWrite(ctx)
}

// rig is an indexer on a real folder and a real index.
type rig struct {
	t       *testing.T
	dir     string // the root
	dbPath  string
	set     *kbroot.Set
	store   *faultyStore
	ext     *countingExtractor
	ix      *Indexer
	changes chan kbroot.Change
	stop    func()
	opt     func(*Options)
}

func newRig(t *testing.T, opts ...func(*Options)) *rig {
	t.Helper()
	base := t.TempDir()
	r := &rig{t: t, dir: filepath.Join(base, "root"), dbPath: filepath.Join(base, "data", "index.db")}
	r.must(os.MkdirAll(filepath.Join(r.dir, "kb"), 0o755))
	var err error
	r.set, err = kbroot.New(kbroot.Options{Roots: []kbroot.RootSpec{{Name: "root", Dir: r.dir}}})
	r.must(err)
	reg, err := extract.New(extract.Options{})
	r.must(err)
	r.ext = &countingExtractor{Extractor: reg, count: map[string]int{}}
	r.opt = func(o *Options) {
		for _, f := range opts {
			f(o)
		}
	}
	r.open()
	r.start()
	t.Cleanup(func() { r.close() })
	return r
}

func (r *rig) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) open() {
	r.must(os.MkdirAll(filepath.Dir(r.dbPath), 0o700))
	st, _, err := store.Open(context.Background(), store.Options{Path: r.dbPath, Reanalyse: NewTerms().Again})
	r.must(err)
	r.store = &faultyStore{Store: st}
}

// start runs the indexer and hints the whole root, as the watcher does.
func (r *rig) start() {
	o := Options{Root: r.set, Store: r.store, Extractor: r.ext, Logger: slog.New(slog.DiscardHandler), Concurrency: 2}
	if testing.Verbose() {
		o.Logger = slog.New(slog.NewTextHandler(os.Stderr, nil))
	}
	r.opt(&o)
	ix, err := New(o)
	r.must(err)
	r.ix = ix
	r.changes = make(chan kbroot.Change, 16)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- ix.Run(ctx, r.changes) }()
	r.stop = func() {
		cancel()
		if err := <-done; err != nil {
			r.t.Errorf("Run: %v", err)
		}
		r.stop = func() {}
	}
	r.hintRoot()
	r.planned()
}

func (r *rig) close() {
	r.stop()
	if r.store != nil {
		r.must(r.store.Close())
		r.store = nil
	}
}

// restart stops the indexer and starts another on the same index.
func (r *rig) restart() {
	r.close()
	r.open()
	r.start()
}

func (r *rig) write(path, text string) {
	r.t.Helper()
	full := filepath.Join(r.dir, path)
	r.must(os.MkdirAll(filepath.Dir(full), 0o755))
	r.must(os.WriteFile(full, []byte(text), 0o644))
}

func (r *rig) remove(path string) {
	r.t.Helper()
	r.must(os.RemoveAll(filepath.Join(r.dir, path)))
}

func (r *rig) hint(kb, path string) {
	r.changes <- kbroot.Change{Kind: kbroot.ChangePath, DocPath: kbroot.DocPath{KB: kb, Path: path}, Live: true}
}

func (r *rig) hintRoot() { r.changes <- kbroot.Change{Kind: kbroot.ChangeRoot, Root: "root"} }

// settle waits until everything hinted is planned and done. Jobs that wait
// for their backoff do not count.
func (r *rig) settle() {
	r.t.Helper()
	r.planned()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	rep, err := r.ix.Sync(ctx, nil)
	r.must(err)
	if rep.Total > 0 {
		r.t.Fatalf("still unfinished: %v", rep.Pending)
	}
}

// planned waits until everything hinted is planned.
func (r *rig) planned() {
	r.t.Helper()
	ack := make(chan struct{})
	r.changes <- kbroot.Change{Kind: kbroot.ChangeBarrier, Ack: ack}
	select {
	case <-ack:
	case <-time.After(20 * time.Second):
		r.t.Fatal("hints were not planned within 20 s")
	}
}

// find returns the paths of the documents with a word.
func (r *rig) find(word string) map[string]bool {
	r.t.Helper()
	ctx := context.Background()
	q := analysis.ParseQuery(analysis.New(), word)
	var clauses []store.Clause
	for _, c := range q.Clauses {
		var any []store.Phrase
		for _, p := range c.Any {
			any = append(any, store.Phrase{Terms: p.Terms})
		}
		clauses = append(clauses, store.Clause{Any: any})
	}
	res, err := r.store.Lexical(ctx, store.LexicalQuery{Clauses: clauses, Limit: 1000})
	r.must(err)
	ids := make([]int64, len(res.Hits))
	for i, h := range res.Hits {
		ids[i] = h.ChunkID
	}
	recs, err := r.store.Chunks(ctx, ids)
	r.must(err)
	out := map[string]bool{}
	for _, c := range recs {
		out[c.KB+"/"+c.Path] = true
	}
	return out
}

func (r *rig) found(word string, want ...string) {
	r.t.Helper()
	got := r.find(word)
	if len(got) != len(want) {
		r.t.Errorf("%q is found in %v, want %v", word, got, want)
		return
	}
	for _, w := range want {
		if !got[w] {
			r.t.Errorf("%q is found in %v, want %v", word, got, want)
		}
	}
}

func (r *rig) jobs(state store.JobState) []store.Job {
	r.t.Helper()
	jobs, _, err := r.store.Jobs(context.Background(), store.JobFilter{State: state})
	r.must(err)
	return jobs
}

func (r *rig) kbID(name string) int64 {
	r.t.Helper()
	kbs, err := r.store.KBs(context.Background())
	r.must(err)
	for _, k := range kbs {
		if k.Name == name {
			return k.ID
		}
	}
	r.t.Fatalf("no KB %q", name)
	return 0
}

// consistent checks the index's invariants.
func (r *rig) consistent() {
	r.t.Helper()
	rep, err := r.store.Check(context.Background(), true)
	r.must(err)
	for _, p := range rep.Problems {
		r.t.Errorf("index: %s: %s", p.Code, p.Detail)
	}
}

// eventually waits for a condition that no event announces.
func (r *rig) eventually(what string, ok func() bool) {
	r.t.Helper()
	deadline := time.Now().Add(15 * time.Second)
	for !ok() {
		if time.Now().After(deadline) {
			r.t.Fatalf("not within 15 s: %s", what)
		}
		time.Sleep(10 * time.Millisecond)
	}
}
