package mcpserver

import (
	"context"
	"io/fs"
	"os"
	"time"

	"ragd/internal/search"
	"ragd/internal/store"
	"ragd/internal/wire"
	"ragd/kbroot"
)

// Deps are the parts a Server speaks for. Store, Search, Files and Index are
// required; the others may be nil.
type Deps struct {
	Store  Store
	Search Searcher
	Files  Files
	Index  Indexer
	Fresh  Freshener    // nil: wait_ms waits for nothing
	Status StatusSource // nil: rag_status tells only what the store knows
	Audit  func(Audit)  // nil: writes are only logged
	Chunks ChunkLister  // nil: list_chunks is not offered
	Docs   DocFinder    // nil: capsid_find_docs is not offered
	FTS    Searcher     // takes FTS5 syntax in Query; nil: mode keyword searches plain words
}

// Store is what the tools read of the index. KB ids are the store's; a nil
// list of ids means all.
type Store interface {
	KBs(ctx context.Context) ([]store.KBInfo, error)
	KBStats(ctx context.Context, kbs []int64) ([]store.KBStats, error)
	Queue(ctx context.Context, kbs []int64) (store.Queue, error)
	Freshness(ctx context.Context, kbs []int64) (pending, failed int64, err error)
	// BacklogOf is how many chunks wait for vectors.
	BacklogOf(ctx context.Context, kbs []int64) (int64, error)
	Documents(ctx context.Context, kb int64, p store.Page, states []store.State) (docs []store.DocRecord, total int64, more bool, err error)
	Document(ctx context.Context, kb int64, path string) (store.DocRecord, bool, error)
	// Flagged says of which documents the text is poor, and why.
	Flagged(ctx context.Context, docs []int64) (map[int64]string, error)
	// ReadRevision returns a slice of one revision's text, offset and limit in
	// code points; uid "" is the current revision. false: no such document,
	// or no such revision of it.
	ReadRevision(ctx context.Context, kb int64, path, uid string, offset, limit int) (Text, bool, error)
	// ListJobs returns jobs by descending id, older than after (0 = newest),
	// and how many there are in all; state "" means any.
	ListJobs(ctx context.Context, q JobQuery) (jobs []store.Job, total int64, err error)
}

// Text is a slice of a revision's text.
type Text struct {
	RevisionID string
	Title      string
	Front      map[string]any
	FrontError string
	Current    bool
	Created    time.Time
	Content    string
	TotalChars int // code points in the whole text
}

// JobQuery selects jobs.
type JobQuery struct {
	KBs   []int64 // nil = all
	State store.JobState
	After int64
	Limit int
}

// Searcher answers queries; *search.Searcher is one.
type Searcher interface {
	Search(ctx context.Context, req search.Request) (*search.Response, error)
}

// ChunkLister lists the documents of one KB with their chunks.
type ChunkLister interface {
	// ListChunks returns the documents whose path starts with prefix (literally,
	// by bytes), ordered by path, at most limit of them, and how many there are
	// in all. With deprecated, documents without an active chunk are among them.
	ListChunks(ctx context.Context, kb int64, prefix string, deprecated bool, limit int) (entries []ChunkEntry, total int64, err error)
}

// ChunkEntry is one document's chunks.
type ChunkEntry = store.ChunkEntry

// DocFinder lists the searchable documents of one KB by their front matter.
type DocFinder interface {
	// FindDocs returns at most limit documents, ordered by path.
	FindDocs(ctx context.Context, kb int64, f DocFilter, limit int) ([]store.DocRecord, error)
}

// DocFilter selects documents; empty fields select all.
type DocFilter = store.DocFilter

// Files is the disk; *kbroot.Set is one. Its refusals (path tricks, ignored
// paths, sizes, mounts) are the tools' refusals.
type Files interface {
	Roots() []kbroot.RootState
	KBs() ([]kbroot.KB, error)
	KB(name string) (kbroot.KB, bool)
	Stat(p kbroot.DocPath) (kbroot.Entry, error)
	Open(p kbroot.DocPath) (*os.File, fs.FileInfo, error)
	// WriteFileIn writes a whole file atomically under a root ("" = any),
	// making its KB there and folders.
	WriteFileIn(root string, p kbroot.DocPath, data []byte) (replaced bool, err error)
	// Remove deletes one file; existed is false when there was none.
	Remove(p kbroot.DocPath) (existed bool, err error)
	// RemoveKB deletes a KB's folder with everything in it; refuses a mount.
	RemoveKB(name string) error
}

// Indexer takes the changes that tools make.
type Indexer interface {
	Reindex(ctx context.Context, kb string, force bool) (Counts, error)
	// Enqueue plans one path that the caller has just written.
	Enqueue(ctx context.Context, p kbroot.DocPath) error
	// Forget removes a document from the index, after its file is gone.
	Forget(ctx context.Context, p kbroot.DocPath) (existed bool, err error)
	// ForgetKB removes a KB from the index, after its folder is gone (or, for a mount, instead).
	ForgetKB(ctx context.Context, name string) (existed bool, documents int64, err error)
}

// Counts are the outcome of a reindex, in documents.
type Counts struct {
	Added, Modified, Deleted, Skipped, Excluded, Enqueued int
}

// Freshener waits until everything written to disk before the call is in the
// index, or ctx ends. It returns what is not in yet (a sample and its total)
// and which roots cannot be trusted to tell.
type Freshener interface {
	Wait(ctx context.Context, kbs []string) (pending []kbroot.DocPath, total int, degraded []string, err error)
}

// StatusSource tells how the daemon is.
type StatusSource interface {
	Status() Status
}

// Status is the part of the daemon's state that the store does not know.
type Status struct {
	Version  string
	Uptime   time.Duration
	Phase    string
	Embedder wire.Embedder
	Watchers []wire.Watcher
}

// Audit is one write by an agent.
type Audit struct {
	At      time.Time
	Agent   string
	Client  string
	Action  string // add_document, delete_document, delete_kb, reindex
	KB      string
	Path    string
	Before  string // hex SHA-256 of the file before, "" = there was none
	After   string // hex SHA-256 of the file after, "" = gone
	Outcome string // ok, or the code of the refusal
}
