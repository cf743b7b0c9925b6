package store

import (
	"context"
	"database/sql"
	"sync"
)

// seenContents knows of which files there is certainly no content, so that a
// first load does not ask the index about every file: a Bloom filter over the
// heads of their hashes, which are random already. It never says no wrongly;
// deletions are not taken out of it.
type seenContents struct {
	mu     sync.RWMutex
	loaded bool
	layers []bloom // the last one takes what is added
}

const (
	bloomFirst = 1 << 16 // contents of the first layer; each next has twice as many
	bloomBits  = 16      // per content: with 3 probes about one wrong "perhaps" in 200
)

type bloom struct {
	bits []uint64 // their number is a power of two
	room int
}

func newBloom(contents int) bloom {
	return bloom{bits: make([]uint64, contents*bloomBits/64), room: contents}
}

// probes are three bits, from three parts of the head.
func (b *bloom) probes(head int64) [3]uint64 {
	mask, h := uint64(len(b.bits)*64-1), uint64(head)
	return [3]uint64{h & mask, h >> 20 & mask, h >> 40 & mask}
}

func (f *seenContents) add(head int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := len(f.layers)
	if n == 0 || f.layers[n-1].room == 0 {
		f.layers = append(f.layers, newBloom(bloomFirst<<n))
		n++
	}
	b := &f.layers[n-1]
	b.room--
	for _, p := range b.probes(head) {
		b.bits[p/64] |= 1 << (p % 64)
	}
}

// missing is true only when no content has this head.
func (f *seenContents) missing(head int64) bool {
	f.mu.RLock()
	defer f.mu.RUnlock()
	if !f.loaded {
		return false
	}
	for i := range f.layers {
		b := &f.layers[i]
		set := true
		for _, p := range b.probes(head) {
			set = set && b.bits[p/64]&(1<<(p%64)) != 0
		}
		if set {
			return false
		}
	}
	return true
}

// loadSeen fills the filter, once. What is committed meanwhile is added by
// its commit, which may add twice and does no harm.
func (s *Store) loadSeen(ctx context.Context) error {
	s.seenOnce.Lock()
	defer s.seenOnce.Unlock()
	s.seen.mu.RLock()
	loaded := s.seen.loaded
	s.seen.mu.RUnlock()
	if loaded {
		return nil
	}
	err := s.read(ctx, "read what contents there are", func(r *reader) error {
		return r.each(func(rows *sql.Rows) error {
			var head int64
			err := rows.Scan(&head)
			s.seen.add(head)
			return err
		}, "SELECT hash_head FROM contents")
	})
	if err == nil {
		s.seen.mu.Lock()
		s.seen.loaded = true
		s.seen.mu.Unlock()
	}
	return err
}
