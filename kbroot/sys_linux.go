package kbroot

import (
	"io/fs"
	"syscall"
	"time"
)

// openNonblock keeps an open of a FIFO that took a file's place from hanging.
const openNonblock = syscall.O_NONBLOCK

// sysStat returns what os.FileInfo leaves out: device, inode, time of the
// last status change and owner. uid is -1 where there is none.
func sysStat(fi fs.FileInfo) (dev, ino uint64, ctime time.Time, uid int) {
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, time.Time{}, -1
	}
	return uint64(st.Dev), st.Ino, time.Unix(int64(st.Ctim.Sec), int64(st.Ctim.Nsec)), int(st.Uid)
}
