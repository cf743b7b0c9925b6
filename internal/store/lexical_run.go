package store

import (
	"cmp"
	"slices"
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
