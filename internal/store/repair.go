package store

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"ragd/internal/fault"
)

// ftsComplaint tells FTS5's findings from those about the rest of the file.
func ftsComplaint(s string) bool {
	return strings.Contains(s, "fts") || strings.Contains(s, "inverted index")
}

// Repair mends what Check finds: rows that refer to nothing go, documents
// that have lost something are queued again, the full-text index is built
// anew from the stored texts, counters are counted. It returns what is left.
// Damage of the file itself is not mended; the next start sets it aside.
func (s *Store) Repair(ctx context.Context) (CheckReport, error) {
	before, err := s.Check(ctx, true)
	if err != nil {
		return before, err
	}
	has := map[string]bool{}
	for _, p := range before.Problems {
		has[p.Code] = true
	}
	if has[problemFile] {
		s.noteDamage()
		return before, nil
	}
	var did []string
	if has[problemOrphans] || has[problemDocuments] {
		if err := s.write(ctx, "repair", (*wtx).mendRows); err != nil {
			return before, err
		}
		did = append(did, "rows that had lost something were removed or queued again")
	}
	if has[problemFTS] || has[problemFTSRows] || has[problemOrphans] || has[problemDocuments] {
		n, err := s.rebuildFTS(ctx)
		if err != nil {
			return before, err
		}
		did = append(did, fmt.Sprintf("the full-text index was built anew from %d chunks", n))
	}
	if len(before.Problems) > 0 {
		if err := s.write(ctx, "repair", (*wtx).mendVectors); err != nil {
			return before, err
		}
		if err := s.reloadVectors(ctx); err != nil {
			return before, err
		}
	}
	if len(before.Problems) > 0 {
		if err := s.write(ctx, "repair", (*wtx).recount); err != nil {
			return before, err
		}
		did = append(did, "the counters were counted")
	}
	after, err := s.Check(ctx, true)
	after.Repaired = did
	return after, err
}

// mendRows deletes orphans and queues documents again that are not whole.
func (t *wtx) mendRows() error {
	t.changed = true
	for _, q := range []string{
		// A document that is not whole gives up its revision …
		`CREATE TEMP TABLE broken AS SELECT d.id, d.revision_id FROM documents d WHERE d.revision_id IS NOT NULL AND NOT (` + wholeDoc + `)`,
		`DELETE FROM chunks WHERE revision_id IN (SELECT revision_id FROM broken)`,
		`DELETE FROM revisions WHERE id IN (SELECT revision_id FROM broken)`,
		`UPDATE documents SET revision_id = NULL, chunks = 0, bytes = 0, chunks_hash = NULL WHERE id IN (SELECT id FROM broken)`,
		`DROP TABLE broken`,
		`UPDATE revisions SET retired_ms = created_ms WHERE retired_ms IS NULL AND id NOT IN (SELECT revision_id FROM documents WHERE revision_id IS NOT NULL)`,
		`UPDATE revisions SET retired_ms = NULL WHERE retired_ms IS NOT NULL AND id IN (SELECT revision_id FROM documents WHERE revision_id IS NOT NULL)`,
		// … what belongs to nothing goes …
		`DELETE FROM documents WHERE kb_id NOT IN (SELECT id FROM kbs)`,
		`DELETE FROM jobs WHERE kb_id NOT IN (SELECT id FROM kbs)`,
		`DELETE FROM revisions WHERE document_id NOT IN (SELECT id FROM documents)`,
		`DELETE FROM chunks WHERE revision_id NOT IN (SELECT id FROM revisions)`,
		`DELETE FROM contents WHERE id NOT IN (SELECT content_id FROM revisions)`,
		`DELETE FROM texts WHERE id >> 16 NOT IN (SELECT id FROM contents)`,
		`UPDATE chunks SET active = revision_id IN (SELECT revision_id FROM documents WHERE revision_id IS NOT NULL)
			WHERE active <> (revision_id IN (SELECT revision_id FROM documents WHERE revision_id IS NOT NULL))`,
		// … and what has no text now is queued: parts through their document.
		`UPDATE documents SET state = 2 WHERE state = 1 AND revision_id IS NULL`,
		`UPDATE documents SET state = 2 WHERE parent_id IS NULL AND state = 1 AND id IN (SELECT parent_id FROM documents WHERE parent_id IS NOT NULL AND state = 2)`,
	} {
		if _, err := t.s.conn.ExecContext(t.bg, q); err != nil {
			return err
		}
	}
	return t.run(`INSERT INTO jobs (kb_id, path, reason, state, priority, size, mtime_ns, ctime_ns, inode, created_ms, updated_ms)
		SELECT kb_id, path, 'forced', 1, 0, size, mtime_ns, ctime_ns, inode, ?1, ?1 FROM documents d
		WHERE state = 2 AND parent_id IS NULL AND NOT EXISTS (SELECT 1 FROM jobs j WHERE j.kb_id = d.kb_id AND j.path = d.path AND j.op = 0)`, t.now)
}

