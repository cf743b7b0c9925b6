package indexer

import (
	"context"
	"time"
)

const (
	upkeepTick    = time.Second
	settleAfter   = 3 * time.Second // of quiet, before maintenance
	pruneEvery    = 10 * time.Second
	lookAgain     = time.Hour        // for what has grown too old since, though nothing changed
	unsettledMost = 10 * time.Minute // of constant work, before maintenance runs all the same
)

// upkeep gives back orphaned jobs, applies the retention and tidies the index when
// there is nothing better to do. The first time is soon after the start, for what
// an earlier run was stopped too soon to tidy.
func (ix *Indexer) upkeep(ctx context.Context) error {
	ticker := time.NewTicker(upkeepTick)
	defer ticker.Stop()
	var lastPrune, dirtySince time.Time
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case now := <-ticker.C:
			ix.adoptOrphans(ctx)
			ix.store.Rest()
			if !ix.unsettled.Load() && now.Sub(lastPrune) < lookAgain {
				dirtySince = time.Time{}
				continue
			}
			if dirtySince.IsZero() {
				dirtySince = now
			}
			if !ix.quiet(now) && now.Sub(dirtySince) < unsettledMost {
				continue
			}
			if now.Sub(lastPrune) < pruneEvery {
				continue // it stays unsettled, so that what was deleted meanwhile goes too
			}
			ix.unsettled.Store(false)
			dirtySince, lastPrune = time.Time{}, now
			ix.prune(ctx)
			ix.collectVectors(ctx)
			if err := ix.store.Maintain(ctx); err != nil && ctx.Err() == nil {
				ix.log.Warn("the index could not be tidied", "error", err)
			}
		}
	}
}

func (ix *Indexer) quiet(now time.Time) bool {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	return ix.inflight.Load() == 0 && !ix.scans.busy() && now.Sub(ix.lastWork) >= settleAfter
}

// collectVectors gives back the vectors of texts that are gone.
func (ix *Indexer) collectVectors(ctx context.Context) {
	e := ix.opt.Embedding
	if e == nil {
		return
	}
	if _, err := e.opt.Store.CollectVectors(ctx); err != nil && ctx.Err() == nil {
		ix.log.Warn("unused vectors could not be dropped", "error", err)
	}
}

func (ix *Indexer) prune(ctx context.Context) {
	r, err := ix.store.Prune(ctx)
	if err != nil && ctx.Err() == nil {
		ix.log.Warn("old revisions could not be dropped", "error", err)
		return
	}
	if r.Revisions > 0 {
		ix.log.Info("old revisions were dropped", "revisions", r.Revisions, "documents", r.Documents)
	}
}
