package store

import (
	"context"
	"database/sql"
	"encoding/hex"
)

const revisionSelect = `SELECT v.id, v.uid, v.title, v.chunks, v.created_ms, coalesce(v.retired_ms, 0), c.chars, c.meta,
	d.revision_id IS v.id FROM revisions v JOIN contents c ON c.id = v.content_id JOIN documents d ON d.id = v.document_id
	WHERE d.kb_id = ? AND d.path = ?`

func scanRevision(scan func(...any) error) (v Revision, err error) {
	var uid, meta []byte
	var created, retired int64
	if err := scan(&v.ID, &uid, &v.Title, &v.Chunks, &created, &retired, &v.Chars, &meta, &v.Current); err != nil {
		return v, err
	}
	v.UID, v.Created, v.Retired = uidText(uid), timeOf(created), timeOf(retired)
	m, err := parseMeta(meta, v.Title)
	v.Front, v.FrontError = m.Front, m.FrontError
	return v, err
}

// Revision returns one revision of a document, kept ones of deleted documents
// included; uid "" is the current one. False when there is none.
func (s *Store) Revision(ctx context.Context, kb int64, path, uid string) (v Revision, ok bool, err error) {
	query, args := revisionSelect+" AND v.id = d.revision_id", []any{kb, path}
	if uid != "" {
		raw, err := hex.DecodeString(uid)
		if err != nil || len(raw) != 16 || uidText(raw) != uid {
			return v, false, nil
		}
		query, args = revisionSelect+" AND v.uid = ?", append(args, raw)
	}
	err = s.read(ctx, "look up revision", func(r *reader) error {
		var e error
		v, e = scanRevision(r.row(query, args...).Scan)
		if e == sql.ErrNoRows {
			return nil
		}
		ok = e == nil
		return e
	})
	return v, ok, err
}

// Revisions lists the revisions of a document that are kept, the current one
// first, then the ones retired last.
func (s *Store) Revisions(ctx context.Context, kb int64, path string) (out []Revision, err error) {
	err = s.read(ctx, "list revisions", func(r *reader) error {
		return r.each(func(rows *sql.Rows) error {
			v, err := scanRevision(rows.Scan)
			out = append(out, v)
			return err
		}, revisionSelect+" ORDER BY v.retired_ms IS NOT NULL, v.retired_ms DESC, v.id DESC", kb, path)
	})
	return out, err
}
