package search

import (
	"math/rand/v2"
	"testing"

	"ragd/internal/store"
)

// BenchmarkFuse is what a query costs beside the legs and the texts: two full
// lists, half of them of the same chunks.
func BenchmarkFuse(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	lex := store.LexicalResult{MaxRaw: 40}
	leg := &meaningLeg{result: store.MeaningResult{Also: map[int64]store.MeaningHit{}}, covered: 0.5}
	for i := range poolSize {
		id, doc := int64(i)<<5, int64(r.IntN(200))
		lex.Hits = append(lex.Hits, store.LexicalHit{ChunkID: id, DocumentID: doc, Raw: 30 - float64(i)/20})
		leg.result.Also[id] = store.MeaningHit{ChunkID: id, DocumentID: doc, Cosine: r.Float64()}
		leg.result.Hits = append(leg.result.Hits, store.MeaningHit{ChunkID: int64(2*i) << 5, DocumentID: doc, Cosine: 0.8 - float64(i)/1000})
	}
	for b.Loop() {
		list := order(ModeHybrid, weigh(Request{Query: "who looks after the heating", Mode: ModeHybrid}, leg.covered), lex.MaxRaw, join(ModeHybrid, lex, leg))
		weak(list, leg.covered, true)
		spread(list, 0)
	}
}
