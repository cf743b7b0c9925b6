package store

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"ragd/internal/fault"
)

func phrase(terms ...string) Phrase { return Phrase{Terms: terms} }

func one(p Phrase) LexicalQuery {
	return LexicalQuery{Clauses: []Clause{{Any: []Phrase{p}}}, Limit: 50}
}

func typed(in *Indexed, typ, status string) *Indexed {
	in.Meta.Type, in.Meta.Status = typ, status
	return in
}

func TestFiltersApplyInsideTheIndex(t *testing.T) {
	s := open(t)
	big, small := ensure(t, s, "big"), ensure(t, s, "small")
	var docs []*Indexed
	for i := range 400 {
		docs = append(docs, typed(doc(fmt.Sprintf("b%03d", i), "Big", "gerbil gerbil gerbil"), "note", "published"))
	}
	put(t, s, big, docs...)
	put(t, s, small,
		typed(doc("s1", "Small", "one gerbil among many other words that dilute it"), "runbook", "published"),
		typed(doc("s2", "Small", "gerbil"), "note", "superseded"), typed(doc("s4", "Small", "gerbil"), "runbook", "draft"), typed(doc("s3", "Small", "gerbil"), `odd "type" here`, "closed"))
	for name, c := range map[string]struct {
		f    Filter
		want []string
	}{
		"one KB":          {Filter{KBs: []int64{small.ID}}, []string{"s1", "s4"}},
		"retired too":     {Filter{KBs: []int64{small.ID}, IncludeRetired: true}, []string{"s1", "s2", "s3", "s4"}},
		"published":       {Filter{KBs: []int64{small.ID}, Published: true, IncludeRetired: true}, []string{"s1"}},
		"a type":          {Filter{Types: []string{"runbook"}}, []string{"s1", "s4"}},
		"an odd type":     {Filter{Types: []string{`odd "type" here`}, IncludeRetired: true}, []string{"s3"}},
		"two types":       {Filter{KBs: []int64{small.ID}, Types: []string{"runbook", "note"}, IncludeRetired: true}, []string{"s1", "s2", "s4"}},
		"no KB":           {Filter{KBs: []int64{}}, []string{}},
		"an unknown KB":   {Filter{KBs: []int64{999}}, []string{}},
		"an unknown type": {Filter{Types: []string{"*"}}, []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			q := query("gerbil")
			q.Limit, q.Filter = 5, c.f
			got := found(t, s, q)
			slices.Sort(got)
			same(t, got, c.want...)
			res, err := s.LexicalExpr(context.Background(), Expr{Phrase: &Phrase{Terms: []string{"gerbil"}}}, c.f, 5)
			if err != nil || len(res.Hits) != len(c.want) {
				t.Fatal(res.Hits, err)
			}
		})
	}
	q := query("gerbil")
	q.Filter.KBs = []int64{small.ID, big.ID}
	if got := found(t, s, q); len(got) != 50 {
		t.Fatal(len(got))
	}
}

func TestRankingFollowsWhatMatches(t *testing.T) {
	s := open(t)
	kb := ensure(t, s, "a")
	filler := strings.Repeat("lorem ipsum dolor sit amet consectetur ", 20)
	put(t, s, kb,
		doc("title", "Zebra", filler+"zebra"), doc("body", "Other", filler+"zebra"), doc("often", "Other", filler+"zebra zebra zebra zebra"),
		doc("short", "Other", "zebra"), doc("both", "Other", filler+"zebra okapi"), doc("none", "Other", filler))
	got := found(t, s, query("zebra okapi"))
	if len(got) != 5 || got[0] != "both" {
		t.Fatal(got)
	}
	got = found(t, s, query("zebra"))
	at := func(p string) int { return slices.Index(got, p) }
	if at("title") > at("body") || at("often") > at("body") || at("short") > at("body") || len(got) != 5 {
		t.Fatal(got)
	}
	res, err := s.Lexical(context.Background(), query("zebra okapi"))
	if err != nil || res.MaxRaw < res.Hits[0].Raw {
		t.Fatal(res, err)
	}
	for i := 1; i < len(res.Hits); i++ {
		if res.Hits[i].Raw > res.Hits[i-1].Raw {
			t.Fatal(res.Hits)
		}
	}
	for _, term := range res.Terms {
		if term.Role != roleRetrieve || term.IDF <= 0 || term.DocFreq == 0 || term.Estimated {
			t.Fatalf("%+v", term)
		}
	}
}

