package indexer

import (
	"runtime"
	"time"
)

// threaded is an embedder that computes in this process.
type threaded interface {
	SetThreads(n int)
	LastQuery() time.Time // zero: none yet
}

// idleAfter is how long nothing must have been asked and indexed before
// embedding takes all CPUs.
const idleAfter = 30 * time.Second

// pace sets the threads of an embedder in this process, unless their number is
// configured: half of the CPUs, or all of them when nobody else wants them.
func (e *Embedding) pace(now time.Time) {
	t, ok := e.opt.Embedder.(threaded)
	if !ok || e.opt.Threads > 0 {
		return
	}
	if e.busy() {
		e.active.Store(now.UnixNano())
	}
	n := max(1, runtime.NumCPU()/2)
	if now.Sub(time.Unix(0, e.active.Load())) >= idleAfter && now.Sub(t.LastQuery()) >= idleAfter {
		n = runtime.NumCPU()
	}
	if n != e.threads {
		e.threads = n
		t.SetThreads(n)
	}
}
