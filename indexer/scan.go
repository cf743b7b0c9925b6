package indexer

import (
	"context"
	"errors"
	"iter"
	"strings"
	"time"

	"ragd/internal/fault"
	"ragd/internal/store"
	"ragd/kbroot"
)

// Counts is what a scan found.
type Counts struct {
	Added    int `json:"added"`
	Modified int `json:"modified"`
	Deleted  int `json:"deleted"`
	Skipped  int `json:"skipped"` // unchanged
	Excluded int `json:"excluded"`
	Enqueued int `json:"enqueued"`
}

func (c *Counts) add(o Counts) {
	c.Added += o.Added
	c.Modified += o.Modified
	c.Deleted += o.Deleted
	c.Skipped += o.Skipped
	c.Excluded += o.Excluded
	c.Enqueued += o.Enqueued
}

// scanner compares trees with the index, one at a time, and runs the backstop
// scan every ScanInterval.
func (ix *Indexer) scanner(ctx context.Context) error {
	last := time.Now() // of the latest backstop scan, or the start
	for {
		it, wait, ok := ix.scans.next(time.Now())
		if ok {
			ix.scanning.Add(1)
			counts, err := ix.scanItem(ctx, it)
			ix.scanning.Add(-1)
			if it.done != nil {
				it.done <- scanDone{counts, err}
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				ix.scanFailed(it, err)
			}
			continue
		}
		if ix.scanned.Swap(true) == false {
			ix.events.send(Event{Kind: EventPhase})
			ix.wake()
		}
		timer := time.NewTimer(sleep(wait, ix.backstop(last)))
		select {
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		case <-ix.scans.wake:
			timer.Stop()
		case <-timer.C:
		}
		if at := ix.backstop(last); !at.IsZero() && !time.Now().Before(at) {
			ix.addAllRoots()
			last = time.Now()
		}
	}
}

// backstop is when the next backstop scan is due; zero = never.
func (ix *Indexer) backstop(last time.Time) time.Time {
	every := time.Duration(ix.scanEvery.Load())
	if every <= 0 {
		return time.Time{}
	}
	return last.Add(every)
}

func sleep(wait time.Duration, backstop time.Time) time.Duration {
	d := time.Hour
	if wait > 0 {
		d = wait
	}
	if !backstop.IsZero() {
		d = min(d, time.Until(backstop))
	}
	return max(d, time.Millisecond)
}

func (ix *Indexer) addAllRoots() {
	for _, r := range ix.root.Roots() {
		ix.scans.add(scanItem{root: r.Name})
	}
}

// scanFailed puts a scan that did not end well off to a later try.
func (ix *Indexer) scanFailed(it scanItem, err error) {
	if indexOutage(err) {
		ix.setOutage(err.Error()) // told once, not for each scan
	} else {
		ix.log.Warn("scan did not finish and is tried again", "root", it.root, "kb", it.tree.KB, "path", it.tree.Path, "error", err)
	}
	it.done = nil
	ix.scans.addLater(it, time.Now().Add(5*time.Second))
}

func (ix *Indexer) scanItem(ctx context.Context, it scanItem) (Counts, error) {
	if it.root != "" {
		return ix.scanRoot(ctx, it.root)
	}
	return ix.scanTree(ctx, it.tree)
}

// scanTree compares one tree of one KB. If the KB is not on disk, its root is
// scanned instead, since only that can tell "gone" from "cannot be read".
func (ix *Indexer) scanTree(ctx context.Context, t kbroot.DocPath) (Counts, error) {
	kb, ok := ix.root.KB(t.KB)
	if !ok {
		if root, known := ix.rootOfKB(ctx, t.KB); known {
			return ix.scanRoot(ctx, root)
		}
		return Counts{}, nil
	}
	if !ix.checkRoot(ctx, kb.Root) {
		return Counts{}, nil
	}
	if file, err := ix.isFile(t); err != nil {
		return Counts{}, err
	} else if file {
		id, err := ix.ensureKB(ctx, kb)
		if err != nil {
			return Counts{}, err
		}
		if err := ix.planBatch(ctx, kb.Name, id, []string{t.Path}, func(string) bool { return false }); err != nil {
			return Counts{}, err
		}
		// What lay below it when it was a folder is gone.
	}
	return ix.scanKB(ctx, kb, t.Path)
}

// isFile: the hint was about a folder, but a file stands in its place now.
func (ix *Indexer) isFile(t kbroot.DocPath) (bool, error) {
	if t.Path == "" {
		return false, nil
	}
	e, err := ix.root.Stat(t)
	return err == nil && e.Verdict.Code != kbroot.Missing && !e.Mode.IsDir(), err
}

