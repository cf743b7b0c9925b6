package store

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

// What other KBs hold must not show in anything that a caller is told: not in
// the counts, not in a score, not in which words a prefix stands for.
func TestWhatTheCallerMayNotKnowOfChangesNoCountAndNoScore(t *testing.T) {
	texts := func(n int, format string) (docs []*Indexed) {
		for i := range n {
			docs = append(docs, doc(fmt.Sprintf("d%03d", i), "T", fmt.Sprintf(format, i, i%7, i%3)))
		}
		return docs
	}
	mine := texts(90, "pump%d valve%d common words%d here")
	var theirs strings.Builder
	for k := range 900 {
		fmt.Fprintf(&theirs, "valve%d\n\nwordsof%d secret common\n\n", k%4, k)
	}
	alone, among := open(t), open(t)
	kb := ensure(t, alone, "mine")
	put(t, alone, kb, mine...)
	first := ensure(t, among, "other")
	put(t, among, first, texts(50, "secret%d valve%d common%d")...)
	known := ensure(t, among, "mine")
	put(t, among, known, mine...)
	put(t, among, first, texts(60, theirs.String()+" %d %d %d")...)

	ask := func(s *Store, kb int64, words ...string) (out string) {
		ctx, f := context.Background(), Filter{KBs: []int64{kb}, Known: []int64{kb}}
		for range 2 { // the second time from what was remembered
			out = ""
			q := query(strings.Join(words, " "))
			q.Filter = f
			res, err := s.Lexical(ctx, q)
			if err != nil {
				t.Fatal(err)
			}
			out += fmt.Sprintln(len(res.Hits), res.MaxRaw, res.Terms)
			for _, h := range res.Hits {
				out += fmt.Sprintln(h.Raw)
			}
			for _, w := range words {
				res, err := s.LexicalExpr(ctx, prefixOf(w), f, 100)
				if err != nil {
					t.Fatal(err)
				}
				out += fmt.Sprintln(len(res.Hits))
				for _, term := range res.Terms {
					out += fmt.Sprintln(term.DocFreq, term.IDF)
				}
			}
		}
		return out
	}
	for _, words := range []string{"pump7 valve3", "secret valve2", "common words1", "secret", "pump1 common"} {
		want, got := ask(alone, kb.ID, strings.Fields(words)...), ask(among, known.ID, strings.Fields(words)...)
		if want != got {
			t.Errorf("%s: alone\n%s\namong others\n%s", words, want, got)
		}
	}
	if res, err := among.LexicalExpr(context.Background(), prefixOf("wordsof"), Filter{KBs: []int64{known.ID}, Known: []int64{known.ID}}, 10); err != nil || len(res.Hits) != 0 {
		t.Errorf("%d hits, %v", len(res.Hits), err)
	}
	q := query("secret")
	if res, err := among.Lexical(context.Background(), q); err != nil || len(res.Hits) == 0 || res.Terms[0].DocFreq == 0 {
		t.Errorf("who may know of all: %v %v", res.Terms, err)
	}
}

// An expression takes only so many phrases. The KBs of a filter are none of
// them: whoever may search very many, but not all, finds what is in them.
func TestAFilterOfVeryManyKBsFindsAllThatIsInThem(t *testing.T) {
	s := open(t)
	ctx := context.Background()
	var mine []int64
	for i := range 1500 {
		kb := ensure(t, s, fmt.Sprintf("kb%04d", i))
		if i%10 != 0 {
			mine = append(mine, kb.ID)
		}
		if i%100 == 1 || i%100 == 10 || i == 1499 {
			put(t, s, kb, doc("d", "T", fmt.Sprintf("pump of%d", i)))
		}
	}
	f := Filter{KBs: mine, Known: mine}
	q := query("pump")
	q.Filter = f
	res, err := s.Lexical(ctx, q)
	if err != nil || len(res.Hits) != 16 || res.Terms[0].DocFreq != 16 {
		t.Errorf("%d hits, %v, %v", len(res.Hits), res.Terms, err)
	}
	if res, err = s.LexicalExpr(ctx, prefixOf("pum"), f, 100); err != nil || len(res.Hits) != 16 || res.Terms[0].DocFreq != 16 {
		t.Errorf("prefix: %d hits, %v, %v", len(res.Hits), res.Terms, err)
	}
	q = query("pump of10 of1499")
	q.Not = []Phrase{{Terms: []string{"of1"}}}
	q.Filter = f
	if res, err = s.Lexical(ctx, q); err != nil || len(res.Hits) != 15 || res.Terms[1].DocFreq != 0 {
		t.Errorf("%d hits, %v, %v", len(res.Hits), res.Terms, err)
	}
}
