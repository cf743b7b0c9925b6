package usock

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"ragd/internal/fault"
)

// MaxPath is the longest socket path of this platform in bytes (the kernel's
// field less its closing NUL: 107 on Linux, 103 on macOS and the BSDs).
const MaxPath = len(unix.RawSockaddrUnix{}.Path) - 1

const probeTimeout = 500 * time.Millisecond

// Listener is a Unix socket listener that lets only its own user in.
type Listener struct {
	inner *net.UnixListener
	lock  *FileLock
	path  string
	// Refused, when set before the first Accept, is told who was turned away. It must not block.
	Refused func(Peer)

	closing sync.Once
	closed  error
}

// Listen listens on path with mode 0600 and holds the lock beside it
// (path.lock) until Close. setting names the setting the path comes from, for
// messages. A socket that nobody answers is taken away first, but never a file
// that is no socket, and never one that somebody answers.
func Listen(path, setting string) (*Listener, error) {
	if err := CheckPath(path, setting); err != nil {
		return nil, err
	}
	if err := listenDir(filepath.Dir(path), setting); err != nil {
		return nil, err
	}
	lock, err := Lock(path+".lock", "the socket "+path)
	if err != nil {
		return nil, err
	}
	inner, err := bind(path, setting)
	if err != nil {
		_ = lock.Close() // err is what matters
		return nil, err
	}
	return &Listener{inner: inner, lock: lock, path: path}, nil
}

// CheckPath says whether path can be a socket's at all.
func CheckPath(path, setting string) error {
	switch {
	case !filepath.IsAbs(path):
		return fault.New(fault.Invalid, "socket_path", "the socket path %q is not absolute", path).
			WithHint("set %s to an absolute path", setting)
	case strings.ContainsRune(path, 0):
		return fault.New(fault.Invalid, "socket_path", "the socket path %q holds a NUL", path).
			WithHint("set %s to another path", setting)
	case len(path) > MaxPath:
		return fault.New(fault.Invalid, "socket_path_long",
			"the socket path %s has %d bytes; this system allows at most %d", path, len(path), MaxPath).
			WithHint("set %s to a shorter path", setting)
	}
	return nil
}

// bind is called with the lock held: no other ragd is between these steps.
func bind(path, setting string) (*net.UnixListener, error) {
	if err := removeStale(path, setting); err != nil {
		return nil, err
	}
	inner, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, fault.New(fault.Unavailable, "socket_failed", "no socket can be made at %s", path).
			WithHint("set %s to another path", setting).Because(err)
	}
	// Until here the mode is the umask's choice; whoever gets in between is still stopped by Accept.
	if err := os.Chmod(path, 0o600); err != nil {
		_ = inner.Close() // err is what matters
		return nil, fault.New(fault.Unavailable, "socket_failed", "the mode of the socket %s cannot be set", path).Because(err)
	}
	return inner, nil
}

func removeStale(path, setting string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fault.New(fault.Unavailable, "socket_failed", "%s cannot be looked at", path).Because(err)
	}
	if info.Mode().Type() != fs.ModeSocket {
		return fault.New(fault.Conflict, "socket_taken", "%s is there already and is no socket", path).
			WithHint("move that file away, or set %s to another path", setting)
	}
	conn, err := net.DialTimeout("unix", path, probeTimeout)
	if err == nil {
		_ = conn.Close() // it was a probe
		return fault.New(fault.Conflict, "socket_taken", "another program answers on the socket %s", path).
			WithHint("stop that program, or set %s to another path", setting)
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		return fault.New(fault.Conflict, "socket_taken", "the socket %s is there already and does not say whether anybody listens", path).
			WithHint("if no ragd runs, remove it; or set %s to another path", setting).Because(err)
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fault.New(fault.Denied, "socket_failed", "the socket %s that a crash left cannot be removed", path).Because(err)
	}
	return nil
}

// Accept returns the next connection of this process's own user. Others are
// closed without a word.
func (l *Listener) Accept() (net.Conn, error) {
	for {
		conn, err := l.inner.AcceptUnix()
		if err != nil {
			return nil, err
		}
		peer, known, err := PeerOf(conn)
		if err == nil && (!known || peer.UID == os.Geteuid()) {
			return conn, nil
		}
		_ = conn.Close() // nothing was said on it
		if l.Refused != nil {
			l.Refused(peer)
		}
	}
}

// Close stops listening, removes the socket and gives the lock up, in that order.
func (l *Listener) Close() error {
	l.closing.Do(func() { l.closed = errors.Join(l.inner.Close(), l.lock.Close()) })
	return l.closed
}

// Addr returns the socket's address.
func (l *Listener) Addr() net.Addr { return l.inner.Addr() }

// Path returns the socket's path.
func (l *Listener) Path() string { return l.path }
