package indexer

import (
	"sync"
	"time"

	"ragd/kbroot"
)

// scanItem is one thing to compare with the disk: a root, or a tree of a KB.
type scanItem struct {
	root string
	tree kbroot.DocPath
	done chan<- scanDone // nil = nobody waits
}

type scanDone struct {
	counts Counts
	err    error
}

// scanQueue holds what is to be scanned, each thing once, in order of asking.
type scanQueue struct {
	mu      sync.Mutex
	items   []scanItem
	later   []laterItem
	running bool
	waiters []chan struct{} // closed when nothing is queued or running
	wake    chan struct{}   // capacity 1
}

type laterItem struct {
	item scanItem
	at   time.Time
}

func newScanQueue() *scanQueue { return &scanQueue{wake: make(chan struct{}, 1)} }

func (q *scanQueue) add(it scanItem) {
	q.mu.Lock()
	if it.done != nil || !q.covered(it) {
		q.items = append(q.items, it)
	}
	q.mu.Unlock()
	q.signal()
}

// covered is called with mu held: an equal item, or one whose tree contains
// it's, waits already.
func (q *scanQueue) covered(it scanItem) bool {
	for _, o := range q.items {
		if o.root != it.root || o.tree.KB != it.tree.KB {
			continue
		}
		if o.tree.Path == it.tree.Path || o.tree.Path == "" && it.root == "" {
			return true
		}
	}
	return false
}

// addLater queues an item once its time has come.
func (q *scanQueue) addLater(it scanItem, at time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, l := range q.later {
		if l.item.root == it.root && l.item.tree == it.tree {
			return
		}
	}
	q.later = append(q.later, laterItem{it, at})
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// afterAll closes ack once everything queued or running now is done.
func (q *scanQueue) afterAll(ack chan struct{}) {
	q.mu.Lock()
	idle := len(q.items) == 0 && !q.running
	if !idle {
		q.waiters = append(q.waiters, ack)
	}
	q.mu.Unlock()
	if idle {
		close(ack)
	}
}

// next returns the next item, or how long until one comes due (0 = none known).
func (q *scanQueue) next(now time.Time) (scanItem, time.Duration, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.promote(now)
	if len(q.items) == 0 {
		q.running = false
		for _, w := range q.waiters {
			close(w)
		}
		q.waiters = nil
		var wait time.Duration
		for _, l := range q.later {
			if d := l.at.Sub(now); wait == 0 || d < wait {
				wait = d
			}
		}
		return scanItem{}, wait, false
	}
	it := q.items[0]
	q.items = q.items[1:]
	q.running = true
	return it, 0, true
}

// promote is called with mu held.
func (q *scanQueue) promote(now time.Time) {
	rest := q.later[:0]
	for _, l := range q.later {
		if l.at.After(now) {
			rest = append(rest, l)
			continue
		}
		if !q.covered(l.item) {
			q.items = append(q.items, l.item)
		}
	}
	q.later = rest
}

func (q *scanQueue) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// busy reports whether anything is queued or running.
func (q *scanQueue) busy() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.running || len(q.items) > 0
}
