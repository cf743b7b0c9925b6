package search

import (
	"cmp"
	"math"
	"slices"

	"ragd/internal/store"
)

// fused is a chunk with what both legs say of it.
type fused struct {
	chunk, document int64
	chunks          []int64 // with neighbours that are part of the hit, in order
	lexRank         int     // 1-based; 0 = not found by keyword
	raw             float64
	lexical         float64
	meanRank        int // 1-based; 0 = not found by meaning
	cosine          float64
	meaning         float64
	vector          bool    // its cosine is known
	byLexical       float64 // what the legs give to base
	byMeaning       float64
	base            float64
	score           float64
	rank            int
}

// rrfK is the constant of reciprocal rank fusion.
const rrfK = 60

// join makes one list of the legs' hits. Each chunk has both scores where they
// are known. What is found by meaning alone and lies below the floor is noise
// and left out, unless meaning alone was asked.
func join(mode Mode, lex store.LexicalResult, leg *meaningLeg) []fused {
	at := make(map[int64]int, len(lex.Hits))
	out := make([]fused, 0, len(lex.Hits))
	for i, h := range lex.Hits {
		at[h.ChunkID] = i
		f := fused{chunk: h.ChunkID, document: h.DocumentID, lexRank: i + 1, raw: h.Raw, lexical: lexicalScore(h.Raw)}
		if m, ok := leg.result.Also[h.ChunkID]; ok {
			f.cosine, f.meaning, f.vector = m.Cosine, meaningScore(m.Cosine), true
		}
		out = append(out, f)
	}
	for i, h := range leg.result.Hits {
		if k, ok := at[h.ChunkID]; ok {
			out[k].meanRank = i + 1
			continue
		}
		if h.Cosine < cosineFloor && mode != ModeMeaning {
			continue
		}
		out = append(out, fused{
			chunk: h.ChunkID, document: h.DocumentID, meanRank: i + 1,
			cosine: h.Cosine, meaning: meaningScore(h.Cosine), vector: true,
		})
	}
	return out
}

// order gives every chunk its score and puts the best first. most is the
// highest keyword score that is possible.
func order(mode Mode, w weight, most float64, out []fused) []fused {
	for i := range out {
		out[i].weigh(mode, w.meaning)
	}
	if mode != ModeRRF {
		byDocument(out)
	}
	if w.names {
		namesFirst(out, weakWords*most)
	}
	slices.SortFunc(out, func(a, b fused) int {
		return cmp.Or(cmp.Compare(b.base, a.base), cmp.Compare(b.cosine, a.cosine), cmp.Compare(a.chunk, b.chunk))
	})
	return slices.DeleteFunc(out, func(f fused) bool { return f.base <= 0 })
}

// namesFirst puts what holds the names that were asked for (a keyword score of
// least) before what only looks alike: to a model all codes and names of a kind
// are near one another, and a rare one that is there must not be lost among them.
func namesFirst(out []fused, least float64) {
	holds := func(f *fused) bool { return f.lexRank > 0 && f.raw >= least }
	low, high := math.Inf(1), 0.0
	for i := range out {
		if f := &out[i]; holds(f) {
			low = min(low, f.base)
		} else {
			high = max(high, f.base)
		}
	}
	if high < low || low <= 0 { // the former also where nothing holds them
		return
	}
	for i := range out {
		if f := &out[i]; !holds(f) {
			f.base *= namesMargin * low / high
		}
	}
}

// namesMargin is how far below the last hit by name the first of the others is.
const namesMargin = 0.9

// weigh sets what each leg gives to the chunk's score. One whose vectors are
// not in yet competes by keyword alone.
func (f *fused) weigh(mode Mode, w float64) {
	switch mode {
	case ModeKeyword:
		f.byLexical, f.byMeaning = f.lexical, 0
	case ModeMeaning:
		f.byLexical, f.byMeaning = 0, f.meaning
	case ModeRRF:
		f.byLexical, f.byMeaning = reciprocal(f.lexRank)*(rrfK+1)/2, reciprocal(f.meanRank)*(rrfK+1)/2
	default:
		f.byLexical, f.byMeaning = (1-w)*f.lexical, w*f.meaning
		if !f.vector {
			f.byLexical = f.lexical * max(1-w, 0.5) // not to be taken for meaningless
		}
	}
	f.base = f.byLexical + f.byMeaning
}

func reciprocal(rank int) float64 {
	if rank == 0 {
		return 0
	}
	return 1 / float64(rrfK+rank)
}

// match says which legs a hit owes its place to.
func (f *fused) match() string {
	lexical, meaning := f.lexRank > 0, f.vector && f.meaning > 0 && (f.meanRank > 0 || f.cosine >= weakCosine)
	switch {
	case lexical && meaning:
		return "both"
	case meaning:
		return "meaning"
	}
	return "keyword"
}
