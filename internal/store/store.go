// Package store keeps the index in one SQLite file.
package store

import (
	"context"
	"errors"
	"log/slog"
	"time"
)

// Options configure Open.
type Options struct {
	Path      string // of the index file; its folder is made when missing
	Logger    *slog.Logger
	Retention Retention // zero = 10 revisions, 30 days
	Readers   int       // connections for reads; 0 = 4
	Now       func() time.Time
	// Reanalyse makes the index terms of one chunk anew; Repair needs it.
	Reanalyse func(path, title string, headings []string, content string) (titleTerms, headingTerms, bodyTerms string)
	// Hook is called before each statement of a write transaction; an error
	// makes that statement fail. For tests.
	Hook func(point string) error
}

// OpenReport says what Open found.
type OpenReport struct {
	Created     bool
	Quarantined string // where a damaged index was set aside; "" = it was sound
	Migrated    bool
	Rescued     int // jobs that a crash left in processing; RescueStale gives them back
}

// Store is the index. It is safe for concurrent use.
type Store struct{}

var errUnbuilt = errors.New("store: not built yet")

func (e *OutcomeError) Error() string { return "store: some outcomes were not written" }

// Open opens the index, or makes it.
func Open(ctx context.Context, o Options) (*Store, OpenReport, error) {
	return nil, OpenReport{}, errUnbuilt
}
func (s *Store) Close() error       { return errUnbuilt }
func (s *Store) Generation() uint64 { return 0 }
func (s *Store) EnsureKB(ctx context.Context, name, root, dir string, mounted bool) (KBInfo, error) {
	return KBInfo{}, errUnbuilt
}
func (s *Store) KBs(ctx context.Context) ([]KBInfo, error) { return nil, errUnbuilt }
func (s *Store) DeleteKB(ctx context.Context, kb int64, keepRow bool) (int64, error) {
	return 0, errUnbuilt
}
func (s *Store) KBStats(ctx context.Context, kbs []int64) ([]KBStats, error) { return nil, errUnbuilt }
func (s *Store) Queue(ctx context.Context, kbs []int64) (Queue, error)       { return Queue{}, errUnbuilt }
func (s *Store) Totals(ctx context.Context) (Totals, error)                  { return Totals{}, errUnbuilt }
func (s *Store) DocStates(ctx context.Context, kb int64, sub string, fn func(DocState) error) error {
	return errUnbuilt
}
func (s *Store) DocState(ctx context.Context, kb int64, path string) (DocState, bool, error) {
	return DocState{}, false, errUnbuilt
}
func (s *Store) ApplyPlans(ctx context.Context, kb int64, plans []Plan) (int, error) {
	return 0, errUnbuilt
}
func (s *Store) ForceKB(ctx context.Context, kb int64) (int, error)  { return 0, errUnbuilt }
func (s *Store) Claim(ctx context.Context, limit int) ([]Job, error) { return nil, errUnbuilt }
func (s *Store) NextDue(ctx context.Context) (time.Time, bool, error) {
	return time.Time{}, false, errUnbuilt
}
func (s *Store) Commit(ctx context.Context, outcomes []Outcome) error { return errUnbuilt }
func (s *Store) RescueStale(ctx context.Context, olderThan time.Duration, maxAttempts int) (int, error) {
	return 0, errUnbuilt
}
func (s *Store) Jobs(ctx context.Context, f JobFilter) ([]Job, int64, error) {
	return nil, 0, errUnbuilt
}
func (s *Store) Job(ctx context.Context, id int64) (Job, bool, error) {
	return Job{}, false, errUnbuilt
}
func (s *Store) RetryJob(ctx context.Context, id int64) error            { return errUnbuilt }
func (s *Store) RetryJobs(ctx context.Context, f JobFilter) (int, error) { return 0, errUnbuilt }
func (s *Store) Bump(ctx context.Context, kb int64, path string) (bool, error) {
	return false, errUnbuilt
}
func (s *Store) SetPaused(ctx context.Context, kb int64, paused bool) error { return errUnbuilt }
func (s *Store) Paused(ctx context.Context) (bool, []int64, error)          { return false, nil, errUnbuilt }
func (s *Store) Freshness(ctx context.Context, kbs []int64) (pending, failed int64, err error) {
	return 0, 0, errUnbuilt
}
func (s *Store) Unfinished(ctx context.Context, kbs []int64, limit int) ([]PathRef, int64, error) {
	return nil, 0, errUnbuilt
}
func (s *Store) ContentFor(ctx context.Context, hash [32]byte, key string) (*StoredContent, bool, error) {
	return nil, false, errUnbuilt
}
func (s *Store) Documents(ctx context.Context, kb int64, p Page, states []State) (docs []DocRecord, total int64, more bool, err error) {
	return nil, 0, false, errUnbuilt
}
func (s *Store) Document(ctx context.Context, kb int64, path string) (DocRecord, bool, error) {
	return DocRecord{}, false, errUnbuilt
}
func (s *Store) Revision(ctx context.Context, kb int64, path, uid string) (Revision, bool, error) {
	return Revision{}, false, errUnbuilt
}
func (s *Store) Revisions(ctx context.Context, kb int64, path string) ([]Revision, error) {
	return nil, errUnbuilt
}

// ReadText returns code points charOffset up to charOffset+charLimit of a revision's text; charLimit < 0 = to the end.
func (s *Store) ReadText(ctx context.Context, revision int64, charOffset, charLimit int) (text string, totalChars int, err error) {
	return "", 0, errUnbuilt
}
func (s *Store) DocumentChunks(ctx context.Context, docID int64) ([]ChunkRecord, error) {
	return nil, errUnbuilt
}
func (s *Store) Chunks(ctx context.Context, ids []int64) ([]ChunkRecord, error) {
	return nil, errUnbuilt
}
func (s *Store) Lexical(ctx context.Context, q LexicalQuery) (LexicalResult, error) {
	return LexicalResult{}, errUnbuilt
}
func (s *Store) LexicalExpr(ctx context.Context, e Expr, f Filter, limit int) (LexicalResult, error) {
	return LexicalResult{}, errUnbuilt
}
func (s *Store) Prune(ctx context.Context) (PruneReport, error) { return PruneReport{}, errUnbuilt }
func (s *Store) Maintain(ctx context.Context) error             { return errUnbuilt }
func (s *Store) Check(ctx context.Context, deep bool) (CheckReport, error) {
	return CheckReport{}, errUnbuilt
}
func (s *Store) Repair(ctx context.Context) (CheckReport, error) { return CheckReport{}, errUnbuilt }
func (s *Store) Probe(ctx context.Context) error                 { return errUnbuilt }

// ProbeWrite writes and syncs a little; it fails as long as the disk is full.
func (s *Store) ProbeWrite(ctx context.Context) error { return errUnbuilt }
