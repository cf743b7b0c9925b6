package store

import (
	"cmp"
	"context"
	"math"
	"slices"
)

// BM25F: titles and headings add to the frequency in the body with these
// weights before it saturates.
const (
	bm25K1         = 1.2
	bm25B          = 0.75
	pairsK1        = 0.5 // the same for pairs of characters, which repeat for less reason than words
	pairsB         = 0.5
	weightTitle    = 2.0
	weightHeadings = 1.5
	weightBody     = 1.0
)

// What a query may cost, in rows of the index.
const (
	retrieveRows = 3000  // clauses retrieve, rarest first, as long as they have no more than this together
	rescoreRows  = 60000 // of the common clauses that only add to the score
	scanRows     = 6000  // read of a clause that is more common than that; the newest ones
	titleRows    = 2000  // and of those with it in the title
	maxHits      = 1000
)

// Roles in a TermInfo.
const (
	roleRetrieve = "retrieve"
	roleRescore  = "rescore"
	roleMust     = "must"
	roleNot      = "not"
	roleSkipped  = "skipped" // so common that it says nothing
	roleAbsent   = "absent"  // in no chunk
)

// planned is a clause with its frequencies.
type planned struct {
	phrases []Phrase
	idf     []float64
	rows    []int64 // chunks of each phrase
	weight  float64
	cost    int64 // rows of all its phrases
	must    bool
	role    string
}

// Lexical answers a ranked query. Rare clauses retrieve and common ones only
// add to the score, so that a question with common words costs no more than
// its rare ones. The same index and query give the same answer.
func (s *Store) Lexical(ctx context.Context, q LexicalQuery) (LexicalResult, error) {
	res := LexicalResult{Generation: s.Generation()}
	q.Limit = min(max(q.Limit, 1), maxHits)
	clauses, impossible := usableClauses(q.Clauses)
	if impossible || len(clauses) == 0 {
		return res, nil
	}
	not := slices.DeleteFunc(slices.Clone(q.Not), func(p Phrase) bool { return !usable(p) })
	not = not[:min(len(not), maxPhrases)]
	fewPrefixes(clauses)
	err := s.read(ctx, "search", func(r *reader) error {
		c, err := s.readCorpus(r, res.Generation, q.Filter.Known)
		if err != nil || c.chunks == 0 {
			return err
		}
		if q.Pairs {
			c.k1, c.b = pairsK1, pairsB
		}
		sc := scopeOf(q.Filter, c.kbs)
		if sc.none {
			return nil
		}
		if clauses, err = s.rarest(r, c, clauses); err != nil {
			return err
		}
		plan, err := s.plan(r, c, clauses, &res)
		if err != nil {
			return err
		}
		for _, p := range not {
			res.Terms = append(res.Terms, TermInfo{Phrase: p.name(), Role: roleNot})
		}
		return plan.run(r, c, sc, not, q.Limit, &res)
	})
	return res, err
}

// usableClauses leaves out phrases that cannot match. impossible: a clause
// that must match has none left.
func usableClauses(in []Clause) (out []Clause, impossible bool) {
	total := 0
	for _, c := range in {
		c.Any = slices.DeleteFunc(slices.Clone(c.Any), func(p Phrase) bool { return !usable(p) })
		if len(c.Any) == 0 {
			if c.Must {
				return nil, true
			}
			continue
		}
		if total+len(c.Any) > maxAsked {
			break
		}
		total += len(c.Any)
		if c.Weight <= 0 {
			c.Weight = 1
		}
		out = append(out, c)
	}
	return out, false
}

// maxAsked is how many phrases of a query are looked at; of more clauses than
// one expression takes, the rarest are kept.
const maxAsked = 4096

// rarest keeps the clauses that say most: those that must match, then the
// rarest, in the order given.
func (s *Store) rarest(r *reader, c corpus, clauses []Clause) ([]Clause, error) {
	if len(clauses) <= maxClauses && phrasesOf(clauses) <= maxPhrases {
		return clauses, nil
	}
	rows := make([]int64, len(clauses))
	order := make([]int, len(clauses))
	for i, cl := range clauses {
		order[i] = i
		for _, ph := range cl.Any {
			f, err := s.frequency(r, c, ph)
			if err != nil {
				return nil, err
			}
			rows[i] += f.n
		}
		switch {
		case cl.Must:
			rows[i] = -1
		case rows[i] == 0:
			rows[i] = math.MaxInt64 // in no chunk: it says nothing
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(rows[a], rows[b]) })
	order = order[:min(len(order), maxClauses)]
	slices.Sort(order)
	out := make([]Clause, 0, len(order))
	total := 0
	for _, i := range order {
		if total += len(clauses[i].Any); total > maxPhrases {
			break
		}
		out = append(out, clauses[i])
	}
	return out, nil
}

