package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"ragd/internal/adminclient"
	"ragd/internal/embed"
	"ragd/internal/fault"
	"ragd/internal/search/eval"
)

// lossTolerance is the fall of nDCG@10 that counts as a loss against an earlier run.
const lossTolerance = 0.003

func (a *app) evalCommand() *cobra.Command {
	var against string
	var modes []string
	cmd := &cobra.Command{
		Use:   "eval SET…",
		Short: "Measure how well questions find their answers",
		Long: `Measure retrieval quality. A SET is a folder in BEIR layout (corpus.jsonl, queries.jsonl,
qrels.tsv), which is indexed in a temporary index, or a file of lines "question<TAB>kb/path",
which is asked of the running daemon. Prints nDCG@10 with its 95 % interval, recall@10, MRR@10
and latency. With --against, an earlier run's JSON, a loss ends with exit code 1.`,
		Example: "  ragd eval my-questions.tsv\n  ragd eval --json scifact/ > before.json\n  ragd eval --against before.json scifact/",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usageError{fmt.Errorf("eval needs at least one set")}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			reports := []eval.Report{}
			for _, path := range args {
				r, err := a.evalSet(cmd, path, modes)
				if err != nil {
					return err
				}
				reports = append(reports, r)
			}
			if err := a.printEval(reports); err != nil {
				return err
			}
			return a.compareRuns(against, reports)
		},
	}
	cmd.Flags().StringVar(&against, "against", "", "an earlier run's JSON to compare with")
	cmd.Flags().StringSliceVar(&modes, "mode", []string{"keyword", "meaning", "hybrid", "rrf"}, "the ways of searching to measure")
	return a.jsonFlag(cmd)
}

func (a *app) printEval(reports []eval.Report) error {
	if a.json {
		return a.printJSON(reports)
	}
	if err := eval.Write(a.out, reports); err != nil {
		return err
	}
	for _, r := range reports {
		for _, l := range r.Legs {
			for i, b := range l.Worst[:min(len(l.Worst), 3)] {
				if i == 0 {
					fmt.Fprintf(a.out, "\n%s, %s: worst queries\n", r.Set, l.Name)
				}
				fmt.Fprintf(a.out, "  %.2f  %s\n        want %s, got %s\n", b.NDCG, oneLine(b.Query, 100), visible(b.Want), visible(b.Got))
			}
		}
	}
	if len(reports) < 2 {
		return nil
	}
	fmt.Fprintln(a.out)
	return eval.Summary(a.out, reports)
}

func (a *app) evalSet(cmd *cobra.Command, path string, modes []string) (eval.Report, error) {
	set, err := eval.Load(path)
	if err != nil {
		return eval.Report{}, err
	}
	if set.Corpus == nil {
		return a.evalLive(cmd, set, modes)
	}
	embedder, err := a.evalEmbedder(modes)
	if err != nil {
		return eval.Report{}, err
	}
	if embedder != nil {
		defer embedder.Close() //nolint:errcheck // nothing was written by it
	}
	dir, err := os.MkdirTemp("", "ragd-eval-")
	if err != nil {
		return eval.Report{}, err
	}
	defer os.RemoveAll(dir)
	ix, err := newEvalIndex(cmd.Context(), filepath.Join(dir, "index.db"), set, embedder)
	if err != nil {
		return eval.Report{}, err
	}
	defer ix.close()
	rep := eval.Report{Set: set.Name, Documents: len(set.Corpus), Queries: len(set.Queries)}
	for _, mode := range modes {
		if !ix.has(mode) {
			continue
		}
		leg, err := eval.Run(set, mode, func(q string) ([]string, float64, error) { return ix.search(cmd.Context(), q, mode) })
		if err != nil {
			return rep, err
		}
		rep.Legs = append(rep.Legs, leg)
	}
	return rep, nil
}

// evalLive asks the questions of the running daemon.
func (a *app) evalLive(cmd *cobra.Command, set *eval.Set, modes []string) (eval.Report, error) {
	c, err := a.client()
	if err != nil {
		return eval.Report{}, err
	}
	defer c.Close()
	rep := eval.Report{Set: set.Name, Queries: len(set.Queries)}
	for _, mode := range modes {
		leg, err := eval.Run(set, mode, func(q string) ([]string, float64, error) { return liveSearch(cmd, c, q, mode) })
		if err != nil {
			return rep, err
		}
		rep.Legs = append(rep.Legs, leg)
	}
	return rep, nil
}

func liveSearch(cmd *cobra.Command, c *adminclient.Client, q, mode string) ([]string, float64, error) {
	start := time.Now()
	res, err := c.Search(cmd.Context(), q, "", mode, 50, false)
	ms := float64(time.Since(start).Microseconds()) / 1000
	if err != nil {
		return nil, ms, err
	}
	var ids []string
	seen := map[string]bool{}
	for _, h := range res.Results {
		id := h.KB + "/" + shownPath(h.Path, h.PathBytes)
		if !seen[id] {
			seen[id] = true
			ids = append(ids, id)
		}
	}
	return ids, ms, nil
}

// compareRuns sets the reports beside an earlier run's; a loss is an error.
func (a *app) compareRuns(path string, reports []eval.Report) error {
	if path == "" {
		return nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return fault.New(fault.NotFound, "run_not_found", "the earlier run %q cannot be read", path).Because(err)
	}
	var before []eval.Report
	if err := json.Unmarshal(data, &before); err != nil {
		return fault.New(fault.Invalid, "run_malformed", "%q is not the JSON of an earlier run", path).
			WithHint("make one with ragd eval --json").Because(err)
	}
	changes := eval.Compare(before, reports)
	if len(changes) == 0 {
		return fault.New(fault.Invalid, "nothing_to_compare", "the earlier run %q has none of these sets", path)
	}
	if !a.json {
		fmt.Fprintln(a.out)
		if err := eval.WriteChanges(a.out, changes, lossTolerance); err != nil {
			return err
		}
	}
	losses := slices.DeleteFunc(changes, func(c eval.Change) bool { return !c.Lost(lossTolerance) })
	if len(losses) == 0 {
		return nil
	}
	l := losses[0]
	return fault.New(fault.Conflict, "quality_lost", "%d results are worse than before; %s by %s fell from %.3f to %.3f", len(losses), l.Set, l.Leg, l.Before, l.After)
}

// evalEmbedder opens the model that the settings name, with all cores; nil
// when they switch embedding off or no mode asked for needs it.
func (a *app) evalEmbedder(modes []string) (embed.Embedder, error) {
	cfg, err := a.config()
	if err != nil || !cfg.Embeddings.Enabled || !slices.ContainsFunc(modes, func(m string) bool { return m != "keyword" }) {
		return nil, err
	}
	if cfg.Embeddings.Threads == 0 {
		cfg.Embeddings.Threads = runtime.NumCPU()
	}
	return openEmbedder(cfg, sourceOf(cfg), 0)
}
