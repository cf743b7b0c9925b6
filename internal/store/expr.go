package store

import (
	"context"
	"math"
	"slices"
	"strconv"

	"ragd/internal/fault"
)

// Bounds of a boolean expression, within what FTS5 takes.
const (
	maxDepth    = 24
	maxDistance = 1000
	exprRows    = 20000 // ranked whole; of more the newest
)

// LexicalExpr answers a boolean expression, ranked as Lexical ranks. An
// expression that is too deep or large, or empty somewhere, is refused.
func (s *Store) LexicalExpr(ctx context.Context, e Expr, f Filter, limit int) (LexicalResult, error) {
	res := LexicalResult{Generation: s.Generation()}
	limit = min(max(limit, 1), maxHits)
	var count exprCount
	if err := checkExpr(e, 0, &count); err != nil {
		return res, err
	}
	if count.prefixes > maxPrefixes {
		return res, badExpr("the expression has %d prefixes; at most %d are allowed", count.prefixes, maxPrefixes)
	}
	err := s.read(ctx, "search", func(r *reader) error {
		c, err := s.readCorpus(r, res.Generation, f.Known)
		if err != nil || c.chunks == 0 {
			return err
		}
		sc := scopeOf(f, c.kbs)
		if sc.none {
			return nil
		}
		w := exprWriter{s: s, r: r, c: c, res: &res, words: (maxPhrases - count.phrases) / max(count.prefixes, 1)}
		var rows int64
		w.m.scoped(sc, nil, func() { rows = w.write(e, true) })
		if w.err != nil {
			return w.err
		}
		newest := 0
		if rows > exprRows {
			newest = scanRows
		}
		res.Hits, err = ranked(r, c, &w.m, min(w.clauses, maxClauses), limit, newest)
		return err
	})
	return res, err
}

func badExpr(format string, args ...any) error {
	return fault.New(fault.Invalid, "bad_expression", format, args...)
}

// exprCount is what an expression has in all.
type exprCount struct{ phrases, prefixes int }

func checkExpr(e Expr, depth int, count *exprCount) error {
	if depth > maxDepth {
		return badExpr("the expression is nested more than %d deep", maxDepth)
	}
	set := 0
	for _, b := range []bool{e.Phrase != nil, e.And != nil, e.Or != nil, e.Not != nil, e.Near != nil} {
		if b {
			set++
		}
	}
	if set != 1 {
		return badExpr("a part of the expression has %d meanings instead of one", set)
	}
	switch {
	case e.Phrase != nil:
		return checkPhrases([]Phrase{*e.Phrase}, count)
	case e.Near != nil:
		if e.Near.Distance < 0 || e.Near.Distance > maxDistance {
			return badExpr("NEAR distance %d; allowed are 0 to %d", e.Near.Distance, maxDistance)
		}
		return checkPhrases(e.Near.Phrases, count)
	case e.Not != nil:
		if err := checkExpr(e.Not.Left, depth+1, count); err != nil {
			return err
		}
		return checkExpr(e.Not.Right, depth+1, count)
	}
	list := append(e.And, e.Or...)
	if len(list) == 0 {
		return badExpr("a part of the expression is empty")
	}
	for _, sub := range list {
		if err := checkExpr(sub, depth+1, count); err != nil {
			return err
		}
	}
	return nil
}

func checkPhrases(list []Phrase, count *exprCount) error {
	if count.phrases += len(list); count.phrases > maxPhrases {
		return badExpr("the expression has more than %d phrases", maxPhrases)
	}
	if len(list) == 0 {
		return badExpr("a part of the expression is empty")
	}
	for _, p := range list {
		if !usable(p) {
			return badExpr("the phrase %q cannot be searched for", p.name())
		}
		if tame(p).Prefix {
			count.prefixes++
		}
	}
	return nil
}

// exprWriter writes an expression and gathers its weights.
type exprWriter struct {
	s       *Store
	r       *reader
	c       corpus
	m       match
	res     *LexicalResult
	clauses int
	words   int // that a prefix may stand for
	err     error
}

