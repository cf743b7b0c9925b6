package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"ragd/kbroot"
)

// freshness says how far an answer lags behind the disk.
type freshness struct {
	Pending     int64    `json:"pending"`
	Failed      int64    `json:"failed"`
	Vectors     int64    `json:"pending_vectors,omitempty"`
	Degraded    []string `json:"degraded,omitempty"`
	NotYet      []docRef `json:"not_yet,omitempty"`
	NotYetTotal int      `json:"not_yet_total,omitempty"`
}

type docRef struct {
	KB   string `json:"kb"`
	Path string `json:"path"`
}

// line is the freshness in words, "" when there is nothing to tell.
func (f freshness) line() string {
	var parts []string
	if f.Pending > 0 {
		parts = append(parts, fmt.Sprintf("%d pending", f.Pending))
	}
	if f.Failed > 0 {
		parts = append(parts, fmt.Sprintf("%d failed (see rag_jobs)", f.Failed))
	}
	if f.Vectors > 0 {
		parts = append(parts, fmt.Sprintf("%s found by keyword only so far", count(f.Vectors, "passage")))
	}
	if f.NotYetTotal > 0 {
		names := make([]string, len(f.NotYet))
		for i, d := range f.NotYet {
			names[i] = visible(d.KB+"/"+d.Path, false)
		}
		parts = append(parts, fmt.Sprintf("%d changed documents are not in this answer yet: %s", f.NotYetTotal, strings.Join(names, ", ")))
	}
	for _, d := range f.Degraded {
		parts = append(parts, visible(d, false))
	}
	if len(parts) == 0 {
		return ""
	}
	return "Freshness: " + strings.Join(parts, "; ") + "."
}

// freshness of some KBs; ids as of storeIDs.
func (s *Server) freshness(ctx context.Context, ids []int64, refs []kbRef) (freshness, error) {
	pending, failed, err := s.deps.Store.Freshness(ctx, ids)
	if err != nil {
		return freshness{}, err
	}
	f := freshness{Pending: pending, Failed: failed}
	roots := make(map[string]bool)
	for _, r := range refs {
		roots[r.root] = true
	}
	if s.deps.Status == nil {
		f.Degraded = s.unavailable(roots)
		return f, nil
	}
	st := s.deps.Status.Status()
	f.Vectors = st.Embedder.Backlog
	for _, w := range st.Watchers {
		if roots[w.Root] && (w.Mode == "degraded" || w.Mode == "unavailable") {
			f.Degraded = append(f.Degraded, fmt.Sprintf("watching %s is %s: %s", encodeName(w.Root), w.Mode, clip(w.Reason, 200)))
		}
	}
	return f, nil
}

// unavailable names those of some roots that cannot be read.
func (s *Server) unavailable(roots map[string]bool) (out []string) {
	for _, r := range s.deps.Files.Roots() {
		if roots[r.Name] && !r.Available {
			out = append(out, fmt.Sprintf("root %s cannot be read: %s", encodeName(r.Name), clip(r.Reason, 200)))
		}
	}
	return out
}

const (
	notYetNamed  = 10
	progressBeat = 500 * time.Millisecond
)

// await gives everything written before the call up to d to get into the
// index. What is still missing then stands in the result.
func (c *call) await(ctx context.Context, refs []kbRef, ids []int64, d time.Duration) (missing freshness, err error) {
	if d <= 0 || c.deps.Fresh == nil || len(refs) == 0 {
		return freshness{}, nil
	}
	var names []string // nil = all
	if ids != nil {
		for _, r := range refs {
			names = append(names, r.name)
		}
	}
	stop := c.reportWait(ctx, ids, d)
	waitCtx, cancel := context.WithTimeout(ctx, d)
	pending, total, degraded, err := c.deps.Fresh.Wait(waitCtx, names)
	cancel()
	stop()
	if ctx.Err() != nil {
		return freshness{}, ctx.Err()
	}
	if err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return freshness{}, err
	}
	// Waiting goes by roots; what lies outside the KBs asked for is nobody's business here.
	before := len(pending)
	pending = slices.DeleteFunc(pending, func(p kbroot.DocPath) bool { _, ok := findKB(refs, p.KB); return !ok && names != nil })
	if len(pending) < before {
		total = len(pending)
	}
	missing.NotYetTotal, missing.Degraded = max(total, len(pending)), degraded
	for _, p := range pending[:min(len(pending), notYetNamed)] {
		missing.NotYet = append(missing.NotYet, docRef{encodeName(p.KB), encodeName(p.Path)})
	}
	return missing, nil
}

// reportWait sends progress until stop is called, where the client asked.
func (c *call) reportWait(ctx context.Context, ids []int64, d time.Duration) (stop func()) {
	if c.req.token == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() {
		defer func() { _ = recover() }() // the wait itself reports what is broken
		for began := time.Now(); sleep(ctx, progressBeat); {
			pending, _, err := c.deps.Store.Freshness(ctx, ids)
			if err != nil {
				continue
			}
			c.req.sess.progress(c.req.token, float64(time.Since(began).Milliseconds()), float64(d.Milliseconds()),
				fmt.Sprintf("waiting for %d documents to be indexed", pending))
		}
	})
	return func() { cancel(); wg.Wait() }
}
