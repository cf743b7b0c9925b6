package search

import (
	"fmt"
	"strings"
	"testing"
)

func TestNeighboursThatBothMatchAreOneHit(t *testing.T) {
	x := house(t)
	x.put("notes", map[string][]string{"manual.md": {
		"the manual begins with thanks",
		"boiler pressure has to be checked",
		"boiler pressure below one bar is too low",
		"nothing of interest is said here",
		"the end of a long text about gardens",
		"boiler pressure again in an appendix",
	}})
	x.vectors()
	for _, mode := range []Mode{ModeKeyword, ModeHybrid} {
		resp := x.ask(Request{Query: "boiler pressure", Mode: mode})
		var of []Hit
		for _, h := range resp.Hits {
			if h.Path == "manual.md" && h.Score > 0.01 {
				of = append(of, h)
			}
		}
		if len(of) < 2 {
			t.Fatalf("%s: %+v", mode, of)
		}
		h := of[0]
		if h.FirstLine != 2 || h.LastLine != 3 || h.Truncated || !strings.Contains(h.Content, "checked\nboiler") || len(h.Marks) != 4 {
			t.Errorf("%s: lines %d–%d, %d marks in %q", mode, h.FirstLine, h.LastLine, len(h.Marks), h.Content)
		}
		if h := of[1]; h.FirstLine != 6 || h.LastLine != 6 {
			t.Errorf("%s: the second hit is of lines %d–%d", mode, h.FirstLine, h.LastLine)
		}
	}
	resp := x.ask(Request{Query: "boiler pressure", SnippetChars: 30})
	if h := resp.Hits[0]; len(h.Content) > 30 || !h.Truncated || !strings.Contains(h.Content, "boiler pressure") || h.FirstLine != 2 || h.LastLine != 3 {
		t.Errorf("cut: %+v", h)
	}
}

func TestMergingStopsAtThreeChunks(t *testing.T) {
	x := newTestIndex(t)
	var parts []string
	for i := range 8 {
		parts = append(parts, fmt.Sprintf("boiler %s number %d", strings.Repeat("word ", i%3), i))
	}
	x.put("notes", map[string][]string{"long.md": parts})
	resp := x.ask(Request{Query: "boiler", Mode: ModeKeyword})
	lines := 0
	for _, h := range resp.Hits {
		if n := h.LastLine - h.FirstLine + 1; n > mergeMost {
			t.Errorf("a hit of %d chunks", n)
		} else {
			lines += n
		}
	}
	if lines != len(parts) {
		t.Errorf("the hits hold %d of %d chunks", lines, len(parts))
	}
}

func TestOneTextManyTimesOverDoesNotCrowdOutOthers(t *testing.T) {
	x := newTestIndex(t)
	var parts []string
	for i := range 9 {
		parts = append(parts, "boiler boiler service note", fmt.Sprintf("something else %d", i))
	}
	x.put("notes", map[string][]string{"log.md": parts, "a.md": {"a boiler in a house with a garden and many rooms"}, "b.md": {"this boiler belongs to the neighbour who lives across the road"}})
	x.vectors()
	got := paths(x.ask(Request{Query: "boiler", PerDocument: 5, TopK: 3}))
	if len(got) != 3 || got[0] != "log.md" || got[1] == "log.md" || got[2] == "log.md" {
		t.Errorf("%v", got)
	}
}

func TestJoinedHitsDependOnNothingButTheScores(t *testing.T) {
	hit := func(seq int64, base float64) fused {
		return fused{chunk: seq << 5, document: 1, base: base}
	}
	for _, tc := range []struct {
		name string
		list []fused
		want string
	}{
		{"a gap is no neighbour", []fused{hit(1, .9), hit(3, .8)}, "[1] [3]"},
		{"what lies between joins both", []fused{hit(1, .9), hit(3, .8), hit(2, .7)}, "[1 2 3]"},
		{"a weak neighbour stays apart", []fused{hit(1, .9), hit(2, .2)}, "[1] [2]"},
		{"no more than three", []fused{hit(2, .9), hit(1, .8), hit(3, .7), hit(4, .6)}, "[1 2 3] [4]"},
		{"another document is none", []fused{hit(1, .9), {chunk: 2 << 5, document: 2, base: .9}}, "[1] [2]"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var got []string
			for _, f := range merge(tc.list) {
				var seqs []int64
				for _, c := range f.chunks {
					seqs = append(seqs, chunkOrder(c))
				}
				got = append(got, fmt.Sprint(seqs))
			}
			if s := strings.Join(got, " "); s != tc.want {
				t.Errorf("got %s, want %s", s, tc.want)
			}
		})
	}
}
