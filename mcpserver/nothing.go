package mcpserver

import (
	"context"

	"ragd/internal/store"
)

// noneMeansNone keeps "no KB" apart from "every KB": a list of ids that is
// empty but not nil asks for nothing, whatever the store makes of it. A slip
// here would show an agent what it may not see.
type noneMeansNone struct{ Store }

func none(ids []int64) bool { return ids != nil && len(ids) == 0 }

func (n noneMeansNone) KBStats(ctx context.Context, kbs []int64) ([]store.KBStats, error) {
	if none(kbs) {
		return nil, nil
	}
	return n.Store.KBStats(ctx, kbs)
}

func (n noneMeansNone) Queue(ctx context.Context, kbs []int64) (store.Queue, error) {
	if none(kbs) {
		return store.Queue{}, nil
	}
	return n.Store.Queue(ctx, kbs)
}

func (n noneMeansNone) Freshness(ctx context.Context, kbs []int64) (pending, failed int64, err error) {
	if none(kbs) {
		return 0, 0, nil
	}
	return n.Store.Freshness(ctx, kbs)
}

func (n noneMeansNone) BacklogOf(ctx context.Context, kbs []int64) (int64, error) {
	if none(kbs) {
		return 0, nil
	}
	return n.Store.BacklogOf(ctx, kbs)
}

func (n noneMeansNone) ListJobs(ctx context.Context, q JobQuery) ([]store.Job, int64, error) {
	if none(q.KBs) {
		return nil, 0, nil
	}
	return n.Store.ListJobs(ctx, q)
}
