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
	vector          bool // its cosine is known
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

// order gives every chunk its score and puts the best first. One whose vectors
// are not in yet competes by keyword alone.
func order(mode Mode, w weight, out []fused) []fused {
	for i := range out {
		out[i].base = out[i].combine(mode, w.meaning)
	}
	slices.SortFunc(out, func(a, b fused) int {
		return cmp.Or(cmp.Compare(b.base, a.base), cmp.Compare(b.cosine, a.cosine), cmp.Compare(a.chunk, b.chunk))
	})
	return slices.DeleteFunc(out, func(f fused) bool { return f.base <= 0 })
}

func (f *fused) combine(mode Mode, w float64) float64 {
	switch mode {
	case ModeKeyword:
		return f.lexical
	case ModeMeaning:
		return f.meaning
	case ModeRRF:
		return (reciprocal(f.lexRank) + reciprocal(f.meanRank)) * (rrfK + 1) / 2
	}
	if !f.vector {
		return f.lexical * max(1-w, 0.5) // no vector yet: not to be taken for meaningless
	}
	return (1-w)*f.lexical + w*f.meaning
}

func reciprocal(rank int) float64 {
	if rank == 0 {
		return 0
	}
	return 1 / float64(rrfK+rank)
}

// match says which legs a hit owes its place to.
func (f *fused) match() string {
	lexical, meaning := f.lexRank > 0, f.vector && f.meaning > 0 && (f.meanRank > 0 || f.meaning >= goodMeaning)
	switch {
	case lexical && meaning:
		return "both"
	case meaning:
		return "meaning"
	}
	return "keyword"
}

// Floors. Texts that have nothing to do with one another have cosines around
// 0, seldom above .2. Below both good ones a hit is no good match.
const (
	cosineFloor  = 0.15
	goodMeaning  = 0.3  // of meaningScore
	goodCoverage = 0.34 // share of the best possible keyword score
)

// weak says that none of the hits is a good match.
func weak(list []fused, lex store.LexicalResult) bool {
	for _, f := range list {
		if f.vector && f.meaning >= goodMeaning {
			return false
		}
		if lex.MaxRaw > 0 && f.raw/lex.MaxRaw >= goodCoverage {
			return false
		}
	}
	return true
}

// coverage is how much of the best possible keyword score the best hit has.
func coverage(lex store.LexicalResult) float64 {
	if len(lex.Hits) == 0 || lex.MaxRaw <= 0 {
		return 0
	}
	return math.Min(1, lex.Hits[0].Raw/lex.MaxRaw)
}
