package store

import (
	"database/sql"
	"slices"

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
		AverageLength: c.averageLength(), Clauses: clauses, Phrases: m.phrases,
	}.Encode()
	args := []any{m.b.String(), params, limit}
	if newest > 0 {
		args = append(args, newest)
	}
	hits, err := readHits(r, rankedSQL(m.published, newest > 0), args)
	if err != nil || len(hits) < limit || !crowded(hits) {
		return hits, err
	}
	best, err := readHits(r, eachDocumentSQL(m.published, newest > 0), args)
	if err != nil {
		return nil, err
	}
	return makeRoom(hits, best, limit), nil
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

// crowdedShare is the part of a full list that one document may have.
const crowdedShare = 8

// crowded tells whether some document has more of the list than its share.
func crowded(hits []LexicalHit) bool {
	of := map[int64]int{}
	for _, h := range hits {
		if of[h.DocumentID]++; of[h.DocumentID] > max(len(hits)/crowdedShare, 1) {
			return true
		}
	}
	return false
}

// makeRoom puts the best hits of documents that are not in a full list into
// it, for the lowest hits of documents that have more than their share.
func makeRoom(hits, best []LexicalHit, limit int) []LexicalHit {
	of := map[int64]int{}
	for _, h := range hits {
		of[h.DocumentID]++
	}
	best = slices.DeleteFunc(best, func(h LexicalHit) bool { return of[h.DocumentID] > 0 })
	share := max(limit/crowdedShare, 1)
	over := 0 // hits that can go
	for _, n := range of {
		over += max(0, n-share)
	}
	best = best[:min(len(best), over)]
	for need, i := len(best), len(hits)-1; need > 0; i-- {
		if d := hits[i].DocumentID; of[d] > share {
			of[d]--
			need--
			hits = slices.Delete(hits, i, i+1)
		}
	}
	return mergeHits(hits, best, limit)
}
