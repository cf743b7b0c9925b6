package indexer

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"ragd/internal/fault"
	"ragd/internal/store"
)

const (
	maxClaim     = 1024
	maxWaiting   = 2 * maxClaim    // jobs claimed that no worker has begun
	memoryBudget = int64(96 << 20) // bytes of file, text and terms held by jobs under way
	memoryPerJob = 5               // a job holds about this many times its file's size
	memoryLeast  = 24 << 10        // and never less than this
	outageRetry  = 3 * time.Second
	drainTimeout = 3 * time.Second
)

// pipeline runs claimed jobs through the workers to the committer.
func (ix *Indexer) pipeline(ctx context.Context) error {
	jobs := make(chan claimed, maxWaiting)
	done := make(chan finished, maxWaiting)
	memory := semaphore.NewWeighted(memoryBudget)
	// The committer outlives ctx by the drain deadline: outcomes under way
	// land, and jobs not begun are given back.
	g := new(errgroup.Group)
	workers := new(errgroup.Group)
	for range ix.opt.Concurrency {
		workers.Go(func() error { ix.worker(ctx, jobs, done, memory); return nil })
	}
	g.Go(func() error { return ix.committer(ctx, done, memory) })
	g.Go(func() error {
		err := ix.dispatcher(ctx, jobs)
		close(jobs)
		_ = workers.Wait()
		close(done)
		return err
	})
	return g.Wait()
}

// dispatcher claims jobs whenever the workers have few before them. What waits
// for the committer does not count: workers go on while it writes.
func (ix *Indexer) dispatcher(ctx context.Context, jobs chan<- claimed) error {
	for {
		wait, err := ix.claimOnce(ctx, jobs)
		if err != nil {
			return err
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		case <-ix.kick:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// claimOnce claims what there is room for and returns how long to sleep
// unless woken.
func (ix *Indexer) claimOnce(ctx context.Context, jobs chan<- claimed) (time.Duration, error) {
	for {
		if !ix.ahead.wants() {
			return time.Hour, nil // a worker wakes us, or the committer
		}
		if why := ix.outageReason(); why != "" && !ix.outageOver(ctx) {
			return outageRetry, nil
		}
		list, err := ix.claim(ctx)
		if err != nil {
			if ctx.Err() != nil {
				return 0, ctx.Err()
			}
			ix.log.Warn("jobs cannot be claimed just now", "error", err)
			if fault.KindOf(err) == fault.Unavailable {
				ix.setOutage(err.Error())
			}
			return outageRetry, nil
		}
		if len(list) == 0 {
			return ix.untilDue(ctx), nil
		}
		at := time.Now()
		ix.inflight.Add(int64(len(list)))
		for _, c := range list {
			c.at = at
			jobs <- c // never blocks: its capacity is maxWaiting
		}
	}
}

// untilDue is how long until a job waiting for its backoff comes due.
func (ix *Indexer) untilDue(ctx context.Context) time.Duration {
	at, ok, err := ix.store.NextDue(ctx)
	if err != nil || !ok {
		return time.Minute
	}
	return max(time.Until(at), 10*time.Millisecond)
}

// claimed is a job and the time it was claimed. What changes on disk later
// makes the job run again.
type claimed struct {
	job    store.Job
	at     time.Time
	format string
	cost   time.Duration // expected
}

// finished is one job's outcome and the memory it still holds.
type finished struct {
	outcome store.Outcome
	weight  int64
	took    time.Duration
	bytes   int64
}

func (ix *Indexer) worker(ctx context.Context, jobs <-chan claimed, done chan<- finished, memory *semaphore.Weighted) {
	w := newWorker(ix)
	defer w.reader.Close()
	for {
		c, ok := w.next(jobs)
		if !ok {
			return
		}
		j := c.job
		f := finished{outcome: store.Outcome{Job: j, Released: true}}
		f.weight = min(max(j.Stat.Size*memoryPerJob, memoryLeast), memoryBudget)
		if memory.Acquire(ctx, f.weight) != nil {
			f.weight = 0
			ix.worked(c)
			done <- f
			continue
		}
		start := time.Now()
		f.outcome = w.runWithin(ctx, c)
		ix.store.Prepare(&f.outcome)
		f.took = time.Since(start)
		ix.stages.set(j.ID, "insert")
		ix.ahead.learn(c.format, f.took)
		f.bytes = j.Stat.Size
		ix.worked(c)
		done <- f
	}
}

// next waits for a job, with no folder open while there is none.
func (w *worker) next(jobs <-chan claimed) (c claimed, ok bool) {
	select {
	case c, ok = <-jobs:
	default:
		w.reader.Close()
		c, ok = <-jobs
	}
	return c, ok
}

// runWithin gives a job the deadline after which it counts as hung.
func (w *worker) runWithin(ctx context.Context, c claimed) store.Outcome {
	jctx, cancel := context.WithTimeout(ctx, w.ix.opt.StaleTimeout)
	defer cancel()
	out := w.run(jctx, c)
	if out.Released && ctx.Err() == nil && jctx.Err() != nil {
		f := w.ix.failure(c.job, "extract", fault.New(fault.Transient, "timeout",
			"the file took longer than %s", w.ix.opt.StaleTimeout).
			WithHint("Raise INDEXER_STALE_TIMEOUT, or split the file."))
		return store.Outcome{Job: c.job, Failed: &f}
	}
	return out
}
