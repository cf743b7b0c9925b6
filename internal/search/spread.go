package search

import (
	"cmp"
	"slices"
)

// repeatFactor is what the second, third … chunk of one document is worth
// beside another document's: the second must be about twice as good to stand
// before it, and beyond the third a document yields to everything else. The
// order does not depend on how many hits are asked for.
var repeatFactor = [...]float64{1, 0.6, 0.45}

const repeatRest = 0.05

// spread orders hits so that one document does not crowd out the others.
// list is in order of base. perDocument 0 is the default of three; negative
// spreads nothing.
func spread(list []fused, perDocument int) []fused {
	seen := make(map[int64]int, len(list))
	for i := range list {
		n := seen[list[i].document]
		seen[list[i].document] = n + 1
		list[i].rank = i + 1
		list[i].score = list[i].base * repeat(n, perDocument)
	}
	slices.SortStableFunc(list, func(a, b fused) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.cosine, a.cosine), cmp.Compare(a.chunk, b.chunk))
	})
	return list
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