// recount writes every counter anew.
func (t *wtx) recount() error {
	return t.run("UPDATE kbs SET (" + counterColumns + ") = (SELECT " + counterColumns + " FROM (" + countersSQL + " WHERE k.id = kbs.id))")
}

// ftsSchema is the statements that make the full-text index.
func ftsSchema() (string, error) {
	list, err := migrations()
	if err != nil {
		return "", err
	}
	const start = "CREATE VIRTUAL TABLE fts "
	for i := len(list) - 1; i >= 0; i-- {
		if at := strings.Index(list[i].sql, start); at >= 0 {
			return list[i].sql[at:], nil
		}
	}
	return "", errors.New("store: no migration makes the full-text index")
}

const (
	rebuildFlag  = "fts_rebuild" // set while a rebuild is under way
	rebuildBatch = 400           // chunks in one transaction
)

// rebuildFTS makes the full-text index anew from the stored texts, in batches
// with writers in between. Until it is done a search finds only a part; a
// crash leaves a flag, by which the next Open goes on.
func (s *Store) rebuildFTS(ctx context.Context) (chunks int64, err error) {
	if s.opt.Reanalyse == nil {
		return 0, fault.New(fault.Conflict, "no_analysis", "the full-text index cannot be built anew here: nothing makes terms of texts")
	}
	schema, err := ftsSchema()
	if err != nil {
		return 0, err
	}
	err = s.write(ctx, "rebuild full-text index", func(t *wtx) error {
		t.changed = true
		if err := t.run("INSERT INTO settings (key, value) VALUES (?1, 1) ON CONFLICT (key) DO UPDATE SET value = 1", rebuildFlag); err != nil {
			return err
		}
		if _, err := s.conn.ExecContext(t.bg, "DROP TABLE IF EXISTS fts"); err != nil {
			return err
		}
		_, err := s.conn.ExecContext(t.bg, schema)
		return err
	})
	for after := int64(0); err == nil; {
		if err := ctx.Err(); err != nil {
			return chunks, err
		}
		n := 0
		err = s.write(ctx, "rebuild full-text index", func(t *wtx) error {
			var e error
			t.changed = true
			n, after, e = t.rebuildSome(after)
			return e
		})
		chunks += int64(n)
		if n == 0 {
			break
		}
	}
	if err != nil {
		return chunks, err
	}
	return chunks, s.write(ctx, "rebuild full-text index", func(t *wtx) error {
		return t.run("DELETE FROM settings WHERE key = ?", rebuildFlag)
	})
}

// rebuildSome indexes the next active chunks behind an id, those apart that a
// commit has indexed meanwhile.
func (t *wtx) rebuildSome(after int64) (n int, last int64, err error) {
	raw, err := t.activeChunks(after)
	if err != nil {
		return 0, after, err
	}
	texts := &textReader{s: t.s, r: t}
	for i := range raw {
		c := &raw[i]
		last = c.rec.ID
		var one int
		have, err := t.get([]any{&one}, "SELECT 1 FROM fts_docsize WHERE id = ?", c.rec.ID)
		if err != nil {
			return 0, after, err
		}
		if have {
			continue
		}
		if err := c.fill(texts); err != nil {
			return 0, after, err
		}
		r := &c.rec
		title, headings, body := t.s.opt.Reanalyse(r.Path, r.Title, r.Headings, r.Content)
		sc := scopeTerms(c.kb, r.Type, r.Status)
		if r.Index == 0 {
			sc += titleScope(title)
		}
		if err := t.run(insertFTSSQL, r.ID, body, title, headings, sc); err != nil {
			return 0, after, err
		}
	}
	return len(raw), last, nil
}
