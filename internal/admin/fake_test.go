package admin_test

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"ragd/internal/admin"
	"ragd/internal/adminclient"
	"ragd/internal/fault"
	"ragd/internal/search"
	"ragd/internal/store"
	"ragd/internal/usock"
	"ragd/internal/wire"
	"ragd/kbroot"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeIndex holds documents and jobs in memory.
type fakeIndex struct {
	mu       sync.Mutex
	kbs      []store.KBStats
	docs     map[int64][]store.DocRecord
	texts    map[string]string
	jobs     map[int64]store.Job
	probeErr error
	err      error // of every call, when set
	panicOn  string
}

func (f *fakeIndex) KBStats(context.Context, []int64) ([]store.KBStats, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.panicOn == "KBStats" {
		panic("secret detail")
	}
	return append([]store.KBStats(nil), f.kbs...), f.err
}

func (f *fakeIndex) Freshness(context.Context, []int64) (int64, int64, error) { return 2, 1, f.err }

func (f *fakeIndex) Documents(_ context.Context, kb int64, p store.Page, states []store.State) (out []store.DocRecord, total int64, more bool, err error) {
	for _, d := range f.docs[kb] {
		if len(states) > 0 && d.State != states[0] {
			continue
		}
		total++
		if d.Path > p.After {
			if len(out) == p.Limit {
				more = true
				continue
			}
			out = append(out, d)
		}
	}
	return out, total, more, f.err
}

func (f *fakeIndex) Flagged(_ context.Context, docs []int64) (map[int64]string, error) {
	why := map[int64]string{}
	for _, id := range docs {
		if id == poorDocument {
			why[id] = "7 of its 9 pages have no text"
		}
	}
	return why, f.err
}

func (f *fakeIndex) CountFlagged(context.Context, []int64) (int64, error) { return 1, f.err }

func (f *fakeIndex) Document(_ context.Context, kb int64, path string) (store.DocRecord, bool, error) {
	for _, d := range f.docs[kb] {
		if d.Path == path {
			return d, true, nil
		}
	}
	return store.DocRecord{}, false, f.err
}

func (f *fakeIndex) DocumentChunks(context.Context, int64) ([]store.ChunkRecord, error) {
	return []store.ChunkRecord{{Index: 0, CharStart: 0, CharEnd: 5, FirstLine: 1, LastLine: 1}, {Index: 1, CharStart: 5, CharEnd: 11, FirstLine: 2, LastLine: 3}}, f.err
}

func (f *fakeIndex) ReadDocument(_ context.Context, _ int64, path string, offset, limit int) (admin.Text, bool, error) {
	text, ok := f.texts[path]
	r := []rune(text)
	lo, hi := min(offset, len(r)), min(offset+limit, len(r))
	return admin.Text{Content: string(r[lo:hi]), TotalChars: len(r), Revisions: []wire.Revision{{ID: "r1", Current: true}}}, ok, f.err
}

func (f *fakeIndex) ListJobs(_ context.Context, q admin.JobQuery) (out []store.Job, total int64, err error) {
	for _, j := range f.jobs {
		if q.State == "" || j.State == q.State {
			total++
			if q.After == 0 || j.ID < q.After {
				out = append(out, j)
			}
		}
	}
	slices.SortFunc(out, func(a, b store.Job) int { return int(b.ID - a.ID) })
	return out[:min(q.Limit, len(out))], total, f.err
}

func (f *fakeIndex) Job(_ context.Context, id int64) (store.Job, bool, error) {
	j, ok := f.jobs[id]
	return j, ok, f.err
}

func (f *fakeIndex) Paused(context.Context) (bool, []int64, error) { return false, []int64{2}, f.err }
func (f *fakeIndex) Probe(context.Context) error                   { return f.probeErr }

type fakeSearch struct {
	mu   sync.Mutex
	last search.Request
	hits []search.Hit
}

func (f *fakeSearch) Search(_ context.Context, r search.Request) (*search.Response, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last = r
	return &search.Response{Hits: f.hits}, nil
}

func (f *fakeSearch) request() search.Request {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.last
}

type fakeWork struct {
	mu     sync.Mutex
	calls  []string
	jobs   map[int64]store.Job
	forgot bool
	delay  time.Duration
}

