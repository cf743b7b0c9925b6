package store

import (
	"context"
	"database/sql"
)

const stateColumns = `id, path, state, code, size, mtime_ns, ctime_ns, inode, hash,
	coalesce((SELECT k.skey FROM skeys k WHERE k.id = skey_id), ''), revision_id IS NOT NULL`

func scanState(scan func(...any) error) (d DocState, err error) {
	var state int
	var inode int64
	var hash []byte
	dest := []any{&d.ID, &d.Path, &state, &d.Code, &d.Stat.Size, &d.Stat.MTimeNS, &d.Stat.CTimeNS, &inode, &hash, &d.Key, &d.Revision}
	if err := scan(dest...); err != nil {
		return d, err
	}
	d.State, d.Stat.Inode = docNames[state], uint64(inode)
	copy(d.Hash[:], hash)
	return d, nil
}

const statePage = 1000

// DocStates calls fn for every document at or below a folder ("" = all of the
// KB) in order of path bytes, without deleted ones and parts of others. It
// reads page by page, so fn may take its time.
func (s *Store) DocStates(ctx context.Context, kb int64, sub string, fn func(DocState) error) error {
	if sub != "" {
		d, ok, err := s.DocState(ctx, kb, sub)
		if err != nil {
			return err
		}
		if ok {
			if err := fn(d); err != nil {
				return err
			}
		}
	}
	// Paths below sub are those from "sub/" up to, not including, "sub0".
	after, end := "", ""
	if sub != "" {
		after, end = sub+"/", sub+"0"
	}
	page := make([]DocState, 0, statePage)
	for {
		page = page[:0]
		err := s.read(ctx, "list documents", func(r *reader) error {
			query := "SELECT " + stateColumns + " FROM documents WHERE kb_id = ? AND path > ? AND state <> 0 AND parent_id IS NULL"
			args := []any{kb, after}
			if end != "" {
				query += " AND path < ?"
				args = append(args, end)
			}
			return r.each(func(rows *sql.Rows) error {
				d, err := scanState(rows.Scan)
				page = append(page, d)
				return err
			}, query+" ORDER BY path LIMIT 1000", args...)
		})
		if err != nil {
			return err
		}
		for _, d := range page {
			if err := fn(d); err != nil {
				return err
			}
		}
		if len(page) < statePage {
			return nil
		}
		after = page[len(page)-1].Path
	}
}

// DocState returns one document; false when there is none, or it is deleted.
func (s *Store) DocState(ctx context.Context, kb int64, path string) (d DocState, ok bool, err error) {
	err = s.read(ctx, "look up document", func(r *reader) error {
		var e error
		d, e = scanState(r.row("SELECT "+stateColumns+" FROM documents WHERE kb_id = ? AND path = ? AND state <> 0", kb, path).Scan)
		if e == sql.ErrNoRows {
			return nil
		}
		ok = e == nil
		return e
	})
	return d, ok, err
}

// forceable reads the next documents that ForceKB queues.
func (t *wtx) forceable(kb, after int64) (docs []docRow, stats []Stat, err error) {
	err = t.each(func(rows *sql.Rows) error {
		var d docRow
		var st Stat
		var inode int64
		if err := rows.Scan(append(d.dest(), &st.Size, &st.MTimeNS, &st.CTimeNS, &inode)...); err != nil {
			return err
		}
		st.Inode = uint64(inode)
		docs, stats = append(docs, d), append(stats, st)
		return nil
	}, "SELECT "+docColumns+`, size, mtime_ns, ctime_ns, inode FROM documents
		WHERE kb_id = ? AND id > ? AND state IN (1, 2, 3) AND parent_id IS NULL ORDER BY id LIMIT 1000`, kb, after)
	return docs, stats, err
}
