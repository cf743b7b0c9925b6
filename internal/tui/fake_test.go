package tui

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"ragd/internal/fault"
	"ragd/internal/wire"
)

// clock is the time in all tests.
var clock = time.Date(2026, 3, 14, 15, 9, 26, 0, time.UTC)

func before(d time.Duration) time.Time { return clock.Add(-d) }

// fakeBackend is a daemon in memory. Every call is counted and noted.
type fakeBackend struct {
	mu     sync.Mutex
	calls  atomic.Int64
	noted  []string
	events chan wire.Event

	status wire.Status
	kbs    []wire.KB
	docs   map[string][]wire.Document
	views  map[string]wire.DocumentView
	jobs   map[string][]wire.Job
	log    []wire.LogLine
	search func(ctx context.Context, query, kb, mode string) (wire.SearchResult, error)
	fail   map[string]error // by method's name
	wait   map[string]chan struct{}
}

// did counts and notes a call, waits where the test wants it to, and returns the error the test has set.
func (f *fakeBackend) did(ctx context.Context, method string, args ...any) error {
	f.calls.Add(1)
	f.mu.Lock()
	f.noted = append(f.noted, strings.TrimSpace(method+" "+fmt.Sprintln(args...)))
	gate, err := f.wait[method], f.fail[method]
	f.mu.Unlock()
	if gate != nil {
		select {
		case <-gate:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return err
}

// swap replaces what the daemon knows.
func (f *fakeBackend) swap(with *fakeBackend) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.status, f.kbs, f.docs, f.views, f.jobs, f.log, f.fail = with.status, with.kbs, with.docs, with.views, with.jobs, with.log, with.fail
}

// at reads a field that swap may replace.
func at[T any](f *fakeBackend, field *T) T {
	f.mu.Lock()
	defer f.mu.Unlock()
	return *field
}

func (f *fakeBackend) note(prefix string) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []string
	for _, s := range f.noted {
		if strings.HasPrefix(s, prefix) {
			out = append(out, s)
		}
	}
	return out
}

func (f *fakeBackend) Events(context.Context) <-chan wire.Event { return f.events }

func (f *fakeBackend) Status(ctx context.Context) (wire.Status, error) {
	return at(f, &f.status), f.did(ctx, "Status")
}

func (f *fakeBackend) KBs(ctx context.Context) ([]wire.KB, error) {
	return at(f, &f.kbs), f.did(ctx, "KBs")
}

func (f *fakeBackend) Documents(ctx context.Context, kb, cursor string, limit int) (wire.Documents, error) {
	err := f.did(ctx, "Documents", kb, cursor)
	docs := at(f, &f.docs)[kb]
	from := sort.Search(len(docs), func(i int) bool { return docs[i].Path > cursor })
	if cursor == "" {
		from = 0
	}
	to := min(from+limit, len(docs))
	out := wire.Documents{KB: kb, Documents: docs[from:to], Total: int64(len(docs))}
	if to < len(docs) {
		out.NextCursor = docs[to-1].Path
	}
	return out, err
}

func (f *fakeBackend) Document(ctx context.Context, kb, path string, offset, limit int) (wire.DocumentView, error) {
	err := f.did(ctx, "Document", kb, path, offset)
	v, ok := at(f, &f.views)[kb+"/"+path]
	if !ok && err == nil {
		err = fault.New(fault.NotFound, "document_not_found", "there is no document %q in %q", path, kb)
	}
	text := []rune(v.Content)
	v.TotalChars = len(text)
	end := min(offset+limit, len(text))
	v.Content, v.Offset, v.Limit, v.Truncated = string(text[min(offset, end):end]), offset, limit, end < len(text)
	var borders []wire.ChunkBorder
	for _, b := range v.Borders {
		if b.CharEnd > offset && b.CharStart < end {
			borders = append(borders, b)
		}
	}
	v.Borders = borders
	return v, err
}

