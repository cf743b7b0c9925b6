package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"ragd/internal/fault"
)

// manyWords is an index in which more rows hold words that begin with "word"
// than FTS5 may gather.
func manyWords(t *testing.T) *Store {
	s := open(t)
	kb := ensure(t, s, "kb")
	var docs []*Indexed
	for i := range 60 {
		var b strings.Builder
		for k := range 900 {
			fmt.Fprintf(&b, "word%d\n\n", (i+k)%930)
		}
		fmt.Fprintf(&b, "wordy again\n\nwordy near rare%d", i)
		docs = append(docs, doc(fmt.Sprintf("d%02d", i), "T", b.String()))
	}
	put(t, s, kb, docs...)
	return s
}

func prefixOf(terms ...string) Expr { return Expr{Phrase: &Phrase{Terms: terms, Prefix: true}} }

func TestAPrefixOfFewRowsFindsAllOfThem(t *testing.T) {
	s := manyWords(t)
	for prefix, want := range map[string]int{"rare": 60, "rare1": 11, "rare59": 1, "wordy": 120, "none": 0} {
		res, err := s.LexicalExpr(context.Background(), prefixOf(prefix), Filter{}, 1000)
		if err != nil || len(res.Hits) != want || len(res.Capped) != 0 {
			t.Errorf("%s: %d hits, want %d; capped %v, %v", prefix, len(res.Hits), want, res.Capped, err)
		}
	}
}

func TestAPrefixOfVeryManyRowsStandsForItsMostFrequentWords(t *testing.T) {
	s := manyWords(t)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	near := func(phrases ...Phrase) Expr { return Expr{Near: &NearExpr{Phrases: phrases, Distance: 5}} }
	word := Phrase{Terms: []string{"word"}, Prefix: true}
	for name, c := range map[string]struct {
		e    Expr
		want int // hits at least
	}{
		"alone":              {prefixOf("word"), 100},
		"with a rare word":   {Expr{And: []Expr{prefixOf("word"), {Phrase: &Phrase{Terms: []string{"rare7"}}}}}, 1},
		"without":            {Expr{Not: &NotExpr{Expr{Phrase: &Phrase{Terms: []string{"rare7"}}}, prefixOf("none")}}, 1},
		"in a phrase":        {prefixOf("wordy", "nea"), 60},
		"beside another":     {Expr{Or: []Expr{prefixOf("word"), prefixOf("rare")}}, 100},
		"near":               {near(word, phrase("near")), 60},
		"near another":       {near(word, Phrase{Terms: []string{"rare"}, Prefix: true}), 1},
		"near the very same": {near(word, word), 0},
	} {
		t.Run(name, func(t *testing.T) {
			res, err := s.LexicalExpr(context.Background(), c.e, Filter{}, 1000)
			must(err)
			if len(res.Hits) < c.want {
				t.Errorf("%d hits, want %d", len(res.Hits), c.want)
			}
			if name == "alone" && !slices.Contains(res.Capped, "word*") {
				t.Errorf("capped: %v", res.Capped)
			}
			again, err := s.LexicalExpr(context.Background(), c.e, Filter{}, 1000)
			must(err)
			if fmt.Sprint(again.Hits) != fmt.Sprint(res.Hits) {
				t.Error("another answer to the same question")
			}
		})
	}
	for _, n := range []int{maxPrefixes, maxPrefixes + 1} {
		var list []Expr
		for i := range n {
			list = append(list, prefixOf(fmt.Sprintf("word%d", i)))
		}
		_, err := s.LexicalExpr(context.Background(), Expr{Or: list}, Filter{}, 10)
		if (fault.KindOf(err) == fault.Invalid) != (n > maxPrefixes) {
			t.Errorf("%d prefixes: %v", n, err)
		}
	}
	q := LexicalQuery{Limit: 50}
	for range 20 {
		q.Clauses = append(q.Clauses, Clause{Any: []Phrase{word}})
	}
	res, err := s.Lexical(context.Background(), q)
	must(err)
	if len(res.Hits) != 50 || !slices.Contains(res.Capped, "word*") {
		t.Errorf("%d hits, capped %v", len(res.Hits), res.Capped)
	}
}
