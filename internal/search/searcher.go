package search

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"unicode"

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
	poolSize        = 300 // hits taken from a leg before spreading; constant, so that a longer list only adds to a shorter one
	maxQueryClauses = 64  // of a pasted page only the rarest words matter
)

// Index is what the searcher needs of the store; *store.Store is one.
type Index interface {
	Lexical(ctx context.Context, q store.LexicalQuery) (store.LexicalResult, error)
	Chunks(ctx context.Context, ids []int64) ([]store.ChunkRecord, error)
}

// Options configure a Searcher.
type Options struct {
	Index        Index
	Logger       *slog.Logger
	SnippetChars int // most characters of a hit's Content; default 1000
}

// Searcher answers queries. It is safe for concurrent use.
type Searcher struct {
	index     Index
	log       *slog.Logger
	snippet   atomic.Int64
	analyzers sync.Pool
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
	if r.Mode != ModeKeyword {
		resp.Fallback = "meaning search is not available: no embedder is running"
	}
	if r.KBs != nil && len(r.KBs) == 0 {
		return resp, nil
	}
	a := s.analyzers.Get().(*analysis.Analyzer)
	defer s.analyzers.Put(a)
	q := analysis.ParseQuery(a, r.Query)
	lex, dropped, err := s.lexical(ctx, q, r)
	if err != nil {
		return nil, err
	}
	resp.Dropped = dropped
	ranked := spread(lex.Hits, r.PerDocument)
	if len(ranked) > r.TopK {
		ranked, resp.Truncated = ranked[:r.TopK], true
	}
	resp.Hits, err = s.cite(ctx, a, q, ranked, r, lex)
	return resp, err
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
