package admin

import (
	"context"
	"time"

	"ragd/internal/search"
	"ragd/internal/store"
	"ragd/internal/wire"
	"ragd/kbroot"
)

// Services are the parts the API speaks for. All are required.
type Services struct {
	Index  Index
	Search Searcher
	Files  Files
	Work   Indexer
	Daemon Daemon
}

// Index is what the API reads of the index. KB ids are the store's; a nil
// list of ids means all.
type Index interface {
	KBStats(ctx context.Context, kbs []int64) ([]store.KBStats, error)
	Freshness(ctx context.Context, kbs []int64) (pending, failed int64, err error)
	Documents(ctx context.Context, kb int64, p store.Page, states []store.State) (docs []store.DocRecord, total int64, more bool, err error)
	Document(ctx context.Context, kb int64, path string) (store.DocRecord, bool, error)
	// Flagged says of which documents the text is poor, and why; CountFlagged counts them.
	Flagged(ctx context.Context, docs []int64) (map[int64]string, error)
	CountFlagged(ctx context.Context, kbs []int64) (int64, error)
	DocumentChunks(ctx context.Context, docID int64) ([]store.ChunkRecord, error)
	// ReadDocument returns a slice of a document's current text, offset and
	// limit in code points. false: it has no text (yet).
	ReadDocument(ctx context.Context, kb int64, path string, offset, limit int) (Text, bool, error)
	// ListJobs returns jobs, newest first, and how many there are in all.
	ListJobs(ctx context.Context, q JobQuery) (jobs []store.Job, total int64, err error)
	Job(ctx context.Context, id int64) (store.Job, bool, error)
	Paused(ctx context.Context) (all bool, kbs []int64, err error)
	// Probe reads a row and runs a full-text query.
	Probe(ctx context.Context) error
}

// Text is a slice of a document's text with what is known of its revisions.
type Text struct {
	Content    string
	TotalChars int // code points in the whole text
	Revisions  []wire.Revision
}

// JobQuery selects jobs.
type JobQuery struct {
	KBs   []int64 // nil = all
	State store.JobState
	After int64 // only jobs with a smaller id; 0 = from the newest
	Limit int
}

// Searcher answers queries.
type Searcher interface {
	Search(ctx context.Context, req search.Request) (*search.Response, error)
}

// Files is the disk; *kbroot.Set is one.
type Files interface {
	KBs() ([]kbroot.KB, error)
	KB(name string) (kbroot.KB, bool)
	Roots() []kbroot.RootState
	Stat(p kbroot.DocPath) (kbroot.Entry, error)
	WriteFile(p kbroot.DocPath, content []byte) (replaced bool, err error)
	Remove(p kbroot.DocPath) (existed bool, err error)
	RemoveKB(name string) error
	Explain(abs string) (kbroot.Entry, kbroot.Verdict, error)
}

// Indexer takes changes and requests.
type Indexer interface {
	Reindex(ctx context.Context, kb string, force bool) (wire.ReindexCounts, error)
	Retry(ctx context.Context, id int64) error
	RetryAll(ctx context.Context) (int, error)
	SetPaused(ctx context.Context, kb string, paused bool) error
	Bump(ctx context.Context, p kbroot.DocPath) (bool, error)
	// Stages tells the stage of each job that a worker has begun, by the job's id.
	Stages() map[int64]string
	// Enqueue plans one path that the caller has just written.
	Enqueue(ctx context.Context, p kbroot.DocPath) error
	// Forget removes a document from the index, after its file is gone.
	Forget(ctx context.Context, p kbroot.DocPath) (existed bool, err error)
	// ForgetKB removes a KB from the index, after its folder is gone (or, for a mount, instead).
	ForgetKB(ctx context.Context, name string) (existed bool, documents int64, err error)
	// Hint says that something on disk changed.
	Hint(c kbroot.Change)
}

// Daemon is what only the whole program knows. Its methods answer at once.
type Daemon interface {
	// Health tells Version, PID and the parts that are degraded; Status is
	// "warming_up" until the first scan has begun. The API probes the index itself.
	Health() wire.Health
	// Status fills everything but KBCount, Documents, Chunks, Bytes, Queue and
	// ETASeconds, which are the index's to tell.
	Status(ctx context.Context) (wire.Status, error)
	Watchers() []wire.Watcher
	Reload(ctx context.Context) (wire.Reloaded, error)
	Check(ctx context.Context, deep bool) (wire.Check, error)
	Repair(ctx context.Context) (wire.Check, error)
}

// probeTime bounds the probe of the index in GET /health.
const probeTime = 2 * time.Second
