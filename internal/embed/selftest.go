package embed

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// Check is one line of a self-test.
type Check struct {
	Name   string
	OK     bool
	Detail string // what was seen
}

// Report is the result of a self-test.
type Report struct {
	Identity Identity
	Path     string // instructions in use, "" for a server
	Checks   []Check
	Query    time.Duration // the fastest of a few short queries
}

// OK reports whether every check passed.
func (r Report) OK() bool {
	return !slices.ContainsFunc(r.Checks, func(c Check) bool { return !c.OK })
}

// known are texts whose cosines were computed once from the fp32 weights. The
// first two mean nearly the same; the last is longer than a window.
var known = [...]string{
	"How do I restore a backup of the database?",
	"To recover data, load the latest snapshot into an empty server and replay the log.",
	"The invoice is due within thirty days of delivery.",
	"Simmer the lentils with cumin and garlic until they are soft.",
	"func Read(p []byte) (n int, err error)",
	strings.Repeat("A glacier moves slowly downhill under its own weight. ", 40),
}

// knownCosines holds cosines of the pairs (0,1), (0,2) … (4,5) of known.
var knownCosines = [...]float64{
	0.4695, -0.0275, 0.0058, 0.0504, 0.0064,
	0.0187, 0.0318, 0.0917, -0.1099,
	0.0952, 0.0035, 0.0334,
	-0.0711, -0.0373,
	-0.0557,
}

// knownTolerance is far above what 8-bit weights change (about 0.005) and far
// below what a wrong weight or token does.
const knownTolerance = 0.02

// SelfTest embeds known texts. For the built-in model, wherever it was opened
// from, cosines are compared with those of the original weights; for any other
// embedder, texts that mean the same must be nearer than the rest. The error is
// that of the embedder, if it cannot embed at all.
func SelfTest(ctx context.Context, e Embedder) (Report, error) {
	r := Report{}
	if m, ok := e.(*Model); ok {
		r.Path = m.Path()
	}
	vs, err := e.EmbedPassages(ctx, known[:])
	if err != nil {
		return r, err
	}
	r.Identity = e.Identity()
	r.add("vectors are of unit length", slices.IndexFunc(vs, func(v []float32) bool { return !usable(v) || len(v) != r.Identity.Dim }) < 0,
		"%d vectors of %d dimensions", len(vs), r.Identity.Dim)
	alone, err := e.EmbedPassages(ctx, known[1:2])
	if err != nil {
		return r, err
	}
	c := dot(alone[0], vs[1])
	r.add("a text's vector does not depend on its batch", c > 0.9999, "cosine %.6f", c)
	if r.Identity.Name == BuiltinName && r.Identity.PassagePrefix == "" {
		worst := 0.0
		for i, n := 0, 0; i < len(known); i++ {
			for j := i + 1; j < len(known); j++ {
				worst = max(worst, math.Abs(dot(vs[i], vs[j])-knownCosines[n]))
				n++
			}
		}
		r.add("cosines are those of the original weights", worst < knownTolerance, "largest difference %.4f, allowed %.2f", worst, knownTolerance)
	}
	near, far := dot(vs[0], vs[1]), math.Inf(-1)
	for _, v := range vs[2:] {
		far = max(far, dot(vs[0], v))
	}
	r.add("the same in other words is nearer than the rest", near > far, "cosine %.3f against %.3f", near, far)
	for range 5 {
		begin := time.Now()
		if _, err := e.EmbedQuery(ctx, known[0]); err != nil {
			return r, err
		}
		if d := time.Since(begin); r.Query == 0 || d < r.Query {
			r.Query = d
		}
	}
	return r, nil
}

func (r *Report) add(name string, ok bool, format string, args ...any) {
	r.Checks = append(r.Checks, Check{name, ok, fmt.Sprintf(format, args...)})
}

func dot(a, b []float32) float64 {
	var sum float64
	for i := range min(len(a), len(b)) {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

// Speed is how fast an embedder is.
type Speed struct {
	Tokens  int // of a text
	PerText time.Duration
	PerSec  float64 // tokens
}

// BenchQuery is what the time of a query is measured with: 12 tokens for the
// built-in model.
const BenchQuery = "who looks after the heating in the old house now"

// Benchmark measures passages of about 128 and 256 tokens (fewer if the model
// takes fewer) for about the duration each, and the mean time of a query.
func Benchmark(ctx context.Context, e Embedder, d time.Duration) (passages []Speed, query time.Duration, err error) {
	const prose = "Each change of a file is a hint; the scan that follows reads the disk again and decides what is new. "
	for _, want := range []int{128, 256} {
		want = min(want, e.Identity().MaxTokens) - special
		text := strings.Repeat(prose, 1+want/8)
		ws := e.Windows(text, want, 0)
		text = text[ws[0].Start:ws[0].End]
		batch := slices.Repeat([]string{text}, 8)
		tokens := e.CountTokens(text) + special
		if _, err := e.EmbedPassages(ctx, batch); err != nil { // warm
			return nil, 0, err
		}
		begin, n := time.Now(), 0
		for ; n == 0 || time.Since(begin) < d; n += len(batch) {
			if _, err := e.EmbedPassages(ctx, batch); err != nil {
				return nil, 0, err
			}
		}
		took := time.Since(begin)
		passages = append(passages, Speed{tokens, took / time.Duration(n), float64(n*tokens) / took.Seconds()})
	}
	begin, n := time.Now(), 0
	for ; n == 0 || time.Since(begin) < d/4; n++ {
		if _, err := e.EmbedQuery(ctx, BenchQuery); err != nil {
			return nil, 0, err
		}
	}
	return passages, time.Since(begin) / time.Duration(n), nil
}
