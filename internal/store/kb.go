package store

import (
	"context"
	"database/sql"

	"ragd/internal/fault"
)

// EnsureKB creates a KB, or brings what is known of one up to date.
func (s *Store) EnsureKB(ctx context.Context, name, root, dir string, mounted bool) (KBInfo, error) {
	if name == "" {
		return KBInfo{}, fault.New(fault.Invalid, "bad_kb", "a knowledge base needs a name")
	}
	want := KBInfo{Name: name, Root: root, Dir: dir, Mounted: mounted}
	have, ok, err := s.kbByName(ctx, name)
	if err != nil {
		return KBInfo{}, err
	}
	want.ID = have.ID
	if ok && have == want {
		return have, nil
	}
	err = s.write(ctx, "ensure knowledge base", func(t *wtx) error {
		err := t.run(`INSERT INTO kbs (name, root, dir, mounted) VALUES (?1, ?2, ?3, ?4)
			ON CONFLICT (name) DO UPDATE SET root = ?2, dir = ?3, mounted = ?4`, name, root, dir, mounted)
		if err != nil {
			return err
		}
		_, err = t.get([]any{&want.ID}, "SELECT id FROM kbs WHERE name = ?", name)
		return err
	})
	return want, err
}

const kbColumns = "id, name, root, dir, mounted"

func (k *KBInfo) dest() []any { return []any{&k.ID, &k.Name, &k.Root, &k.Dir, &k.Mounted} }

func (s *Store) kbByName(ctx context.Context, name string) (k KBInfo, ok bool, err error) {
	err = s.read(ctx, "look up knowledge base", func(r *reader) error {
		e := r.row("SELECT "+kbColumns+" FROM kbs WHERE name = ?", name).Scan(k.dest()...)
		if e == sql.ErrNoRows {
			return nil
		}
		ok = e == nil
		return e
	})
	return k, ok, err
}

// KBs lists all by name.
func (s *Store) KBs(ctx context.Context) (out []KBInfo, err error) {
	err = s.read(ctx, "list knowledge bases", func(r *reader) error {
		return r.each(func(rows *sql.Rows) error {
			var k KBInfo
			err := rows.Scan(k.dest()...)
			out = append(out, k)
			return err
		}, "SELECT "+kbColumns+" FROM kbs ORDER BY name")
	})
	return out, err
}

// dropBatch is how many chunks are dropped in one transaction at most (one
// document more); other writers get their turn in between.
const dropBatch = 2000

// DeleteKB removes all of a KB from the index, also what retention keeps, and
// its row too unless keepRow. It returns how many documents there were. Done
// in batches: stopped half way, the next call goes on.
func (s *Store) DeleteKB(ctx context.Context, kb int64, keepRow bool) (documents int64, err error) {
	var top int64
	err = s.write(ctx, "delete knowledge base", func(t *wtx) error {
		if _, err := t.get([]any{&documents}, "SELECT documents FROM kbs WHERE id = ?", kb); err != nil {
			return err
		}
		_, err := t.get([]any{&top}, "SELECT coalesce(max(id), 0) FROM documents WHERE kb_id = ?", kb)
		return err
	})
	if err != nil {
		return 0, err
	}
	for more := true; more; {
		if err := ctx.Err(); err != nil {
			return documents, err
		}
		err := s.write(ctx, "delete knowledge base", func(t *wtx) (err error) {
			more, err = t.dropDocs(kb, top)
			return err
		})
		if err != nil {
			return documents, err
		}
	}
	if keepRow {
		return documents, nil
	}
	return documents, s.write(ctx, "delete knowledge base", func(t *wtx) error {
		// Not when a file was planned meanwhile: then the KB is in use again.
		n, err := t.count("DELETE FROM kbs WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM documents WHERE kb_id = ?1)", kb)
		if err != nil || n == 0 {
			return err
		}
		// A new file that went while it was read and was hinted at again has a job and no document.
		return t.run("DELETE FROM jobs WHERE kb_id = ?", kb)
	})
}

// dropDocs deletes some documents of a KB with everything kept of them.
func (t *wtx) dropDocs(kb, top int64) (more bool, err error) {
	docs, err := t.docs("SELECT "+docColumns+" FROM documents WHERE kb_id = ? AND id <= ? LIMIT 500", kb, top)
	if err != nil || len(docs) == 0 {
		return false, err
	}
	for i, budget := 0, int64(dropBatch); i < len(docs) && budget > 0; i++ {
		d := &docs[i]
		budget -= d.chunks + 4
		if err := t.purge(d); err != nil {
			return false, err
		}
	}
	return true, nil
}

// purge deletes a document's row, its job and all its revisions.
func (t *wtx) purge(d *docRow) error {
	if err := t.dropJob(d.kb, d.path); err != nil {
		return err
	}
	if d.revision != 0 {
		r, err := t.revision(d.revision)
		if err != nil {
			return err
		}
		if err := t.forget(d, r); err != nil {
			return err
		}
	}
	revs, err := t.ids("SELECT id FROM revisions WHERE document_id = ?", d.id)
	if err != nil {
		return err
	}
	for _, rev := range revs {
		if _, err := t.dropRevision(d.kb, rev); err != nil {
			return err
		}
	}
	t.counters(d.kb).docs[d.state]--
	return t.run("DELETE FROM documents WHERE id = ?", d.id)
}
