package store

import (
	"database/sql"

	"ragd/internal/store/ftsrank"
)

// matchedSQL are the rows that match, with their scores; of very common clauses
// only the newest rows are looked at.
func matchedSQL(published, newest bool) string {
	from := "fts"
	if published {
		from = "fts CROSS JOIN chunks x ON x.id = fts.rowid CROSS JOIN documents d ON d.id = x.document_id AND " + publishedSQL
	}
	rows := "SELECT fts.rowid AS id, ragd_rank(fts, ?2) AS score FROM " + from + " WHERE fts MATCH ?1"
	if newest {
		rows = "SELECT id, score FROM (" + rows + " ORDER BY fts.rowid DESC LIMIT ?4)"
	}
	return rows
}

func rankedSQL(published, newest bool) string {
	return "SELECT f.id, c.document_id, f.score FROM (" + matchedSQL(published, newest) + ` ORDER BY score DESC, id LIMIT ?3) f
		JOIN chunks c ON c.id = f.id ORDER BY f.score DESC, f.id`
}

// eachDocumentSQL gives the best row of each document.
func eachDocumentSQL(published, newest bool) string {
	return `SELECT id, document_id, score FROM (
		SELECT f.id, c.document_id, f.score, row_number() OVER (PARTITION BY c.document_id ORDER BY f.score DESC, f.id) AS nth
		FROM (` + matchedSQL(published, newest) + `) f JOIN chunks c ON c.id = f.id)
		WHERE nth = 1 ORDER BY score DESC, id LIMIT ?3`
}

// ranked runs an expression and returns its best hits, of the newest rows
// only when newest > 0. A document of very many chunks does not fill the list
// alone: the best hits of others stand in it as well.
func ranked(r *reader, c corpus, m *match, clauses, limit, newest int) ([]LexicalHit, error) {
	params := ftsrank.Params{
		K1: c.k1, B: c.b, Title: weightTitle, Headings: weightHeadings, Body: weightBody,
		AverageLength: c.averageLength(), Clauses: clauses, Phrases: m.scored(),
	}.Encode()
	args := []any{m.b.String(), params, limit}
	if newest > 0 {
		args = append(args, newest)
	}
	hits, err := readHits(r, rankedSQL(m.published, newest > 0), args)
	if err != nil || len(hits) < limit {
		return hits, err
	}
	document := func(h LexicalHit) int64 { return h.DocumentID }
	if _, over := crowded(hits, document); over == 0 {
		return hits, nil
	}
	best, err := readHits(r, eachDocumentSQL(m.published, newest > 0), args)
	if err != nil {
		return nil, err
	}
	return mergeHits(withRoom(hits, best, document), nil, limit), nil
}

func readHits(r *reader, query string, args []any) (hits []LexicalHit, err error) {
	err = r.each(func(rows *sql.Rows) error {
		var h LexicalHit
		err := rows.Scan(&h.ChunkID, &h.DocumentID, &h.Raw)
		hits = append(hits, h)
		return err
	}, query, args...)
	return hits, err
}
