package eval

import (
	"fmt"
	"io"
	"math"
	"slices"
	"sort"
	"strings"
	"text/tabwriter"
)

// Leg is one way of searching, measured over a set.
type Leg struct {
	Name     string    `json:"name"` // keyword, meaning, hybrid, rrf
	Scores   Scores    `json:"scores"`
	NDCGLow  float64   `json:"ndcg@10_low"` // 95 % bootstrap interval
	NDCGHigh float64   `json:"ndcg@10_high"`
	P50      float64   `json:"p50_ms"`
	P95      float64   `json:"p95_ms"`
	P99      float64   `json:"p99_ms"`
	Worst    []Bad     `json:"worst,omitempty"`
	PerQuery []float64 `json:"-"`
}

// Bad is a query that went badly.
type Bad struct {
	Query string  `json:"query"`
	NDCG  float64 `json:"ndcg@10"`
	Want  string  `json:"want"`
	Got   string  `json:"got"`
}

// Report is a set's result.
type Report struct {
	Set       string `json:"set"`
	Documents int    `json:"documents"`
	Queries   int    `json:"queries"`
	Legs      []Leg  `json:"legs"`
}

// Run scores every query of a set with search, which returns document ids,
// best first, and how long it took in milliseconds.
func Run(s *Set, name string, search func(query string) (ids []string, ms float64, err error)) (Leg, error) {
	leg := Leg{Name: name}
	var all []Scores
	var times []float64
	var bad []Bad
	for _, q := range s.Queries {
		ids, ms, err := search(q.Text)
		if err != nil {
			return leg, fmt.Errorf("query %q: %w", q.Text, err)
		}
		sc := Score(ids, q.Judged)
		all = append(all, sc)
		times = append(times, ms)
		leg.PerQuery = append(leg.PerQuery, sc.NDCG10)
		if sc.NDCG10 < 0.4 {
			bad = append(bad, Bad{Query: q.Text, NDCG: sc.NDCG10, Want: anyOf(q.Judged), Got: first(ids)})
		}
	}
	leg.Scores = Mean(all)
	leg.NDCGLow, leg.NDCGHigh = Interval(leg.PerQuery)
	leg.P50, leg.P95, leg.P99 = Percentile(times, 50), Percentile(times, 95), Percentile(times, 99)
	sort.SliceStable(bad, func(i, j int) bool { return bad[i].NDCG < bad[j].NDCG })
	leg.Worst = bad[:min(len(bad), 10)]
	return leg, nil
}

func anyOf(judged map[string]int) string {
	best := ""
	for id, g := range judged {
		if g > 0 && (best == "" || id < best) {
			best = id
		}
	}
	return best
}

func first(ids []string) string {
	if len(ids) == 0 {
		return "(nothing)"
	}
	return ids[0]
}

// Write prints reports side by side.
func Write(w io.Writer, reports []Report) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "set\tqueries\tleg\tnDCG@10\t95 %\trecall@10\tMRR@10\tp50 ms\tp95 ms\tp99 ms")
	for _, r := range reports {
		for _, l := range r.Legs {
			fmt.Fprintf(tw, "%s\t%d\t%s\t%.3f\t%.3f–%.3f\t%.3f\t%.3f\t%.1f\t%.1f\t%.1f\n", r.Set, r.Queries, l.Name,
				l.Scores.NDCG10, l.NDCGLow, l.NDCGHigh, l.Scores.Recall10, l.Scores.MRR10, l.P50, l.P95, l.P99)
		}
	}
	return tw.Flush()
}

// Summary prints nDCG@10 of all sets, one line each, and the means.
func Summary(w io.Writer, reports []Report) error {
	var names []string
	for _, r := range reports {
		for _, l := range r.Legs {
			if !slices.Contains(names, l.Name) {
				names = append(names, l.Name)
			}
		}
	}
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(tw, "nDCG@10\tdocuments\tqueries\t%s\n", strings.Join(names, "\t"))
	sums := make([]float64, len(names))
	for _, r := range reports {
		fmt.Fprintf(tw, "%s\t%d\t%d", r.Set, r.Documents, r.Queries)
		for i, name := range names {
			k := slices.IndexFunc(r.Legs, func(l Leg) bool { return l.Name == name })
			if k < 0 {
				fmt.Fprint(tw, "\t-")
				sums[i] = math.NaN()
				continue
			}
			sums[i] += r.Legs[k].Scores.NDCG10
			fmt.Fprintf(tw, "\t%.3f", r.Legs[k].Scores.NDCG10)
		}
		fmt.Fprintln(tw)
	}
	fmt.Fprint(tw, "mean\t\t")
	for _, sum := range sums {
		if math.IsNaN(sum) {
			fmt.Fprint(tw, "\t-")
			continue
		}
		fmt.Fprintf(tw, "\t%.3f", sum/float64(len(reports)))
	}
	fmt.Fprintln(tw)
	return tw.Flush()
}
