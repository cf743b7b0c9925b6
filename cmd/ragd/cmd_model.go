package main

import (
	"context"
	"fmt"
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
		RunE: func(cmd *cobra.Command, _ []string) error {
			e, err := a.openModel()
			if err != nil {
				return err
			}
			defer e.Close() //nolint:errcheck // nothing was written by it
			m := modelOf(e)
			if m.Server = a.modelServer(); m.Server != "" { // it has not told its dimension yet
				if _, err := e.EmbedPassages(cmd.Context(), []string{"dimension"}); err != nil {
					return err
				}
				m.Dimension = e.Identity().Dim
			}
			return a.printModel(m)
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

// modelServer is the address of the server that embeds, "" for this process.
func (a *app) modelServer() string {
	cfg, err := a.config()
	if err != nil {
		return ""
	}
	return cfg.Embeddings.BaseURL
}

// modelInfo is what ragd model prints.
type modelInfo struct {
	Name          string `json:"name"`
	Server        string `json:"server,omitempty"`
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
	out := modelInfo{
		Name: id.Name, Revision: id.Revision, Dimension: id.Dim, Pooling: id.Pooling, MaxTokens: id.MaxTokens,
		QueryPrefix: id.QueryPrefix, PassagePrefix: id.PassagePrefix,
	}
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
		{"server", m.Server}, {"revision", m.Revision}, {"pooling", m.Pooling}, {"query prefix", m.QueryPrefix}, {"text prefix", m.PassagePrefix}, {"instructions", m.Instructions},
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
			rep, err := embed.SelfTest(cmd.Context(), e)
			if err != nil {
				return err
			}
			return a.printSelfTest(rep)
		},
	}
}

// printSelfTest prints what was checked; what is not right is an error too.
func (a *app) printSelfTest(rep embed.Report) error {
	p := a.page()
	var wrong []string
	for _, c := range rep.Checks {
		mark := "ok   "
		if !c.OK {
			mark = "WRONG"
			wrong = append(wrong, c.Name)
		}
		p.line("%s  %s: %s", mark, c.Name, c.Detail)
	}
	if err := p.end(); err != nil || len(wrong) == 0 {
		return err
	}
	return fault.New(fault.Permanent, "model_check", "the model %s is not right: not so: %s", rep.Identity.Name, strings.Join(wrong, "; "))
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

func (a *app) benchModel(ctx context.Context, e embed.Embedder, d time.Duration) error {
	passages, query, err := embed.Benchmark(ctx, e, d/2)
	if err != nil {
		return err
	}
	p := a.page()
	p.line("%s", visible(e.Identity().Name))
	for _, s := range passages {
		p.line("passages of %d tokens: %.0f tokens/s, %.2f ms each", s.Tokens, s.PerSec, ms(s.PerText))
	}
	p.line("a query of %d tokens: %.2f ms", e.CountTokens(embed.BenchQuery)+2, ms(query))
	return p.end()
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
