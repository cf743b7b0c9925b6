package kbroot

import "syscall"

// setFSUser makes file access of the calling thread that of another user.
func setFSUser(uid int) bool {
	_, _, _ = syscall.RawSyscall(syscall.SYS_SETFSGID, uintptr(uid), 0, 0)
	_, _, _ = syscall.RawSyscall(syscall.SYS_SETFSUID, uintptr(uid), 0, 0)
	now, _, _ := syscall.RawSyscall(syscall.SYS_SETFSUID, ^uintptr(0), 0, 0)
	return int(now) == uid
}
