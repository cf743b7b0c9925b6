package search

import (
	"math"

	"ragd/internal/store"
)

// Floors, set by questions asked of texts that answer them and of texts about
// something else (decision 0300): of the former 1.5 % are called weak, of the
// latter 92 %.
const (
	cosineFloor  = 0.1  // what only meaning found and is farther than this is noise
	weakCosine   = 0.35 // a hit as near as this is a good match,
	weakCoverage = 0.25 // and so is one with this share of the best possible keyword score
	weakWords    = 0.1  // the same where nothing can be told by meaning
)

// weak says that no hit is a good match. meaning: cosines can be trusted.
func weak(list []fused, covered float64, meaning bool) bool {
	if !meaning {
		return covered < weakWords
	}
	if covered >= weakCoverage {
		return false
	}
	for i := range list {
		if list[i].vector && list[i].cosine >= weakCosine {
			return false
		}
	}
	return true
}

// coverage is how much of the best possible keyword score the best hit has.
// Words that no chunk has count as missing.
func coverage(lex store.LexicalResult) float64 {
	if len(lex.Hits) == 0 || lex.MaxRaw <= 0 {
		return 0
	}
	return math.Min(1, lex.Hits[0].Raw/lex.MaxRaw)
}
