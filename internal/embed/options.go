package embed

import (
	"runtime"

	"ragd/internal/embed/kernel"
)

// Options say how a local model runs. The zero value is right for a daemon.
type Options struct {
	Threads int  // passages embedded at once; 0: half the cores
	Nice    int  // niceness of the threads that embed passages, where the system has it per thread
	Float   bool // compute in 32-bit floats instead of int8: slower by half or more, the oracle of the tests

	// Path forces a set of instructions; the default is the best this CPU has.
	Path kernel.Path

	// QueryPrefix and PassagePrefix replace the model's own, if set.
	QueryPrefix, PassagePrefix *string
}

func (o Options) threads() int {
	if o.Threads > 0 {
		return o.Threads
	}
	return max(1, runtime.NumCPU()/2)
}