// scanKB is the merge-join of the walk and the index, both in path order.
func (ix *Indexer) scanKB(ctx context.Context, kb kbroot.KB, sub string) (Counts, error) {
	id, err := ix.ensureKB(ctx, kb)
	if err != nil {
		return Counts{}, err
	}
	s := &treeScan{ix: ix, ctx: ctx, kb: kb, id: id}
	next, stop := iter.Pull2(ix.docStates(ctx, id, sub))
	defer stop()
	s.next = next
	s.advance()
	walkErr := ix.root.Walk(ctx, kb.Name, sub, s.visit)
	var partial *kbroot.IncompleteError
	if errors.As(walkErr, &partial) {
		s.unread, walkErr = partial.Subs, nil
	}
	if walkErr != nil {
		return s.counts, walkErr
	}
	for s.ok && s.err == nil {
		s.missing(s.doc)
		s.advance()
	}
	if s.err != nil {
		return s.counts, s.err
	}
	if err := s.flush(); err != nil {
		return s.counts, err
	}
	return s.counts, s.deleteMissing()
}

// docStates gives DocStates as a sequence that can be pulled.
func (ix *Indexer) docStates(ctx context.Context, id int64, sub string) iter.Seq2[store.DocState, error] {
	return func(yield func(store.DocState, error) bool) {
		errStop := errors.New("stopped")
		err := ix.store.DocStates(ctx, id, sub, func(d store.DocState) error {
			if !yield(d, nil) {
				return errStop
			}
			return nil
		})
		if err != nil && !errors.Is(err, errStop) {
			yield(store.DocState{}, err)
		}
	}
}

// treeScan is the state of one merge-join.
type treeScan struct {
	ix     *Indexer
	ctx    context.Context // of this one scan; the value lives no longer than scanKB
	kb     kbroot.KB
	id     int64
	next   func() (store.DocState, error, bool)
	doc    store.DocState
	ok     bool
	err    error
	plans  []store.Plan
	absent []string
	unread []string // subtrees the walk could not read
	counts Counts
}

func (s *treeScan) advance() {
	var err error
	s.doc, err, s.ok = s.next()
	if err != nil {
		s.err, s.ok = err, false
	}
}

func (s *treeScan) visit(e kbroot.Entry) error {
	for s.ok && s.doc.Path < e.Path {
		s.missing(s.doc)
		s.advance()
	}
	if s.err != nil {
		return s.err
	}
	known := s.ok && s.doc.Path == e.Path
	doc := s.doc
	if known {
		s.advance()
	} else {
		doc = store.DocState{}
	}
	if gone(e.Verdict.Code) {
		if known {
			s.missing(doc)
		}
		return nil
	}
	p, act := s.ix.planEntry(e, doc, known, priorityScan)
	s.count(p, act, known, e)
	if !act {
		return nil
	}
	s.plans = append(s.plans, p)
	if len(s.plans) >= planBatch {
		return s.flush()
	}
	return nil
}

func (s *treeScan) count(p store.Plan, act, known bool, e kbroot.Entry) {
	switch {
	case act && p.Op == store.PlanIndex && !known:
		s.counts.Added++
	case act && p.Op == store.PlanIndex:
		s.counts.Modified++
	case act || e.Verdict.Code != kbroot.OK:
		s.counts.Excluded++
	default:
		if _, _, supported := s.ix.extractor.Lookup(e.Path); supported {
			s.counts.Skipped++
		} else {
			s.counts.Excluded++
		}
	}
	if act && p.Op == store.PlanIndex {
		s.counts.Enqueued++
	}
}

func (s *treeScan) missing(d store.DocState) { s.absent = append(s.absent, d.Path) }

func (s *treeScan) flush() error {
	s.ix.planMu.Lock()
	defer s.ix.planMu.Unlock()
	err := s.ix.apply(s.ctx, s.kb.Name, s.id, s.plans)
	s.plans = s.plans[:0]
	return err
}

// deleteMissing removes what the walk did not meet. Each path is looked at
// once more under planMu, so a file that came back since is not lost; and a
// batch is written only while the root is the one that was walked.
func (s *treeScan) deleteMissing() error {
	for len(s.absent) > 0 {
		n := min(len(s.absent), planBatch)
		if err := s.deleteBatch(s.absent[:n]); err != nil {
			return err
		}
		s.absent = s.absent[n:]
	}
	return nil
}

func (s *treeScan) deleteBatch(paths []string) error {
	s.ix.planMu.Lock()
	defer s.ix.planMu.Unlock()
	var plans []store.Plan
	for _, p := range paths {
		if under(p, s.unread) {
			continue
		}
		e, err := s.ix.root.Stat(kbroot.DocPath{KB: s.kb.Name, Path: p})
		if err != nil {
			return err
		}
		if gone(e.Verdict.Code) || e.Mode.IsDir() {
			plans = append(plans, store.Plan{Path: p, Op: store.PlanDelete})
		}
	}
	if !s.ix.sameRoot(s.kb.Name) {
		return fault.New(fault.Unavailable, "root_changed", "root %q changed while it was scanned", s.kb.Root)
	}
	s.counts.Deleted += len(plans)
	return s.ix.apply(s.ctx, s.kb.Name, s.id, plans)
}

// under reports whether path lies at or below one of the subtrees.
func under(path string, subs []string) bool {
	for _, sub := range subs {
		if sub == "" || path == sub || strings.HasPrefix(path, sub+"/") {
			return true
		}
	}
	return false
}
