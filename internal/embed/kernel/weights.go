package kernel

/*
#include "kernel.h"
*/
import "C"

import "unsafe"

// SetWords sets the int8 word embeddings, [vocab][hidden] with a scale for each
// row. If static, w is not Go memory (a file's mapping, data of the binary) and
// is used in place, so keep must hold it alive; otherwise it is copied.
func (m *Model) SetWords(w []int8, scale []float32, static bool, keep any) error {
	if len(w) != m.wordValues() {
		return errShape("the word embedding", len(w), m.wordValues())
	}
	if len(scale) != m.cfg.Vocab {
		return errShape("the word embedding's scale", len(scale), m.cfg.Vocab)
	}
	p, err := m.hold(unsafe.Pointer(unsafe.SliceData(w)), len(w), static, keep)
	if err != nil {
		return err
	}
	return status(C.rk_set_words(m.c, (*C.int8_t)(p), floats(scale), nil))
}

// SetWordsFloat is SetWords of float embeddings.
func (m *Model) SetWordsFloat(w []float32, static bool, keep any) error {
	if len(w) != m.wordValues() {
		return errShape("the word embedding", len(w), m.wordValues())
	}
	p, err := m.hold(unsafe.Pointer(unsafe.SliceData(w)), 4*len(w), static, keep)
	if err != nil {
		return err
	}
	return status(C.rk_set_words(m.c, nil, nil, (*C.float)(p)))
}

func (m *Model) hold(p unsafe.Pointer, size int, static bool, keep any) (unsafe.Pointer, error) {
	if static {
		m.keep = keep
		return p, nil
	}
	c := C.rk_take(C.size_t(size), 1)
	if c == nil {
		return nil, status(C.RK_NO_MEMORY)
	}
	copy(unsafe.Slice((*byte)(c), size), unsafe.Slice((*byte)(p), size))
	C.rk_release(m.words)
	m.words = c
	return c, nil
}

// SetPositions sets the position embeddings, [positions][hidden], to which the
// embedding of the only token type has been added.
func (m *Model) SetPositions(table []float32) error {
	if len(table) != m.positionsLen() {
		return errShape("the position embedding", len(table), m.positionsLen())
	}
	return status(C.rk_set_positions(m.c, floats(table)))
}

// SetNorm sets a layer norm; layer is ignored for NormEmbed.
func (m *Model) SetNorm(which Norm, layer int, gamma, beta []float32) error {
	if len(gamma) != m.cfg.Hidden || len(beta) != m.cfg.Hidden {
		return errShape("a layer norm", len(gamma), m.cfg.Hidden)
	}
	return status(C.rk_set_norm(m.c, C.int(which), C.int(layer), floats(gamma), floats(beta)))
}

func (m *Model) shape(which Linear) (n, k int) {
	switch which {
	case QKV:
		return 3 * m.cfg.Hidden, m.cfg.Hidden
	case Up:
		return m.cfg.FFN, m.cfg.Hidden
	case Down:
		return m.cfg.Hidden, m.cfg.FFN
	}
	return m.cfg.Hidden, m.cfg.Hidden
}

// SetLinear sets a linear map from int8 weights with a scale for each output.
// Inputs are first multiplied by input; nil is all ones.
func (m *Model) SetLinear(which Linear, layer int, w []int8, scale, input, bias []float32) error {
	n, k := m.shape(which)
	if len(w) != n*k || len(scale) != n || len(bias) != n || input != nil && len(input) != k {
		return errShape("a linear map", len(w), n*k)
	}
	return status(C.rk_set_linear(m.c, C.int(which), C.int(layer), bytes8(w), floats(scale), floats(input), nil, floats(bias)))
}

// SetLinearFloat sets a linear map that is computed in float.
func (m *Model) SetLinearFloat(which Linear, layer int, w, bias []float32) error {
	n, k := m.shape(which)
	if len(w) != n*k || len(bias) != n {
		return errShape("a linear map", len(w), n*k)
	}
	return status(C.rk_set_linear(m.c, C.int(which), C.int(layer), nil, nil, nil, floats(w), floats(bias)))
}
