package search

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"time"

	"ragd/internal/analysis"
	"ragd/internal/fault"
	"ragd/internal/store"
)

// ExprIndex answers boolean expressions; *store.Store does.
type ExprIndex interface {
	LexicalExpr(ctx context.Context, e store.Expr, f store.Filter, limit int) (store.LexicalResult, error)
}

// Syntax searches by keyword for callers that write FTS5's query syntax:
// "phrases", AND, OR, NOT, NEAR(a b, 5), prefix*, and the column filters
// title:, headings: and body:. Terms pass through the analysis like any text.
type Syntax struct {
	plain *Searcher
	index ExprIndex
	slots chan struct{} // one for each expression being looked up
}

// syntaxTime is how long an expression may take: it can ask for very much work.
const syntaxTime = 2 * time.Second

// syntaxSlots is how many expressions run at once. Half of the processors are
// left to other searches, which must not wait for expensive expressions.
func syntaxSlots() int { return max(1, runtime.GOMAXPROCS(0)/2) }

// NewSyntax makes a Syntax that answers malformed queries as plain does.
func NewSyntax(plain *Searcher, index ExprIndex) *Syntax {
	return &Syntax{plain, index, make(chan struct{}, syntaxSlots())}
}

// Search answers one request by keyword, whatever its Mode. A query that is
// not valid syntax, or asks for too much, is searched as plain words.
func (s *Syntax) Search(ctx context.Context, r Request) (*Response, error) {
	r.Mode = ModeKeyword
	if err := check(&r); err != nil {
		return nil, err
	}
	if r.KBs != nil && len(r.KBs) == 0 {
		return &Response{}, nil
	}
	a := s.plain.analyzers.Get().(*analysis.Analyzer)
	defer s.plain.analyzers.Put(a)
	e, clauses, err := parseSyntax(a, r.Query)
	if errors.Is(err, errSyntax) {
		return s.asWords(ctx, r, "the query is no valid FTS5 syntax and was searched as plain words")
	}
	if err != nil {
		return nil, err
	}
	lex, tooMuch, err := s.lookUp(ctx, e, filterOf(r))
	if tooMuch {
		return s.asWords(ctx, r, "the query asks for more than the index can look up and was searched as plain words")
	}
	if err != nil {
		return nil, err
	}
	resp := &Response{Note: cappedNote(lex.Capped)}
	ans := &answer{request: r, lex: lex, leg: &meaningLeg{off: true}, weight: weight{reason: "keyword only"}}
	list := spread(order(ModeKeyword, ans.weight, lex.MaxRaw, join(ModeKeyword, lex, ans.leg)), r.PerDocument)
	if len(list) > r.TopK {
		list, resp.Truncated = list[:r.TopK], true
	}
	resp.Hits, err = s.plain.cite(ctx, a, analysis.Query{Clauses: clauses}, list, ans)
	return resp, err
}

func (s *Syntax) asWords(ctx context.Context, r Request, note string) (*Response, error) {
	resp, err := s.plain.Search(ctx, r)
	if err == nil {
		resp.Note = note
	}
	return resp, err
}

// cappedNote says which prefixes did not stand for all words that begin so.
func cappedNote(prefixes []string) string {
	if len(prefixes) == 0 {
		return ""
	}
	return "very many words begin with " + strings.Join(prefixes, ", ") + "; only the most frequent of them were searched: use a longer prefix"
}

// lookUp answers an expression; tooMuch says that it is larger than the index
// takes, or takes too long.
func (s *Syntax) lookUp(ctx context.Context, e store.Expr, f store.Filter) (lex store.LexicalResult, tooMuch bool, err error) {
	short, cancel := context.WithTimeout(ctx, syntaxTime)
	defer cancel()
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	case <-short.Done():
		return lex, ctx.Err() == nil, ctx.Err()
	}
	lex, err = s.index.LexicalExpr(short, e, f, poolSize)
	if err == nil {
		return lex, false, nil
	}
	bad, ok := fault.As(err)
	return lex, ctx.Err() == nil && (short.Err() != nil || ok && bad.Kind == fault.Invalid), err
}
