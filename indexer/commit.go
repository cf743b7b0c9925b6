package indexer

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/semaphore"

	"ragd/internal/fault"
	"ragd/internal/store"
)

const (
	commitJobs  = 1024
	commitBytes = int64(8 << 20)
	commitDelay = 25 * time.Millisecond

	// With this many jobs under way it is a bulk load, in which fewer and larger
	// segments of the full-text index are worth a longer wait.
	bulkJobs  = 200
	bulkDelay = 250 * time.Millisecond
)

// committer gathers outcomes into transactions: many small documents share
// one, but none waits longer than commitDelay for company (bulkDelay in a bulk
// load), and a lone one does not wait at all.
func (ix *Indexer) committer(ctx context.Context, done <-chan finished, memory *semaphore.Weighted) error {
	for f := range done {
		batch := ix.gather(f, done)
		ix.commit(ctx, batch)
		ix.stages.drop(batch)
		for _, b := range batch {
			if b.weight > 0 {
				memory.Release(b.weight)
			}
		}
		ix.inflight.Add(-int64(len(batch)))
		ix.wake()
	}
	return nil
}

func (ix *Indexer) gather(first finished, done <-chan finished) []finished {
	batch := []finished{first}
	bytes := first.bytes
	delay := commitDelay
	if ix.inflight.Load() >= bulkJobs {
		delay = bulkDelay
	}
	timer := time.NewTimer(delay)
	defer timer.Stop()
	for len(batch) < commitJobs && bytes < commitBytes && ix.inflight.Load() > int64(len(batch)) {
		select {
		case f, ok := <-done:
			if !ok {
				return batch
			}
			batch = append(batch, f)
			bytes += f.bytes
		case <-timer.C:
			return batch
		}
	}
	return batch
}

// commit writes a batch. It must land even while stopping, so it runs on a
// context of its own with a deadline. When the disk is full or the index
// cannot be written, the jobs go back without a burnt attempt and the
// pipeline rests.
func (ix *Indexer) commit(ctx context.Context, batch []finished) {
	wctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTimeout+30*time.Second)
	defer cancel()
	if ctx.Err() != nil {
		var stop context.CancelFunc
		wctx, stop = context.WithTimeout(wctx, drainTimeout)
		defer stop()
	}
	outcomes := make([]store.Outcome, len(batch))
	for i, f := range batch {
		outcomes[i] = f.outcome
	}
	if err := ix.store.Commit(wctx, outcomes); err != nil {
		ix.commitFailed(wctx, outcomes, err)
	}
	ix.unsettled.Store(true)
	ix.mu.Lock()
	ix.lastWork = time.Now()
	ix.mu.Unlock()
	indexed := 0
	for i, o := range outcomes {
		if o.Indexed != nil {
			indexed++
		}
		ix.publishOutcome(o, batch[i].took)
	}
	ix.rate.add(time.Now(), indexed)
	ix.wakeEmbedding()
}

// commitFailed puts what became of them into the outcomes that were not
// written: all of the transaction, or those the store names.
func (ix *Indexer) commitFailed(ctx context.Context, outcomes []store.Outcome, err error) {
	var partial *store.OutcomeError
	if errors.As(err, &partial) {
		for _, f := range partial.Failed {
			outcomes[f.Index] = ix.giveBack(ctx, outcomes[f.Index], f.Err)
		}
		return
	}
	for i := range outcomes {
		outcomes[i] = ix.giveBack(ctx, outcomes[i], err)
	}
}

// giveBack writes that an outcome could not be written: as a failed attempt,
// or without one when that is not the document's fault.
func (ix *Indexer) giveBack(ctx context.Context, o store.Outcome, err error) store.Outcome {
	kind := fault.KindOf(err)
	if kind == fault.Unavailable {
		ix.setOutage(err.Error())
	}
	if kind != fault.Unavailable { // of an outage setOutage has told, once
		ix.log.Error("a document could not be written to the index", "kb", o.Job.KBName, "path", o.Job.Path, "error", err)
	}
	back := store.Outcome{Job: o.Job}
	if kind == fault.Unavailable || kind == fault.Cancelled || o.Released {
		back.Released = true
	} else {
		f := ix.failure(o.Job, "insert", err)
		back.Failed = &f
	}
	if e := ix.store.Commit(ctx, []store.Outcome{back}); e != nil {
		ix.mu.Lock()
		ix.orphans = append(ix.orphans, o.Job)
		ix.mu.Unlock()
	}
	return back
}

func (ix *Indexer) publishOutcome(o store.Outcome, took time.Duration) {
	ev := Event{Kind: EventDocument, KB: o.Job.KBName, Path: o.Job.Path, Took: took}
	switch {
	case o.Indexed != nil:
		ev.What, ev.Chunks = WhatIndexed, len(o.Indexed.Chunks)
	case o.Unchanged != nil:
		ev.What = WhatUnchanged
	case o.Failed != nil:
		ev.What, ev.Message = WhatFailed, o.Failed.Message
	case o.Excluded != nil:
		ev.What, ev.Message = WhatExcluded, o.Excluded.Why
	case o.Gone:
		ev.What = WhatDeleted
	default:
		return
	}
	ix.events.send(ev)
}

// adoptOrphans gives back jobs whose rows could not be written at the time.
// A crash before that is mended by the rescue at the next start.
func (ix *Indexer) adoptOrphans(ctx context.Context) {
	ix.mu.Lock()
	orphans := ix.orphans
	ix.orphans = nil
	ix.mu.Unlock()
	for i, j := range orphans {
		if err := ix.store.Commit(ctx, []store.Outcome{{Job: j, Released: true}}); err != nil {
			ix.mu.Lock()
			ix.orphans = append(ix.orphans, orphans[i:]...)
			ix.mu.Unlock()
			return
		}
	}
	if len(orphans) > 0 {
		ix.wake()
	}
}
