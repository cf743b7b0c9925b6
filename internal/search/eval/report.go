package eval

import (
	"fmt"
	"io"
	"sort"
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
	leg.P50, leg.P95 = Percentile(times, 50), Percentile(times, 95)
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
	fmt.Fprintln(tw, "set\tqueries\tleg\tnDCG@10\t95 %\trecall@10\tMRR@10\tp50 ms\tp95 ms")
	for _, r := range reports {
		for _, l := range r.Legs {
			fmt.Fprintf(tw, "%s\t%d\t%s\t%.3f\t%.3f–%.3f\t%.3f\t%.3f\t%.1f\t%.1f\n", r.Set, r.Queries, l.Name,
				l.Scores.NDCG10, l.NDCGLow, l.NDCGHigh, l.Scores.Recall10, l.Scores.MRR10, l.P50, l.P95)
		}
	}
	return tw.Flush()
}

// Loss is a leg that got worse than in an earlier run.
type Loss struct {
	Set, Leg      string
	Before, After float64
}

// Compare lists the legs whose nDCG@10 fell by more than tolerance.
func Compare(before, after []Report, tolerance float64) []Loss {
	was := map[[2]string]float64{}
	for _, r := range before {
		for _, l := range r.Legs {
			was[[2]string{r.Set, l.Name}] = l.Scores.NDCG10
		}
	}
	var losses []Loss
	for _, r := range after {
		for _, l := range r.Legs {
			if b, ok := was[[2]string{r.Set, l.Name}]; ok && l.Scores.NDCG10 < b-tolerance {
				losses = append(losses, Loss{r.Set, l.Name, b, l.Scores.NDCG10})
			}
		}
	}
	return losses
}
