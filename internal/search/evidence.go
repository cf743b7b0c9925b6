package search

import "slices"

// moreEvidence is what a document's second and third best chunks add to the
// best: several passages on a subject say more than one.
var moreEvidence = [...]float64{1, 0.1, 0.05}

const allEvidence = 1.15 // their sum

// byDocument lets the chunks of a document stand together. The words of a
// question may be in one chunk and its meaning in another; so the best chunk
// gets the best of both legs in the document, and the others their share.
func byDocument(list []fused) {
	type document struct {
		lexical, meaning best
		own              float64 // of its best chunk
	}
	docs := make(map[int64]*document, len(list))
	for i := range list {
		f := &list[i]
		d := docs[f.document]
		if d == nil {
			d = &document{}
			docs[f.document] = d
		}
		d.lexical.add(f.byLexical)
		d.meaning.add(f.byMeaning)
		d.own = max(d.own, f.base)
	}
	for i := range list {
		f := &list[i]
		if d := docs[f.document]; d.own > 0 {
			f.base *= (d.lexical.sum() + d.meaning.sum()) / d.own
		}
	}
}

// best keeps the highest values, best first.
type best [len(moreEvidence)]float64

func (b *best) add(v float64) {
	last := len(b) - 1
	if v <= b[last] {
		return
	}
	b[last] = v
	slices.SortFunc(b[:], func(x, y float64) int {
		if x > y {
			return -1
		}
		return 1
	})
}

func (b *best) sum() (s float64) {
	for i, v := range b {
		s += v * moreEvidence[i]
	}
	return s / allEvidence
}
