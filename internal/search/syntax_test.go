package search

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ragd/internal/analysis"
	"ragd/internal/store"
)

// show writes an expression with all its brackets.
func show(e store.Expr) string {
	list := func(op string, l []store.Expr) string {
		parts := make([]string, len(l))
		for i := range l {
			parts[i] = show(l[i])
		}
		return "(" + strings.Join(parts, " "+op+" ") + ")"
	}
	switch {
	case e.Phrase != nil:
		s := strings.Join(e.Phrase.Terms, "_")
		if e.Phrase.Prefix {
			s += "*"
		}
		if e.Phrase.Columns != 0 {
			s = fmt.Sprintf("%d:%s", e.Phrase.Columns, s)
		}
		return s
	case e.And != nil:
		return list("AND", e.And)
	case e.Or != nil:
		return list("OR", e.Or)
	case e.Not != nil:
		return "(" + show(e.Not.Left) + " NOT " + show(e.Not.Right) + ")"
	case e.Near != nil:
		parts := make([]string, len(e.Near.Phrases))
		for i, p := range e.Near.Phrases {
			parts[i] = strings.Join(p.Terms, "_")
		}
		return fmt.Sprintf("NEAR(%s, %d)", strings.Join(parts, " "), e.Near.Distance)
	}
	return "?"
}

func TestSyntaxIsThatOfFTS5(t *testing.T) {
	for query, want := range map[string]string{
		`one`:                        "one",
		`one two`:                    "(one AND two)",
		`one AND two OR three`:       "((one AND two) OR three)",
		`one OR two AND three`:       "(one OR (two AND three))",
		`one AND two NOT three`:      "(one AND (two NOT three))",
		`one NOT two NOT three`:      "((one NOT two) NOT three)",
		`one NOT two three`:          "(one NOT (two AND three))",
		`(one OR two) AND three`:     "((one OR two) AND three)",
		`"quick brown fox"`:          "quick_brown_fox",
		`quick + brown + fox`:        "quick_brown_fox",
		`Boilers`:                    "boiler",
		`serv*`:                      "serv*",
		`"quick bro"*`:               "quick_bro*",
		`sha25*`:                     "(sha25* OR sha_25*)",
		`getUserNa*`:                 "(getuserna* OR get_user_na*)",
		`title:boiler`:               "1:boiler",
		`body : (boiler OR pump)`:    "(4:boiler OR 4:pump)",
		`{title body}: boiler`:       "5:boiler",
		`- title : boiler`:           "6:boiler",
		`headings:boiler AND pump`:   "(2:boiler AND pump)",
		`NEAR(boiler pump)`:          "NEAR(boiler pump, 10)",
		`NEAR(boiler "red pump", 3)`: "NEAR(boiler red_pump, 3)",
		`NEAR(boiler) pump`:          "(boiler AND pump)",
		`"say ""hello"" now"`:        "say_hello_now",
		`near the boiler`:            "(near AND the AND boiler)",
		`"..." boiler`:               "boiler",
		`boiler NOT "..."`:           "boiler",
		`größe`:                      "gross",
	} {
		e, _, err := parseSyntax(analysis.New(), query)
		if err != nil {
			t.Errorf("%s: %v", query, err)
			continue
		}
		if got := show(e); got != want {
			t.Errorf("%s\n got %s\nwant %s", query, got, want)
		}
	}
}

func TestMalformedSyntaxIsNoSyntax(t *testing.T) {
	for _, query := range []string{
		`"open`, `(one`, `one)`, `AND`, `one AND`, `OR two`, `NOT`, `NOT two`, `one NOT`, `one AND OR two`, `*`, `one **`, `title:`, `nocolumn:one`,
		`{title nocolumn}:one`, `{title:one`, `NEAR(`, `NEAR(one, x)`, `NEAR(one two, 99999)`, `title:NEAR(one two)`, `what's up?`, `a/b.go`, `C++`, `^one`, `title:(body:x)`,
		`()`, `"..."`, `+ one`, `one +`, `{}:one`, `-one`, strings.Repeat("(", 500) + "x" + strings.Repeat(")", 500),
	} {
		if e, _, err := parseSyntax(analysis.New(), query); err == nil {
			t.Errorf("%s: %s", query, show(e))
		}
	}
}

func FuzzSyntax(f *testing.F) {
	for _, s := range []string{`one AND (two OR "three four"*) NOT title:five`, `NEAR(a b, 3)`, `{title body}: x + y`, `-body : z`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > 4096 {
			return
		}
		e, _, err := parseSyntax(analysis.New(), s)
		if err == nil && strings.Contains(show(e), "?") {
			t.Errorf("%q gives an empty part: %s", s, show(e))
		}
	})
}

// slowIndex answers no expression before its time is over.
type slowIndex struct{ plain []store.LexicalQuery }

func (x *slowIndex) LexicalExpr(ctx context.Context, _ store.Expr, _ store.Filter, _ int) (store.LexicalResult, error) {
	<-ctx.Done()
	return store.LexicalResult{}, ctx.Err()
}

func (x *slowIndex) Lexical(_ context.Context, q store.LexicalQuery) (store.LexicalResult, error) {
	x.plain = append(x.plain, q)
	return store.LexicalResult{}, nil
}

func (x *slowIndex) Spans(context.Context, []store.ChunkSpan) ([]store.ChunkRecord, error) {
	return nil, nil
}

func TestAnExpressionThatTakesTooLongIsSearchedAsPlainWords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := &slowIndex{}
		plain, err := New(Options{Index: x})
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		if _, err := NewSyntax(plain, x).Search(context.Background(), Request{Query: "one AND t*"}); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took != syntaxTime || len(x.plain) != 1 {
			t.Errorf("%v, %d plain searches", took, len(x.plain))
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if _, err := NewSyntax(plain, x).Search(ctx, Request{Query: "one AND t*"}); err == nil {
			t.Error("a call whose time was over was answered")
		}
	})
}
