package indexer

import (
	"sync"

	"ragd/kbroot"
)

// maxDirtyPaths bounds the dirty set; beyond it the paths of a KB collapse
// into "this whole KB is dirty".
const maxDirtyPaths = 20_000

// hintSet is the coalesced set of what may have changed since the planner last
// looked. It is a set, not a queue: a thousand hints about one path cost one look.
type hintSet struct {
	mu       sync.Mutex
	paths    map[kbroot.DocPath]bool // → seen live
	trees    map[kbroot.DocPath]struct{}
	roots    map[string]struct{}
	barriers []chan struct{}
	wake     chan struct{} // capacity 1
}

// dirty is what one take of the set gave.
type dirty struct {
	paths    map[kbroot.DocPath]bool
	trees    map[kbroot.DocPath]struct{}
	roots    map[string]struct{}
	barriers []chan struct{}
}

func newHintSet() *hintSet {
	h := &hintSet{wake: make(chan struct{}, 1)}
	h.reset()
	return h
}

func (h *hintSet) reset() {
	h.paths = map[kbroot.DocPath]bool{}
	h.trees = map[kbroot.DocPath]struct{}{}
	h.roots = map[string]struct{}{}
	h.barriers = nil
}

func (h *hintSet) add(c kbroot.Change) {
	h.mu.Lock()
	switch c.Kind {
	case kbroot.ChangePath:
		h.paths[c.DocPath] = h.paths[c.DocPath] || c.Live
		if len(h.paths) > maxDirtyPaths {
			h.collapse()
		}
	case kbroot.ChangeTree:
		h.trees[c.DocPath] = struct{}{}
	case kbroot.ChangeRoot:
		h.roots[c.Root] = struct{}{}
	case kbroot.ChangeBarrier:
		if c.Ack != nil {
			h.barriers = append(h.barriers, c.Ack)
		}
	}
	h.mu.Unlock()
	select {
	case h.wake <- struct{}{}:
	default:
	}
}

// collapse is called with mu held.
func (h *hintSet) collapse() {
	for p := range h.paths {
		h.trees[kbroot.DocPath{KB: p.KB}] = struct{}{}
	}
	h.paths = map[kbroot.DocPath]bool{}
}

func (h *hintSet) take() dirty {
	h.mu.Lock()
	defer h.mu.Unlock()
	d := dirty{paths: h.paths, trees: h.trees, roots: h.roots, barriers: h.barriers}
	h.reset()
	return d
}

func (h *hintSet) empty() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.paths) == 0 && len(h.trees) == 0 && len(h.roots) == 0 && len(h.barriers) == 0
}
