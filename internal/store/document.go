package store

import (
	"database/sql"
)

// docRow is what writing needs to know of a document.
type docRow struct {
	id, kb   int64
	path     string
	state    int
	revision int64 // 0 = none
	chunks   int64
	bytes    int64
	parent   int64
}

const docColumns = "id, kb_id, path, state, coalesce(revision_id, 0), chunks, bytes, coalesce(parent_id, 0)"

func (d *docRow) dest() []any {
	return []any{&d.id, &d.kb, &d.path, &d.state, &d.revision, &d.chunks, &d.bytes, &d.parent}
}

func (t *wtx) doc(kb int64, path string) (d docRow, ok bool, err error) {
	ok, err = t.get(d.dest(), "SELECT "+docColumns+" FROM documents WHERE kb_id = ? AND path = ?", kb, path)
	return d, ok, err
}

// docs reads all rows of a query for docColumns.
func (t *wtx) docs(query string, args ...any) (out []docRow, err error) {
	err = t.each(func(rows *sql.Rows) error {
		var d docRow
		if err := rows.Scan(d.dest()...); err != nil {
			return err
		}
		out = append(out, d)
		return nil
	}, query, args...)
	return out, err
}

// newDoc inserts a document without a revision.
func (t *wtx) newDoc(kb int64, path string, parent int64, state int, st Stat) (docRow, error) {
	id, err := t.insert(`INSERT INTO documents (kb_id, path, parent_id, state, size, mtime_ns, ctime_ns, inode)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?)`, kb, path, orNull(parent), state, st.Size, st.MTimeNS, st.CTimeNS, int64(st.Inode))
	if err != nil {
		return docRow{}, err
	}
	t.counters(kb).docs[state]++
	return docRow{id: id, kb: kb, path: path, state: state, parent: parent}, nil
}

func orNull(id int64) any {
	if id == 0 {
		return nil
	}
	return id
}

// countState moves a document between the states' counters.
func (t *wtx) countState(d *docRow, state int) {
	c := t.counters(d.kb)
	c.docs[d.state]--
	c.docs[state]++
	d.state = state
}

func (t *wtx) setState(d *docRow, state int, code, reason string) error {
	t.countState(d, state)
	return t.run("UPDATE documents SET state = ?, code = ?, reason = ?, deleted_ms = NULL WHERE id = ?", state, code, reason, d.id)
}

func (t *wtx) setStat(doc int64, st Stat) error {
	return t.run("UPDATE documents SET size = ?, mtime_ns = ?, ctime_ns = ?, inode = ? WHERE id = ?",
		st.Size, st.MTimeNS, st.CTimeNS, int64(st.Inode), doc)
}

// remove takes a document and its parts out of the index. The rows stay for
// retention if there is a revision to keep, else they go at once.
func (t *wtx) remove(d *docRow) error {
	if err := t.removeParts(d.id); err != nil {
		return err
	}
	if err := t.retire(d); err != nil {
		return err
	}
	var old int64
	if _, err := t.get([]any{&old}, "SELECT count(*) FROM (SELECT 1 FROM revisions WHERE document_id = ? LIMIT 1)", d.id); err != nil {
		return err
	}
	if old == 0 {
		t.counters(d.kb).docs[d.state]--
		return t.run("DELETE FROM documents WHERE id = ?", d.id)
	}
	t.countState(d, docDeleted)
	return t.run("UPDATE documents SET state = 0, code = '', reason = '', hash = NULL, skey_id = 0, deleted_ms = ? WHERE id = ?", t.now, d.id)
}

// exclude takes a document out of the index and keeps it listed.
func (t *wtx) exclude(d *docRow, st Stat, code, why string) error {
	if err := t.removeParts(d.id); err != nil {
		return err
	}
	if err := t.retire(d); err != nil {
		return err
	}
	t.countState(d, docExcluded)
	return t.run(`UPDATE documents SET state = 4, code = ?, reason = ?, hash = NULL, skey_id = 0, deleted_ms = NULL,
		size = ?, mtime_ns = ?, ctime_ns = ?, inode = ? WHERE id = ?`,
		code, why, st.Size, st.MTimeNS, st.CTimeNS, int64(st.Inode), d.id)
}

func (t *wtx) parts(doc int64) ([]docRow, error) {
	var one int
	if ok, err := t.get([]any{&one}, "SELECT 1 FROM documents WHERE parent_id = ? LIMIT 1", doc); err != nil || !ok {
		return nil, err
	}
	return t.docs("SELECT "+docColumns+" FROM documents WHERE parent_id = ? AND state <> 0", doc)
}

func (t *wtx) removeParts(doc int64) error {
	parts, err := t.parts(doc)
	if err != nil {
		return err
	}
	for i := range parts {
		if err := t.remove(&parts[i]); err != nil {
			return err
		}
	}
	return nil
}
