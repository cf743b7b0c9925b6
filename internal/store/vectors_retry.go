package store

// retryEmbedding lets the chunks of a parked embedding job wait again; the job
// goes. done is false for jobs of another kind.
func (t *wtx) retryEmbedding(id, kb int64, path string) (done bool, err error) {
	var op int
	if _, err := t.get([]any{&op}, "SELECT op FROM jobs WHERE id = ?", id); err != nil || op != jobEmbed {
		return false, err
	}
	const failed = `FROM chunks c JOIN documents d ON d.id = c.document_id AND d.kb_id = ?1 AND d.path = ?2
		CROSS JOIN generations g ON g.target CROSS JOIN chunk_vectors v ON v.generation = g.id AND v.chunk_id = c.id AND v.failed
		WHERE c.active AND c.id BETWEEN
			(SELECT first_seq << 5 FROM revisions WHERE id = d.revision_id) AND
			(SELECT (first_seq + chunks) << 5 FROM revisions WHERE id = d.revision_id)`
	ids, err := t.ids("SELECT c.id "+failed, kb, path)
	if err != nil {
		return true, err
	}
	for _, chunk := range ids {
		if err := t.forgetVectors(chunk); err != nil {
			return true, err
		}
	}
	t.counters(kb).jobs[jobFailed]--
	return true, t.run("DELETE FROM jobs WHERE id = ?", id)
}

// forgetVectors lets an active chunk wait for vectors of the target again.
func (t *wtx) forgetVectors(chunk int64) error {
	op := vectorOp{meta: chunkMeta{id: chunk}}
	if _, err := t.get([]any{&op.gen}, "SELECT id FROM generations WHERE target"); err != nil {
		return err
	}
	for _, q := range []string{
		`INSERT INTO vector_garbage (windows) SELECT v.windows FROM generations g CROSS JOIN chunk_vectors v ON v.generation = g.id AND v.chunk_id = ?1
			WHERE g.target AND length(v.windows) > 0`,
		`DELETE FROM chunk_vectors WHERE chunk_id = ?1 AND generation IN (SELECT id FROM generations WHERE target)`,
		`INSERT OR IGNORE INTO vector_pending (chunk_id, changed) SELECT c.id, d.mtime_ns FROM chunks c JOIN documents d ON d.id = c.document_id
			WHERE c.id = ?1 AND c.active`,
	} {
		if err := t.run(q, chunk); err != nil {
			return err
		}
	}
	t.vectors = append(t.vectors, op)
	return nil
}
