package eval

import (
	"math"
	"math/rand/v2"
	"sort"
)

// Scores of one query.
type Scores struct {
	NDCG10   float64 `json:"ndcg@10"`
	Recall10 float64 `json:"recall@10"`
	MRR10    float64 `json:"mrr@10"`
}

// Score rates a ranking of document ids, best first, against graded
// judgments. nDCG is Järvelin and Kekäläinen's with gain = grade and a log2
// discount; the ideal ranking is cut at ten as well.
func Score(ranking []string, judged map[string]int) Scores {
	var s Scores
	var dcg float64
	relevant, found := 0, 0
	for _, g := range judged {
		if g > 0 {
			relevant++
		}
	}
	for i, id := range ranking[:min(len(ranking), 10)] {
		g := judged[id]
		if g <= 0 {
			continue
		}
		dcg += float64(g) / math.Log2(float64(i+2))
		found++
		if s.MRR10 == 0 {
			s.MRR10 = 1 / float64(i+1)
		}
	}
	if ideal := idealDCG(judged); ideal > 0 {
		s.NDCG10 = dcg / ideal
	}
	if relevant > 0 {
		s.Recall10 = float64(found) / float64(relevant)
	}
	return s
}

func idealDCG(judged map[string]int) float64 {
	var grades []int
	for _, g := range judged {
		if g > 0 {
			grades = append(grades, g)
		}
	}
	sort.Sort(sort.Reverse(sort.IntSlice(grades)))
	var dcg float64
	for i, g := range grades[:min(len(grades), 10)] {
		dcg += float64(g) / math.Log2(float64(i+2))
	}
	return dcg
}

// Mean of each measure.
func Mean(all []Scores) Scores {
	var m Scores
	if len(all) == 0 {
		return m
	}
	for _, s := range all {
		m.NDCG10 += s.NDCG10
		m.Recall10 += s.Recall10
		m.MRR10 += s.MRR10
	}
	n := float64(len(all))
	return Scores{m.NDCG10 / n, m.Recall10 / n, m.MRR10 / n}
}

// Interval is the middle 95 % of the bootstrap distribution of a mean
// (Efron's percentile method, 1,000 resamples, fixed seed).
func Interval(values []float64) (low, high float64) {
	if len(values) == 0 {
		return 0, 0
	}
	const resamples = 1000
	rng := rand.New(rand.NewPCG(1, 2))
	means := make([]float64, resamples)
	for i := range means {
		var sum float64
		for range values {
			sum += values[rng.IntN(len(values))]
		}
		means[i] = sum / float64(len(values))
	}
	sort.Float64s(means)
	return means[resamples*25/1000], means[resamples*975/1000-1]
}

// Percentile of values, 0 < p ≤ 100, by the nearest-rank method.
func Percentile(values []float64, p float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := append([]float64(nil), values...)
	sort.Float64s(sorted)
	i := int(math.Ceil(p/100*float64(len(sorted)))) - 1
	return sorted[max(0, min(i, len(sorted)-1))]
}
