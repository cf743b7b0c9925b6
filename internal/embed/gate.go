package embed

import (
	"context"
	"sync"
	"time"
)

// yieldAtMost bounds how long passages stand still for queries before each
// step, so that a steady stream of queries slows them but cannot stop them.
const yieldAtMost = 50 * time.Millisecond

// gate lets passages stand aside while a query runs.
type gate struct {
	mu      sync.Mutex
	queries int
	idle    chan struct{} // closed when queries falls to 0; nil at 0
}

func (g *gate) enter() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.queries == 0 {
		g.idle = make(chan struct{})
	}
	g.queries++
}

func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.queries--; g.queries == 0 {
		close(g.idle)
		g.idle = nil
	}
}

// yield returns when no query runs or yieldAtMost has passed, and the context's error if it is done.
func (g *gate) yield(ctx context.Context) error {
	g.mu.Lock()
	idle := g.idle
	g.mu.Unlock()
	if idle == nil {
		return ctx.Err()
	}
	t := time.NewTimer(yieldAtMost)
	defer t.Stop()
	select {
	case <-idle:
	case <-t.C:
	case <-ctx.Done():
	}
	return ctx.Err()
}

// slots is a semaphore whose size can change while it is in use.
type slots struct {
	mu    sync.Mutex
	size  int
	used  int
	freed chan struct{} // closed and replaced whenever a slot may be free
}

func newSlots(size int) *slots { return &slots{size: size, freed: make(chan struct{})} }

func (s *slots) resize(size int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.size = max(1, size)
	s.wake()
}

func (s *slots) wake() {
	close(s.freed)
	s.freed = make(chan struct{})
}

func (s *slots) capacity() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.size
}

func (s *slots) take(ctx context.Context) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		s.mu.Lock()
		if s.used < s.size {
			s.used++
			s.mu.Unlock()
			return nil
		}
		freed := s.freed
		s.mu.Unlock()
		select {
		case <-freed:
		case <-ctx.Done():
		}
	}
}

func (s *slots) give() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used--
	s.wake()
}
