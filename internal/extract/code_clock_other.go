//go:build !linux

package extract

import "time"

// threadTime is the time of day where a thread's own cannot be had.
func threadTime() time.Duration { return time.Duration(time.Now().UnixNano()) }