func (f *fakeWork) note(what string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, what)
}

func (f *fakeWork) has(what string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range f.calls {
		if c == what {
			return true
		}
	}
	return false
}

func (f *fakeWork) Reindex(ctx context.Context, kb string, force bool) (wire.ReindexCounts, error) {
	select {
	case <-time.After(f.delay):
	case <-ctx.Done():
		return wire.ReindexCounts{}, ctx.Err()
	}
	if force {
		kb += " forced"
	}
	f.note("reindex " + kb)
	return wire.ReindexCounts{Added: 1, Enqueued: 1}, nil
}

func (f *fakeWork) Retry(_ context.Context, id int64) error {
	switch j, ok := f.jobs[id]; {
	case !ok:
		return fault.New(fault.NotFound, "job_not_found", "there is no job %d", id)
	case j.State != store.JobFailed:
		return fault.New(fault.Conflict, "job_not_failed", "job %d is %s", id, j.State)
	}
	f.note("retry")
	return nil
}

func (f *fakeWork) RetryAll(context.Context) (int, error) { f.note("retry all"); return 3, nil }

func (f *fakeWork) SetPaused(_ context.Context, kb string, paused bool) error {
	if kb == "none" {
		return fault.New(fault.NotFound, "kb_not_found", "no knowledge base %q", kb)
	}
	f.note(map[bool]string{true: "pause ", false: "resume "}[paused] + kb)
	return nil
}

func (f *fakeWork) Stages() map[int64]string { return map[int64]string{4: "chunk"} }

func (f *fakeWork) Bump(_ context.Context, p kbroot.DocPath) (bool, error) {
	f.note("bump " + p.KB + "/" + p.Path)
	return true, nil
}

func (f *fakeWork) Enqueue(_ context.Context, p kbroot.DocPath) error {
	f.note("enqueue " + p.KB + "/" + p.Path)
	return nil
}

func (f *fakeWork) Forget(_ context.Context, p kbroot.DocPath) (bool, error) {
	f.note("forget " + p.KB + "/" + p.Path)
	return f.forgot, nil
}

func (f *fakeWork) ForgetKB(_ context.Context, name string) (bool, int64, error) {
	f.note("forget kb " + name)
	return true, 7, nil
}

func (f *fakeWork) Hint(c kbroot.Change) { f.note("hint " + c.KB + "/" + c.Path) }

type fakeDaemon struct {
	mu       sync.Mutex
	health   wire.Health
	reload   error
	watchers []wire.Watcher
	statuses int
}

func (f *fakeDaemon) Health() wire.Health { return f.health }

func (f *fakeDaemon) Status(context.Context) (wire.Status, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.statuses++
	return wire.Status{Version: "1.2.3", PID: 42, Phase: "idle", Rate: 2, Watchers: f.watchers}, nil
}
func (f *fakeDaemon) Watchers() []wire.Watcher { return f.watchers }
func (f *fakeDaemon) Reload(context.Context) (wire.Reloaded, error) {
	return wire.Reloaded{Applied: []string{"scan_interval"}}, f.reload
}

func (f *fakeDaemon) Check(_ context.Context, deep bool) (wire.Check, error) {
	return wire.Check{OK: true, Deep: deep}, nil
}
func (f *fakeDaemon) Repair(context.Context) (wire.Check, error) { return wire.Check{OK: true}, nil }

// rig is an admin server on a Unix socket, over a real kbroot and fakes of the rest.
type rig struct {
	t      *testing.T
	index  *fakeIndex
	search *fakeSearch
	work   *fakeWork
	daemon *fakeDaemon
	hub    *admin.Hub
	rec    *admin.Recorder
	srv    *admin.Server
	root   string
	mount  string
	socket string
	client *adminclient.Client
	logs   *strings.Builder
}

const maxDoc = 1 << 16