func (f *fakeBackend) JobsAfter(ctx context.Context, state string, after int64, limit int) (wire.Jobs, error) {
	err := f.did(ctx, "Jobs", state, after)
	jobs := at(f, &f.jobs)[state]
	from := 0
	if after > 0 {
		from = slices.IndexFunc(jobs, func(j wire.Job) bool { return j.ID == after }) + 1
	}
	return wire.Jobs{Jobs: jobs[from:min(from+limit, len(jobs))], Total: int64(len(jobs)), Queue: at(f, &f.status).Queue}, err
}

func (f *fakeBackend) RetryJob(ctx context.Context, id int64) error {
	return f.did(ctx, "RetryJob", id)
}

func (f *fakeBackend) RetryAll(ctx context.Context) (int, error) {
	return len(at(f, &f.jobs)["failed"]), f.did(ctx, "RetryAll")
}

func (f *fakeBackend) IgnoreJob(ctx context.Context, id int64) (wire.IgnoredJob, error) {
	return wire.IgnoredJob{ID: id, KB: "papers", File: ".ragdignore", Rule: "/x.pdf"}, f.did(ctx, "IgnoreJob", id)
}

func (f *fakeBackend) Search(ctx context.Context, query, kb, mode string, _ int, _ bool) (wire.SearchResult, error) {
	if err := f.did(ctx, "Search", query, kb, mode); err != nil {
		return wire.SearchResult{}, err
	}
	return f.search(ctx, query, kb, mode)
}

func (f *fakeBackend) Reindex(ctx context.Context, kb string, force bool) (wire.ReindexCounts, error) {
	return wire.ReindexCounts{Enqueued: 3, Added: 2, Modified: 1}, f.did(ctx, "Reindex", kb, force)
}

func (f *fakeBackend) Pause(ctx context.Context, kb string) error  { return f.did(ctx, "Pause", kb) }
func (f *fakeBackend) Resume(ctx context.Context, kb string) error { return f.did(ctx, "Resume", kb) }

func (f *fakeBackend) Bump(ctx context.Context, kb, path string) (bool, error) {
	return true, f.did(ctx, "Bump", kb, path)
}

func (f *fakeBackend) Ignored(ctx context.Context, path string) (wire.Verdict, error) {
	return wire.Verdict{Path: path, KB: "notes", Code: "ignored", Reason: "an ignore rule leaves it out", Rule: ".gitignore:3: *.log"},
		f.did(ctx, "Ignored", path)
}

func (f *fakeBackend) Log(ctx context.Context, _ int) ([]wire.LogLine, error) {
	return at(f, &f.log), f.did(ctx, "Log")
}

// fakeDesk notes what it is asked to do.
type fakeDesk struct {
	mu    sync.Mutex
	noted []string
	head  []byte
	calls atomic.Int64
}

func (d *fakeDesk) did(what string) {
	d.calls.Add(1)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.noted = append(d.noted, what)
}

func (d *fakeDesk) last() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.noted) == 0 {
		return ""
	}
	return d.noted[len(d.noted)-1]
}

func (d *fakeDesk) Editor(file string, line int) ([]string, error) {
	d.did(fmt.Sprintf("edit %s:%d", file, line))
	return nil, fault.New(fault.NotFound, "no_editor", "no editor in tests")
}

func (d *fakeDesk) Open(_ context.Context, path string) error { d.did("open " + path); return nil }
func (d *fakeDesk) Copy(_ context.Context, text string) error { d.did("copy " + text); return nil }

func (d *fakeDesk) Head(path string, _ int) ([]byte, int64, error) {
	d.calls.Add(1)
	if d.head == nil {
		return nil, 0, fault.New(fault.NotFound, "file_gone", "it is not there any more")
	}
	return d.head, 48_211, nil
}

func (d *fakeDesk) AddFolder(_ context.Context, dir, name string) error {
	d.did("add " + dir + " as " + name)
	return nil
}

func (d *fakeDesk) History() ([]string, error) {
	return []string{"rotate the signing keys", "how do I mount a volume?"}, nil
}

func (d *fakeDesk) Remember(query string) error { d.did("remember " + query); return nil }
