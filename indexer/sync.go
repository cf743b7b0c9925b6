package indexer

import (
	"context"
	"time"

	"ragd/internal/store"
)

// SyncReport says what is not in the index yet.
type SyncReport struct {
	Pending []store.PathRef // at most 100
	Total   int64
}

const syncListMax = 100

// Sync waits until no job of these KBs (store ids; nil = all) is unfinished,
// or until ctx ends, and reports what is still open then. The caller has
// made sure that its own changes are planned (watcher.Barrier).
func (ix *Indexer) Sync(ctx context.Context, kbs []int64) (SyncReport, error) {
	sub := ix.Subscribe()
	defer sub.Close()
	// The listing below must work even when ctx has just ended.
	read := context.WithoutCancel(ctx)
	for {
		q, err := ix.store.Queue(read, kbs)
		if err != nil {
			return SyncReport{}, err
		}
		if q.Pending+q.Processing == 0 {
			return SyncReport{}, nil
		}
		if !waitEvent(ctx, sub) {
			paths, total, err := ix.store.Unfinished(read, kbs, syncListMax)
			return SyncReport{Pending: paths, Total: total}, err
		}
	}
}

// waitEvent waits for news, at most a quarter second; false when ctx ended.
func waitEvent(ctx context.Context, sub *Subscription) bool {
	t := time.NewTimer(250 * time.Millisecond)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-t.C:
			return true
		case e := <-sub.C:
			if e.Kind == EventDocument && e.What != WhatQueued {
				return true
			}
		}
	}
}
