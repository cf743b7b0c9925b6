package search

import (
	"sort"

	"ragd/internal/store"
)

// ranked is a hit with the score it is shown and ordered by.
type ranked struct {
	store.LexicalHit
	rank  int // 1-based in the lexical leg
	score float64
}

// repeatFactor is what the second, third … chunk of one document is worth
// beside another document's: the second must be about twice as good to stand
// before it, and beyond the third a document yields to everything else. The
// order does not depend on how many hits are asked for.
var repeatFactor = [...]float64{1, 0.6, 0.45}

const repeatRest = 0.05

// spread scores hits and orders them so that one document does not crowd out
// the others. perDocument 0 is the default of three; negative spreads nothing.
func spread(hits []store.LexicalHit, perDocument int) []ranked {
	out := make([]ranked, len(hits))
	seen := make(map[int64]int, len(hits))
	for i, h := range hits {
		n := seen[h.DocumentID]
		seen[h.DocumentID] = n + 1
		out[i] = ranked{LexicalHit: h, rank: i + 1, score: lexicalScore(h.Raw) * repeat(n, perDocument)}
	}
	sort.SliceStable(out, func(i, j int) bool {
		if out[i].score != out[j].score {
			return out[i].score > out[j].score
		}
		return out[i].ChunkID < out[j].ChunkID
	})
	return out
}

func repeat(n, perDocument int) float64 {
	switch {
	case perDocument < 0:
		return 1
	case perDocument > 0 && n >= perDocument:
		return repeatRest
	case n < len(repeatFactor):
		return repeatFactor[n]
	case perDocument > n:
		return repeatFactor[len(repeatFactor)-1]
	}
	return repeatRest
}
