package indexer

import (
	"context"
	"sort"
	"strconv"
	"time"

	"ragd/internal/analysis"
	"ragd/internal/chunk"
	"ragd/internal/fault"
	"ragd/internal/store"
	"ragd/kbroot"
)

const (
	priorityScan = 0
	priorityLive = 10
	planBatch    = 500
)

// planner looks at the disk for every dirty path and hands trees and roots to
// the scanner.
func (ix *Indexer) planner(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ix.hints.wake:
		}
		d := ix.hints.take()
		for root := range d.roots {
			ix.scans.add(scanItem{root: root})
		}
		for t := range d.trees {
			ix.scans.add(scanItem{tree: t})
		}
		if err := ix.planPaths(ctx, d.paths); err != nil {
			return err
		}
		for _, ack := range d.barriers {
			ix.scans.afterAll(ack)
		}
	}
}

// planPaths plans single paths, KB by KB. A KB that is not known yet (its
// folder was just made) or a path that is a folder becomes a scan.
func (ix *Indexer) planPaths(ctx context.Context, paths map[kbroot.DocPath]bool) error {
	byKB := map[string][]string{}
	for p := range paths {
		byKB[p.KB] = append(byKB[p.KB], p.Path)
	}
	for kb, list := range byKB {
		id, ok := ix.kbID(kb)
		if !ok {
			ix.scans.add(scanItem{tree: kbroot.DocPath{KB: kb}})
			continue
		}
		sort.Strings(list)
		for len(list) > 0 {
			n := min(len(list), planBatch)
			err := ix.planBatch(ctx, kb, id, list[:n], func(p string) bool { return paths[kbroot.DocPath{KB: kb, Path: p}] })
			if err := ix.tolerate(ctx, "plan", kb, err); err != nil {
				return err
			}
			list = list[n:]
		}
	}
	return nil
}

// planBatch looks at the given paths and writes their plans, all under planMu.
func (ix *Indexer) planBatch(ctx context.Context, kb string, id int64, paths []string, live func(string) bool) error {
	ix.planMu.Lock()
	defer ix.planMu.Unlock()
	var plans []store.Plan
	for _, p := range paths {
		more, err := ix.planPath(ctx, kb, id, p, live(p))
		if err != nil {
			if fault.KindOf(err) == fault.Unavailable {
				ix.scans.add(scanItem{tree: kbroot.DocPath{KB: kb}})
				continue
			}
			return err
		}
		plans = append(plans, more...)
	}
	return ix.apply(ctx, kb, id, plans)
}

func (ix *Indexer) planPath(ctx context.Context, kb string, id int64, path string, live bool) ([]store.Plan, error) {
	e, err := ix.root.Stat(kbroot.DocPath{KB: kb, Path: path})
	if err != nil {
		return nil, err
	}
	if e.Mode.IsDir() && e.Verdict.Code != kbroot.Missing {
		ix.scans.add(scanItem{tree: kbroot.DocPath{KB: kb, Path: path}})
		return nil, nil
	}
	if gone(e.Verdict.Code) {
		return ix.planGone(ctx, kb, id, path)
	}
	doc, known, err := ix.store.DocState(ctx, id, path)
	if err != nil {
		return nil, err
	}
	prio := priorityScan
	if live {
		prio = priorityLive
	}
	if p, ok := ix.planEntry(e, doc, known, prio); ok {
		return []store.Plan{p}, nil
	}
	return nil, nil
}

// planGone plans the removal of a path and of all that lay below it, unless
// the root itself has become doubtful.
func (ix *Indexer) planGone(ctx context.Context, kb string, id int64, path string) ([]store.Plan, error) {
	if !ix.sameRoot(kb) {
		ix.scans.add(scanItem{tree: kbroot.DocPath{KB: kb}})
		return nil, nil
	}
	var plans []store.Plan
	err := ix.store.DocStates(ctx, id, path, func(d store.DocState) error {
		plans = append(plans, store.Plan{Path: d.Path, Op: store.PlanDelete})
		return nil
	})
	return plans, err
}

