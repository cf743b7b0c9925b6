package indexer

import (
	"maps"
	"sync"
)

// stages knows which stage each job under way is in. A job that is claimed
// and not begun is not there.
type stages struct {
	mu sync.Mutex
	of map[int64]string
}

func (s *stages) set(job int64, stage string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of == nil {
		s.of = map[int64]string{}
	}
	s.of[job] = stage
}

func (s *stages) drop(batch []finished) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range batch {
		delete(s.of, f.outcome.Job.ID)
	}
}

// Stages returns the stage (extract, chunk, insert) of each job that a worker
// has begun and that is not committed, by the job's id.
func (ix *Indexer) Stages() map[int64]string {
	ix.stages.mu.Lock()
	defer ix.stages.mu.Unlock()
	return maps.Clone(ix.stages.of)
}
