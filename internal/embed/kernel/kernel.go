package kernel

/*
#cgo CFLAGS: -O3 -std=c11 -Wall -Wextra
#cgo LDFLAGS: -lm
#include "kernel.h"
*/
import "C"

import (
	"unsafe"

	"ragd/internal/fault"
)

// Path is a set of instructions.
type Path int

// The paths; Auto is the best one this CPU has.
const (
	Auto     Path = C.RK_PATH_AUTO
	Portable Path = C.RK_PATH_PORTABLE
	AVX2     Path = C.RK_PATH_AVX2
	AVX512   Path = C.RK_PATH_AVX512
	NEON     Path = C.RK_PATH_NEON
	SDOT     Path = C.RK_PATH_SDOT
)

// String returns the path's name.
func (p Path) String() string {
	return [...]string{"auto", "portable", "avx2", "avx512-vnni", "neon", "neon-sdot"}[p]
}

// Available returns the paths this CPU can run, the slowest first.
func Available() []Path {
	var out []Path
	for _, p := range []Path{Portable, NEON, SDOT, AVX2, AVX512} {
		if C.rk_path(C.int(p)) >= 0 {
			out = append(out, p)
		}
	}
	return out
}

// Activation is the function between the two linear layers of a block.
type Activation int

// The activations of the family.
const (
	GELU     Activation = C.RK_ACT_GELU
	GELUTanh Activation = C.RK_ACT_GELU_TANH
	ReLU     Activation = C.RK_ACT_RELU
)

// Pooling makes one vector of a sequence.
type Pooling int

// Mean of all tokens, or the first token.
const (
	Mean Pooling = C.RK_POOL_MEAN
	CLS  Pooling = C.RK_POOL_CLS
)

// Linear names one of a layer's four linear maps: [outputs][inputs] in the
// comments of the constants, H hidden and F feed-forward width.
type Linear int

const (
	QKV  Linear = C.RK_QKV  // [3H][H]: query, key, value
	Out  Linear = C.RK_OUT  // [H][H]
	Up   Linear = C.RK_UP   // [F][H]
	Down Linear = C.RK_DOWN // [H][F]
)

// Norm names a layer norm.
type Norm int

// The norm of the embeddings, and the two of each layer.
const (
	NormEmbed  Norm = C.RK_NORM_EMBED
	NormAttend Norm = C.RK_NORM_ATTEND
	NormFFN    Norm = C.RK_NORM_FFN
)

// Config is the shape of an encoder.
type Config struct {
	Layers, Hidden, Heads, FFN, Vocab, Positions int
	Act                                          Activation
	Eps                                          float32
	Path                                         Path
}

// Model is an encoder. Set* fill it before the first run.
type Model struct {
	c     *C.rk_model
	words unsafe.Pointer // C memory of the word table, or nil
	keep  any            // what the word table lies in otherwise
	cfg   Config
}

func errShape(what string, got, want int) error {
	return fault.New(fault.Invalid, "model_shape", "%s has %d values, the model needs %d", what, got, want)
}

func status(code C.int) error {
	switch code {
	case C.RK_OK:
		return nil
	case C.RK_NO_MEMORY:
		return fault.New(fault.Unavailable, "embed_no_memory", "no memory for the embedding model")
	}
	return fault.New(fault.Internal, "embed_kernel", "the embedding kernel was called with an argument out of range")
}

// New makes an empty model. An error means a shape or a path that cannot run here.
func New(cfg Config) (*Model, error) {
	if C.rk_path(C.int(cfg.Path)) < 0 {
		return nil, fault.New(fault.Invalid, "embed_path", "this CPU has no %s", cfg.Path)
	}
	cc := C.rk_config{
		layers: C.int32_t(cfg.Layers), hidden: C.int32_t(cfg.Hidden), heads: C.int32_t(cfg.Heads), ffn: C.int32_t(cfg.FFN),
		vocab: C.int32_t(cfg.Vocab), positions: C.int32_t(cfg.Positions), act: C.int32_t(cfg.Act), path: C.int32_t(cfg.Path),
		eps: C.float(cfg.Eps),
	}
	m := C.rk_new(&cc)
	if m == nil {
		return nil, fault.New(fault.Invalid, "model_shape",
			"a model of %d layers, width %d, %d heads and feed-forward width %d cannot be run", cfg.Layers, cfg.Hidden, cfg.Heads, cfg.FFN)
	}
	cfg.Path = Path(C.rk_path(C.int(cfg.Path)))
	return &Model{c: m, cfg: cfg}, nil
}

// Path returns the path in use, never Auto.
func (m *Model) Path() Path { return m.cfg.Path }

// Close frees the model; no run of it may be in use.
func (m *Model) Close() {
	C.rk_free(m.c)
	C.rk_release(m.words)
	m.c, m.words, m.keep = nil, nil, nil
}

func floats(s []float32) *C.float  { return (*C.float)(unsafe.SliceData(s)) }
func bytes8(s []int8) *C.int8_t    { return (*C.int8_t)(unsafe.SliceData(s)) }
func (m *Model) wordValues() int   { return m.cfg.Vocab * m.cfg.Hidden }
func (m *Model) positionsLen() int { return m.cfg.Positions * m.cfg.Hidden }
