package indexer

import (
	"context"
	"sync"
	"time"

	"ragd/internal/store"
)

const (
	claimAhead  = 400 * time.Millisecond // of each worker's time is claimed at once; a file just saved waits no longer than this behind others
	shortestJob = 100 * time.Microsecond // no job is taken for shorter than this
	unseenJob   = 20 * time.Millisecond  // one of a format that was not seen yet,
	unseenSlow  = 100 * time.Millisecond // which needs the extraction worker
)

// ahead is the work that is claimed and not done yet, in jobs and in time, by
// what each format took of late.
type ahead struct {
	workers int

	mu   sync.Mutex
	mean map[string]time.Duration // by format; a moving mean
	jobs int
	time time.Duration

	last int // how many jobs the last claim took; only the dispatcher's
}

// learn takes in how long a job of a format took.
func (a *ahead) learn(format string, took time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	old, ok := a.mean[format]
	if !ok {
		old = took
	}
	a.mean[format] = old + (took-old)/8
}

// expect is how long a job of a format will take.
func (a *ahead) expect(format string, inWorker bool) time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	mean, ok := a.mean[format]
	switch {
	case ok:
		return max(mean, shortestJob)
	case inWorker:
		return unseenSlow
	}
	return unseenJob
}

// budget is how much may be claimed.
func (a *ahead) budget() time.Duration { return claimAhead * time.Duration(a.workers) }

// limit is how many jobs to look at for the next claim: no more than a few
// times those that were taken last, since all that are looked at are read.
func (a *ahead) limit() int { return min(maxClaim, 4*a.last+64) }

// wants says that the workers have less than half of a claim before them.
func (a *ahead) wants() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.low()
}

func (a *ahead) low() bool { return a.jobs <= maxClaim/2 && a.time <= a.budget()/2 }

// add counts a job as claimed, unless the workers have enough before them.
// There is always one for each worker and one to come.
func (a *ahead) add(cost time.Duration) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.jobs > a.workers && a.time+cost > a.budget() {
		return false
	}
	a.jobs++
	a.time += cost
	return true
}

// done counts a job as worked on; low: more should be claimed now, which it
// says once.
func (a *ahead) done(cost time.Duration) (low bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	was := a.low()
	a.jobs--
	a.time -= cost
	return !was && a.low()
}

// claim takes jobs until the workers have enough before them.
func (ix *Indexer) claim(ctx context.Context) ([]claimed, error) {
	var out []claimed
	jobs, err := ix.store.ClaimWhile(ctx, ix.ahead.limit(), func(j store.Job) bool {
		var c claimed
		f, _, _ := ix.extractor.Lookup(j.Path)
		c.format, c.cost = f.Name, ix.ahead.expect(f.Name, f.Worker)
		if !ix.ahead.add(c.cost) {
			return false
		}
		out = append(out, c)
		return true
	})
	for _, c := range out[len(jobs):] { // the transaction was rolled back
		ix.ahead.done(c.cost)
	}
	out = out[:len(jobs)]
	for i := range out {
		out[i].job = jobs[i]
	}
	ix.ahead.last = len(out)
	return out, err
}

// worked counts a job the workers are done with, and wakes the dispatcher when
// more should be claimed.
func (ix *Indexer) worked(c claimed) {
	if ix.ahead.done(c.cost) {
		ix.wake()
	}
}
