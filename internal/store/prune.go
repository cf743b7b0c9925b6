package store

import (
	"context"
	"database/sql"
)

const pruneBatch = 100 // documents in one transaction

// Prune applies the retention: superseded revisions beyond the number kept go,
// and so do deleted documents whose time is over, each with the texts that
// nothing refers to any more.
func (s *Store) Prune(ctx context.Context) (rep PruneReport, err error) {
	if keep := s.opt.Retention.Revisions; keep >= 0 {
		var docs []docRow
		err := s.read(ctx, "prune", func(r *reader) error {
			return r.each(func(rows *sql.Rows) error {
				var d docRow
				err := rows.Scan(&d.id, &d.kb)
				docs = append(docs, d)
				return err
			}, `SELECT v.document_id, d.kb_id FROM revisions v JOIN documents d ON d.id = v.document_id
				WHERE v.retired_ms IS NOT NULL GROUP BY v.document_id HAVING count(*) > ?`, keep)
		})
		if err != nil {
			return rep, err
		}
		if err := s.pruneEach(ctx, docs, func(t *wtx, d *docRow) error { return t.pruneRevisions(d, keep, &rep) }); err != nil {
			return rep, err
		}
	}
	return rep, s.pruneDeleted(ctx, &rep)
}

// pruneEach runs fn for all documents, some in each transaction.
func (s *Store) pruneEach(ctx context.Context, docs []docRow, fn func(t *wtx, d *docRow) error) error {
	for len(docs) > 0 {
		n := min(len(docs), pruneBatch)
		err := s.write(ctx, "prune", func(t *wtx) error {
			for i := range docs[:n] {
				if err := fn(t, &docs[i]); err != nil {
					return err
				}
			}
			return ctx.Err()
		})
		if err != nil {
			return err
		}
		docs = docs[n:]
	}
	return nil
}

func (t *wtx) pruneRevisions(d *docRow, keep int, rep *PruneReport) error {
	revs, err := t.ids(`SELECT id FROM revisions WHERE document_id = ? AND retired_ms IS NOT NULL
		ORDER BY retired_ms DESC, id DESC LIMIT -1 OFFSET ?`, d.id, keep)
	if err != nil {
		return err
	}
	for _, rev := range revs {
		gone, err := t.dropRevision(d.kb, rev)
		if err != nil {
			return err
		}
		rep.Revisions++
		if gone {
			rep.Contents++
		}
	}
	return nil
}

func (s *Store) pruneDeleted(ctx context.Context, rep *PruneReport) error {
	before := s.opt.Now().Add(-s.opt.Retention.DeletedKept).UnixMilli()
	var docs []docRow
	err := s.read(ctx, "prune", func(r *reader) error {
		return r.each(func(rows *sql.Rows) error {
			var d docRow
			err := rows.Scan(d.dest()...)
			docs = append(docs, d)
			return err
		}, "SELECT "+docColumns+" FROM documents WHERE deleted_ms IS NOT NULL AND deleted_ms <= ? AND state = 0", before)
	})
	if err != nil {
		return err
	}
	return s.pruneEach(ctx, docs, func(t *wtx, d *docRow) error {
		// It may have come back since.
		now, ok, err := t.doc(d.kb, d.path)
		if err != nil || !ok || now.id != d.id || now.state != docDeleted {
			return err
		}
		if err := t.pruneRevisions(&now, 0, rep); err != nil {
			return err
		}
		rep.Documents++
		return t.run("DELETE FROM documents WHERE id = ?", d.id)
	})
}
