package indexer

import (
	"context"
	"time"

	"ragd/internal/fault"
	"ragd/internal/store"
	"ragd/kbroot"
)

// Reindex compares the disk with the index now and returns what it queued
// ("" = every KB). With force, everything is queued again; the old content
// stays searchable until its replacement is in. Asking for it confirms that
// an empty root is really meant to be empty.
func (ix *Indexer) Reindex(ctx context.Context, kb string, force bool) (Counts, error) {
	items, err := ix.reindexScope(kb)
	if err != nil {
		return Counts{}, err
	}
	var total Counts
	for _, it := range items {
		counts, err := ix.scanNow(ctx, it)
		total.add(counts)
		if err != nil {
			return total, err
		}
	}
	if force {
		n, err := ix.forceScope(ctx, kb)
		if err != nil {
			return total, err
		}
		total.Enqueued += n
		total.Skipped = max(0, total.Skipped-n)
		total.Modified += n
	}
	ix.wake()
	return total, nil
}

func (ix *Indexer) reindexScope(kb string) ([]scanItem, error) {
	if kb != "" {
		k, ok := ix.root.KB(kb)
		if !ok {
			return nil, fault.New(fault.NotFound, "kb_not_found", "no knowledge base %q", kb).
				WithHint("List the knowledge bases to see their names.")
		}
		ix.confirm(k.Root)
		return []scanItem{{tree: kbroot.DocPath{KB: kb}}}, nil
	}
	var items []scanItem
	for _, r := range ix.root.Roots() {
		ix.confirm(r.Name)
		items = append(items, scanItem{root: r.Name})
	}
	return items, nil
}

func (ix *Indexer) confirm(root string) {
	ix.mu.Lock()
	ix.confirmed[root] = true
	ix.mu.Unlock()
}

func (ix *Indexer) scanNow(ctx context.Context, it scanItem) (Counts, error) {
	done := make(chan scanDone, 1)
	it.done = done
	ix.scans.add(it)
	select {
	case <-ctx.Done():
		return Counts{}, ctx.Err()
	case d := <-done:
		return d.counts, d.err
	}
}

func (ix *Indexer) forceScope(ctx context.Context, kb string) (int, error) {
	kbs, err := ix.store.KBs(ctx)
	if err != nil {
		return 0, err
	}
	total := 0
	for _, k := range kbs {
		if kb != "" && k.Name != kb {
			continue
		}
		n, err := ix.store.ForceKB(ctx, k.ID)
		total += n
		if err == nil && ix.opt.Embedding != nil {
			err = ix.opt.Embedding.Again(ctx, k.ID)
		}
		if err != nil {
			return total, err
		}
	}
	return total, nil
}

// Retry starts a parked job fresh.
func (ix *Indexer) Retry(ctx context.Context, id int64) error {
	if err := ix.store.RetryJob(ctx, id); err != nil {
		return err
	}
	ix.wakeEmbedding()
	ix.wake()
	ix.events.send(Event{Kind: EventPhase})
	return nil
}

// RetryAll starts all parked jobs that the filter lets through fresh.
func (ix *Indexer) RetryAll(ctx context.Context, f store.JobFilter) (int, error) {
	n, err := ix.store.RetryJobs(ctx, f)
	if n > 0 {
		ix.wakeEmbedding()
		ix.wake()
		ix.events.send(Event{Kind: EventPhase})
	}
	return n, err
}

// SetPaused pauses or resumes a KB ("" = all). Pausing lets jobs under way end.
func (ix *Indexer) SetPaused(ctx context.Context, kb string, paused bool) error {
	var id int64
	if kb != "" {
		var ok bool
		if id, ok = ix.kbID(kb); !ok {
			return fault.New(fault.NotFound, "kb_not_found", "no knowledge base %q", kb)
		}
	}
	if err := ix.store.SetPaused(ctx, id, paused); err != nil {
		return err
	}
	ix.wake()
	ix.events.send(Event{Kind: EventPhase})
	return nil
}

