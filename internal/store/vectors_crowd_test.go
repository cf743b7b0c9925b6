package store

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math"
	"strings"
	"testing"
)

// towards is a vector of some cosine with q, otherwise as text says.
func towards(q []float32, cosine float64, text string) []float32 {
	q, _ = unit(q, len(q))
	v := vectorOf(text, len(q))
	along := dot(q, v)
	for i := range v {
		v[i] -= float32(along) * q[i]
	}
	v, _ = unit(v, len(v))
	for i := range v {
		v[i] = float32(cosine)*q[i] + float32(math.Sqrt(1-cosine*cosine))*v[i]
	}
	return v
}

func TestNearlyEqualChunksLeaveRoomForEveryOtherDocument(t *testing.T) {
	for _, logs := range [][]int{{100}, {4000}, {1500, 2500, 1200}} {
		t.Run(fmt.Sprint(logs), func(t *testing.T) {
			s := open(t)
			kb := ensure(t, s, "kb")
			g := useModel(t, s, "m1")
			q := vectorOf("query", testDim)
			var docs []*Indexed
			for l, n := range logs {
				var b strings.Builder
				for i := range n {
					fmt.Fprintf(&b, "line %d of the log %d\n\n", i, l)
				}
				docs = append(docs, doc(fmt.Sprintf("log%d.md", l), "L", b.String()))
			}
			for i := range 5 {
				docs = append(docs, doc(fmt.Sprintf("note%d.md", i), "N", fmt.Sprintf("a note %d", i)))
			}
			put(t, s, kb, docs...)
			ctx := context.Background()
			list, err := s.PendingChunks(ctx, 10_000)
			if err != nil {
				t.Fatal(err)
			}
			out := make([]EmbeddedChunk, len(list))
			for i, c := range list {
				sum := sha256.Sum256([]byte(c.Content))
				v := towards(q, 0.3, c.Content)
				if c.Title == "L" { // nearer than any note, and all alike
					v = towards(q, 0.6, c.Content[len(c.Content)-6:])
				}
				out[i] = EmbeddedChunk{ID: c.ID, Windows: []WindowVector{{Hash: VectorHash(sum[:16]), End: 1, Vector: v}}}
			}
			if err := s.PutVectors(ctx, g.ID, out); err != nil {
				t.Fatal(err)
			}
			for _, limit := range []int{5 + len(logs), 50} {
				res, err := s.Meaning(ctx, MeaningQuery{Generation: g.ID, Vector: q, Limit: limit})
				if err != nil {
					t.Fatal(err)
				}
				seen := map[int64]bool{}
				for _, h := range res.Hits {
					seen[h.DocumentID] = true
				}
				if len(seen) != 5+len(logs) || len(res.Hits) != limit || res.Hits[0].Cosine < 0.59 {
					t.Errorf("limit %d: %d hits of %d documents of %d", limit, len(res.Hits), len(seen), 5+len(logs))
				}
			}
		})
	}
}