// gone says that a file with this verdict has no place in the index.
func gone(c kbroot.Code) bool { return !c.Listed() }

// planEntry compares one file with what the index knows of it. It looks at
// no content.
func (ix *Indexer) planEntry(e kbroot.Entry, doc store.DocState, known bool, prio int) (store.Plan, bool) {
	st := statOf(e)
	p := store.Plan{Path: e.Path, Stat: st, Priority: prio}
	code, why := string(e.Verdict.Code), e.Verdict.Reason
	format, reason, supported := ix.extractor.Lookup(e.Path)
	if e.Verdict.Code == kbroot.OK && !supported {
		code, why = codeUnsupported, reason
	}
	if code != string(kbroot.OK) {
		if known && doc.State == store.StateExcluded && doc.Code == code {
			return p, false
		}
		p.Op, p.Code, p.Why = store.PlanExclude, code, why
		return p, true
	}
	p.Op = store.PlanIndex
	switch {
	case !known:
		p.Reason = store.ReasonNew
	case doc.State == store.StateExcluded && doc.Code != codeContent:
		p.Reason = store.ReasonRestored
	case doc.Stat != st:
		p.Reason = store.ReasonModified
	case doc.State == store.StateIndexed && doc.Key != ix.key(format.Name, format.Version):
		p.Reason = store.ReasonStale
	default:
		return p, false
	}
	return p, true
}

// Codes of exclusions the indexer itself decides.
const (
	codeUnsupported = "unsupported"
	codeContent     = "excluded_content" // decided by reading; stays until the file changes
)

// key is a document's staleness key: equal keys and equal bytes give equal chunks.
func (ix *Indexer) key(format string, version int) string {
	return format + "/" + strconv.Itoa(version) +
		" chunk/" + strconv.Itoa(chunk.Version) + "/" + strconv.Itoa(ix.opt.ChunkMaxChars) +
		" analysis/" + strconv.Itoa(analysis.Version)
}

func statOf(e kbroot.Entry) store.Stat {
	return store.Stat{Size: e.Size, MTimeNS: e.ModTime.UnixNano(), CTimeNS: e.CTime.UnixNano(), Inode: e.Inode}
}

// apply writes plans and tells everybody who waits for work or news. It is
// called with planMu held. Plans for a KB that was dropped since they were
// made go with it.
func (ix *Indexer) apply(ctx context.Context, kb string, id int64, plans []store.Plan) error {
	if now, ok := ix.kbID(kb); len(plans) == 0 || !ok || now != id {
		return nil
	}
	for len(plans) > 0 {
		n := min(len(plans), planBatch)
		queued, err := ix.store.ApplyPlans(ctx, id, plans[:n])
		if err != nil {
			return err
		}
		ix.unsettled.Store(true)
		for _, p := range plans[:n] {
			ix.publishPlan(kb, p)
		}
		if queued > 0 {
			ix.wake()
		}
		plans = plans[n:]
	}
	return nil
}

func (ix *Indexer) publishPlan(kb string, p store.Plan) {
	ev := Event{Kind: EventDocument, KB: kb, Path: p.Path}
	switch p.Op {
	case store.PlanIndex:
		ev.What = WhatQueued
	case store.PlanDelete:
		ev.What = WhatDeleted
	case store.PlanExclude:
		ev.What, ev.Message = WhatExcluded, p.Why
	default:
		return
	}
	ix.events.send(ev)
}

// tolerate lets planning go on after an error that is not the end of the
// program: the disk is full, the index is busy. The scope is planned again
// when the cause may have passed.
func (ix *Indexer) tolerate(ctx context.Context, what, kb string, err error) error {
	if err == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	switch fault.KindOf(err) {
	case fault.Unavailable, fault.Transient, fault.Internal, fault.NotFound:
		if fault.KindOf(err) == fault.Unavailable {
			ix.setOutage(err.Error())
		} else {
			ix.log.Warn("planning is put off", "what", what, "kb", kb, "error", err)
		}
		ix.scans.addLater(scanItem{tree: kbroot.DocPath{KB: kb}}, time.Now().Add(5*time.Second))
		return nil
	}
	return err
}
