package store

import (
	"cmp"
	"database/sql"
	"slices"

	"ragd/internal/store/ftsrank"
)

// expression writes "R OR (R AND (c1 OR c2 …))" within the scope: rows come
// from the retrieving clauses R alone, and the common clauses take part in
// the score where they match as well. narrow, when given, is one more
// condition on R.
func (p *queryPlan) expression(sc scope, not []Phrase, narrow func(m *match)) *match {
	m := &match{}
	m.scoped(sc, not, func() {
		p.retrieval(m, true, narrow)
		if len(p.rescore) > 0 {
			m.write(" OR (")
			p.retrieval(m, false, narrow)
			m.write(" AND ")
			m.join("OR", len(p.rescore), func(i int) { p.clause(m, p.rescore[i], true) })
			m.write(")")
		}
	})
	return m
}

func (p *queryPlan) retrieval(m *match, score bool, narrow func(m *match)) {
	op := "OR"
	if p.must {
		op = "AND"
	}
	m.write("(")
	m.join(op, len(p.retrieve), func(i int) { p.clause(m, p.retrieve[i], score) })
	if narrow != nil {
		m.write(" AND ")
		narrow(m)
	}
	m.write(")")
}

// clause writes the phrases of clause i; not scored, they only match.
func (p *queryPlan) clause(m *match, i int, score bool) {
	c := &p.all[i]
	m.join("OR", len(c.phrases), func(k int) {
		w := 0.0
		if score {
			w = c.idf[k] * c.weight
		}
		m.phrase(c.phrases[k], w, i)
	})
}

// rankedSQL gives the best rows; of very common clauses only the newest rows
// are looked at.
func rankedSQL(published, newest bool) string {
	from := "fts"
	if published {
		from = "fts CROSS JOIN chunks x ON x.id = fts.rowid CROSS JOIN documents d ON d.id = x.document_id AND " + publishedSQL
	}
	rows := "SELECT fts.rowid AS id, ragd_rank(fts, ?2) AS score FROM " + from + " WHERE fts MATCH ?1"
	if newest {
		rows = "SELECT id, score FROM (" + rows + " ORDER BY fts.rowid DESC LIMIT ?4)"
	}
	return "SELECT f.id, c.document_id, f.score FROM (" + rows + ` ORDER BY score DESC, id LIMIT ?3) f
		JOIN chunks c ON c.id = f.id ORDER BY f.score DESC, f.id`
}

// ranked runs an expression and returns its best hits, of the newest rows
// only when newest > 0.
func ranked(r *reader, c corpus, m *match, clauses, limit, newest int) (hits []LexicalHit, err error) {
	params := ftsrank.Params{
		K1: bm25K1, B: bm25B, Title: weightTitle, Headings: weightHeadings, Body: weightBody,
		AverageLength: c.averageLength(), Clauses: clauses, Phrases: m.phrases,
	}.Encode()
	query, args := rankedSQL(m.published, newest > 0), []any{m.b.String(), params, limit}
	if newest > 0 {
		args = append(args, newest)
	}
	err = r.each(func(rows *sql.Rows) error {
		var h LexicalHit
		err := rows.Scan(&h.ChunkID, &h.DocumentID, &h.Raw)
		hits = append(hits, h)
		return err
	}, query, args...)
	return hits, err
}

// runCommon answers a query whose rarest clause is common. To rank all rows
// would take long and say little: the ones ranked are those of documents that
// have the word in their title, and the newest of the rest.
func (p *queryPlan) runCommon(r *reader, c corpus, sc scope, not []Phrase, limit int, res *LexicalResult) error {
	newest, err := ranked(r, c, p.expression(sc, not, nil), p.clauses(), limit, scanRows)
	if err != nil {
		return err
	}
	titled := p.titleTerms()
	if len(titled) == 0 {
		res.Hits = newest
		return nil
	}
	inTitle, err := ranked(r, c, p.expression(sc, not, func(m *match) {
		m.join("OR", len(titled), func(i int) { m.term(titled[i]) })
	}), p.clauses(), limit, titleRows)
	if err != nil {
		return err
	}
	res.Hits = mergeHits(newest, inTitle, limit)
	return nil
}

// titleTerms are the marks of retrieving clauses that are single words.
func (p *queryPlan) titleTerms() (out []string) {
	for _, i := range p.retrieve {
		for _, ph := range p.all[i].phrases {
			if len(ph.Terms) == 1 && !ph.Prefix && (ph.Columns == 0 || ph.Columns&ColTitle != 0) {
				out = append(out, markTitle+ph.Terms[0])
			}
		}
	}
	return out
}

// mergeHits joins two rankings of one scale.
func mergeHits(a, b []LexicalHit, limit int) []LexicalHit {
	all := append(slices.Clone(a), b...)
	slices.SortFunc(all, func(x, y LexicalHit) int {
		return cmp.Or(cmp.Compare(y.Raw, x.Raw), cmp.Compare(x.ChunkID, y.ChunkID))
	})
	all = slices.CompactFunc(all, func(x, y LexicalHit) bool { return x.ChunkID == y.ChunkID })
	return all[:min(len(all), limit)]
}
