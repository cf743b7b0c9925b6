package search

import (
	"context"
	"errors"
	"math"

	"ragd/internal/fault"
	"ragd/internal/store"
)

// Embedder turns a query into a vector; every embed.Embedder is one.
type Embedder interface {
	EmbedQuery(ctx context.Context, text string) ([]float32, error)
}

// Vectors is what the meaning leg needs of the index; *store.Store is one.
type Vectors interface {
	ServingModel(ctx context.Context) (store.VectorGeneration, error)
	Meaning(ctx context.Context, q store.MeaningQuery) (store.MeaningResult, error)
	Backlog(ctx context.Context) (int64, error)
	Places(ctx context.Context, q store.MeaningQuery, chunks []int64) (map[int64][2]int, error)
}

// Meaning is the meaning leg's parts.
type Meaning struct {
	Vectors Vectors
	// Embedder returns what embeds queries for the vectors of a model's key;
	// why says what is wrong when there is none.
	Embedder func(key string) (e Embedder, why string)
}

// SetMeaning lets the meaning leg take part from now on; nil ends that. With
// none, searches are by keyword.
func (s *Searcher) SetMeaning(m *Meaning) { s.meaning.Store(m) }

// meaningPower makes the scale of the meaning leg as steep as that of the
// keyword leg: a good match is to stand out from a host of fair ones.
const meaningPower = 2.5

// meaningScore maps a cosine to 0..1, monotone.
func meaningScore(cosine float64) float64 {
	return math.Pow(min(max(cosine, 0), 1), meaningPower)
}

// meaningLeg is one run of the leg.
type meaningLeg struct {
	query   store.MeaningQuery
	result  store.MeaningResult
	vectors Vectors
	pending int64
	why     string  // why it did not take part; "" = it did
	off     bool    // by configuration
	covered float64 // the coverage of the query by the keyword leg
}

func (l *meaningLeg) took() bool { return l.why == "" && !l.off }

// meaningOf embeds the query; ask then runs it. An error is only the caller's
// own: whatever else goes wrong leaves the search to the keywords.
func (s *Searcher) meaningOf(ctx context.Context, r Request) (*meaningLeg, error) {
	m := s.meaning.Load()
	if m == nil {
		return &meaningLeg{off: true}, nil
	}
	leg := &meaningLeg{vectors: m.Vectors}
	g, err := m.Vectors.ServingModel(ctx)
	if err != nil {
		return leg, s.fallback(ctx, leg, err)
	}
	if g.ID == 0 {
		leg.why = "the vectors are not loaded yet"
		if e, why := m.Embedder(""); e == nil && why != "" {
			leg.why = why
		}
		return leg, nil
	}
	e, why := m.Embedder(g.Key)
	if e == nil {
		leg.why = why
		return leg, nil
	}
	vector, err := e.EmbedQuery(ctx, r.Query)
	if err != nil {
		return leg, s.fallback(ctx, leg, err)
	}
	leg.query = store.MeaningQuery{
		Generation: g.ID, Vector: vector, Limit: poolSize,
		Filter: filterOf(r),
	}
	return leg, nil
}

// ask scans the vectors; also are the chunks found by keyword.
func (l *meaningLeg) ask(ctx context.Context, s *Searcher, also []store.LexicalHit) error {
	if !l.took() {
		return nil
	}
	l.query.Also = make([]int64, len(also))
	for i, h := range also {
		l.query.Also[i] = h.ChunkID
	}
	var err error
	if l.result, err = l.vectors.Meaning(ctx, l.query); err != nil {
		return s.fallback(ctx, l, err)
	}
	l.pending, err = l.vectors.Backlog(ctx)
	return err
}

// fallback turns an error of the leg into a reason, unless it is the caller's.
func (s *Searcher) fallback(ctx context.Context, l *meaningLeg, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if errors.Is(err, context.Canceled) {
		return err
	}
	l.why = "meaning search is not available"
	if f, ok := fault.As(err); ok {
		if f.Code == codeNoWords {
			l.why = "the query has no words that the model knows"
			return nil
		}
		l.why += ": " + f.Message
	}
	s.log.Warn("a search went on by keyword only", "error", err)
	return nil
}

// codeNoWords is the embedders' code for a text without words.
const codeNoWords = "embed_no_words"
