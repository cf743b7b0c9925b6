package indexer

import (
	"context"
	"time"

	"ragd/kbroot"

	"ragd/internal/store"
)

// Root is what the indexer needs of the disk; *kbroot.Set is one.
type Root interface {
	Roots() []kbroot.RootState
	KBs() ([]kbroot.KB, error)
	KB(name string) (kbroot.KB, bool)
	Stat(p kbroot.DocPath) (kbroot.Entry, error)
	NewReader() *kbroot.Reader
	Walk(ctx context.Context, kb, sub string, fn func(kbroot.Entry) error) error
	Fingerprint(root string) (kbroot.RootID, error)
	Options() kbroot.Options
}

// Store is what the indexer needs of the index; *store.Store is one.
type Store interface {
	EnsureKB(ctx context.Context, name, root, dir string, mounted bool) (store.KBInfo, error)
	KBs(ctx context.Context) ([]store.KBInfo, error)
	DeleteKB(ctx context.Context, kb int64, keepRow bool) (int64, error)
	KBStats(ctx context.Context, kbs []int64) ([]store.KBStats, error)
	Queue(ctx context.Context, kbs []int64) (store.Queue, error)

	DocStates(ctx context.Context, kb int64, sub string, fn func(store.DocState) error) error
	DocState(ctx context.Context, kb int64, path string) (store.DocState, bool, error)
	ApplyPlans(ctx context.Context, kb int64, plans []store.Plan) (int, error)
	ForceKB(ctx context.Context, kb int64) (int, error)

	ClaimWhile(ctx context.Context, limit int, want func(store.Job) bool) ([]store.Job, error)
	NextDue(ctx context.Context) (time.Time, bool, error)
	Prepare(o *store.Outcome)
	Commit(ctx context.Context, outcomes []store.Outcome) error
	RescueStale(ctx context.Context, olderThan time.Duration, maxAttempts int) (int, error)
	RetryJob(ctx context.Context, id int64) error
	RetryJobs(ctx context.Context, f store.JobFilter) (int, error)
	Bump(ctx context.Context, kb int64, path string) (bool, error)
	SetPaused(ctx context.Context, kb int64, paused bool) error
	Paused(ctx context.Context) (bool, []int64, error)
	Unfinished(ctx context.Context, kbs []int64, limit int) ([]store.PathRef, int64, error)

	ContentFor(ctx context.Context, hash [32]byte, key string) (*store.StoredContent, bool, error)
	Prune(ctx context.Context) (store.PruneReport, error)
	Maintain(ctx context.Context) error
	Rest()
	ProbeWrite(ctx context.Context) error // writes and fsyncs a little; fails as long as the disk is full
}
