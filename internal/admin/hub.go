package admin

import (
	"sync"
	"time"

	"ragd/internal/fault"
	"ragd/internal/wire"
)

const (
	maxStreams  = 32
	streamQueue = 512 // events a stream may lag behind before it starts afresh
)

// Hub hands events to the streams. Publish never waits for a stream: one that
// lags too far behind loses its events and is told the whole state instead.
type Hub struct {
	mu      sync.Mutex
	streams map[*stream]struct{}
	stir    chan struct{} // capacity 1: something happened to documents
	past    past          // guarded by mu
}

// stream is one listener.
type stream struct {
	hub    *Hub
	ready  chan struct{} // capacity 1
	queue  []wire.Event  // guarded by hub.mu
	lagged bool          // guarded by hub.mu
}

// NewHub returns a hub without streams.
func NewHub() *Hub {
	return &Hub{streams: map[*stream]struct{}{}, stir: make(chan struct{}, 1)}
}

// Publish hands an event to every stream. At is set where it is zero.
func (h *Hub) Publish(ev wire.Event) {
	if ev.At.IsZero() {
		ev.At = time.Now()
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.past.note(ev)
	if len(h.streams) == 0 {
		return
	}
	if ev.Type == "document" || ev.Type == "phase" {
		wake(h.stir)
	}
	for s := range h.streams {
		switch {
		case s.lagged:
			continue // it gets the whole state, in which this is contained
		case len(s.queue) >= streamQueue:
			s.queue, s.lagged = nil, true
		default:
			s.queue = append(s.queue, ev)
		}
		wake(s.ready)
	}
}

// history is what happened before now.
func (h *Hub) history(now time.Time) *wire.History {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.past.tell(now)
}

func (h *Hub) stirred() <-chan struct{} { return h.stir }

func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

func (h *Hub) subscribe() (*stream, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.streams) >= maxStreams {
		return nil, fault.New(fault.Unavailable, "too_many_streams", "there are %d event streams already; allowed: %d", len(h.streams), maxStreams).
			WithHint("close one of them")
	}
	s := &stream{hub: h, ready: make(chan struct{}, 1)}
	h.streams[s] = struct{}{}
	return s, nil
}

func (s *stream) close() {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	delete(s.hub.streams, s)
}

// take returns what has come since, or that events were lost. Events that
// come after a loss was told are kept again.
func (s *stream) take() (events []wire.Event, lost bool) {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	events, lost = s.queue, s.lagged
	s.queue, s.lagged = nil, false
	return events, lost
}
