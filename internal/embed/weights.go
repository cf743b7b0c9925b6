package embed

import (
	"fmt"
	"slices"

	"ragd/internal/embed/kernel"
	"ragd/internal/embed/quant"
	"ragd/internal/embed/safetensors"
	"ragd/internal/fault"
)

// ScaleSuffix names the scales of an int8 tensor: "x.weight" is I8 [rows][width],
// "x.weight_scale" F32 [rows].
const ScaleSuffix = "_scale"

// InputSuffix names what the inputs of an int8 matrix are multiplied by before
// they are quantised, F32 [width]; the matrix holds the inverse. It takes the
// few input channels that are far larger than the rest down to their size.
// query, key and value share their input, so they share the one of query.
const InputSuffix = ".input_scale"

// weights fills a kernel from the tensors of a BERT encoder.
type weights struct {
	file   *safetensors.File
	prefix string // "" or "bert."
	float  bool
	static bool // the file's memory is not Go's and outlives the model
}

func newWeights(f *safetensors.File, float, static bool) (*weights, error) {
	const word = "embeddings.word_embeddings.weight"
	for _, prefix := range []string{"", "bert."} {
		if _, ok := f.Tensors[prefix+word]; ok {
			return &weights{f, prefix, float, static}, nil
		}
	}
	return nil, fault.New(fault.Invalid, "model_architecture", "the model file has no tensor %q: it is not of the BERT family", word)
}

func (w *weights) tensor(name string, shape ...int) (safetensors.Tensor, error) {
	t, ok := w.file.Tensors[w.prefix+name]
	if !ok {
		return t, fault.New(fault.Invalid, "model_file", "the model file has no tensor %q", w.prefix+name)
	}
	if !slices.Equal(t.Shape, shape) {
		return t, fault.New(fault.Invalid, "model_shape", "the tensor %q is %v, config.json makes it %v", w.prefix+name, t.Shape, shape)
	}
	return t, nil
}

func (w *weights) floats(name string, shape ...int) ([]float32, error) {
	t, err := w.tensor(name, shape...)
	if err != nil {
		return nil, err
	}
	if t.DType == "I8" {
		q, scale, err := w.int8s(name, shape...)
		if err != nil {
			return nil, err
		}
		return quant.Floats(q, scale), nil
	}
	return t.Floats()
}

// int8s returns a matrix as int8 with row scales, quantising it if it is float.
func (w *weights) int8s(name string, shape ...int) ([]int8, []float32, error) {
	t, err := w.tensor(name, shape...)
	if err != nil {
		return nil, nil, err
	}
	if t.DType == "I8" {
		scales, err := w.tensor(name+ScaleSuffix, shape[0])
		if err != nil {
			return nil, nil, err
		}
		scale, err := scales.Floats()
		if err != nil {
			return nil, nil, err
		}
		q, err := t.Int8s()
		return q, scale, err
	}
	f, err := t.Floats()
	if err != nil {
		return nil, nil, err
	}
	q, scale := quant.Rows(f, shape[1])
	return q, scale, nil
}

// fill sets everything the kernel needs.
func (w *weights) fill(m *kernel.Model, c bertConfig) error {
	if err := w.fillWords(m, c); err != nil {
		return err
	}
	positions, err := w.floats("embeddings.position_embeddings.weight", c.Positions, c.Hidden)
	if err != nil {
		return err
	}
	kinds, ok := w.file.Tensors[w.prefix+"embeddings.token_type_embeddings.weight"]
	if ok && len(kinds.Shape) == 2 && kinds.Shape[0] > 0 && kinds.Shape[1] == c.Hidden {
		first, err := kinds.Floats()
		if err != nil {
			return err
		}
		for i := range positions {
			positions[i] += first[i%c.Hidden]
		}
	}
	if err := m.SetPositions(positions); err != nil {
		return err
	}
	if err := w.norm(m, kernel.NormEmbed, 0, "embeddings.LayerNorm", c); err != nil {
		return err
	}
	for i := range c.Layers {
		if err := w.layer(m, i, c); err != nil {
			return err
		}
	}
	return nil
}

