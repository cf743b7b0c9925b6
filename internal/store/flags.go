package store

import (
	"context"
	"database/sql"
	"slices"
	"strings"
)

// Flagged says of which documents the text is poor, and why in words; docs
// are ids as in DocRecord.
func (s *Store) Flagged(ctx context.Context, docs []int64) (why map[int64]string, err error) {
	docs = slices.Clone(docs)
	slices.Sort(docs)
	docs = slices.Compact(docs)
	why = map[int64]string{}
	err = s.read(ctx, "read quality", func(r *reader) error {
		for part := range slices.Chunk(docs, 500) {
			args := make([]any, len(part))
			for i, id := range part {
				args[i] = id
			}
			err := r.each(func(rows *sql.Rows) error {
				var id int64
				var flag string
				err := rows.Scan(&id, &flag)
				why[id] = flag
				return err
			}, `SELECT d.id, json_extract(c.meta, '$.q.flag') FROM documents d
				JOIN revisions r ON r.id = d.revision_id JOIN contents c ON c.id = r.content_id
				WHERE json_extract(c.meta, '$.q.flag') IS NOT NULL AND d.id IN (?`+strings.Repeat(", ?", len(part)-1)+")", args...)
			if err != nil {
				return err
			}
		}
		return nil
	})
	return why, err
}

const countFlaggedMax = 10_000 // further ones are not counted: a status is to cost little

// CountFlagged counts the searchable documents of KBs whose text is poor, up
// to ten thousand; nil = all KBs.
func (s *Store) CountFlagged(ctx context.Context, kbs []int64) (n int64, err error) {
	cond, args := kbCond("d.kb_id", kbs)
	err = s.read(ctx, "count quality", func(r *reader) error {
		return r.row(`SELECT count(*) FROM (SELECT 1 FROM contents c JOIN revisions r ON r.content_id = c.id
			JOIN documents d ON d.id = r.document_id AND d.revision_id = r.id
			WHERE json_extract(c.meta, '$.q.flag') IS NOT NULL AND `+cond+" LIMIT ?)", append(args, countFlaggedMax)...).Scan(&n)
	})
	return n, err
}
