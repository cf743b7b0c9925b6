package watcher

import (
	"cmp"
	"container/heap"
	"time"

	"ragd/kbroot"
)

// key is what a hint is about.
type key struct {
	kind kbroot.ChangeKind
	root string
	doc  kbroot.DocPath
}

// dirtySet is the debouncer: hints that wait for their path to become quiet,
// but no longer than max from the first change. It is a set, so its size is
// bounded: above limit, single paths give way to their KB, and KBs to their
// root. It knows no clock; every call brings the time.
type dirtySet struct {
	quiet, max time.Duration
	limit      int

	entries map[key]*dirtyEntry
	queue   dirtyQueue
	flushed int // entries that a barrier waits for
	seq     uint64
}

type dirtyEntry struct {
	key
	live      bool
	collapsed bool // stands for many paths; swallows further ones
	first     time.Time
	due       time.Time
	flush     bool // due at once, whatever comes in
	seq       uint64
	at        int // index in the queue
}

func newDirtySet(quiet, max time.Duration, limit int) *dirtySet {
	return &dirtySet{quiet: quiet, max: max, limit: limit, entries: map[key]*dirtyEntry{}}
}

// add notes a change.
func (s *dirtySet) add(k key, live bool, now time.Time) {
	if e := s.swallower(k); e != nil {
		k = e.key
	}
	e := s.entries[k]
	if e == nil {
		s.seq++
		e = &dirtyEntry{key: k, first: now, seq: s.seq}
		s.entries[k] = e
		e.live, e.due = live, s.dueAt(e, now)
		heap.Push(&s.queue, e)
		if len(s.entries) > s.limit {
			s.collapse(now)
		}
		return
	}
	e.live = e.live || live
	if !e.flush {
		e.due = s.dueAt(e, now)
		heap.Fix(&s.queue, e.at)
	}
}

func (s *dirtySet) dueAt(e *dirtyEntry, now time.Time) time.Time {
	due, latest := now.Add(s.quiet), e.first.Add(s.max)
	if latest.Before(due) {
		return latest
	}
	return due
}

// swallower returns the collapsed entry that covers k.
func (s *dirtySet) swallower(k key) *dirtyEntry {
	if e := s.entries[key{kind: kbroot.ChangeRoot, root: k.root}]; e != nil && e.collapsed {
		return e
	}
	if k.kind == kbroot.ChangeRoot {
		return nil
	}
	if e := s.entries[wholeKB(k)]; e != nil && e.collapsed {
		return e
	}
	return nil
}

func wholeKB(k key) key {
	return key{kind: kbroot.ChangeTree, root: k.root, doc: kbroot.DocPath{KB: k.doc.KB}}
}

// collapse makes room: each KB with a large share becomes one entry, and if
// that is not enough, each root.
func (s *dirtySet) collapse(now time.Time) {
	perKB := map[key]int{}
	for k := range s.entries {
		if k.kind != kbroot.ChangeRoot {
			perKB[wholeKB(k)]++
		}
	}
	for k := range s.entries {
		if k.kind != kbroot.ChangeRoot && perKB[wholeKB(k)] > s.limit/16 {
			s.merge(k, wholeKB(k), now)
		}
	}
	if len(s.entries) <= s.limit/2 {
		return
	}
	for k := range s.entries {
		if k.kind != kbroot.ChangeRoot {
			s.merge(k, key{kind: kbroot.ChangeRoot, root: k.root}, now)
		}
	}
}

// merge moves the entry of k into the collapsed one of into, which keeps the
// earliest first change, and the barrier's claim.
func (s *dirtySet) merge(k, into key, now time.Time) {
	e := s.entries[k]
	if e == nil {
		return
	}
	to := s.entries[into]
	if to == nil {
		s.seq++
		to = &dirtyEntry{key: into, first: e.first, due: e.due, seq: s.seq}
		s.entries[into] = to
		heap.Push(&s.queue, to)
	}
	to.collapsed = true
	if to == e {
		return
	}
	to.live = to.live || e.live
	if e.first.Before(to.first) {
		to.first = e.first
	}
	if e.flush && !to.flush {
		to.flush = true
		s.flushed++
	}
	if !to.flush {
		to.due = s.dueAt(to, now)
	} else {
		to.due = time.Time{}
	}
	heap.Fix(&s.queue, to.at)
	s.drop(e)
}

// next returns the entry that is due, or how long until the next one is; a
// negative wait means that there is none.
func (s *dirtySet) next(now time.Time) (e *dirtyEntry, wait time.Duration) {
	if len(s.queue) == 0 {
		return nil, -1
	}
	first := s.queue[0]
	if first.flush || !first.due.After(now) {
		return first, 0
	}
	return nil, first.due.Sub(now)
}

// drop takes an entry out: it was sent, or moved into another.
func (s *dirtySet) drop(e *dirtyEntry) {
	heap.Remove(&s.queue, e.at)
	delete(s.entries, e.key)
	if e.flush {
		s.flushed--
	}
}

// flush makes everything that is in the set now due at once.
func (s *dirtySet) flush() {
	for _, e := range s.entries {
		if !e.flush {
			e.flush, e.due = true, time.Time{}
			s.flushed++
		}
	}
	heap.Init(&s.queue)
}

// change makes the hint of an entry.
func (e *dirtyEntry) change() kbroot.Change {
	return kbroot.Change{Kind: e.kind, Root: e.root, DocPath: e.doc, Live: e.live}
}

// dirtyQueue is a heap by due time; ties by age.
type dirtyQueue []*dirtyEntry

func (q dirtyQueue) Len() int { return len(q) }
func (q dirtyQueue) Less(i, j int) bool {
	if c := q[i].due.Compare(q[j].due); c != 0 {
		return c < 0
	}
	return cmp.Less(q[i].seq, q[j].seq)
}
func (q dirtyQueue) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].at, q[j].at = i, j
}
func (q *dirtyQueue) Push(x any) {
	e := x.(*dirtyEntry)
	e.at = len(*q)
	*q = append(*q, e)
}
func (q *dirtyQueue) Pop() any {
	old := *q
	e := old[len(old)-1]
	old[len(old)-1] = nil
	*q = old[:len(old)-1]
	return e
}
