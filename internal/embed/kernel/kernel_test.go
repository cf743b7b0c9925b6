package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"ragd/internal/embed/quant"
	"ragd/internal/fault"
)

// tiny is a random model with its weights kept, to be computed again in plain Go.
type tiny struct {
	cfg       Config
	word, pos []float32
	norms     map[string][2][]float32
	lin, bias map[string][]float32
	q         map[string][]int8
	scale     map[string][]float32
	wordQ     []int8
	wordScale []float32
}

func newTiny(seed uint64, cfg Config) *tiny {
	r := rand.New(rand.NewPCG(seed, 7))
	vec := func(n int, size, around float64) []float32 {
		out := make([]float32, n)
		for i := range out {
			out[i] = float32(around + size*r.NormFloat64())
		}
		return out
	}
	h, f := cfg.Hidden, cfg.FFN
	t := &tiny{cfg: cfg, norms: map[string][2][]float32{}, lin: map[string][]float32{}, bias: map[string][]float32{},
		q: map[string][]int8{}, scale: map[string][]float32{}}
	matrix := func(name string, n, k int) {
		t.q[name], t.scale[name] = quant.Rows(vec(n*k, 1/math.Sqrt(float64(k)), 0), k)
		t.lin[name] = quant.Floats(t.q[name], t.scale[name]) // both paths compute with the same weights
		t.bias[name] = vec(n, 0.1, 0)
	}
	t.wordQ, t.wordScale = quant.Rows(vec(cfg.Vocab*h, 1, 0), h)
	t.word = quant.Floats(t.wordQ, t.wordScale)
	t.pos = vec(cfg.Positions*h, 0.3, 0)
	t.norms["e"] = [2][]float32{vec(h, 0.1, 1), vec(h, 0.1, 0)}
	for l := range cfg.Layers {
		for name, nk := range map[Linear][2]int{QKV: {3 * h, h}, Out: {h, h}, Up: {f, h}, Down: {h, f}} {
			matrix(fmt.Sprint(l, name), nk[0], nk[1])
		}
		t.norms[fmt.Sprint(l, "a")] = [2][]float32{vec(h, 0.1, 1), vec(h, 0.1, 0)}
		t.norms[fmt.Sprint(l, "f")] = [2][]float32{vec(h, 0.1, 1), vec(h, 0.1, 0)}
	}
	return t
}

func (t *tiny) model(tb testing.TB, path Path, float bool) *Model {
	tb.Helper()
	cfg := t.cfg
	cfg.Path = path
	m, err := New(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(m.Close)
	must := func(err error) {
		tb.Helper()
		if err != nil {
			tb.Fatal(err)
		}
	}
	if float {
		must(m.SetWordsFloat(t.word, false, nil))
	} else {
		must(m.SetWords(t.wordQ, t.wordScale, false, nil))
	}
	must(m.SetPositions(t.pos))
	must(m.SetNorm(NormEmbed, 0, t.norms["e"][0], t.norms["e"][1]))
	for l := range cfg.Layers {
		for _, which := range []Linear{QKV, Out, Up, Down} {
			name := fmt.Sprint(l, which)
			if float {
				must(m.SetLinearFloat(which, l, t.lin[name], t.bias[name]))
			} else {
				must(m.SetLinear(which, l, t.q[name], t.scale[name], nil, t.bias[name]))
			}
		}
		a, f := t.norms[fmt.Sprint(l, "a")], t.norms[fmt.Sprint(l, "f")]
		must(m.SetNorm(NormAttend, l, a[0], a[1]))
		must(m.SetNorm(NormFFN, l, f[0], f[1]))
	}
	return m
}

func act(a Activation, x float64) float64 {
	switch a {
	case GELU:
		return x / 2 * (1 + math.Erf(x/math.Sqrt2))
	case GELUTanh:
		return x / 2 * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(x+0.044715*x*x*x)))
	}
	return max(x, 0)
}

