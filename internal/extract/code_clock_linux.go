package extract

import (
	"time"

	"golang.org/x/sys/unix"
)

// threadTime is the processor time of this thread: what parsing takes does
// not depend on what else the machine does.
func threadTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		return time.Duration(time.Now().UnixNano())
	}
	return time.Duration(t.Nano())
}
