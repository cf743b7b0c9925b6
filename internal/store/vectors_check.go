package store

import "context"

const problemVectors = "vectors"

// vectorQueries count what breaks the invariant of the vectors: every active
// chunk has its windows or waits for them, and every window has its vector.
// Without a target, all active chunks wait.
var vectorQueries = []struct{ what, query string }{
	{"active chunks neither have vectors nor wait for them", `SELECT count(*) FROM chunks c WHERE c.active
		AND NOT EXISTS (SELECT 1 FROM vector_pending w WHERE w.chunk_id = c.id)
		AND NOT EXISTS (SELECT 1 FROM generations g CROSS JOIN chunk_vectors v ON v.generation = g.id AND v.chunk_id = c.id WHERE g.target)`},
	{"chunks wait for vectors that they have", `SELECT count(*) FROM vector_pending w
		JOIN generations g ON g.target JOIN chunk_vectors v ON v.generation = g.id AND v.chunk_id = w.chunk_id
		WHERE NOT w.again`},
	{"chunks wait for vectors that are not searched", `SELECT count(*) FROM vector_pending w
		WHERE NOT EXISTS (SELECT 1 FROM chunks c WHERE c.id = w.chunk_id AND c.active)`},
	{"contexts are of chunks that are gone", `SELECT count(*) FROM chunk_contexts x WHERE NOT EXISTS (SELECT 1 FROM chunks c WHERE c.id = x.chunk_id)`},
	{"vectors are of chunks that are gone", `SELECT count(*) FROM chunk_vectors v WHERE NOT EXISTS (SELECT 1 FROM chunks c WHERE c.id = v.chunk_id)`},
	{"vectors are of models that are gone", `SELECT count(*) FROM vectors v WHERE NOT EXISTS (SELECT 1 FROM generations g WHERE g.id = v.generation)`},
	{"models serve at once, or are targets at once", `SELECT max(0, sum(serving) - 1) + max(0, sum(target) - 1) FROM generations HAVING count(*) > 0
		UNION ALL SELECT 0 LIMIT 1`},
}

// vectors looks for what must not be in the vectors.
func (c *checker) vectors() {
	for _, q := range vectorQueries {
		c.none(problemVectors, q.what, q.query)
	}
}

// mendVectors removes what refers to nothing and writes anew what waits.
func (t *wtx) mendVectors() error {
	for _, q := range []string{
		"DELETE FROM chunk_vectors WHERE chunk_id NOT IN (SELECT id FROM chunks) OR generation NOT IN (SELECT id FROM generations)",
		"DELETE FROM chunk_contexts WHERE chunk_id NOT IN (SELECT id FROM chunks)",
		"DELETE FROM vectors WHERE generation NOT IN (SELECT id FROM generations)",
		"UPDATE generations SET serving = 0 WHERE serving AND id <> (SELECT max(id) FROM generations WHERE serving)",
		"UPDATE generations SET target = 0 WHERE target AND id <> (SELECT max(id) FROM generations WHERE target)",
	} {
		if err := t.run(q); err != nil {
			return err
		}
	}
	var gen int64
	if _, err := t.get([]any{&gen}, "SELECT id FROM generations WHERE target"); err != nil {
		return err
	}
	return t.recountPending(gen)
}

// reloadVectors brings the codes in memory in line with the file, after a repair.
func (s *Store) reloadVectors(ctx context.Context) error {
	if s.vec.current() == nil {
		return nil
	}
	s.vec.replace(nil)
	return s.ensureLoaded(ctx)
}