func (t *tiny) norm(x [][]float64, name string) {
	g, b := t.norms[name][0], t.norms[name][1]
	for _, row := range x {
		var mean, v float64
		for _, a := range row {
			mean += a / float64(len(row))
		}
		for _, a := range row {
			v += (a - mean) * (a - mean) / float64(len(row))
		}
		for i := range row {
			row[i] = (row[i]-mean)/math.Sqrt(v+float64(t.cfg.Eps))*float64(g[i]) + float64(b[i])
		}
	}
}

func (t *tiny) linear(x [][]float64, name string) [][]float64 {
	w, b := t.lin[name], t.bias[name]
	k := len(x[0])
	out := make([][]float64, len(x))
	for r, row := range x {
		out[r] = make([]float64, len(b))
		for n := range b {
			sum := float64(b[n])
			for i, a := range row {
				sum += a * float64(w[n*k+i])
			}
			out[r][n] = sum
		}
	}
	return out
}

func (t *tiny) attention(qkv [][]float64) [][]float64 {
	h, dim := t.cfg.Hidden, t.cfg.Hidden/t.cfg.Heads
	out := make([][]float64, len(qkv))
	for i := range qkv {
		out[i] = make([]float64, h)
		for at := 0; at < h; at += dim {
			var sum float64
			p := make([]float64, len(qkv))
			for j := range qkv {
				var s float64
				for d := range dim {
					s += qkv[i][at+d] * qkv[j][h+at+d]
				}
				p[j] = math.Exp(s / math.Sqrt(float64(dim)))
				sum += p[j]
			}
			for j := range qkv {
				for d := range dim {
					out[i][at+d] += p[j] / sum * qkv[j][2*h+at+d]
				}
			}
		}
	}
	return out
}

// embed is the definition of the encoder, in doubles.
func (t *tiny) embed(ids []int32, pool Pooling) []float64 {
	h := t.cfg.Hidden
	x := make([][]float64, len(ids))
	for p, id := range ids {
		x[p] = make([]float64, h)
		for i := range h {
			x[p][i] = float64(t.word[int(id)*h+i]) + float64(t.pos[p*h+i])
		}
	}
	t.norm(x, "e")
	addTo := func(y [][]float64) {
		for r := range x {
			for i := range x[r] {
				x[r][i] += y[r][i]
			}
		}
	}
	for l := range t.cfg.Layers {
		addTo(t.linear(t.attention(t.linear(x, fmt.Sprint(l, QKV))), fmt.Sprint(l, Out)))
		t.norm(x, fmt.Sprint(l, "a"))
		up := t.linear(x, fmt.Sprint(l, Up))
		for _, row := range up {
			for i := range row {
				row[i] = act(t.cfg.Act, row[i])
			}
		}
		addTo(t.linear(up, fmt.Sprint(l, Down)))
		t.norm(x, fmt.Sprint(l, "f"))
	}
	out := slices.Clone(x[0])
	if pool == Mean {
		for _, row := range x[1:] {
			for i := range out {
				out[i] += row[i]
			}
		}
	}
	return out
}

func cosine(a []float64, b []float32) float64 {
	var dot, aa, bb float64
	for i := range a {
		dot += a[i] * float64(b[i])
		aa += a[i] * a[i]
		bb += float64(b[i]) * float64(b[i])
	}
	return dot / math.Sqrt(aa*bb)
}

