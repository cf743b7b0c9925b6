//go:build linux && (amd64 || arm64)

package extract

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// detach puts a worker in a process group of its own, so that it can be ended
// with its helpers, and ends it when the daemon dies.
func detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

func killGroup(cmd *exec.Cmd) {
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // gone already is fine
		_ = cmd.Process.Kill()
	}
}

// enterCage takes away what a reader of files does not need and replaces the
// process by itself. Limits that the kernel keeps per thread hold for the
// whole process after that, since they pass through exec. It returns only on
// failure. What an older kernel lacks is left out.
func enterCage(cfg workerConfig) error {
	runtime.LockOSThread()
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	_ = unix.Setpriority(unix.PRIO_PROCESS, 0, 10) // a courtesy, not a guard
	_ = unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0)
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no_new_privs: %w", err)
	}
	if err := restrictFiles(exe, cfg.CacheDir); err != nil {
		return fmt.Errorf("landlock: %w", err)
	}
	if err := restrictCalls(); err != nil {
		return fmt.Errorf("seccomp: %w", err)
	}
	for _, l := range []struct {
		what int
		max  uint64
	}{
		{unix.RLIMIT_AS, cfg.MemoryBytes}, {unix.RLIMIT_CORE, 0}, {unix.RLIMIT_NOFILE, 256}, {unix.RLIMIT_FSIZE, 256 << 20},
	} {
		if l.what == unix.RLIMIT_AS && l.max == 0 {
			continue
		}
		if err := unix.Setrlimit(l.what, &unix.Rlimit{Cur: l.max, Max: l.max}); err != nil {
			return fmt.Errorf("rlimit %d: %w", l.what, err)
		}
	}
	cfg.Caged = true
	b, err := json.Marshal(cfg)
	if err != nil {
		return err
	}
	if err := os.Setenv(workerEnv, string(b)); err != nil {
		return err
	}
	return fmt.Errorf("restart: %w", syscall.Exec(exe, os.Args, os.Environ()))
}

// restrictFiles lets the process read the system's programs and libraries and
// use its cache folder, and nothing else of the file system.
func restrictFiles(exe, cacheDir string) error {
	abi, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return nil // not in this kernel
	}
	const read = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	all := uint64(unix.LANDLOCK_ACCESS_FS_MAKE_SYM<<1 - 1) // the rights of version 1
	attr := unix.LandlockRulesetAttr{Handled_access_fs: all}
	if abi >= 4 {
		attr.Handled_access_net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
	}
	size := unsafe.Sizeof(attr.Handled_access_fs)
	if abi >= 4 {
		size = unsafe.Sizeof(attr.Handled_access_fs) + unsafe.Sizeof(attr.Handled_access_net)
	}
	ruleset, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), size, 0)
	if errno != 0 {
		return errno
	}
	defer unix.Close(int(ruleset))
	for _, p := range []string{"/usr", "/lib", "/lib32", "/lib64", "/bin", "/etc/ld.so.cache", "/nix/store", exe} {
		if err := allowBeneath(int(ruleset), p, read); err != nil {
			return err
		}
	}
	if err := allowBeneath(int(ruleset), "/dev/null", unix.LANDLOCK_ACCESS_FS_READ_FILE|unix.LANDLOCK_ACCESS_FS_WRITE_FILE); err != nil {
		return err
	}
	if cacheDir != "" {
		if err := allowBeneath(int(ruleset), filepath.Clean(cacheDir), all); err != nil {
			return err
		}
	}
	if _, _, errno = unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, ruleset, 0, 0); errno != 0 {
		return errno
	}
	return nil
}

// allowBeneath gives rights at a path; one that does not exist is left out.
func allowBeneath(ruleset int, path string, rights uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		rights &= unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE
	}
	rule := unix.LandlockPathBeneathAttr{Allowed_access: rights, Parent_fd: int32(fd)}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(ruleset), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&rule)), 0, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}
