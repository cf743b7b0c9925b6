package search

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode"

	"golang.org/x/sync/errgroup"

	"ragd/internal/analysis"
	"ragd/internal/fault"
	"ragd/internal/store"
)

// Bounds of a request.
const (
	MaxQueryChars   = 4096
	MaxTopK         = 100
	defaultTopK     = 10
	defaultSnippet  = 1000
	poolSize        = 300  // hits taken from a leg before spreading; constant, so that a longer list only adds to a shorter one
	maxQueryClauses = 1000 // the store keeps the rarest
)

// Index is what the searcher needs of the store; *store.Store is one.
type Index interface {
	Lexical(ctx context.Context, q store.LexicalQuery) (store.LexicalResult, error)
	Spans(ctx context.Context, spans []store.ChunkSpan) ([]store.ChunkRecord, error)
}

// Options configure a Searcher.
type Options struct {
	Index        Index
	Logger       *slog.Logger
	SnippetChars int // most characters of a hit's Content; default 1000
	Meaning      *Meaning
}

// Searcher answers queries. It is safe for concurrent use.
type Searcher struct {
	index     Index
	log       *slog.Logger
	snippet   atomic.Int64
	analyzers sync.Pool
	meaning   atomic.Pointer[Meaning]
}

// New makes a Searcher.
func New(o Options) (*Searcher, error) {
	if o.Index == nil {
		return nil, errors.New("search: Index is required")
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.SnippetChars <= 0 {
		o.SnippetChars = defaultSnippet
	}
	s := &Searcher{index: o.Index, log: o.Logger}
	s.SetSnippetChars(o.SnippetChars)
	s.SetMeaning(o.Meaning)
	s.analyzers.New = func() any { return analysis.New() }
	return s, nil
}

// SetSnippetChars changes the most characters of a hit's Content.
func (s *Searcher) SetSnippetChars(n int) { s.snippet.Store(int64(n)) }

// Search answers one request. The same index and request give the same
// answer. A query with nothing to search for (punctuation alone) gives no hits.
func (s *Searcher) Search(ctx context.Context, r Request) (*Response, error) {
	if err := check(&r); err != nil {
		return nil, err
	}
	resp := &Response{}
	if r.KBs != nil && len(r.KBs) == 0 {
		return resp, nil
	}
	a := s.analyzers.Get().(*analysis.Analyzer)
	defer s.analyzers.Put(a)
	q := analysis.ParseQuery(a, r.Query)
	lex, leg, err := s.legs(ctx, q, r, resp)
	if err != nil {
		return nil, err
	}
	mode := r.Mode
	if leg.why != "" {
		resp.Fallback, mode = leg.why, ModeKeyword
	}
	resp.PendingVectors = leg.pending
	r.Mode = mode
	list := join(mode, lex, leg)
	w := weigh(r, leg.covered)
	list = order(mode, w, lex.MaxRaw, list)
	resp.Weak = len(list) > 0 && weak(list, leg.covered, leg.took() && !foreign(r.Query))
	list = spread(list, r.PerDocument)
	if len(list) > r.TopK {
		list, resp.Truncated = list[:r.TopK], true
	}
	resp.Hits, err = s.cite(ctx, a, q, list, &answer{r, lex, leg, w})
	return resp, err
}

// legs runs both legs, the query's embedding beside the keyword leg. When the
// meaning leg cannot take part it says why.
func (s *Searcher) legs(ctx context.Context, q analysis.Query, r Request, resp *Response) (lex store.LexicalResult, leg *meaningLeg, err error) {
	leg = &meaningLeg{off: true}
	var embedding errgroup.Group
	if r.Mode != ModeKeyword {
		embedding.Go(func() (err error) {
			leg, err = s.meaningOf(ctx, r)
			return err
		})
	}
	lex, dropped, lexErr := s.lexical(ctx, q, r)
	if err := embedding.Wait(); err != nil {
		return lex, leg, err
	}
	if lexErr != nil {
		return lex, leg, lexErr
	}
	if leg.off && r.Mode == ModeMeaning {
		leg.why = "meaning search is switched off"
	}
	resp.Dropped, leg.covered = dropped, coverage(lex)
	if err := leg.ask(ctx, s, lex.Hits); err != nil {
		return lex, leg, err
	}
	if strict(q) {
		leg.result.Hits = slices.DeleteFunc(leg.result.Hits, func(h store.MeaningHit) bool {
			return !slices.ContainsFunc(lex.Hits, func(l store.LexicalHit) bool { return l.ChunkID == h.ChunkID })
		})
	} else if r.Mode == ModeMeaning && leg.took() {
		lex.Hits = nil
	}
	return lex, leg, nil
}

// strict queries say what a hit must or must not contain; only the keyword leg
// can tell, and meaning merely orders what that finds.
func strict(q analysis.Query) bool {
	return len(q.Not) > 0 || slices.ContainsFunc(q.Clauses, func(c analysis.Clause) bool { return c.Must })
}

func check(r *Request) error {
	if r.TopK == 0 {
		r.TopK = defaultTopK
	}
	if r.TopK < 1 || r.TopK > MaxTopK {
		return fault.New(fault.Invalid, "bad_top_k", "top_k is %d; allowed are 1 to %d", r.TopK, MaxTopK)
	}
	if n := len([]rune(r.Query)); n > MaxQueryChars {
		return fault.New(fault.Invalid, "query_too_long", "the query has %d characters; at most %d are allowed", n, MaxQueryChars).
			WithHint("Ask a shorter, self-contained question.")
	}
	if strings.TrimFunc(r.Query, unicode.IsSpace) == "" {
		return fault.New(fault.Invalid, "query_empty", "the query is empty").
			WithHint("Give the words or the question to search for.")
	}
	switch r.Mode {
	case "":
		r.Mode = ModeHybrid
	case ModeHybrid, ModeKeyword, ModeMeaning, ModeRRF:
	default:
		return fault.New(fault.Invalid, "bad_mode", "mode is %q; allowed are hybrid, keyword, meaning and rrf", string(r.Mode))
	}
	return nil
}
