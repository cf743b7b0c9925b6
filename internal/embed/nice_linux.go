package embed

import (
	"runtime"
	"syscall"
)

// lower gives the calling goroutine a thread of its own with the niceness n.
// The thread ends with the goroutine, since it could not be raised again.
func lower(n int) {
	if n <= 0 {
		return
	}
	runtime.LockOSThread()
	// The process 0 is, on Linux, the calling thread. A refusal leaves it as it was.
	_ = syscall.Setpriority(syscall.PRIO_PROCESS, 0, n)
}
