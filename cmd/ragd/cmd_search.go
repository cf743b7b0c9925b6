package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"ragd/internal/search"
	"ragd/internal/wire"
)

func (a *app) searchCommand() *cobra.Command {
	var kb, mode string
	var top int
	var explain, full bool
	cmd := &cobra.Command{
		Use:   "search QUERY…",
		Short: "Search from the shell",
		Long: `Search from the shell. Words, a whole question, a "phrase in quotes", -word to
leave out. Several arguments are one query; after -- they may begin with a dash.`,
		Example: `  ragd search "who services the boiler"
  ragd search --kb notes,work --top 3 boiler
  ragd search -- --error-on-warnings`,
		Args: func(_ *cobra.Command, args []string) error {
			if strings.TrimSpace(strings.Join(args, " ")) == "" {
				return usageError{fmt.Errorf("search needs a query")}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if top < 1 || top > 100 {
				return usageError{fmt.Errorf("--top is %d; allowed: 1 to 100", top)}
			}
			if mode != "" && !slices.Contains(searchModes(), mode) {
				return usageError{fmt.Errorf("--mode is %q; allowed: %s", mode, strings.Join(searchModes(), ", "))}
			}
			c, err := a.client()
			if err != nil {
				return err
			}
			defer c.Close()
			res, err := c.Search(cmd.Context(), strings.Join(args, " "), kb, mode, top, explain)
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(res)
			}
			return a.printHits(res, full)
		},
	}
	cmd.Flags().StringVar(&kb, "kb", "", "only in these knowledge bases (names separated by commas)")
	cmd.Flags().StringVar(&mode, "mode", "", strings.Join(searchModes(), ", "))
	cmd.Flags().IntVarP(&top, "top", "n", 10, "number of results, 1 to 100")
	cmd.Flags().BoolVar(&explain, "explain", false, "say how each result got its score")
	cmd.Flags().BoolVar(&full, "full", false, "print the whole passages instead of their first lines")
	a.completeKB(cmd, "kb")
	a.complete(cmd, "mode", searchModes)
	return a.jsonFlag(cmd)
}

func searchModes() []string { return []string{"hybrid", "keyword", "meaning", "rrf"} }

const teaser = 240 // characters of a passage that is not shown in full

func (a *app) printHits(res wire.SearchResult, full bool) error {
	p := a.page()
	for i, h := range res.Results {
		where := visible(h.KB + "/" + shownPath(h.Path, h.PathBytes))
		if h.Lines.First > 0 {
			where += fmt.Sprintf(":%d", h.Lines.First)
			if h.Lines.Last > h.Lines.First {
				where += fmt.Sprintf("-%d", h.Lines.Last)
			}
		}
		if h.Page > 0 {
			where += fmt.Sprintf(" p.%d", h.Page)
		}
		p.line("%2d. %s  (%.2f %s)", i+1, where, h.Score, visible(h.Match))
		if trail := trail(h); trail != "" {
			p.line("    %s", trail)
		}
		if h.Poor != "" {
			p.line("    poor text: %s", visible(h.Poor))
		}
		if full {
			for line := range strings.SplitSeq(strings.TrimRight(h.Content, "\n"), "\n") {
				p.line("    | %s", visible(strings.ReplaceAll(line, "\t", "    ")))
			}
		} else {
			p.line("    %s", oneLine(h.Content, teaser))
		}
		if h.Explain != nil {
			p.line("    %s", visible(explainLine(h.Explain)))
		}
	}
	switch {
	case len(res.Results) == 0 && res.Reason != "":
		p.line("%s", visible(res.Reason))
	case len(res.Results) == 0:
		p.line("no match")
	case res.Weak:
		p.line("none of these is a good match")
	}
	if res.Fallback != "" {
		p.line("by keyword only: %s", visible(res.Fallback))
	}
	if f := res.Freshness; f.Pending > 0 || f.Failed > 0 {
		p.line("not in yet: %s pending, %s failed", countText(f.Pending), countText(f.Failed))
	}
	if n := res.Freshness.PendingVectors; n > 0 {
		p.line("found by keyword only so far: %s", plural(n, "chunk"))
	}
	for _, d := range res.Freshness.Degraded {
		p.line("may be out of date: %s", visible(d))
	}
	return p.end()
}

// explainLine says in words how a result got its score.
func explainLine(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	var e search.Explain
	if err := json.Unmarshal(data, &e); err != nil {
		return fmt.Sprint(v)
	}
	return e.String()
}

// trail is the title and the headings a passage stands under.
func trail(h wire.Hit) string {
	parts := slices.Clone(h.Headings)
	if h.Title != "" && !slices.Contains(parts, h.Title) {
		parts = slices.Insert(parts, 0, h.Title)
	}
	return oneLine(strings.Join(parts, " › "), 120)
}

// shownPath is the path with its own bytes, where it is not UTF-8.
func shownPath(path string, raw []byte) string {
	if len(raw) > 0 {
		return string(raw)
	}
	return path
}
