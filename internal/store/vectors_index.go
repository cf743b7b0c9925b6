package store

import (
	"context"
	"database/sql"
	"sync"
	"sync/atomic"
	"time"
)

// vectorIndex is the serving generation in memory. mu guards set; only who
// holds the writer's turn changes it.
type vectorIndex struct {
	mu  sync.RWMutex
	set *codeSet // nil = not loaded, or no generation serves

	seq atomic.Uint64 // rises with every change of what waits, beside the store's generation

	statusMu sync.Mutex // guards the fields below
	counted  time.Time
	countGen uint64
	countSeq uint64
	backlog  int64
	failed   int64
	total    int64
}

// vectorOp is a change of the set, applied when its transaction has landed.
type vectorOp struct {
	gen     int64 // whose set it is about; 0 = every one
	meta    chunkMeta
	windows []byte // nil: the chunk goes
}

// apply brings the set up to date. The caller holds the writer's turn.
func (v *vectorIndex) apply(ops []vectorOp) {
	if len(ops) == 0 {
		return
	}
	v.mu.Lock()
	set := v.set
	if set != nil {
		for i := range ops {
			set.applyOp(&ops[i])
		}
	}
	untidy := set != nil && set.untidy()
	v.mu.Unlock()
	if untidy {
		tidy := set.compact() // readers go on meanwhile, and nobody else writes
		v.mu.Lock()
		v.set = tidy
		v.mu.Unlock()
	}
}

func (s *codeSet) applyOp(op *vectorOp) {
	if op.gen != s.gen && op.gen != 0 {
		return
	}
	if op.windows == nil {
		s.remove(op.meta.id)
		return
	}
	s.addChunk(op.meta, op.windows)
}

func (v *vectorIndex) replace(set *codeSet) {
	v.mu.Lock()
	v.set = set
	v.mu.Unlock()
}

// vectorsOff notes that the chunks in a range of ids are not searched any more,
// and drops the record of those that could not be embedded.
func (t *wtx) vectorsOff(d *docRow, lo, hi int64) error {
	ids, err := t.ids("SELECT id FROM chunks WHERE id BETWEEN ? AND ?", lo, hi)
	if err != nil {
		return err
	}
	for _, id := range ids {
		t.vectors = append(t.vectors, vectorOp{meta: chunkMeta{id: id}})
	}
	return t.dropEmbedFailure(d.kb, d.path)
}

// vectorsOn notes that old chunks are searched again.
func (t *wtx) vectorsOn(d *docRow, lo, hi int64) error {
	return t.each(func(rows *sql.Rows) error {
		op := vectorOp{meta: chunkMeta{doc: d.id, kb: d.kb}}
		var status string
		if err := rows.Scan(&op.gen, &op.meta.id, &op.windows, &op.meta.typ, &status); err != nil {
			return err
		}
		op.meta.standing = standingOf(status)
		if len(op.windows) > 0 {
			t.vectors = append(t.vectors, op)
		}
		return nil
	}, `SELECT v.generation, v.chunk_id, v.windows, d.type, d.status FROM generations g
		JOIN chunk_vectors v ON v.generation = g.id AND v.chunk_id BETWEEN ? AND ? JOIN documents d ON d.id = ?
		WHERE g.serving`, lo, hi, d.id)
}

// loadVectors reads the codes of a generation. The caller holds the writer's
// turn, so that no change is missed.
func (s *Store) loadVectors(ctx context.Context, gen VectorGeneration) (*codeSet, error) {
	set := newCodeSet(gen.ID, gen.Dim)
	err := s.read(ctx, "load vectors", func(r *reader) error {
		docs := map[int64]chunkMeta{}
		err := r.each(func(rows *sql.Rows) error {
			var m chunkMeta
			var id int64
			var status string
			if err := rows.Scan(&id, &m.kb, &m.typ, &status); err != nil {
				return err
			}
			m.doc, m.standing = id, standingOf(status)
			if id, ok := set.class(codeClass{m.kb, m.typ, m.standing}); ok {
				m.typ = set.classes[id].typ // one copy of each name
			}
			docs[id] = m
			return nil
		}, "SELECT id, kb_id, type, status FROM documents WHERE revision_id IS NOT NULL")
		if err != nil {
			return err
		}
		var windows sql.RawBytes
		return r.each(func(rows *sql.Rows) error {
			var id, doc int64
			if err := rows.Scan(&id, &doc, &windows); err != nil {
				return err
			}
			m, ok := docs[doc]
			if !ok {
				return nil
			}
			m.id = id
			set.addChunk(m, windows)
			return nil
		}, `SELECT v.chunk_id, c.document_id, v.windows FROM chunk_vectors v JOIN chunks c ON c.id = v.chunk_id
			WHERE v.generation = ? AND c.active AND length(v.windows) > 0 ORDER BY v.chunk_id`, gen.ID)
	})
	return set, err
}
