package indexer

import (
	"context"
	"math/rand/v2"
	"time"

	"ragd/internal/fault"
	"ragd/internal/store"
)

const (
	backoffFirst = time.Second
	backoffMax   = 5 * time.Minute
)

// backoff is the wait before the attempt after the n-th (n ≥ 1): 1 s, 4 s,
// 16 s … up to 5 minutes, each ± 25 % so that jobs that failed together do
// not come back together.
func backoff(n int) time.Duration {
	d := backoffFirst
	for i := 1; i < n && d < backoffMax; i++ {
		d *= 4
	}
	d = min(d, backoffMax)
	return time.Duration(float64(d) * (0.75 + rand.Float64()/2))
}

// failure turns an error of a stage into what the job's row keeps. Permanent
// errors park at once; others are tried until RetryMax attempts are used.
func (ix *Indexer) failure(j store.Job, stage string, err error) store.Failure {
	f := store.Failure{Stage: stage, Class: fault.KindOf(err), Code: "internal", Message: err.Error(), Stat: j.Stat}
	if e, ok := fault.As(err); ok {
		f.Code, f.Message, f.Hint = e.Code, e.Message, e.Hint
	}
	switch f.Class {
	case fault.Permanent, fault.Invalid, fault.Denied:
		f.Parked = true
	default:
		f.Parked = j.Attempts >= ix.opt.RetryMax
	}
	if !f.Parked {
		f.NextTry = time.Now().Add(backoff(j.Attempts))
	}
	return f
}

// outageReason says why the pipeline rests; "" when it does not.
func (ix *Indexer) outageReason() string {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	return ix.outage
}

// indexOutage: it is the index that cannot be written or read, not the root
// that cannot be looked at.
func indexOutage(err error) bool {
	f, ok := fault.As(err)
	return ok && f.Kind == fault.Unavailable && (f.Code == "disk_full" || f.Code == "disk_error" || f.Code == "index_corrupt")
}

func (ix *Indexer) setOutage(why string) {
	ix.mu.Lock()
	changed := ix.outage != why
	ix.outage = why
	ix.mu.Unlock()
	if changed {
		ix.log.Warn("indexing rests until the cause is gone", "reason", why)
		ix.events.send(Event{Kind: EventPhase})
		ix.wake() // the dispatcher asks from now on whether it is over
	}
}

// outageOver probes whether the index can be written again.
func (ix *Indexer) outageOver(ctx context.Context) bool {
	if err := ix.store.ProbeWrite(ctx); err != nil {
		return false
	}
	ix.mu.Lock()
	ix.outage = ""
	ix.mu.Unlock()
	ix.log.Info("indexing goes on")
	ix.events.send(Event{Kind: EventPhase})
	return true
}
