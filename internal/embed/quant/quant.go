// Package quant turns float weights into int8 with a scale for each row.
//
// It owns the choice of the scale and nothing else: files and kernels are
// other packages'.
package quant

import "math"

// steps of the search for a row's scale, from the largest weight down by half a percent each.
const steps = 60

// Rows quantises w, [rows][width] with width > 0, row by row: w is about
// scale * q, q in -127..127. Each row's scale is, of 60 candidates at and
// below largest/127, the one with the least squared error, so a single outlier
// is clipped where that pays. The result depends on w alone.
func Rows(w []float32, width int) (q []int8, scale []float32) {
	rows := len(w) / width
	q, scale = make([]int8, rows*width), make([]float32, rows)
	for r := range rows {
		row := w[r*width : (r+1)*width]
		scale[r] = best(row)
		inv := inverse(scale[r])
		for i, x := range row {
			q[r*width+i] = int8(level(x, inv))
		}
	}
	return q, scale
}

func best(row []float32) float32 {
	var top float32
	for _, x := range row {
		top = max(top, x, -x)
	}
	if top == 0 {
		return 0
	}
	bestScale, least := float32(0), math.Inf(1)
	for i := range steps {
		// Each product is rounded by itself, so that no CPU fuses it with the next sum.
		down := float32(0.005 * float32(i))
		s := top / 127 * (1 - down)
		inv := inverse(s)
		var loss float64
		for _, x := range row {
			near := float64(float64(s) * float64(level(x, inv)))
			d := float64(x) - near
			loss += float64(d * d)
		}
		if loss < least {
			bestScale, least = s, loss
		}
	}
	return bestScale
}

func inverse(s float32) float32 {
	if s < 1e-30 {
		return 0
	}
	return 1 / s
}

func level(x, inv float32) int {
	v := math.RoundToEven(float64(float32(x * inv)))
	return int(min(max(v, -127), 127))
}

// Floats is the inverse of Rows up to its error; scale has one value a row.
func Floats(q []int8, scale []float32) []float32 {
	out := make([]float32, len(q))
	if len(scale) == 0 {
		return out
	}
	width := len(q) / len(scale)
	for i, x := range q {
		out[i] = scale[i/width] * float32(x)
	}
	return out
}
