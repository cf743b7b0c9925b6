package store

import (
	"context"
	"strings"
	"testing"
)

func TestSpansJoinNeighboursOfOneRevision(t *testing.T) {
	s := open(t)
	kb := ensure(t, s, "a")
	text := "zebra one\n\nzebra two zebra\n\nzebra three zebra zebra\n\nzebra four\n\nzebra five"
	in := doc("d", "T", text)
	for i := range in.Chunks {
		in.Chunks[i].Prefix = "| head |\n" // a split table's
	}
	in.Chunks[2].Start -= len("zebra two zebra\n\n") // they may overlap
	put(t, s, kb, in, doc("other", "T", "zebra of another document"))
	res, err := s.Lexical(context.Background(), query("zebra"))
	if err != nil {
		t.Fatal(err)
	}
	var ids []int64 // of d's chunks in order
	var other int64
	for _, h := range res.Hits {
		recs, err := s.Chunks(context.Background(), []int64{h.ChunkID})
		if err != nil || len(recs) != 1 {
			t.Fatal(recs, err)
		}
		if recs[0].Path == "other" {
			other = h.ChunkID
		} else {
			for len(ids) <= recs[0].Index {
				ids = append(ids, 0)
			}
			ids[recs[0].Index] = h.ChunkID
		}
	}
	for _, tc := range []struct {
		name        string
		id          int64
		all         []int64
		want        string
		first, last int
		before      int
	}{
		{"alone", ids[1], ids[1:2], "| head |\nzebra two zebra\n\n", 3, 3, 0},
		{"with what follows", ids[1], ids[1:3], "| head |\nzebra two zebra\n\nzebra three zebra zebra\n\n", 3, 5, 0},
		{"with what is before", ids[1], ids[0:2], "| head |\nzebra one\n\nzebra two zebra\n\n", 1, 3, len("zebra one\n\n")},
		{"in the middle", ids[3], ids[2:5], "| head |\nzebra two zebra\n\nzebra three zebra zebra\n\nzebra four\n\nzebra five", 5, 9, len("zebra two zebra\n\nzebra three zebra zebra\n\n")},
		{"a gap ends it", ids[0], []int64{ids[0], ids[2]}, "| head |\nzebra one\n\n", 1, 1, 0},
		{"another document is no neighbour", ids[4], []int64{ids[4], other}, "| head |\nzebra five", 9, 9, 0},
		{"a neighbour that is gone", ids[4], []int64{1 << 40, ids[4]}, "| head |\nzebra five", 9, 9, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			recs, err := s.Spans(context.Background(), []ChunkSpan{{ID: tc.id, All: tc.all}, {ID: 1 << 40, All: []int64{1 << 40}}})
			if err != nil || len(recs) != 1 {
				t.Fatal(recs, err)
			}
			r := recs[0]
			if r.ID != tc.id || r.Content != tc.want || r.FirstLine != tc.first || r.LastLine < tc.last || r.Before != tc.before {
				t.Errorf("%q, lines %d–%d, %d before", r.Content, r.FirstLine, r.LastLine, r.Before)
			}
			own := r.Content[r.PrefixLen+max(r.Before, 0):]
			if !strings.HasPrefix(own, "zebra") {
				t.Errorf("its own text begins %q", own)
			}
		})
	}
}
