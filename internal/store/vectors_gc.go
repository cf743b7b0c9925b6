package store

import (
	"context"
	"database/sql"
	"time"
)

const (
	gcBatch         = 500                 // rows in one transaction
	generationsKept = 1                   // beside the serving one and the target
	generationKept  = 30 * 24 * time.Hour // unused
)

// CollectVectors drops vectors that no text has any more, and old models'
// generations: the last one used is kept for a month. It works in short
// transactions and may be stopped at any time; with nothing to do it reads a
// few rows.
func (s *Store) CollectVectors(ctx context.Context) (rep VectorGC, err error) {
	gens, err := s.dueGenerations(ctx)
	if err != nil {
		return rep, err
	}
	for _, g := range gens {
		if err := s.dropGeneration(ctx, g); err != nil {
			return rep, err
		}
		rep.Generations++
	}
	for more := true; more; {
		if err := ctx.Err(); err != nil {
			return rep, err
		}
		var due bool
		err := s.read(ctx, "look for unused vectors", func(r *reader) error {
			return r.row("SELECT EXISTS (SELECT 1 FROM vector_garbage)").Scan(&due)
		})
		if err != nil || !due {
			return rep, err
		}
		err = s.write(ctx, "drop unused vectors", func(t *wtx) (err error) {
			var n int64
			n, more, err = t.collect()
			rep.Vectors += n
			return err
		})
		if err != nil {
			return rep, err
		}
	}
	return rep, nil
}

// collect takes the references of some garbage back.
func (t *wtx) collect() (dropped int64, more bool, err error) {
	var last int64
	var vectors []int64
	n := 0
	err = t.each(func(rows *sql.Rows) error {
		var blob []byte
		if err := rows.Scan(&last, &blob); err != nil {
			return err
		}
		n++
		// What is malformed refers to nothing.
		_ = eachWindow(blob, func(w window) error {
			vectors = append(vectors, w.vector)
			return nil
		})
		return nil
	}, "SELECT id, windows FROM vector_garbage ORDER BY id LIMIT ?", gcBatch)
	if err != nil || n == 0 {
		return 0, false, err
	}
	for _, id := range vectors {
		if err := t.run("UPDATE vectors SET refs = refs - 1 WHERE id = ?", id); err != nil {
			return dropped, false, err
		}
		gone, err := t.count("DELETE FROM vectors WHERE id = ? AND refs <= 0", id)
		if err != nil {
			return dropped, false, err
		}
		dropped += gone
	}
	return dropped, n == gcBatch, t.run("DELETE FROM vector_garbage WHERE id <= ?", last)
}

// dueGenerations are those to drop.
func (s *Store) dueGenerations(ctx context.Context) (out []int64, err error) {
	before := s.opt.Now().Add(-generationKept).UnixMilli()
	err = s.read(ctx, "list vector generations", func(r *reader) error {
		n := 0
		return r.each(func(rows *sql.Rows) error {
			var id, used int64
			err := rows.Scan(&id, &used)
			if n++; n > generationsKept || used < before {
				out = append(out, id)
			}
			return err
		}, "SELECT id, used_ms FROM generations WHERE NOT serving AND NOT target ORDER BY used_ms DESC, id DESC")
	})
	return out, err
}

// dropGeneration deletes all of a generation unless it is in use again.
func (s *Store) dropGeneration(ctx context.Context, id int64) error {
	const idle = "EXISTS (SELECT 1 FROM generations WHERE id = ?1 AND NOT serving AND NOT target)"
	for _, q := range []string{
		"DELETE FROM chunk_vectors WHERE generation = ?1 AND chunk_id IN (SELECT chunk_id FROM chunk_vectors WHERE generation = ?1 LIMIT ?2) AND " + idle,
		"DELETE FROM vectors WHERE id IN (SELECT id FROM vectors WHERE generation = ?1 LIMIT ?2) AND " + idle,
	} {
		for n := int64(1); n > 0; {
			if err := ctx.Err(); err != nil {
				return err
			}
			err := s.write(ctx, "drop vector generation", func(t *wtx) (err error) {
				n, err = t.count(q, id, gcBatch)
				return err
			})
			if err != nil {
				return err
			}
		}
	}
	return s.write(ctx, "drop vector generation", func(t *wtx) error {
		return t.run("DELETE FROM generations WHERE id = ?1 AND NOT serving AND NOT target", id)
	})
}
