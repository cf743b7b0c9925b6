// Package kernel runs BERT encoders on the CPU: the forward pass in C, one
// thread a run, with the path (AVX-512 VNNI, AVX2, NEON with or without SDOT,
// portable) chosen when a model is made.
//
// It owns weights in their packed form and scratch memory; both are C memory
// and are freed by Close. It knows no files, no tokens and no locks: a Model
// may be shared once it is built, a Run belongs to one goroutine at a time.
package kernel
