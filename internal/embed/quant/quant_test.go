package quant

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestRowsAreNearAndNeverWorseThanTheLargestWeightsScale(t *testing.T) {
	t.Parallel()
	const width = 96
	r := rand.New(rand.NewPCG(3, 4))
	w := make([]float32, 20*width)
	for i := range w {
		w[i] = float32(r.NormFloat64())
	}
	w[5*width] = 40 // an outlier
	q, scale := Rows(w, width)
	back := Floats(q, scale)
	for row := range 20 {
		var top, loss, plain float64
		for i := row * width; i < (row+1)*width; i++ {
			top = max(top, math.Abs(float64(w[i])))
		}
		for i := row * width; i < (row+1)*width; i++ {
			loss += math.Pow(float64(w[i]-back[i]), 2)
			plain += math.Pow(float64(w[i])-math.RoundToEven(float64(w[i])*127/top)*top/127, 2)
		}
		if loss > plain*1.0001 || loss/width > math.Pow(top/127, 2)/4 {
			t.Errorf("row %d: squared error %v, with the largest weight's scale %v", row, loss, plain)
		}
	}
	if again, _ := Rows(w, width); !slices.Equal(again, q) {
		t.Error("the same weights give other codes")
	}
	if slices.Contains(q, -128) {
		t.Error("a code is -128, which the kernels' bounds leave out")
	}
}

func TestARowOfZerosStaysZero(t *testing.T) {
	t.Parallel()
	q, scale := Rows(make([]float32, 8), 4)
	for _, x := range Floats(q, scale) {
		if x != 0 {
			t.Fatalf("%v of %v", x, q)
		}
	}
	if len(Floats(nil, nil)) != 0 {
		t.Error("nothing becomes something")
	}
}
