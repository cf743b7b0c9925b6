package store

import (
	"context"
	"database/sql"
	"fmt"
)

// Codes of problems.
const (
	problemFile      = "file"
	problemFTSRows   = "fts_rows"
	problemFTS       = "fts_structure"
	problemCounters  = "counters"
	problemOrphans   = "orphans"
	problemDocuments = "documents"
)

// Check looks for what must not be. Not deep, it compares counts; deep, it
// reads the whole file as well and lets SQLite and FTS5 check themselves.
func (s *Store) Check(ctx context.Context, deep bool) (rep CheckReport, err error) {
	rep.Deep = deep
	err = s.read(ctx, "check", func(r *reader) error {
		if err := r.row("PRAGMA user_version").Scan(&rep.Schema); err != nil {
			return err
		}
		c := checker{r: r, rep: &rep}
		if deep {
			c.file()
		}
		c.rows()
		c.counters()
		c.vectors()
		for _, q := range orphanQueries {
			c.none(q.code, q.what, q.query)
		}
		return c.err
	})
	if isCorrupt(err) || (err != nil && s.damaged.Load()) {
		rep.add(problemFile, false, "%v", err)
		return rep, nil
	}
	return rep, err
}

func (r *CheckReport) add(code string, repairable bool, format string, args ...any) {
	r.Problems = append(r.Problems, Problem{Code: code, Detail: fmt.Sprintf(format, args...), Repairable: repairable})
}

// checker remembers the first error, so that the checks read as a list.
type checker struct {
	r   *reader
	rep *CheckReport
	err error
}

func (c *checker) scan(dest []any, query string, args ...any) bool {
	if c.err == nil {
		c.err = c.r.row(query, args...).Scan(dest...)
	}
	return c.err == nil
}

// file lets SQLite check itself; it includes FTS5's own check of its tables.
func (c *checker) file() {
	// A query first: only that makes FTS5 look whether another connection has
	// changed the index since this one read how it is laid out.
	var n int
	if !c.scan([]any{&n}, "SELECT count(*) FROM (SELECT 1 FROM fts WHERE fts MATCH 'a' LIMIT 1)") {
		if isCorrupt(c.err) {
			c.rep.add(problemFTS, true, "%v", c.err)
			c.err = nil
		}
		return
	}
	c.err = c.r.each(func(rows *sql.Rows) error {
		var answer string
		if err := rows.Scan(&answer); err != nil {
			return err
		}
		switch {
		case answer == "ok":
		case ftsComplaint(answer):
			c.rep.add(problemFTS, true, "%s", answer)
		default:
			c.rep.add(problemFile, false, "%s", answer)
		}
		return nil
	}, "PRAGMA integrity_check(20)")
}

func (c *checker) rows() {
	if !c.scan([]any{&c.rep.Chunks}, "SELECT count(*) FROM chunks WHERE active") ||
		!c.scan([]any{&c.rep.FTSRows}, "SELECT count(*) FROM fts_docsize") ||
		!c.scan([]any{&c.rep.Documents}, "SELECT count(*) FROM documents WHERE revision_id IS NOT NULL") {
		return
	}
	var missing, extra int64
	if !c.scan([]any{&missing}, "SELECT count(*) FROM chunks c WHERE c.active AND NOT EXISTS (SELECT 1 FROM fts_docsize f WHERE f.id = c.id)") ||
		!c.scan([]any{&extra}, "SELECT count(*) FROM fts_docsize f WHERE NOT EXISTS (SELECT 1 FROM chunks c WHERE c.id = f.id AND c.active)") {
		return
	}
	if missing+extra > 0 {
		c.rep.add(problemFTSRows, true, "%d chunks are missing in the full-text index, %d are in it that should not be", missing, extra)
	}
}

// countersSQL computes every counter of a KB from what it counts.
const countersSQL = `SELECT k.id AS id,
	(SELECT count(*) FROM documents d WHERE d.kb_id = k.id AND d.revision_id IS NOT NULL) AS documents,
	(SELECT count(*) FROM chunks c JOIN documents d ON d.id = c.document_id WHERE d.kb_id = k.id AND c.active) AS chunks,
	(SELECT coalesce(sum(v.terms), 0) FROM documents d JOIN revisions v ON v.id = d.revision_id WHERE d.kb_id = k.id) AS terms,
	(SELECT coalesce(sum(d.bytes), 0) FROM documents d WHERE d.kb_id = k.id AND d.revision_id IS NOT NULL) AS bytes,
	(SELECT count(*) FROM documents d WHERE d.kb_id = k.id AND d.state = 1) AS indexed,
	(SELECT count(*) FROM documents d WHERE d.kb_id = k.id AND d.state = 2) AS pending,
	(SELECT count(*) FROM documents d WHERE d.kb_id = k.id AND d.state = 3) AS failed,
	(SELECT count(*) FROM documents d WHERE d.kb_id = k.id AND d.state = 4) AS excluded,
	(SELECT count(*) FROM jobs j WHERE j.kb_id = k.id AND j.state = 1) AS jobs_pending,
	(SELECT count(*) FROM jobs j WHERE j.kb_id = k.id AND j.state = 2) AS jobs_processing,
	(SELECT count(*) FROM jobs j WHERE j.kb_id = k.id AND j.state = 3) AS jobs_failed,
	(SELECT count(*) FROM documents d JOIN revisions v ON v.document_id = d.id WHERE d.kb_id = k.id AND v.retired_ms IS NOT NULL) AS old_revisions,
	(SELECT coalesce(sum(c.bytes), 0) FROM documents d JOIN revisions v ON v.document_id = d.id JOIN contents c ON c.id = v.content_id
		WHERE d.kb_id = k.id AND v.retired_ms IS NOT NULL) AS old_bytes
	FROM kbs k`