func (w *weights) fillWords(m *kernel.Model, c bertConfig) error {
	const name = "embeddings.word_embeddings.weight"
	if w.float {
		f, err := w.floats(name, c.Vocab, c.Hidden)
		if err != nil {
			return err
		}
		return m.SetWordsFloat(f, false, nil)
	}
	t, err := w.tensor(name, c.Vocab, c.Hidden)
	if err != nil {
		return err
	}
	q, scale, err := w.int8s(name, c.Vocab, c.Hidden)
	if err != nil {
		return err
	}
	return m.SetWords(q, scale, w.static && t.DType == "I8", w.file)
}

func (w *weights) norm(m *kernel.Model, which kernel.Norm, layer int, name string, c bertConfig) error {
	gamma, err := w.floats(name+".weight", c.Hidden)
	if err != nil {
		return err
	}
	beta, err := w.floats(name+".bias", c.Hidden)
	if err != nil {
		return err
	}
	return m.SetNorm(which, layer, gamma, beta)
}

func (w *weights) layer(m *kernel.Model, i int, c bertConfig) error {
	at := fmt.Sprintf("encoder.layer.%d.", i)
	h, f := c.Hidden, c.FFN
	self := at + "attention.self."
	for _, l := range []struct {
		which kernel.Linear
		n, k  int // of each name
		names []string
	}{
		{kernel.QKV, h, h, []string{self + "query", self + "key", self + "value"}},
		{kernel.Out, h, h, []string{at + "attention.output.dense"}},
		{kernel.Up, f, h, []string{at + "intermediate.dense"}},
		{kernel.Down, h, f, []string{at + "output.dense"}},
	} {
		if err := w.linear(m, l.which, i, l.n, l.k, l.names); err != nil {
			return err
		}
	}
	if err := w.norm(m, kernel.NormAttend, i, at+"attention.output.LayerNorm", c); err != nil {
		return err
	}
	return w.norm(m, kernel.NormFFN, i, at+"output.LayerNorm", c)
}

// linear sets one map of the kernel, made of one or more tensors one below the other.
func (w *weights) linear(m *kernel.Model, which kernel.Linear, layer, n, k int, names []string) error {
	var q []int8
	var scale, bias, whole []float32
	input, err := w.input(names[0], k)
	if err != nil {
		return err
	}
	for _, name := range names {
		b, err := w.floats(name+".bias", n)
		if err != nil {
			return err
		}
		bias = append(bias, b...)
		if w.float {
			f, err := w.floats(name+".weight", n, k)
			if err != nil {
				return err
			}
			for i := range f {
				if input != nil {
					f[i] *= input[i%k]
				}
			}
			whole = append(whole, f...)
			continue
		}
		part, s, err := w.int8s(name+".weight", n, k)
		if err != nil {
			return err
		}
		q, scale = append(q, part...), append(scale, s...)
	}
	if w.float {
		return m.SetLinearFloat(which, layer, whole, bias)
	}
	return m.SetLinear(which, layer, q, scale, input, bias)
}

// check compares the shape of the first tensor with config.json before memory
// is taken for what that file says.
func (w *weights) check(c bertConfig) error {
	if c.Positions < 16 || c.Vocab < 1 || c.Hidden < 1 || c.Layers < 1 || c.Heads < 1 || c.FFN < 1 {
		return fault.New(fault.Invalid, "model_shape", "config.json describes a model of %d layers, width %d, %d heads, %d positions and %d words",
			c.Layers, c.Hidden, c.Heads, c.Positions, c.Vocab)
	}
	if _, err := w.tensor("embeddings.word_embeddings.weight", c.Vocab, c.Hidden); err != nil {
		return err
	}
	_, err := w.tensor("embeddings.position_embeddings.weight", c.Positions, c.Hidden)
	return err
}

// input returns what the inputs of a map are multiplied by, nil for nothing.
func (w *weights) input(name string, k int) ([]float32, error) {
	if _, ok := w.file.Tensors[w.prefix+name+InputSuffix]; !ok {
		return nil, nil
	}
	return w.floats(name+InputSuffix, k)
}
