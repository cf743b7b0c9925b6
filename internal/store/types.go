package store

import (
	"time"

	"ragd/internal/chunk"
	"ragd/internal/fault"
)

// KBInfo identifies a knowledge base to the store.
type KBInfo struct {
	ID      int64
	Name    string
	Root    string // tenant
	Dir     string
	Mounted bool
}

// KBStats are a KB's counters, all from the store.
type KBStats struct {
	KBInfo
	Documents   int64 // with a current revision
	Chunks      int64 // active
	Bytes       int64 // of the files behind Documents
	Pending     int64 // jobs
	Processing  int64
	Failed      int64
	Excluded    int64 // documents listed as excluded
	LastIndexed time.Time
}

// State is a document's state as people see it.
type State string

// The document states.
const (
	StateIndexed  State = "indexed"
	StatePending  State = "pending" // includes processing; an older revision may be searchable meanwhile
	StateFailed   State = "failed"  // parked
	StateExcluded State = "excluded"
)

// Stat is what lstat said of a file; equal Stats mean "not changed".
type Stat struct {
	Size    int64
	MTimeNS int64
	CTimeNS int64
	Inode   uint64
}

// DocState is what the planner compares with the disk.
type DocState struct {
	ID       int64
	Path     string
	State    State
	Code     string // verdict or failure code for excluded/failed
	Stat     Stat   // as last seen
	Hash     [32]byte
	Key      string // staleness key it was indexed with; "" = never
	Revision bool   // has a current revision (is searchable)
}

// Reason says why a job exists.
type Reason string

// The reasons.
const (
	ReasonNew      Reason = "new"
	ReasonModified Reason = "modified"
	ReasonStale    Reason = "stale" // extractor, chunker or analyser changed
	ReasonForced   Reason = "forced"
	ReasonRetry    Reason = "retry"
	ReasonRestored Reason = "restored" // a rule or limit that excluded it is gone
)

// PlanOp is what is to be done about one path.
type PlanOp uint8

const (
	// PlanIndex enqueues (or re-enqueues, attempts 0) an index job and sets the document pending.
	PlanIndex PlanOp = iota
	// PlanDelete removes the document from the index now: chunks inactive, FTS rows gone, job gone.
	PlanDelete
	// PlanExclude is PlanDelete, but the document stays listed as excluded with Code and Why.
	PlanExclude
	// PlanTouch only records the new Stat (content known to be the same).
	PlanTouch
)

// Plan is one path's plan.
type Plan struct {
	Path     string
	Op       PlanOp
	Reason   Reason
	Priority int // higher first; 10 = seen live, 0 = scan
	Stat     Stat
	Code     string // PlanExclude
	Why      string // PlanExclude, for people
}

// JobState is a job's state.
type JobState string

// The job states.
const (
	JobPending    JobState = "pending"
	JobProcessing JobState = "processing"
	JobFailed     JobState = "failed" // parked
)

// Job is one row of the queue.
type Job struct {
	ID       int64
	KB       int64
	KBName   string
	Path     string
	Reason   Reason
	State    JobState
	Priority int
	Attempts int // counted when claimed
	Stat     Stat

	// What went wrong last; zero for a job that has not failed yet.
	Stage   string // extract, chunk, embed, insert
	Class   fault.Kind
	Code    string
	Message string
	Hint    string

	NextTry time.Time // zero = at once (pending) or never by itself (failed)
	Created time.Time
	Updated time.Time

	claim int64 // which claim this is; a late outcome of an earlier one is not taken
}

// Outcome is the end of one claimed job. Exactly one of the pointers, Gone or
// Released is set.
type Outcome struct {
	Job       Job
	Indexed   *Indexed
	Unchanged *Unchanged
	Failed    *Failure
	Excluded  *Exclusion
	Gone      bool // the file vanished: as PlanDelete
	Released  bool // shutdown or outage: back to pending, the attempt is not counted

	prepared *prepared // by Prepare
}

// Unchanged: same bytes, same staleness key; only the Stat is recorded.
type Unchanged struct{ Stat Stat }

// Exclusion: the content turned out not to be indexable by configuration (not an error).
type Exclusion struct {
	Stat Stat
	Code string
	Why  string
}

// Failure is a failed attempt.
type Failure struct {
	Stage   string
	Class   fault.Kind
	Code    string
	Message string
	Hint    string
	Parked  bool      // no further try by itself
	NextTry time.Time // when not Parked
	Hash    [32]byte  // of the bytes that failed; zero if not read
	Stat    Stat      // of those bytes
}

// Indexed is a new current revision of a document.
type Indexed struct {
	Path      string // of the document; for a part "parent › name"
	Stat      Stat
	Hash      [32]byte // SHA-256 of the bytes that were extracted
	Key       string   // staleness key
	ContentID int64    // > 0: reuse this content (Text is not stored again)
	Text      string   // normalised body, when ContentID is 0
	Format    string
	MediaType string
	Meta      DocMeta
	Chunks    []ChunkInput
	Parts     []Indexed // sub-documents; one level, deeper ones flattened by the caller
}

