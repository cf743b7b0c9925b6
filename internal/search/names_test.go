package search

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// parts has a long text with one code in it, and short ones with codes that a
// model takes for the same.
func parts(t *testing.T) *testIndex {
	x := newTestIndex(t)
	docs := map[string][]string{"long.md": {"zebra7x1671 " + strings.Repeat("of the many words about other things ", 25)}}
	for i := range 40 {
		docs[fmt.Sprintf("part%02d.md", i)] = []string{fmt.Sprintf("zebra7x%d", 2000+i), strings.Repeat("a cabinet of drawers with labels on them ", 10)}
	}
	x.put("notes", docs)
	return x
}

func TestWhatHoldsTheNameThatWasAskedForComesFirst(t *testing.T) {
	x := parts(t)
	x.vectors()
	x.put("notes", map[string][]string{"pending.md": {"zebra7x1671 " + strings.Repeat("and a text whose vectors are not in yet ", 25)}})
	for _, q := range []string{"zebra7x1671", `"zebra7x1671"`} {
		resp := x.ask(Request{Query: q})
		if got := paths(resp); len(got) < 2 || !slices.Contains(got[:2], "long.md") || !slices.Contains(got[:2], "pending.md") {
			t.Errorf("%s: %v", q, got)
		}
		for i := 1; i < len(resp.Hits); i++ {
			if resp.Hits[i].Score > resp.Hits[i-1].Score || resp.Hits[i].Score <= 0 {
				t.Fatalf("%s: score %g after %g", q, resp.Hits[i].Score, resp.Hits[i-1].Score)
			}
		}
	}
}

func TestANameThatIsNowhereIsSearchedByMeaning(t *testing.T) {
	x := parts(t)
	x.vectors()
	resp := x.ask(Request{Query: "zebra7x9999"})
	if len(resp.Hits) == 0 || resp.Hits[0].Match != "meaning" || resp.Hits[0].Path == "long.md" {
		t.Errorf("%v", paths(resp))
	}
}

func TestOnlyIdentifiersAreNames(t *testing.T) {
	for q, want := range map[string]bool{
		"ConfigMap": true, "E0382": true, "a::b std::vec": true, "internal/search/fuse.go": true, "v1.2.3": true,
		"": false, "boiler": false, "what is a ConfigMap": false, "E0382 borrow": false, "a_b c_d e_f g_h i_j": false,
	} {
		if got := onlyIdentifiers(q); got != want {
			t.Errorf("%q: %v", q, got)
		}
	}
	if weigh(Request{Query: "BSkyB的体育内容包括什么？", Mode: ModeHybrid}, 0.4).names {
		t.Error("a sentence in Chinese is no name")
	}
}
