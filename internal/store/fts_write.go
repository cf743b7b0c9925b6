package store

// ftsOp is a row of the full-text index to write or, without in, to delete.
type ftsOp struct {
	id    int64
	in    *Indexed
	chunk int // of in
	scope string
}

const (
	insertFTSSQL = "INSERT INTO fts (rowid, body, title, headings, scope) VALUES (?, ?, ?, ?, ?)"
	deleteFTSSQL = "DELETE FROM fts WHERE rowid = ?"
)

// insertFTS and unindex only note what is to be done with the full-text
// index; writeFTS does it at the end of the transaction. A statement with a
// trigger opens a savepoint, at which FTS5 writes what it has gathered as a
// segment of its own: done in between, every document would make some, and
// merging them took half the time of a first indexing.
func (t *wtx) insertFTS(kb kbRow, in *Indexed, ids []int64) {
	scope := scopeTerms(kb.id, in.Meta.Type, in.Meta.Status)
	for i := range in.Chunks {
		sc := scope
		if i == 0 {
			sc += titleScope(in.Chunks[i].TitleTerms)
		}
		t.fts = append(t.fts, ftsOp{ids[i], in, i, sc})
	}
}

func (t *wtx) unindex(r revRow) error {
	ids, err := t.chunkIDs(r)
	if err != nil {
		return err
	}
	for _, id := range ids {
		t.fts = append(t.fts, ftsOp{id: id})
	}
	return nil
}

// writeFTS carries out what was noted, in order.
func (t *wtx) writeFTS() error {
	for _, op := range t.fts {
		var err error
		if op.in == nil {
			err = t.run(deleteFTSSQL, op.id)
		} else {
			c := &op.in.Chunks[op.chunk]
			err = t.run(insertFTSSQL, op.id, c.BodyTerms, c.TitleTerms, c.HeadingTerms, op.scope)
		}
		if err != nil {
			return err
		}
	}
	t.fts = nil
	return nil
}
