package usock

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"ragd/internal/fault"
)

// FileLock is an exclusive lock held by this process.
type FileLock struct {
	file *os.File
}

// Lock takes the lock at path for this process, or says who has it. what
// names the thing it guards in the message: "the index /home/u/…/index.db".
//
// The lock is an flock: the kernel drops it when the process ends, however it
// ends. The process id in the file is there for the message alone and decides
// nothing, so one that was left by a crash and now belongs to a stranger is
// harmless. The file is never removed, as whoever waits for a removed file's
// lock gets a lock on nothing.
func Lock(path, what string) (*FileLock, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fault.New(fault.Unavailable, "lock_failed", "the folder of the lock file %s cannot be made", path).Because(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return nil, openLockError(path, err)
	}
	if err := flock(f); err != nil {
		pid := readPID(f)
		_ = f.Close() // nothing was written through it
		if !errors.Is(err, unix.EWOULDBLOCK) {
			return nil, fault.New(fault.Unavailable, "lock_failed", "the lock file %s cannot be locked", path).Because(err).
				WithHint("some network file systems have no locks; put it on a local disk")
		}
		return nil, heldError(what, pid)
	}
	if err := writePID(f); err != nil {
		_ = f.Close() // the error that matters is err
		return nil, fault.New(fault.Unavailable, "lock_failed", "the lock file %s cannot be written", path).Because(err)
	}
	return &FileLock{file: f}, nil
}

// Close gives the lock up. The file stays.
func (l *FileLock) Close() error {
	// An empty file says that nobody holds it; failing to say so harms nothing.
	_ = l.file.Truncate(0)
	return l.file.Close()
}

func flock(f *os.File) error {
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

func openLockError(path string, err error) error {
	switch {
	case errors.Is(err, syscall.ELOOP):
		return fault.New(fault.Denied, "lock_failed", "the lock file %s is a symbolic link", path).
			WithHint("remove the link").Because(err)
	case errors.Is(err, fs.ErrPermission):
		return fault.New(fault.Denied, "lock_failed", "the lock file %s may not be written", path).
			WithHint("it belongs to another user; check the owner of its folder").Because(err)
	}
	return fault.New(fault.Unavailable, "lock_failed", "the lock file %s cannot be opened", path).Because(err)
}

func heldError(what string, pid int) error {
	who := "another ragd"
	hint := "use the one that runs, or stop it first"
	if pid > 0 {
		who += " (pid " + strconv.Itoa(pid) + ")"
		hint = "use the one that runs, or stop it first: kill " + strconv.Itoa(pid)
	}
	return fault.New(fault.Conflict, "already_running", "%s already has %s", who, what).WithHint("%s", hint)
}

func writePID(f *os.File) error {
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err := f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	return err
}

// readPID returns 0 when the file holds no process id.
func readPID(f *os.File) int {
	buf := make([]byte, 32)
	n, err := f.ReadAt(buf, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(buf[:n])))
	if err != nil || pid < 1 {
		return 0
	}
	return pid
}