// DocMeta is a document's metadata.
type DocMeta struct {
	Title         string
	TitleFromName bool   // the title is the file's name, since the document names none (must be stored with the content: another path means another title)
	Type          string // default "note"
	Status        string // default "published"
	Tags          []string
	Canon         bool
	ArtifactID    string
	Created       string
	Updated       string
	Front         map[string]any // all front-matter fields
	FrontError    string         // "front matter: unreadable, line 3: …"
	Meta          map[string]string
	Quality       []byte // JSON
}

// ChunkInput is a chunk with its hash and index terms.
type ChunkInput struct {
	chunk.Chunk
	Hash         [32]byte // SHA-256 of Content
	TitleTerms   string   // space-separated terms from internal/analysis
	HeadingTerms string
	BodyTerms    string
}

// StoredContent is an earlier extraction of the same bytes.
type StoredContent struct {
	ID        int64
	Text      string
	Format    string
	MediaType string
	Meta      DocMeta
	Chunks    []chunk.Chunk
}

// ChunkRecord is a chunk with everything a citation needs.
type ChunkRecord struct {
	ID         int64
	KB         string
	Path       string
	DocumentID int64
	RevisionID string // uid
	Title      string
	Type       string
	Status     string
	Canon      bool
	Index      int
	Content    string // Prefix + slice
	PrefixLen  int    // bytes of Content that are Prefix (repeated context, not on FirstLine)
	FirstLine  int
	LastLine   int
	CharStart  int // in the revision's text
	CharEnd    int
	Headings   []string
	Page       int
	Before     int // bytes of Content that joined neighbours put before the chunk's own
}

// ChunkSpan is a chunk with neighbours that are to be read as one text.
type ChunkSpan struct {
	ID  int64
	All []int64 // ids of neighbours in order, with ID itself
}

// DocRecord is one document for listings and reads.
type DocRecord struct {
	ID         int64
	KB         string
	Path       string
	State      State
	Code       string
	Reason     string
	Size       int64
	Chunks     int64
	RevisionID string // uid of the current revision; "" = none
	Stat       Stat
	Hash       [32]byte
	Format     string
	MediaType  string
	Meta       DocMeta
	IndexedAt  time.Time
}

// Page bounds a listing. After is the last path of the page before ("" = from the start).
type Page struct {
	After string
	Limit int
}

// Queue are the queue's counters.
type Queue struct {
	Pending    int64
	Processing int64
	Failed     int64
}

// Retention says how long superseded revisions are kept.
type Retention struct {
	Revisions   int           // superseded revisions kept per document
	DeletedKept time.Duration // deleted documents
}

// JobFilter selects jobs. Zero values select all.
type JobFilter struct {
	KBs   []int64 // nil = all; empty non-nil = none
	State JobState
	Class string // fault kind's name
	Code  string
	Limit int   // 0 = 100; at most 1000
	After int64 // only jobs with a smaller id; 0 = from the newest
}

// PathRef names a document.
type PathRef struct {
	KB   string
	Path string
}

// Revision is one extracted version of a document.
type Revision struct {
	ID         int64
	UID        string // 32 hex digits; the same bytes at the same path give the same one
	Title      string
	Front      map[string]any
	FrontError string
	Chars      int // code points of the text
	Chunks     int
	Current    bool
	Created    time.Time
	Retired    time.Time // zero when current
}

// Totals are the whole index's counters.
type Totals struct {
	Documents         int64 // with a current revision
	Chunks            int64 // active
	Bytes             int64 // of the files behind Documents
	DBBytes           int64 // file on disk
	WALBytes          int64
	RetainedRevisions int64 // superseded, and of deleted documents
	RetainedBytes     int64 // of their texts, uncompressed
}

// PruneReport says what retention dropped.
type PruneReport struct {
	Revisions int64
	Documents int64 // deleted ones whose time was over
	Contents  int64 // texts nothing refers to any more
}

// Problem is something Check found.
type Problem struct {
	Code       string // fts_rows, fts_structure, counters, orphans, file
	Detail     string
	Repairable bool // by Repair; otherwise the index is to be rebuilt from the files
}

// CheckReport is the outcome of Check or Repair.
type CheckReport struct {
	Problems  []Problem
	Documents int64
	Chunks    int64 // active
	FTSRows   int64
	Schema    int
	Deep      bool
	Repaired  []string // what Repair did, for people
}

// OutcomeError says which outcomes of a Commit were not written; the others were.
type OutcomeError struct {
	Failed []FailedOutcome
}

// FailedOutcome is one outcome that could not be written.
type FailedOutcome struct {
	Index int // in the slice given to Commit
	Err   error
}