// Bump puts one waiting job to the front.
func (ix *Indexer) Bump(ctx context.Context, p kbroot.DocPath) (bool, error) {
	id, ok := ix.kbID(p.KB)
	if !ok {
		return false, fault.New(fault.NotFound, "kb_not_found", "no knowledge base %q", p.KB)
	}
	found, err := ix.store.Bump(ctx, id, p.Path)
	ix.wake()
	return found, err
}

// Forget removes a document from the index at once, after its file was
// deleted by the caller. existed says whether the index knew it.
func (ix *Indexer) Forget(ctx context.Context, p kbroot.DocPath) (existed bool, err error) {
	id, ok := ix.kbID(p.KB)
	if !ok {
		return false, nil
	}
	ix.planMu.Lock()
	defer ix.planMu.Unlock()
	_, existed, err = ix.store.DocState(ctx, id, p.Path)
	if err != nil || !existed {
		return existed, err
	}
	return true, ix.apply(ctx, p.KB, id, []store.Plan{{Path: p.Path, Op: store.PlanDelete}})
}

// Enqueue plans one path at once, as if seen live: for a file the caller has
// just written. It returns when the job is in the queue.
func (ix *Indexer) Enqueue(ctx context.Context, p kbroot.DocPath) error {
	kb, ok := ix.root.KB(p.KB)
	if !ok {
		return fault.New(fault.NotFound, "kb_not_found", "no knowledge base %q", p.KB)
	}
	if !ix.checkRoot(ctx, kb.Root) {
		return fault.New(fault.Unavailable, "root_unavailable", "the root of %q cannot be read just now", p.KB)
	}
	id, err := ix.ensureKB(ctx, kb)
	if err != nil {
		return err
	}
	return ix.planBatch(ctx, p.KB, id, []string{p.Path}, func(string) bool { return true })
}

// ForgetKB removes a whole KB from the index, after its folder was deleted by
// the caller (or, for a mount, without touching its files).
func (ix *Indexer) ForgetKB(ctx context.Context, name string) (existed bool, documents int64, err error) {
	kbs, err := ix.store.KBs(ctx)
	if err != nil {
		return false, 0, err
	}
	for _, k := range kbs {
		if k.Name == name {
			n, err := ix.dropKB(ctx, k)
			return true, int64(n), err
		}
	}
	return false, 0, nil
}

// Phases of the indexer.
const (
	PhaseWarmingUp = "warming_up" // the first scan has not ended
	PhaseScanning  = "scanning"
	PhaseIndexing  = "indexing"
	PhaseIdle      = "idle"
	PhasePaused    = "paused"
)

// Status is what the indexer does just now. Counters of documents and jobs
// are the store's; ask there.
type Status struct {
	Phase    string
	Why      string            // of PhasePaused: the outage or "paused by the user"
	Held     map[string]string // roots that cannot be believed, and why
	InFlight int64
	Rate     float64 // documents a second over the last minute
	RateSure bool    // enough seconds behind it to compute an ETA from
}

// Status reports what the indexer does just now.
func (ix *Indexer) Status(ctx context.Context) Status {
	s := Status{Held: ix.HeldRoots(), InFlight: ix.inflight.Load()}
	s.Rate, s.RateSure = ix.rate.perSecond(time.Now())
	paused, _, err := ix.store.Paused(ctx)
	switch {
	case ix.outageReason() != "":
		s.Phase, s.Why = PhasePaused, ix.outageReason()
	case err == nil && paused:
		s.Phase, s.Why = PhasePaused, "paused by the user"
	case !ix.scanned.Load():
		s.Phase = PhaseWarmingUp
	case s.InFlight > 0 || ix.anyDue(ctx):
		s.Phase = PhaseIndexing
	case ix.scanning.Load() > 0:
		s.Phase = PhaseScanning
	default:
		s.Phase = PhaseIdle
	}
	return s
}

// anyDue reports whether a job waits that could be worked on now.
func (ix *Indexer) anyDue(ctx context.Context) bool {
	at, ok, err := ix.store.NextDue(ctx)
	return err == nil && ok && !at.After(time.Now())
}

// SetScanInterval changes the time between backstop scans; 0 turns them off.
func (ix *Indexer) SetScanInterval(d time.Duration) {
	ix.scanEvery.Store(int64(d))
	ix.scans.signal()
}
