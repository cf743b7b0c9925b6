package store

// revRow is what writing needs to know of a revision.
type revRow struct {
	id, content         int64
	firstSeq, chunks    int64
	terms, contentBytes int64
	title               string
}

func (t *wtx) revision(id int64) (r revRow, err error) {
	_, err = t.get([]any{&r.id, &r.content, &r.firstSeq, &r.chunks, &r.terms, &r.title, &r.contentBytes},
		`SELECT v.id, v.content_id, v.first_seq, v.chunks, v.terms, v.title, c.bytes
		FROM revisions v JOIN contents c ON c.id = v.content_id WHERE v.id = ?`, id)
	return r, err
}

// chunkRange are the ids that the chunks of a revision may have.
func (r revRow) chunkRange() (lo, hi int64) {
	return r.firstSeq << seqShift, (r.firstSeq+r.chunks)<<seqShift - 1
}

func (t *wtx) chunkIDs(r revRow) ([]int64, error) {
	lo, hi := r.chunkRange()
	return t.ids("SELECT id FROM chunks WHERE id BETWEEN ? AND ? ORDER BY id", lo, hi)
}

// retire takes a document's current revision out of search.
func (t *wtx) retire(d *docRow) error {
	if d.revision == 0 {
		return nil
	}
	r, err := t.revision(d.revision)
	if err != nil {
		return err
	}
	lo, hi := r.chunkRange()
	if err := t.run("UPDATE chunks SET active = 0 WHERE id BETWEEN ? AND ?", lo, hi); err != nil {
		return err
	}
	if err := t.forget(d, r); err != nil {
		return err
	}
	if err := t.run("UPDATE revisions SET retired_ms = ? WHERE id = ?", t.now, d.revision); err != nil {
		return err
	}
	if err := t.run("UPDATE documents SET revision_id = NULL, chunks = 0, bytes = 0, chunks_hash = NULL WHERE id = ?", d.id); err != nil {
		return err
	}
	d.revision, d.chunks, d.bytes = 0, 0, 0
	return nil
}

// forget takes a current revision out of what searches look at and out of the
// counters; its rows are the caller's.
func (t *wtx) forget(d *docRow, r revRow) error {
	if err := t.unindex(r); err != nil {
		return err
	}
	lo, hi := r.chunkRange()
	if err := t.vectorsOff(d, lo, hi); err != nil {
		return err
	}
	c := t.counters(d.kb)
	c.documents--
	c.chunks -= d.chunks
	c.terms -= r.terms
	c.bytes -= d.bytes
	c.oldRevisions++
	c.oldBytes += r.contentBytes
	t.changed = true
	return nil
}

// revive makes an old revision of the same document current again; ids are
// those its chunks have.
func (t *wtx) revive(d *docRow, rev int64) (r revRow, ids []int64, err error) {
	if r, err = t.revision(rev); err != nil {
		return r, nil, err
	}
	if ids, err = t.chunkIDs(r); err != nil {
		return r, nil, err
	}
	lo, hi := r.chunkRange()
	if err = t.run("UPDATE chunks SET active = 1 WHERE id BETWEEN ? AND ?", lo, hi); err != nil {
		return r, nil, err
	}
	if err = t.vectorsOn(d, lo, hi); err != nil {
		return r, nil, err
	}
	if err = t.run("UPDATE revisions SET retired_ms = NULL WHERE id = ?", rev); err != nil {
		return r, nil, err
	}
	c := t.counters(d.kb)
	c.oldRevisions--
	c.oldBytes -= r.contentBytes
	return r, ids, nil
}

// dropRevision deletes an old revision with its chunks, and its content when
// nothing else refers to it.
func (t *wtx) dropRevision(kb, id int64) (contentGone bool, err error) {
	r, err := t.revision(id)
	if err != nil || r.id == 0 {
		return false, err
	}
	lo, hi := r.chunkRange()
	if err := t.run("DELETE FROM chunks WHERE id BETWEEN ? AND ?", lo, hi); err != nil {
		return false, err
	}
	if err := t.run("DELETE FROM revisions WHERE id = ?", id); err != nil {
		return false, err
	}
	c := t.counters(kb)
	c.oldRevisions--
	c.oldBytes -= r.contentBytes
	return t.dropContent(r.content)
}

// dropContent deletes a content that no revision refers to.
func (t *wtx) dropContent(content int64) (bool, error) {
	var one int64
	used, err := t.get([]any{&one}, "SELECT 1 FROM revisions WHERE content_id = ? LIMIT 1", content)
	if err != nil || used {
		return false, err
	}
	if err := t.run("DELETE FROM texts WHERE id BETWEEN ? AND ?", content<<textShift, content<<textShift|(1<<textShift-1)); err != nil {
		return false, err
	}
	return true, t.run("DELETE FROM contents WHERE id = ?", content)
}