const counterColumns = "documents, chunks, terms, bytes, indexed, pending, failed, excluded, jobs_pending, jobs_processing, jobs_failed, old_revisions, old_bytes"

func (c *checker) counters() {
	if c.err != nil {
		return
	}
	c.err = c.r.each(func(rows *sql.Rows) error {
		var name, have, want string
		if err := rows.Scan(&name, &have, &want); err != nil {
			return err
		}
		c.rep.add(problemCounters, true, "the counters of %q are %s instead of %s (%s)", name, have, want, counterColumns)
		return nil
	}, `SELECT k.name, concat_ws(' ', k.documents, k.chunks, k.terms, k.bytes, k.indexed, k.pending, k.failed, k.excluded,
			k.jobs_pending, k.jobs_processing, k.jobs_failed, k.old_revisions, k.old_bytes) AS have,
		concat_ws(' ', w.documents, w.chunks, w.terms, w.bytes, w.indexed, w.pending, w.failed, w.excluded,
			w.jobs_pending, w.jobs_processing, w.jobs_failed, w.old_revisions, w.old_bytes) AS want
		FROM kbs k JOIN (`+countersSQL+`) w ON w.id = k.id WHERE have <> want`)
}

// orphanQueries count rows that refer to nothing, or that nothing refers to.
var orphanQueries = []struct{ code, what, query string }{
	{problemOrphans, "chunks belong to no revision", "SELECT count(*) FROM chunks c WHERE NOT EXISTS (SELECT 1 FROM revisions v WHERE v.id = c.revision_id)"},
	{problemOrphans, "revisions belong to no document", "SELECT count(*) FROM revisions v WHERE NOT EXISTS (SELECT 1 FROM documents d WHERE d.id = v.document_id)"},
	{problemOrphans, "contents belong to no revision", "SELECT count(*) FROM contents c WHERE NOT EXISTS (SELECT 1 FROM revisions v WHERE v.content_id = c.id)"},
	{problemOrphans, "texts belong to no content", "SELECT count(*) FROM texts t WHERE NOT EXISTS (SELECT 1 FROM contents c WHERE c.id = t.id >> 16)"},
	{problemOrphans, "documents belong to no knowledge base", "SELECT count(*) FROM documents d WHERE NOT EXISTS (SELECT 1 FROM kbs k WHERE k.id = d.kb_id)"},
	{problemOrphans, "jobs belong to no knowledge base", "SELECT count(*) FROM jobs j WHERE NOT EXISTS (SELECT 1 FROM kbs k WHERE k.id = j.kb_id)"},
	{problemDocuments, "documents count as indexed and have no revision", "SELECT count(*) FROM documents WHERE state = 1 AND revision_id IS NULL"},
	{problemDocuments, "documents wait for a job that is not there", `SELECT count(*) FROM documents d WHERE d.state = 2 AND d.parent_id IS NULL
		AND NOT EXISTS (SELECT 1 FROM jobs j WHERE j.kb_id = d.kb_id AND j.path = d.path AND j.op = 0 AND j.state IN (1, 2))`},
	{problemDocuments, "documents have lost their text or chunks", brokenDocs},
	{problemDocuments, "revisions are current that should not be", `SELECT count(*) FROM revisions v JOIN documents d ON d.id = v.document_id
		WHERE (v.retired_ms IS NULL) <> (d.revision_id IS v.id)`},
}

// brokenDocs counts documents whose current revision is not whole.
const brokenDocs = "SELECT count(*) FROM documents d WHERE d.revision_id IS NOT NULL AND NOT (" + wholeDoc + ")"

const wholeDoc = `EXISTS (SELECT 1 FROM revisions v JOIN contents c ON c.id = v.content_id
	WHERE v.id = d.revision_id AND v.document_id = d.id AND v.chunks = d.chunks
	AND v.chunks = (SELECT count(*) FROM chunks h WHERE h.id BETWEEN v.first_seq << 5 AND ((v.first_seq + v.chunks) << 5) - 1
		AND h.revision_id = v.id AND h.active)
	AND (c.bytes = 0 OR EXISTS (SELECT 1 FROM texts t WHERE t.id = c.id << 16)))`

// none reports a problem when the count is not zero.
func (c *checker) none(code, what, query string) {
	var n int64
	if c.scan([]any{&n}, query) && n > 0 {
		c.rep.add(code, true, "%d %s", n, what)
	}
}