// Shapes whose widths fill no block, whose heads fill no vector, of every
// activation and pooling, at lengths around every tile's height.
func TestEveryPathComputesTheEncoder(t *testing.T) {
	shapes := []Config{
		{Layers: 2, Hidden: 64, Heads: 2, FFN: 128, Act: GELU},
		{Layers: 1, Hidden: 78, Heads: 3, FFN: 101, Act: GELUTanh},
		{Layers: 3, Hidden: 20, Heads: 5, FFN: 33, Act: ReLU},
		{Layers: 1, Hidden: 130, Heads: 2, FFN: 257, Act: GELU},
	}
	lengths := []int32{1, 2, 3, 5, 11, 12, 13, 31, 32, 33, 47, 49, 1, 64}
	for i, cfg := range shapes {
		cfg.Vocab, cfg.Positions, cfg.Eps = 50, 64, 1e-12
		tiny := newTiny(uint64(i), cfg)
		r := rand.New(rand.NewPCG(9, uint64(i)))
		var ids []int32
		var want [][]float64
		pool := []Pooling{Mean, CLS}[i%2]
		for _, n := range lengths {
			seq := make([]int32, n)
			for j := range seq {
				seq[j] = r.Int32N(50)
			}
			ids = append(ids, seq...)
			want = append(want, tiny.embed(seq, pool))
		}
		for _, path := range Available() {
			for _, float := range []bool{true, false} {
				t.Run(fmt.Sprint(cfg.Hidden, path, float), func(t *testing.T) {
					run, err := tiny.model(t, path, float).NewRun(len(ids))
					if err != nil {
						t.Fatal(err)
					}
					defer run.Close()
					got := make([]float32, len(lengths)*cfg.Hidden)
					forward(t, run, cfg.Layers, ids, lengths, pool, got)
					least := map[bool]float64{true: 0.999999, false: 0.997}[float]
					for k := range want {
						if c := cosine(want[k], got[k*cfg.Hidden:(k+1)*cfg.Hidden]); !(c > least) {
							t.Errorf("length %d: cosine %v", lengths[k], c)
						}
					}
				})
			}
		}
	}
}

func forward(t *testing.T, run *Run, layers int, ids, lens []int32, pool Pooling, out []float32) {
	t.Helper()
	err := run.Begin(ids, lens)
	for l := range layers {
		if err == nil {
			err = run.Layer(l)
		}
	}
	if err == nil {
		err = run.End(pool, out)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestArgumentsOutOfRangeAreRefused(t *testing.T) {
	t.Parallel()
	tiny := newTiny(1, Config{Layers: 1, Hidden: 32, Heads: 2, FFN: 64, Vocab: 10, Positions: 16, Eps: 1e-12, Act: GELU})
	m := tiny.model(t, Auto, false)
	run, err := m.NewRun(20)
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	for name, c := range map[string]struct{ ids, lens []int32 }{
		"an id too high":         {[]int32{10}, []int32{1}},
		"an id below zero":       {[]int32{-1}, []int32{1}},
		"no sequence":            {nil, nil},
		"an empty sequence":      {[]int32{1}, []int32{0, 1}},
		"a negative length":      {[]int32{}, []int32{1, -1}},
		"longer than positions":  {make([]int32, 17), []int32{17}},
		"more than the run":      {make([]int32, 30), []int32{15, 15}},
		"ids and lengths differ": {make([]int32, 3), []int32{4}},
	} {
		if err := run.Begin(c.ids, c.lens); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	if run.Layer(0) == nil || run.End(Mean, make([]float32, 0)) == nil {
		t.Error("a run without a batch goes on")
	}
	if err := run.Begin([]int32{1}, []int32{1}); err != nil || run.Layer(1) == nil || run.Layer(-1) == nil {
		t.Error("a layer that is not there is run")
	}
	if m.SetNorm(NormFFN, 5, make([]float32, 32), make([]float32, 32)) == nil ||
		m.SetLinear(Up, 0, nil, nil, nil, nil) == nil || m.SetPositions(nil) == nil {
		t.Error("weights of another shape are accepted")
	}
	for _, cfg := range []Config{{}, {Layers: 1, Hidden: 33, Heads: 2, FFN: 1, Vocab: 1, Positions: 1}, {Layers: 1 << 20, Hidden: 32, Heads: 1, FFN: 1, Vocab: 1, Positions: 1}} {
		if _, err := New(cfg); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%+v: %v", cfg, err)
		}
	}
	if _, err := m.NewRun(0); err == nil {
		t.Error("a run without room is made")
	}
}

func TestAPathThisCPUHasNotIsRefused(t *testing.T) {
	t.Parallel()
	have := Available()
	for _, p := range []Path{Portable, AVX2, AVX512, NEON, SDOT} {
		_, err := New(Config{Layers: 1, Hidden: 32, Heads: 1, FFN: 1, Vocab: 1, Positions: 1, Path: p})
		if (err == nil) != slices.Contains(have, p) {
			t.Errorf("%s: %v, available %v", p, err, have)
		}
	}
}