func TestWordsThatNoChunkHasCountInTheBestPossibleScore(t *testing.T) {
	s := open(t)
	put(t, s, ensure(t, s, "a"), doc("1", "T", "red apple pie"), doc("2", "T", "green pear"), doc("3", "T", "blue plum"))
	share := func(text string) float64 {
		t.Helper()
		res, err := s.Lexical(context.Background(), query(text))
		if err != nil || len(res.Hits) == 0 {
			t.Fatal(res, err)
		}
		return res.Hits[0].Raw / res.MaxRaw
	}
	all, part := share("apple pie"), share("apple pie quantum blockchain")
	if part > all/2 {
		t.Errorf("the best hit has %.2f of the best possible with half of the words, %.2f with all", part, all)
	}
}

func TestPairsOfCharactersSaturateSooner(t *testing.T) {
	s := open(t)
	put(t, s, ensure(t, s, "a"), doc("often", "T", strings.Repeat("日本 ", 12)), doc("both", "T", "日本 語学 "+strings.Repeat("文章 ", 40)), doc("none", "T", "文章 記事"))
	q := query("日本 語学")
	ratio := func(pairs bool) float64 {
		t.Helper()
		q.Pairs = pairs
		res, err := s.Lexical(context.Background(), q)
		if err != nil || len(res.Hits) != 2 {
			t.Fatal(res, err)
		}
		return res.Hits[0].Raw / res.Hits[1].Raw
	}
	if words, pairs := ratio(false), ratio(true); pairs <= words {
		t.Errorf("both pairs count %.2f times one often, by the numbers of words %.2f times", pairs, words)
	}
}

func TestClausesMustNotAndAlternatives(t *testing.T) {
	s := open(t)
	kb := ensure(t, s, "a")
	put(t, s, kb, doc("1", "T", "red apple pie"), doc("2", "T", "green apple"), doc("3", "T", "red cherry"), doc("4", "T", "apple red"),
		doc("5", "T", "get-user-name here"), doc("6", "T", "get user name here"))
	must := query("red apple")
	must.Clauses[1].Must = true
	got := found(t, s, must)
	slices.Sort(got)
	same(t, got, "1", "2", "4")
	both := query("red apple")
	both.Clauses[0].Must, both.Clauses[1].Must = true, true
	got = found(t, s, both)
	slices.Sort(got)
	same(t, got, "1", "4")
	same(t, found(t, s, one(phrase("red", "apple"))), "1")
	not := query("apple")
	not.Not = []Phrase{phrase("red")}
	same(t, found(t, s, not), "2")
	any := LexicalQuery{Limit: 9, Clauses: []Clause{{Any: []Phrase{phrase("get-user-name"), phrase("get", "user", "name")}}}}
	got = found(t, s, any)
	slices.Sort(got)
	same(t, got, "5", "6")
	same(t, found(t, s, one(Phrase{Terms: []string{"cher"}, Prefix: true})), "3")
	same(t, found(t, s, one(Phrase{Terms: []string{"red"}, Columns: ColTitle})))
	hopeless := query("apple")
	hopeless.Clauses = append(hopeless.Clauses, Clause{Any: []Phrase{phrase("absent")}, Must: true})
	same(t, found(t, s, hopeless))
	weighted := query("cherry pie")
	weighted.Clauses[1].Weight = 50
	if got := found(t, s, weighted); got[0] != "1" {
		t.Fatal(got)
	}
}

