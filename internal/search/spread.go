package search

import (
	"cmp"
	"math"
	"slices"
)

// repeatFactor is what the second, third … chunk of one document is worth
// beside another document's: the second must be about twice as good to stand
// before it, and beyond the third a document yields to everything else. The
// order does not depend on how many hits are asked for.
var repeatFactor = [...]float64{1, 0.6, 0.45}

const repeatRest = 0.05

// Chunks of a document whose raw scores in both legs are nearly equal are taken
// for repetitions of one text.
const (
	equalCosine = 0.01
	equalRaw    = 0.02 // of the larger
)

// repeats says whether b is nearly the same text. Words alone do not tell.
func (f *fused) repeats(b *fused) bool {
	if !f.vector || !b.vector {
		return false
	}
	return math.Abs(f.cosine-b.cosine) <= equalCosine && math.Abs(f.raw-b.raw) <= equalRaw*max(f.raw, b.raw)
}

// spread makes hits of ranked chunks: neighbours become one, and one document
// does not crowd out the others, least of all with one text many times over.
// list is in order of base. perDocument 0 is the default of three; negative
// spreads nothing.
func spread(list []fused, perDocument int) []fused {
	list = merge(list)
	own := make(map[int64][]int, len(list)) // the hits of a document that say something of their own
	for i := range list {
		f := &list[i]
		f.rank = i + 1
		earlier := own[f.document]
		n := len(earlier)
		if perDocument >= 0 && slices.ContainsFunc(earlier, func(k int) bool { return list[k].repeats(f) }) {
			n = max(n, len(repeatFactor), perDocument)
		} else {
			own[f.document] = append(earlier, i)
		}
		f.score = shown(f.base * repeat(n, perDocument))
	}
	slices.SortFunc(list, func(a, b fused) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.cosine, a.cosine), cmp.Compare(a.chunk, b.chunk))
	})
	return list
}

// shown is the scale of the scores that people see: the legs' are steep, and a
// root brings a fair match back to the middle.
func shown(base float64) float64 { return math.Sqrt(base) }

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