func newRig(t *testing.T) *rig {
	t.Helper()
	dir, err := os.MkdirTemp("", "adm")
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	r := &rig{t: t, hub: admin.NewHub(), root: filepath.Join(dir, "kbs"), mount: filepath.Join(dir, "mnt"), socket: filepath.Join(dir, "a.sock"), logs: &strings.Builder{}}
	for _, d := range []string{filepath.Join(r.root, "notes"), filepath.Join(r.root, "work"), r.mount} {
		must(t, os.MkdirAll(d, 0o700))
	}
	set, err := kbroot.New(kbroot.Options{MaxFileBytes: maxDoc, Roots: []kbroot.RootSpec{{Name: "kbs", Dir: r.root}}, Mounts: []kbroot.MountSpec{{Name: "mounted", Dir: r.mount}}})
	must(t, err)
	jobs := map[int64]store.Job{
		1: {ID: 1, KBName: "notes", Path: "bad*.md", State: store.JobFailed, Class: fault.Permanent, Code: "corrupt", Message: "cannot be read", Stage: "extract", Attempts: 3},
		2: {ID: 2, KBName: "notes", Path: "b\xff.md", State: store.JobPending},
		3: {ID: 3, KBName: "notes", Path: "new\nline", State: store.JobFailed},
		4: {ID: 4, KBName: "notes", Path: "busy.md", State: store.JobProcessing, Stage: "extract", Attempts: 2},
		5: {ID: 5, KBName: "notes", Path: "claimed.md", State: store.JobProcessing, Stage: "extract", Attempts: 2},
	}
	kb := func(id int64, name, root string, mounted bool) store.KBStats {
		return store.KBStats{KBInfo: store.KBInfo{ID: id, Name: name, Root: root, Mounted: mounted}, Documents: 2, Chunks: 5, Bytes: 100, Pending: 1, Failed: 1}
	}
	r.index = &fakeIndex{
		kbs: []store.KBStats{kb(1, "notes", "kbs", false), kb(2, "work", "kbs", false), kb(3, "mounted", "mounted", true)},
		docs: map[int64][]store.DocRecord{1: {
			{ID: 10, KB: "notes", Path: "a.md", State: store.StateIndexed, RevisionID: "r1", Size: 11},
			{ID: 11, KB: "notes", Path: "b\xff.md", State: store.StatePending},
			{ID: 12, KB: "notes", Path: "c ü?#%.md", State: store.StateFailed, Reason: "broken"},
		}},
		texts: map[string]string{"a.md": "Grüße\n日本語!"},
		jobs:  jobs,
	}
	r.search = &fakeSearch{}
	r.work = &fakeWork{jobs: jobs}
	r.daemon = &fakeDaemon{health: wire.Health{Version: "1.2.3", PID: 42}}
	r.rec = admin.NewRecorder(slog.DiscardHandler, slog.LevelInfo, func(l wire.LogLine) { r.hub.Publish(wire.Event{Type: "log", At: l.At, Log: &l}) })
	r.srv = admin.New(admin.Options{
		Services: admin.Services{Index: r.index, Search: r.search, Files: set, Work: r.work, Daemon: r.daemon},
		Hub:      r.hub, Recorder: r.rec, Logger: slog.New(r.rec), MaxFileBytes: maxDoc,
	})
	r.client = adminclient.New(r.socket)
	t.Cleanup(r.client.Close)
	return r
}

// start serves on the socket until the test ends or stop is called.
func (r *rig) start() (stop func()) {
	r.t.Helper()
	l, err := usock.Listen(r.socket, "sockets.admin")
	must(r.t, err)
	return r.serve(func(ctx context.Context) error { return r.srv.ServeOwner(ctx, l) })
}

func (r *rig) serve(do func(context.Context) error) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- do(ctx) }()
	var once sync.Once
	stop = func() {
		once.Do(func() {
			cancel()
			select {
			case err := <-done:
				if err != nil && !errors.Is(err, net.ErrClosed) {
					r.t.Errorf("serving ended with %v", err)
				}
			case <-time.After(5 * time.Second):
				r.t.Error("the server did not stop within 5 s")
			}
		})
	}
	r.t.Cleanup(stop)
	return stop
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantCode(t *testing.T, err error, kind fault.Kind, code string) {
	t.Helper()
	f, ok := fault.As(err)
	if !ok || f.Code != code || f.Kind != kind {
		t.Fatalf("error is %v (%s), want %s %s", err, fault.KindOf(err), kind, code)
	}
}
