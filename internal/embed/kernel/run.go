package kernel

/*
#include "kernel.h"
*/
import "C"

import "unsafe"

// Run is the scratch memory of one thread.
type Run struct {
	c *C.rk_run
	m *Model
	n int // sequences of the batch
}

// NewRun makes a run for batches of at most tokens tokens.
func (m *Model) NewRun(tokens int) (*Run, error) {
	r := C.rk_run_new(m.c, C.int(tokens))
	if r == nil {
		return nil, status(C.RK_NO_MEMORY)
	}
	return &Run{c: r, m: m}, nil
}

// Close frees the run.
func (r *Run) Close() {
	C.rk_run_free(r.c)
	r.c = nil
}

// Begin loads a batch: the ids of all sequences, one after another, and the
// length of each (1 to the model's positions).
func (r *Run) Begin(ids, lens []int32) error {
	total := 0
	for _, n := range lens {
		total += int(n)
	}
	if len(lens) == 0 || total != len(ids) {
		return errShape("the batch", len(ids), total)
	}
	r.n = len(lens)
	return status(C.rk_begin(r.c, (*C.int32_t)(unsafe.SliceData(ids)), (*C.int32_t)(unsafe.SliceData(lens)), C.int(len(lens))))
}

// Layer runs one layer; layers are run in order, each once.
func (r *Run) Layer(i int) error { return status(C.rk_layer(r.c, C.int(i))) }

// End writes the unit vectors of the batch, [sequences][hidden]; a sequence
// whose vector has no length gets zeros.
func (r *Run) End(pool Pooling, out []float32) error {
	if want := r.n * r.m.cfg.Hidden; len(out) != want {
		return errShape("the output", len(out), want)
	}
	return status(C.rk_end(r.c, C.int(pool), floats(out)))
}
