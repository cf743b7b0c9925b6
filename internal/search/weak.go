package search

import (
	"cmp"
	"math"
	"slices"

	"ragd/internal/store"
)

// Floors, set by questions asked of texts that answer them and of texts about
// something else (decision 0300): of the former 1.3 % are called weak, of the
// latter 91 %.
const (
	cosineFloor  = 0.1  // what only meaning found and is farther than this is noise
	weakCoverage = 0.25 // a hit with this share of the best possible keyword score is a good match,
	weakNearness = 0.45 // and so is one as near as this by meaning; see nearness
	weakCosine   = 0.3  // below it, keywords are what a hit was found by
	weakWords    = 0.1  // weakCoverage where nothing can be told by meaning
)

// How far the best document stands out counts with its cosine: where a question
// has its answer the tenth document is much farther than the first.
const (
	standsWeight  = 0.75
	standsAgainst = 10
	usualNoise    = 0.15 // the cosine of the tenth where there are less
)

// weak says that no hit is a good match. meaning: cosines can be trusted.
func weak(list []fused, covered float64, meaning bool) bool {
	if !meaning {
		return covered < weakWords
	}
	return covered < weakCoverage && nearness(list) < weakNearness
}

// nearness is the cosine of the best document and what it stands out by.
func nearness(list []fused) float64 {
	docs := make(map[int64]float64, len(list))
	for i := range list {
		if f := &list[i]; f.vector {
			docs[f.document] = max(docs[f.document], f.cosine)
		}
	}
	cosines := make([]float64, 0, len(docs))
	for _, c := range docs {
		cosines = append(cosines, c)
	}
	if len(cosines) == 0 {
		return 0
	}
	slices.SortFunc(cosines, func(a, b float64) int { return cmp.Compare(b, a) })
	tenth := min(cosines[len(cosines)-1], usualNoise)
	if len(cosines) >= standsAgainst {
		tenth = cosines[standsAgainst-1]
	}
	return cosines[0] + standsWeight*(cosines[0]-tenth)
}

// coverage is how much of the best possible keyword score the best hit has.
// Words that no chunk has count as missing.
func coverage(lex store.LexicalResult) float64 {
	if len(lex.Hits) == 0 || lex.MaxRaw <= 0 {
		return 0
	}
	return math.Min(1, lex.Hits[0].Raw/lex.MaxRaw)
}
