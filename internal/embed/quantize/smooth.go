package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"ragd/internal/embed"
)

// activationsJSON is written by calibrate.py: "<layer>.<site>" to the largest
// absolute value of each input channel over its texts.
//
//go:embed activations.json
var activationsJSON []byte

// smoothing is, for each matrix, what its columns are multiplied by, and the
// inputs divided by: the noise of a row's 8-bit codes grows with its largest
// channel, and a few channels are ten times the rest.
type smoothing map[string][]float32

// site returns the layer's input that a matrix reads, "" if it is left alone:
// behind attention no channel stands out, and behind the activation function
// the weights of the one that does would lose more than the inputs gain.
func site(name string) (layer, input string) {
	rest, ok := strings.CutPrefix(name, "encoder.layer.")
	if !ok {
		return "", ""
	}
	layer, rest, _ = strings.Cut(rest, ".")
	switch rest {
	case "attention.self.query.weight", "attention.self.key.weight", "attention.self.value.weight":
		return layer, "qkv"
	case "intermediate.dense.weight":
		return layer, "up"
	}
	return "", ""
}

// smooth computes the factors of all matrices, [rows][width] each by name.
func smooth(matrices map[string][]float32, width map[string]int) (smoothing, error) {
	var top map[string][]float32
	if err := json.Unmarshal(activationsJSON, &top); err != nil {
		return nil, err
	}
	groups := map[string][]string{} // matrices that share an input
	for name := range matrices {
		if layer, input := site(name); input != "" {
			groups[layer+"."+input] = append(groups[layer+"."+input], name)
		}
	}
	out := smoothing{}
	for key, names := range groups {
		a := top[key]
		if len(a) != width[names[0]] {
			return nil, fmt.Errorf("activations.json has %d channels for %s, not %d", len(a), key, width[names[0]])
		}
		f := balance(a, names, matrices)
		for _, name := range names {
			out[name] = f
		}
	}
	return out, nil
}

// balance shares the range between inputs and weights: sqrt(largest input / largest weight).
func balance(a []float32, names []string, matrices map[string][]float32) []float32 {
	f := make([]float32, len(a))
	for _, name := range names {
		for i, x := range matrices[name] {
			f[i%len(a)] = max(f[i%len(a)], x, -x)
		}
	}
	for j, w := range f {
		f[j] = float32(math.Sqrt(float64(a[j]) / float64(max(w, 1e-3))))
	}
	return f
}

// apply multiplies the columns of a matrix in place.
func (s smoothing) apply(name string, w []float32) {
	if f := s[name]; f != nil {
		for i := range w {
			w[i] *= f[i%len(f)]
		}
	}
}

// inputScale returns the name and values of the tensor that undoes apply, if
// this matrix is the one to carry it.
func (s smoothing) inputScale(name string) (string, []float32) {
	f := s[name]
	if f == nil || strings.HasSuffix(name, ".key.weight") || strings.HasSuffix(name, ".value.weight") {
		return "", nil
	}
	inverse := make([]float32, len(f))
	for j, x := range f {
		inverse[j] = 1 / x
	}
	return strings.TrimSuffix(name, ".weight") + embed.InputSuffix, inverse
}