// Whatever stands in a term is a term: no operator, no syntax error.
func TestPartsOfAnIdentifierAreAskedForOnlyWhereTheyFindMore(t *testing.T) {
	s := open(t)
	kb := ensure(t, s, "kb")
	put(t, s, kb, doc("whole", "One", "get user getuser"), doc("apart", "Two", "get user"), doc("other", "Three", "sha 256 sha256"))
	for _, c := range []struct {
		whole string
		parts []string
		asked int
		want  []string
	}{
		{"getuser", []string{"get", "user"}, 2, []string{"apart", "whole"}}, {"sha256", []string{"sha", "256"}, 1, []string{"other"}},
	} {
		parts := Phrase{Terms: c.parts, Parts: true}
		q := LexicalQuery{Clauses: []Clause{{Any: []Phrase{phrase(c.whole), parts}}}, Limit: 5}
		got := found(t, s, q)
		slices.Sort(got)
		same(t, got, c.want...)
		err := s.read(context.Background(), "plan", func(r *reader) error {
			cor, err := s.readCorpus(r, s.Generation(), nil)
			if err != nil {
				return err
			}
			p, err := s.plan(r, cor, q.Clauses, &LexicalResult{})
			if err == nil && len(p.all[0].phrases) != c.asked {
				t.Errorf("%s: %d phrases are asked for, want %d", c.whole, len(p.all[0].phrases), c.asked)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		q.Clauses[0].Any[1].Parts = false // alternatives of any kind are all asked for
		alt := found(t, s, q)
		slices.Sort(alt)
		same(t, alt, c.want...)
	}
}

func TestTermsAreNeverSyntax(t *testing.T) {
	s := open(t)
	kb := ensure(t, s, "a")
	odd := []string{"--error-on-warnings", "state-of-the-art", "38.101", "a\"b", "\"", "AND", "NOT", "near(", "x*", "col:value", "{title}", "a+b", "^start", "'", "''", "(", ")", ";", "%", "_", "\\", "~`@#$", "漢字", "é", "title"}
	var docs []*Indexed
	for i, term := range odd {
		d := doc(fmt.Sprintf("d%02d", i), "T", "x")
		d.Hash[0] = byte(i)
		d.Chunks[0].BodyTerms = "before " + term + " after"
		docs = append(docs, d)
	}
	put(t, s, kb, docs...)
	for i, term := range odd {
		same(t, found(t, s, one(phrase(term))), fmt.Sprintf("d%02d", i))
		same(t, found(t, s, one(phrase("before", term, "after"))), fmt.Sprintf("d%02d", i))
	}
	for _, bad := range []string{"", "two words", "tab\tbed", "nul\x00", "\x7f", kbTerm(kb.ID), markTitle + "t", strings.Repeat("x", 2000)} {
		same(t, found(t, s, one(phrase(bad))))
		if _, err := s.LexicalExpr(context.Background(), Expr{Phrase: &Phrase{Terms: []string{bad}}}, Filter{}, 5); fault.KindOf(err) != fault.Invalid {
			t.Fatalf("%q: %v", bad, err)
		}
	}
}

func TestBooleanExpressions(t *testing.T) {
	s := open(t)
	kb := ensure(t, s, "a")
	put(t, s, kb, doc("1", "T", "red apple pie"), doc("2", "T", "green apple"), doc("3", "T", "red "+strings.Repeat("x ", 30)+"cherry"), doc("4", "Apple", "fruit"))
	p := func(terms ...string) Expr { return Expr{Phrase: &Phrase{Terms: terms}} }
	deep := p("red")
	for range maxDepth + 2 {
		deep = Expr{And: []Expr{deep}}
	}
	for name, c := range map[string]struct {
		e    Expr
		want []string
		bad  bool
	}{
		"and":        {e: Expr{And: []Expr{p("red"), p("apple")}}, want: []string{"1"}},
		"or":         {e: Expr{Or: []Expr{p("red"), p("green")}}, want: []string{"1", "2", "3"}},
		"not":        {e: Expr{Not: &NotExpr{p("apple"), p("red")}}, want: []string{"2", "4"}},
		"nested":     {e: Expr{And: []Expr{p("red"), {Or: []Expr{p("cherry"), p("pie")}}}}, want: []string{"1", "3"}},
		"near":       {e: Expr{Near: &NearExpr{Phrases: []Phrase{phrase("red"), phrase("pie")}}}, want: []string{"1"}},
		"not near":   {e: Expr{Near: &NearExpr{Phrases: []Phrase{phrase("red"), phrase("cherry")}, Distance: 5}}, want: []string{}},
		"column":     {e: Expr{Phrase: &Phrase{Terms: []string{"apple"}, Columns: ColTitle | ColHeadings}}, want: []string{"4"}},
		"prefix":     {e: Expr{Phrase: &Phrase{Terms: []string{"gre"}, Prefix: true}}, want: []string{"2"}},
		"too deep":   {e: deep, bad: true},
		"empty":      {bad: true},
		"two in one": {e: Expr{And: []Expr{p("a")}, Or: []Expr{p("b")}}, bad: true},
		"empty and":  {e: Expr{And: []Expr{}}, bad: true},
		"far near":   {e: Expr{Near: &NearExpr{Phrases: []Phrase{phrase("a")}, Distance: 1 << 30}}, bad: true},
	} {
		t.Run(name, func(t *testing.T) {
			res, err := s.LexicalExpr(context.Background(), c.e, Filter{}, 10)
			if c.bad {
				if fault.KindOf(err) != fault.Invalid {
					t.Fatal(err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got := []string{}
			for _, h := range res.Hits {
				recs, err := s.Chunks(context.Background(), []int64{h.ChunkID})
				if err != nil || h.Raw <= 0 || h.Raw > res.MaxRaw {
					t.Fatal(h, res.MaxRaw, err)
				}
				got = append(got, recs[0].Path)
			}
			slices.Sort(got)
			same(t, got, c.want...)
		})
	}
}

// With a common word, only rare words retrieve; the common one still decides
// between two that have the rare one. Alone, it is answered from a part.
func TestCommonWordsRescoreAndAreBounded(t *testing.T) {
	s := open(t)
	kb := ensure(t, s, "a")
	var docs []*Indexed
	for i := range 60 {
		text := strings.Repeat(fmt.Sprintf("common filler%d words stand here today\n\n", i), 150)
		docs = append(docs, doc(fmt.Sprintf("d%02d", i), "Nothing", text))
	}
	docs = append(docs, doc("rare1", "T", "scarce filler words of some length here"), doc("rare2", "T", "scarce common filler words of some length"), doc("titled", "Common", "common ground"))
	put(t, s, kb, docs...)
	q := query("common scarce")
	res, err := s.Lexical(context.Background(), q)
	if err != nil {
		t.Fatal(err)
	}
	if res.Terms[0].Role != roleRescore || !res.Terms[0].Estimated || res.Terms[1].Role != roleRetrieve {
		t.Fatalf("%+v", res.Terms)
	}
	if f := res.Terms[0].DocFreq; f < 6000 || f > 9100 {
		t.Fatalf("estimate %d of 9002", f)
	}
	same(t, found(t, s, q), "rare2", "rare1")
	alone := query("common")
	got := found(t, s, alone)
	if len(got) != 50 || got[0] != "titled" {
		t.Fatal(got[:3])
	}
	// The same index and query give the same answer, in a process new to it too.
	again, err := s.Lexical(context.Background(), q)
	if err != nil || !reflect.DeepEqual(res, again) {
		t.Fatal("another answer", err)
	}
	s.dfs = dfCache{}
	again, err = s.Lexical(context.Background(), q)
	if err != nil || !reflect.DeepEqual(res, again) {
		t.Fatal("another answer without the cache", err)
	}
}

func TestALongDocumentDoesNotFillTheListAlone(t *testing.T) {
	s := open(t)
	kb := ensure(t, s, "kb")
	var b strings.Builder
	for i := range 200 {
		fmt.Fprintf(&b, "turbine turbine turbine number%d\n\n", i)
	}
	docs := []*Indexed{doc("huge", "T", b.String())}
	for i := range 30 {
		docs = append(docs, doc(fmt.Sprintf("s%02d", i), "T", strings.Repeat("other words ", 20)+fmt.Sprintf("turbine%[1]d and the turbine of %[1]d", i)))
	}
	put(t, s, kb, docs...)
	for _, limit := range []int{1, 10, 50, 100} {
		q := query("turbine")
		q.Limit = limit
		lex, err := s.Lexical(context.Background(), q)
		if err != nil {
			t.Fatal(err)
		}
		expr, err := s.LexicalExpr(context.Background(), Expr{Phrase: &Phrase{Terms: []string{"turbine"}}}, Filter{Published: true}, limit)
		if err != nil {
			t.Fatal(err)
		}
		for _, res := range []LexicalResult{lex, expr} {
			seen := map[int64]bool{}
			for i, h := range res.Hits {
				seen[h.DocumentID] = true
				if i > 0 && h.Raw > res.Hits[i-1].Raw {
					t.Fatal("not in order")
				}
			}
			if want := min(31, limit-limit/crowdedShare+1, limit); len(res.Hits) != limit || len(seen) < want {
				t.Errorf("limit %d: %d hits of %d documents, want %d", limit, len(res.Hits), len(seen), want)
			}
		}
	}
	q := query("number7 OR turbine")
	q.Filter.Types = []string{"none"}
	same(t, found(t, s, q))
}

func TestTiesAreBrokenByChunk(t *testing.T) {
	s := open(t)
	kb := ensure(t, s, "a")
	for i := range 30 {
		put(t, s, kb, doc(fmt.Sprintf("d%02d", 29-i), "T", "equal words"))
	}
	q := query("equal")
	all := found(t, s, q)
	q.Limit = 10
	if !slices.Equal(found(t, s, q), all[:10]) {
		t.Fatal("a shorter list is not the head of a longer one")
	}
}

func TestGenerationRisesOnlyWithWhatSearchSees(t *testing.T) {
	s := open(t)
	kb := ensure(t, s, "a")
	g := s.Generation()
	plan(t, s, kb, index("x", 0, 1))
	j := claim(t, s, 1)[0]
	if s.Generation() != g {
		t.Fatal("it rose with the queue")
	}
	commit(t, s, Outcome{Job: j, Indexed: doc("x", "X", "words")})
	if s.Generation() == g {
		t.Fatal("it did not rise with a document")
	}
	g = s.Generation()
	remove(t, s, kb, "x")
	if s.Generation() == g {
		t.Fatal("it did not rise with a deletion")
	}
}

func FuzzLexicalTakesAnyTerm(f *testing.F) {
	s := open(f)
	kb := ensure(f, s, "a")
	put(f, s, kb, doc("x", "X", "some words to be found"))
	for _, seed := range []string{"some", `"`, `a" OR "b`, "x*", "\x00", "{title} : y", "\xff\xfe", "NEAR(a b)", markScope + "k1", "some words"} {
		f.Add(seed, "words", true, uint8(3))
	}
	f.Fuzz(func(t *testing.T, a, b string, prefix bool, cols uint8) {
		p := Phrase{Terms: []string{a, b}, Prefix: prefix, Columns: Column(cols)}
		q := LexicalQuery{Clauses: []Clause{{Any: []Phrase{p, {Terms: []string{b}}}}, {Any: []Phrase{{Terms: []string{a}}}, Must: prefix}}, Not: []Phrase{{Terms: []string{a}, Columns: Column(cols)}}, Limit: 5}
		if _, err := s.Lexical(context.Background(), q); err != nil {
			t.Fatal(err)
		}
		_, err := s.LexicalExpr(context.Background(), Expr{Not: &NotExpr{Expr{Phrase: &p}, Expr{Near: &NearExpr{Phrases: []Phrase{p, p}}}}}, Filter{Types: []string{a}}, 5)
		if err != nil && fault.KindOf(err) != fault.Invalid {
			t.Fatal(err)
		}
	})
}

func FuzzPlaceIsReadSafely(f *testing.F) {
	f.Add(packPlace(nil, doc("x", "X", "some text").Chunks[0].Chunk))
	f.Add([]byte{0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := unpackPlace(b)
		if err != nil {
			return
		}
		again, err := unpackPlace(packPlace(nil, c))
		if err != nil || !reflect.DeepEqual(c, again) {
			t.Fatalf("%+v, then %+v: %v", c, again, err)
		}
	})
}
