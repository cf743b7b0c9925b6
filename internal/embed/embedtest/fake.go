package embedtest

import (
	"context"
	"hash/fnv"
	"math"
	"strings"
	"sync/atomic"
	"unicode"

	"ragd/internal/embed"
	"ragd/internal/fault"
)

// Fake is an embedder without a model: a text's vector is the normalised sum of
// a fixed vector for each of its words, so texts that share words are near one
// another. It is deterministic and safe for concurrent use.
type Fake struct {
	ID     embed.Identity
	Calls  atomic.Int64                                    // EmbedQuery and EmbedPassages
	Texts  atomic.Int64                                    // passages embedded
	Before func(ctx context.Context, texts []string) error // if set, called first; its error is returned
	closed atomic.Bool
}

var _ embed.Embedder = (*Fake)(nil)

// NewFake makes a fake of the given dimension.
func NewFake(dim int) *Fake {
	return &Fake{ID: embed.Identity{Name: "fake", Revision: "1", Dim: dim, Pooling: "mean", MaxTokens: 256}}
}

// Vector returns the unit vector of a text, nil if it has no words.
func Vector(text string, dim int) []float32 {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.Is(unicode.So, r)
	})
	if len(words) == 0 {
		return nil
	}
	sum := make([]float64, dim)
	for _, w := range words {
		h := fnv.New64a()
		h.Write([]byte(w)) //nolint:errcheck // a hash does not fail
		x := h.Sum64() | 1
		for i := range sum {
			x ^= x << 13
			x ^= x >> 7
			x ^= x << 17
			sum[i] += float64(x>>11)/(1<<52) - 1
		}
	}
	var square float64
	for _, v := range sum {
		square += v * v
	}
	out := make([]float32, dim)
	for i, v := range sum {
		out[i] = float32(v / math.Sqrt(square))
	}
	return out
}

// Identity implements embed.Embedder.
func (f *Fake) Identity() embed.Identity { return f.ID }

// CountTokens implements embed.Embedder: one a word.
func (f *Fake) CountTokens(text string) int {
	n := 0
	for _, w := range f.Windows(text, 1<<30, 0) {
		n += w.Tokens
	}
	return n
}

// Windows implements embed.Embedder; words are split at space.
func (f *Fake) Windows(text string, limit, overlap int) []embed.Window {
	if limit <= 0 || limit > f.ID.MaxTokens-2 {
		limit = f.ID.MaxTokens - 2
	}
	var out []embed.Window
	var starts []int
	end := 0
	flush := func(keep int) {
		if len(starts) > 0 {
			out = append(out, embed.Window{Start: starts[0], End: end, Tokens: len(starts)})
		}
		starts = append([]int(nil), starts[len(starts)-min(keep, len(starts)):]...)
	}
	fresh := false
	for i, at := 0, -1; i <= len(text); i++ {
		space := i == len(text) || text[i] <= ' '
		switch {
		case space && at >= 0:
			if Vector(text[at:i], 1) != nil {
				if len(starts) == limit {
					flush(min(max(overlap, 0), limit/2))
				}
				starts, end, fresh = append(starts, at), i, true
			}
			at = -1
		case !space && at < 0:
			at = i
		}
	}
	if fresh {
		flush(0)
	}
	return out
}

// EmbedQuery implements embed.Embedder.
func (f *Fake) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	if err := f.begin(ctx, []string{text}); err != nil {
		return nil, err
	}
	v := Vector(f.ID.QueryPrefix+text, f.ID.Dim)
	if v == nil {
		return nil, fault.New(fault.Invalid, "embed_no_words", "the query has no words")
	}
	return v, nil
}

// EmbedPassages implements embed.Embedder.
func (f *Fake) EmbedPassages(ctx context.Context, texts []string) ([][]float32, error) {
	if err := f.begin(ctx, texts); err != nil {
		return nil, err
	}
	f.Texts.Add(int64(len(texts)))
	out := make([][]float32, len(texts))
	failed := map[int]error{}
	for i, t := range texts {
		if Vector(t, 1) == nil {
			failed[i] = fault.New(fault.Permanent, "embed_no_words", "the text has no words to embed")
			continue
		}
		out[i] = Vector(f.ID.PassagePrefix+t, f.ID.Dim)
	}
	if len(failed) > 0 {
		return out, &embed.BatchError{Errs: failed, Size: len(texts)}
	}
	return out, nil
}

func (f *Fake) begin(ctx context.Context, texts []string) error {
	f.Calls.Add(1)
	if f.closed.Load() {
		return fault.New(fault.Unavailable, "embedder_closed", "the embedder is closed")
	}
	if f.Before != nil {
		if err := f.Before(ctx, texts); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// Close implements embed.Embedder.
func (f *Fake) Close() error {
	f.closed.Store(true)
	return nil
}
