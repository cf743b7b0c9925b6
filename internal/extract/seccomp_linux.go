//go:build linux && (amd64 || arm64)

package extract

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// forbiddenCalls are system calls that reading a file never needs: networks,
// other processes, the kernel's own surface. They answer EPERM, so a library
// that tries one sees an ordinary error.
var forbiddenCalls = []uint32{
	unix.SYS_SOCKET, unix.SYS_CONNECT, unix.SYS_BIND, unix.SYS_LISTEN, unix.SYS_ACCEPT, unix.SYS_ACCEPT4,
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PIDFD_GETFD,
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_SETNS, unix.SYS_UNSHARE,
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_IO_URING_SETUP,
	unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY,
	unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE, unix.SYS_KEXEC_LOAD, unix.SYS_REBOOT,
	unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_SETHOSTNAME, unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME,
}

// restrictCalls installs the filter on the calling thread.
func restrictCalls() error {
	arch := uint32(unix.AUDIT_ARCH_X86_64)
	if runtime.GOARCH == "arm64" {
		arch = unix.AUDIT_ARCH_AARCH64
	}
	const (
		load  = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
		equal = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
		least = unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K
		give  = unix.BPF_RET | unix.BPF_K
		allow = 0x7fff0000
		eperm = 0x00050000 | uint32(unix.EPERM)
		kill  = 0x80000000
	)
	filter := []unix.SockFilter{
		{Code: load, K: 4}, // the architecture
		{Code: equal, Jt: 1, K: arch},
		{Code: give, K: kill},
		{Code: load, K: 0}, // the call's number
	}
	if arch == unix.AUDIT_ARCH_X86_64 { // the x32 numbers name the same calls again
		filter = append(filter, unix.SockFilter{Code: least, Jf: 1, K: 0x40000000}, unix.SockFilter{Code: give, K: eperm})
	}
	for i, call := range forbiddenCalls {
		filter = append(filter, unix.SockFilter{Code: equal, Jt: uint8(len(forbiddenCalls) - i), K: call})
	}
	filter = append(filter, unix.SockFilter{Code: give, K: allow}, unix.SockFilter{Code: give, K: eperm})
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&program)))
	if errno == unix.ENOSYS || errno == unix.EINVAL {
		return nil // a kernel without filters
	}
	if errno != 0 {
		return errno
	}
	return nil
}