func phrasesOf(clauses []Clause) (n int) {
	for _, c := range clauses {
		n += len(c.Any)
	}
	return n
}

// queryPlan says which clauses do what.
type queryPlan struct {
	all      []planned
	retrieve []int // clauses, joined by OR; or by AND when must
	must     bool
	rescore  []int
	rows     int64 // that retrieval may give, at most
}

// add takes a phrase that is in n chunks, with all that spells it out. Where
// the parts of an identifier are in no more chunks than the whole, the whole
// alone gives the same for far less.
func (p *planned) add(ph Phrase, spelled []Phrase, n int64, idf float64) {
	if last := len(p.rows) - 1; ph.Parts && last >= 0 && p.rows[last] == n {
		return
	}
	for _, x := range spelled {
		p.phrases, p.idf, p.rows = append(p.phrases, x), append(p.idf, idf), append(p.rows, n)
	}
	p.cost += n
}

func (s *Store) plan(r *reader, c corpus, clauses []Clause, res *LexicalResult) (*queryPlan, error) {
	p := &queryPlan{}
	room, prefixes := max(maxPhrases-phrasesOf(clauses), 0), max(prefixesOf(clauses), 1)
	for _, cl := range clauses {
		pl := planned{weight: cl.Weight, must: cl.Must}
		best := 0.0
		for _, ph := range cl.Any {
			f, err := s.frequency(r, c, ph)
			if err != nil {
				return nil, err
			}
			info := TermInfo{Phrase: ph.name(), DocFreq: f.n, Estimated: f.estimated}
			if f.n > 0 {
				info.IDF = c.idf(f.n)
				best = max(best, info.IDF)
				spelled, cut := f.spellOut(ph, room/prefixes)
				if cut {
					res.Capped = append(res.Capped, ph.words())
				}
				pl.add(ph, spelled, f.n, info.IDF)
			}
			res.Terms = append(res.Terms, info)
		}
		if best == 0 {
			best = c.idf(0) // what no chunk has, every hit lacks
		}
		res.MaxRaw += best * cl.Weight * (c.k1 + 1)
		p.all = append(p.all, pl)
	}
	p.assign()
	at := 0
	for i, cl := range clauses {
		for range cl.Any {
			res.Terms[at].Role = p.all[i].role
			at++
		}
	}
	return p, nil
}

// assign gives every clause its role.
func (p *queryPlan) assign() {
	order := make([]int, 0, len(p.all))
	for i := range p.all {
		switch {
		case p.all[i].must:
			p.all[i].role = roleMust
			p.must = true
			p.retrieve = append(p.retrieve, i)
			if len(p.retrieve) == 1 || p.all[i].cost < p.rows {
				p.rows = p.all[i].cost
			}
		case p.all[i].cost == 0:
			p.all[i].role = roleAbsent
		default:
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return int(p.all[a].cost - p.all[b].cost) })
	var rescored int64
	for _, i := range order {
		c := &p.all[i]
		switch {
		case !p.must && (len(p.retrieve) == 0 || p.rows+c.cost <= retrieveRows):
			c.role = roleRetrieve
			p.retrieve = append(p.retrieve, i)
			p.rows += c.cost
		case rescored+c.cost <= rescoreRows:
			c.role = roleRescore
			p.rescore = append(p.rescore, i)
			rescored += c.cost
		default:
			c.role = roleSkipped
		}
	}
}

// run asks the index and fills in the hits.
func (p *queryPlan) run(r *reader, c corpus, sc scope, not []Phrase, limit int, res *LexicalResult) error {
	if len(p.retrieve) == 0 {
		return nil
	}
	for _, i := range p.retrieve {
		if len(p.all[i].phrases) == 0 {
			return nil // a clause that must match is in no chunk
		}
	}
	if p.rows <= retrieveRows || (len(p.retrieve) > 1 && p.must) {
		m := p.expression(sc, not, nil)
		hits, err := ranked(r, c, m, p.clauses(), limit, 0)
		res.Hits = hits
		return err
	}
	return p.runCommon(r, c, sc, not, limit, res)
}

// clauses is how many numbers the ranking function knows.
func (p *queryPlan) clauses() int { return len(p.all) }
