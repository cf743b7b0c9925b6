package main

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ragd/internal/embed"
	"ragd/internal/fault"
)

func (a *app) modelCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "model",
		Short: "Show, check or time the embedding model that the settings name",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			e, err := a.openModel()
			if err != nil {
				return err
			}
			defer e.Close() //nolint:errcheck // nothing was written by it
			return a.printModel(modelOf(e))
		},
	}
	a.jsonFlag(cmd)
	cmd.AddCommand(a.modelCheckCommand(), a.modelBenchCommand())
	return cmd
}

func (a *app) openModel() (embed.Embedder, error) {
	cfg, err := a.config()
	if err != nil {
		return nil, err
	}
	return openEmbedder(cfg, sourceOf(cfg), 0)
}

// modelInfo is what ragd model prints.
type modelInfo struct {
	Name          string `json:"name"`
	Revision      string `json:"revision,omitempty"`
	Dimension     int    `json:"dimension"`
	Pooling       string `json:"pooling,omitempty"`
	MaxTokens     int    `json:"max_tokens,omitempty"`
	QueryPrefix   string `json:"query_prefix,omitempty"`
	PassagePrefix string `json:"passage_prefix,omitempty"`
	Instructions  string `json:"instructions,omitempty"` // of the CPU
}

func modelOf(e embed.Embedder) modelInfo {
	id := e.Identity()
	out := modelInfo{id.Name, id.Revision, id.Dim, id.Pooling, id.MaxTokens, id.QueryPrefix, id.PassagePrefix, ""}
	if m, ok := e.(interface{ Path() string }); ok {
		out.Instructions = m.Path()
	}
	return out
}

func (a *app) printModel(m modelInfo) error {
	if a.json {
		return a.printJSON(m)
	}
	p := a.page()
	p.line("model         %s", visible(m.Name))
	for _, l := range []struct{ name, value string }{
		{"revision", m.Revision}, {"pooling", m.Pooling}, {"query prefix", m.QueryPrefix}, {"text prefix", m.PassagePrefix}, {"instructions", m.Instructions},
	} {
		if l.value != "" {
			p.line("%-13s %s", l.name, visible(l.value))
		}
	}
	p.line("dimension     %d", m.Dimension)
	if m.MaxTokens > 0 {
		p.line("tokens        %d at once", m.MaxTokens)
	}
	return p.end()
}

// modelPair are two texts and how the built-in model has to judge them.
type modelPair struct {
	a, b    string
	related bool
	cosine  float64
}

func modelPairs() []modelPair {
	return []modelPair{
		{"How do I reset my password?", "Steps to recover a forgotten login", true, 0.5903},
		{"The boiler is serviced every spring.", "Who looks after the heating?", true, 0.3811},
		{"A cat sleeps on the sofa.", "A kitten is napping on the couch.", true, 0.7529},
		{"A cat sleeps on the sofa.", "The central bank raised interest rates.", false, -0.0318},
		{"How do I reset my password?", "Tomatoes need a lot of sun.", false, -0.0162},
	}
}

// builtinTolerance is how far a cosine of the built-in model may be from that
// of its original in 32-bit floats.
const builtinTolerance = 0.03

func (a *app) modelCheckCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "check",
		Short: "Check that the model gives the vectors it should",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			e, err := a.openModel()
			if err != nil {
				return err
			}
			defer e.Close() //nolint:errcheck // nothing was written by it
			problems, err := checkModel(cmd.Context(), e)
			if err != nil {
				return err
			}
			if len(problems) > 0 {
				return fault.New(fault.Permanent, "model_check", "the model %s is not right: %s", e.Identity().Name, strings.Join(problems, "; "))
			}
			p := a.page()
			p.line("%s: %d pairs of texts are judged as they should be, alone and together", visible(e.Identity().Name), len(modelPairs()))
			return p.end()
		},
	}
}

// checkModel embeds known texts: vectors are of unit length, the same alone and
// in a batch, and related texts are nearer than others.
func checkModel(ctx context.Context, e embed.Embedder) (problems []string, err error) {
	var texts []string
	for _, p := range modelPairs() {
		texts = append(texts, p.a, p.b)
	}
	vectors, err := e.EmbedPassages(ctx, texts)
	if err != nil {
		return nil, err
	}
	if len(vectors) != len(texts) {
		return []string{fmt.Sprintf("%d vectors for %d texts", len(vectors), len(texts))}, nil
	}
	least, most := 1.0, -1.0
	for i, p := range modelPairs() {
		one, err := e.EmbedPassages(ctx, []string{p.a})
		if err != nil {
			return nil, err
		}
		if c := cosine(one[0], vectors[2*i]); !(c > 0.9999) {
			problems = append(problems, fmt.Sprintf("%q has another vector alone than with others (cosine %.4f)", p.a, c))
		}
		if n := cosine(vectors[2*i], vectors[2*i]); math.Abs(n-1) > 1e-3 {
			problems = append(problems, fmt.Sprintf("the vector of %q has length %.4f", p.a, math.Sqrt(n)))
		}
		c := cosine(vectors[2*i], vectors[2*i+1])
		if p.related {
			least = min(least, c)
		} else {
			most = max(most, c)
		}
		if e.Identity().Name == embed.BuiltinName && !(math.Abs(c-p.cosine) <= builtinTolerance) {
			problems = append(problems, fmt.Sprintf("%q and %q have cosine %.3f instead of %.3f", p.a, p.b, c, p.cosine))
		}
	}
	if !(least > most) {
		problems = append(problems, fmt.Sprintf("unrelated texts are as near (%.2f) as related ones (%.2f)", most, least))
	}
	return problems, nil
}

// cosine of two unit vectors.
func cosine(a, b []float32) float64 {
	var sum float64
	for i := range min(len(a), len(b)) {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

func (a *app) modelBenchCommand() *cobra.Command {
	var seconds int
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure how fast the model is here",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if seconds < 1 || seconds > 600 {
				return usageError{fmt.Errorf("--seconds is %d; allowed: 1 to 600", seconds)}
			}
			e, err := a.openModel()
			if err != nil {
				return err
			}
			defer e.Close() //nolint:errcheck // nothing was written by it
			return a.benchModel(cmd.Context(), e, time.Duration(seconds)*time.Second)
		},
	}
	cmd.Flags().IntVar(&seconds, "seconds", 5, "how long to measure")
	return cmd
}

const benchSentence = "The quick brown fox jumps over the lazy dog while the committee reviews annual reports about heating systems. "

func (a *app) benchModel(ctx context.Context, e embed.Embedder, d time.Duration) error {
	text := strings.Repeat(benchSentence, 6)
	batch := make([]string, 16)
	for i := range batch {
		batch[i] = fmt.Sprintf("Passage %d. %s", i, text)
	}
	each := e.CountTokens(batch[0])
	if _, err := e.EmbedPassages(ctx, batch[:2]); err != nil { // warm
		return err
	}
	start, n := time.Now(), 0
	for time.Since(start) < d {
		if _, err := e.EmbedPassages(ctx, batch); err != nil {
			return err
		}
		n += len(batch)
	}
	took := time.Since(start).Seconds()
	query, queries := time.Now(), 0
	for time.Since(query) < d/4 {
		if _, err := e.EmbedQuery(ctx, "who looks after the heating in the old house"); err != nil {
			return err
		}
		queries++
	}
	p := a.page()
	p.line("%s: %.0f tokens/s (%.1f passages of %d tokens), %.2f ms a query", visible(e.Identity().Name),
		float64(n*each)/took, float64(n)/took, each, time.Since(query).Seconds()*1000/float64(max(queries, 1)))
	return p.end()
}
