package search

import (
	"context"
	"math"

	"ragd/internal/analysis"
	"ragd/internal/store"
)

// The scale of the keyword leg: raw BM25 over lexicalUnit to the power of
// lexicalPower, bent so that it stays below 1. It is absolute, so a score means
// the same for every query, and steep: two weak matches are not a strong one.
const (
	lexicalUnit  = 50.0
	lexicalPower = 1.5
)

// lexicalScore maps BM25 (0…∞) to 0..1, monotone.
func lexicalScore(raw float64) float64 {
	if raw <= 0 {
		return 0
	}
	x := math.Pow(raw/lexicalUnit, lexicalPower)
	return x / math.Hypot(1, x)
}

// lexical runs the keyword leg. Stop words are left out when the query has
// anything else, and named.
func (s *Searcher) lexical(ctx context.Context, q analysis.Query, r Request) (store.LexicalResult, []string, error) {
	clauses, dropped := clausesOf(q)
	if len(clauses) == 0 {
		return store.LexicalResult{}, nil, nil
	}
	res, err := s.index.Lexical(ctx, store.LexicalQuery{
		Clauses: clauses,
		Not:     phrasesOf(q.Not),
		Filter:  filterOf(r),
		Limit:   poolSize,
		Pairs:   analysis.PairShare(r.Query) > foreignShare,
	})
	return res, dropped, err
}

func filterOf(r Request) store.Filter {
	return store.Filter{KBs: r.KBs, Known: r.Known, Types: r.Types, IncludeRetired: r.IncludeRetired, Published: r.PublishedOnly}
}

func clausesOf(q analysis.Query) (clauses []store.Clause, dropped []string) {
	content := false
	for _, c := range q.Clauses {
		content = content || !c.Stop
	}
	for _, c := range q.Clauses {
		if content && c.Stop && !c.Must {
			dropped = append(dropped, c.Text)
			continue
		}
		if len(clauses) == maxQueryClauses {
			break
		}
		clauses = append(clauses, store.Clause{Any: phrasesOf(c.Any), Weight: c.Weight, Must: c.Must})
	}
	return clauses, dropped
}

func phrasesOf(in []analysis.Phrase) []store.Phrase {
	out := make([]store.Phrase, len(in))
	for i, p := range in {
		// Phrases of one clause are an identifier and its parts.
		parts := i == 1 && len(in[0].Terms) == 1 && !p.Prefix
		out[i] = store.Phrase{Terms: p.Terms, Prefix: p.Prefix, Parts: parts}
	}
	return out
}
