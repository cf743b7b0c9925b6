package indexer

import (
	"sync"
	"time"
)

// EventKind says what an event is about.
type EventKind uint8

const (
	// EventDocument: something happened to a document (or, with Path "", to a whole KB).
	EventDocument EventKind = iota
	// EventPhase: Status would answer otherwise now.
	EventPhase
)

// What happened to a document.
const (
	WhatQueued    = "queued"
	WhatIndexed   = "indexed"
	WhatUnchanged = "unchanged"
	WhatDeleted   = "deleted"
	WhatFailed    = "failed"
	WhatExcluded  = "excluded"
)

// Event is news for whoever looks on.
type Event struct {
	Kind    EventKind
	At      time.Time
	KB      string
	Path    string
	What    string
	Chunks  int
	Message string
	Took    time.Duration
}

const subscriberBuffer = 512

// broadcaster hands events to subscribers and never waits for one: who does
// not keep up loses events and learns it from the count.
type broadcaster struct {
	mu   sync.Mutex
	subs map[*Subscription]struct{}
}

// Subscription is one listener. C is closed by Close.
type Subscription struct {
	C    <-chan Event
	ch   chan Event
	b    *broadcaster
	lost int // guarded by b.mu
}

func newBroadcaster() *broadcaster {
	return &broadcaster{subs: map[*Subscription]struct{}{}}
}

// Subscribe begins listening. Close the subscription when done.
func (ix *Indexer) Subscribe() *Subscription { return ix.events.subscribe() }

func (b *broadcaster) subscribe() *Subscription {
	ch := make(chan Event, subscriberBuffer)
	s := &Subscription{C: ch, ch: ch, b: b}
	b.mu.Lock()
	b.subs[s] = struct{}{}
	b.mu.Unlock()
	return s
}

func (b *broadcaster) send(e Event) {
	e.At = time.Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	for s := range b.subs {
		select {
		case s.ch <- e:
		default:
			s.lost++
		}
	}
}

// Lost returns and resets the number of events that did not fit; after a
// loss the listener should read the whole state again.
func (s *Subscription) Lost() int {
	s.b.mu.Lock()
	defer s.b.mu.Unlock()
	n := s.lost
	s.lost = 0
	return n
}

// Close ends the subscription.
func (s *Subscription) Close() {
	s.b.mu.Lock()
	defer s.b.mu.Unlock()
	if _, ok := s.b.subs[s]; ok {
		delete(s.b.subs, s)
		close(s.ch)
	}
}
