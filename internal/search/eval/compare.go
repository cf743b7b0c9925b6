package eval

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// Change is what became of a leg's nDCG@10 since an earlier run.
type Change struct {
	Set, Leg      string
	Before, After float64
}

// Lost says whether it fell by more than tolerance.
func (c Change) Lost(tolerance float64) bool { return c.After < c.Before-tolerance }

// Compare pairs the legs of two runs, in the order of the later. Sets and legs
// that only one of them has are left out.
func Compare(before, after []Report) []Change {
	was := map[[2]string]float64{}
	for _, r := range before {
		for _, l := range r.Legs {
			was[[2]string{r.Set, l.Name}] = l.Scores.NDCG10
		}
	}
	var out []Change
	for _, r := range after {
		for _, l := range r.Legs {
			if b, ok := was[[2]string{r.Set, l.Name}]; ok {
				out = append(out, Change{r.Set, l.Name, b, l.Scores.NDCG10})
			}
		}
	}
	return out
}

// WriteChanges prints them, losses marked.
func WriteChanges(w io.Writer, changes []Change, tolerance float64) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "set\tleg\tbefore\tnow\tchange")
	for _, c := range changes {
		mark := ""
		if c.Lost(tolerance) {
			mark = "  worse"
		}
		fmt.Fprintf(tw, "%s\t%s\t%.3f\t%.3f\t%+.3f%s\n", c.Set, c.Leg, c.Before, c.After, c.After-c.Before, mark)
	}
	return tw.Flush()
}