// write returns how many rows the part may match, at most.
func (w *exprWriter) write(e Expr, score bool) int64 {
	switch {
	case e.Phrase != nil:
		return w.phrase(*e.Phrase, score)
	case e.Not != nil:
		w.m.write("(")
		n := w.write(e.Not.Left, score)
		w.m.write(" NOT ")
		w.write(e.Not.Right, false)
		w.m.write(")")
		return n
	case e.Near != nil:
		return w.near(e.Near, score)
	case e.And != nil:
		rows := w.c.chunks
		w.m.join("AND", len(e.And), func(i int) { rows = min(rows, w.write(e.And[i], score)) })
		return rows
	default:
		rows := int64(0)
		w.m.join("OR", len(e.Or), func(i int) { rows += w.write(e.Or[i], score) })
		return rows
	}
}

func (w *exprWriter) phrase(p Phrase, score bool) int64 {
	f, weight := w.weigh(p, score)
	clause := w.clauses - 1
	spelled := w.spell(f, p, w.words)
	if len(spelled) == 1 {
		w.m.phrase(spelled[0], weight, clause)
		return f.n
	}
	w.m.join("OR", len(spelled), func(i int) { w.m.phrase(spelled[i], weight, clause) })
	return f.n
}

// spell spells a prefix out where it must be, and notes where that leaves words out.
func (w *exprWriter) spell(f frequency, p Phrase, most int) []Phrase {
	spelled, cut := f.spellOut(p, most)
	if cut && !slices.Contains(w.res.Capped, p.words()) {
		w.res.Capped = append(w.res.Capped, p.words())
	}
	return spelled
}

// weigh returns a phrase's frequency and weight, and explains it.
func (w *exprWriter) weigh(p Phrase, score bool) (frequency, float64) {
	f, err := w.s.frequency(w.r, w.c, p)
	if err != nil && w.err == nil {
		w.err = err
	}
	info := TermInfo{Phrase: p.name(), DocFreq: f.n, Estimated: f.estimated, IDF: w.c.idf(f.n), Role: roleRetrieve}
	w.clauses++
	if !score || w.clauses > maxClauses {
		info.Role, info.IDF = roleNot, 0
		if score {
			info.Role = roleSkipped
		}
	} else if f.n > 0 {
		w.res.MaxRaw += info.IDF * (bm25K1 + 1)
	}
	w.res.Terms = append(w.res.Terms, info)
	return f, info.IDF
}

// nearPhrase is a phrase of a NEAR with what spells it out.
type nearPhrase struct {
	spelled []Phrase
	weight  float64
	clause  int
}

// choicesIn is how many words each prefix of a NEAR may stand for, so that all
// choices together keep to what the expression has room for.
func (w *exprWriter) choicesIn(n *NearExpr) int {
	prefixes := 0
	for _, p := range n.Phrases {
		if tame(p).Prefix {
			prefixes++
		}
	}
	room := float64(w.words*prefixes) / float64(len(n.Phrases))
	most := 1
	for math.Pow(float64(most+1), float64(prefixes)) <= room {
		most++
	}
	return most
}

// near writes a NEAR, once for every choice of words where prefixes must be
// spelled out, since NEAR takes no OR.
func (w *exprWriter) near(n *NearExpr, score bool) int64 {
	distance := n.Distance
	if distance == 0 {
		distance = 10
	}
	rows := w.c.chunks
	list := make([]nearPhrase, len(n.Phrases))
	choices, most := 1, w.choicesIn(n)
	for i, p := range n.Phrases {
		p.Columns = 0 // inside NEAR a phrase has no columns of its own
		f, weight := w.weigh(p, score)
		rows = min(rows, f.n)
		list[i] = nearPhrase{w.spell(f, p, most), weight, w.clauses - 1}
		choices *= len(list[i].spelled)
	}
	w.m.join("OR", choices, func(choice int) {
		w.m.write("NEAR(")
		for i, p := range list {
			if i > 0 {
				w.m.write(" ")
			}
			w.m.phrase(p.spelled[choice%len(p.spelled)], p.weight, p.clause)
			choice /= len(p.spelled)
		}
		w.m.write(", " + strconv.Itoa(distance) + ")")
	})
	return rows
}
