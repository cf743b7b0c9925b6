package store

import (
	"context"
	"database/sql"
	"strings"
)

const docRecordColumns = `d.id, k.name, d.path, d.state, d.code, d.reason, d.size, d.mtime_ns, d.ctime_ns, d.inode,
	d.hash, d.chunks, v.uid, coalesce(v.title, ''), c.format, c.media_type, c.meta, d.indexed_ms`

const docRecordFrom = ` FROM documents d JOIN kbs k ON k.id = d.kb_id
	LEFT JOIN revisions v ON v.id = d.revision_id LEFT JOIN contents c ON c.id = v.content_id`

func scanDoc(scan func(...any) error) (d DocRecord, err error) {
	var state int
	var inode, indexed int64
	var hash, uid, meta []byte
	var title string
	var format, media sql.NullString
	err = scan(&d.ID, &d.KB, &d.Path, &state, &d.Code, &d.Reason, &d.Stat.Size, &d.Stat.MTimeNS, &d.Stat.CTimeNS, &inode,
		&hash, &d.Chunks, &uid, &title, &format, &media, &meta, &indexed)
	if err != nil {
		return d, err
	}
	d.State, d.Stat.Inode, d.Size, d.IndexedAt = docNames[state], uint64(inode), d.Stat.Size, timeOf(indexed)
	copy(d.Hash[:], hash)
	d.Format, d.MediaType = format.String, media.String
	if uid != nil {
		d.RevisionID = uidText(uid)
	}
	if meta != nil {
		d.Meta, err = parseMeta(meta, title)
	}
	return d, err
}

// maxPage bounds a page of a listing.
const maxPage = 1000

// Documents lists a page of a KB's documents in the states given (nil = all)
// in order of path bytes; deleted ones are left out. total counts all pages.
func (s *Store) Documents(ctx context.Context, kb int64, p Page, states []State) (docs []DocRecord, total int64, more bool, err error) {
	if p.Limit <= 0 {
		p.Limit = 100
	}
	p.Limit = min(p.Limit, maxPage)
	cond, counters := stateCond(states)
	if counters == "" {
		return nil, 0, false, nil
	}
	err = s.read(ctx, "list documents", func(r *reader) error {
		err := r.row("SELECT coalesce(sum("+counters+"), 0) FROM kbs WHERE id = ?", kb).Scan(&total)
		if err != nil || total == 0 {
			return err
		}
		return r.each(func(rows *sql.Rows) error {
			d, err := scanDoc(rows.Scan)
			docs = append(docs, d)
			return err
		}, "SELECT "+docRecordColumns+docRecordFrom+" WHERE d.kb_id = ? AND d.path > ? AND "+cond+" ORDER BY d.path LIMIT ?",
			kb, p.After, p.Limit+1)
	})
	if len(docs) > p.Limit {
		docs, more = docs[:p.Limit], true
	}
	return docs, total, more, err
}

// stateCond makes the condition for states and the sum of their counters; ""
// when no state is named that exists.
func stateCond(states []State) (cond, counters string) {
	if states == nil {
		return "d.state <> 0", "indexed + pending + failed + excluded"
	}
	var numbers, columns []string
	for n, name := range docNames {
		for _, want := range states {
			if n != docDeleted && want == name {
				numbers = append(numbers, string(rune('0'+n)))
				columns = append(columns, string(name))
				break
			}
		}
	}
	if columns == nil {
		return "0", ""
	}
	return "d.state IN (" + strings.Join(numbers, ", ") + ")", strings.Join(columns, " + ")
}

// Document returns one document; false when there is none, or it is deleted.
func (s *Store) Document(ctx context.Context, kb int64, path string) (d DocRecord, ok bool, err error) {
	err = s.read(ctx, "look up document", func(r *reader) error {
		var e error
		d, e = scanDoc(r.row("SELECT "+docRecordColumns+docRecordFrom+" WHERE d.kb_id = ? AND d.path = ? AND d.state <> 0", kb, path).Scan)
		if e == sql.ErrNoRows {
			return nil
		}
		ok = e == nil
		return e
	})
	return d, ok, err
}
