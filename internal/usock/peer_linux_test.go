package usock_test

import (
	"net"
	"os"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"ragd/internal/usock"
)

func TestAnotherUserIsTurnedAwayEvenWhereTheModeLetsHimIn(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can connect as someone else")
	}
	dir := sockDir(t)
	path := join(dir, "a.sock")
	l := listenAt(t, path)
	refused := make(chan usock.Peer, 1)
	l.Refused = func(p usock.Peer) { refused <- p }
	must(t, os.Chmod(dir, 0o755))
	must(t, os.Chmod(path, 0o666))

	accepted := make(chan net.Conn, 1)
	go func() {
		conn, err := l.Accept()
		if err == nil {
			accepted <- conn
		}
	}()
	must(t, dialAs(12345, path))
	select {
	case p := <-refused:
		if p.UID != 12345 {
			t.Errorf("turned away %+v", p)
		}
	case <-accepted:
		t.Fatal("another user was let in")
	case <-time.After(10 * time.Second):
		t.Fatal("nobody was turned away")
	}
	// Its own user still gets in after that.
	own, err := net.Dial("unix", path)
	must(t, err)
	defer func() { _ = own.Close() }()
	_ = (<-accepted).Close()
}

// dialAs connects with another user's credentials. Only the one thread gets
// them (raw system call), and that thread ends with its goroutine.
func dialAs(uid int, path string) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked
		if _, _, e := unix.RawSyscall(unix.SYS_SETRESUID, ^uintptr(0), uintptr(uid), ^uintptr(0)); e != 0 {
			done <- e
			return
		}
		fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
		if err == nil {
			err = unix.Connect(fd, &unix.SockaddrUnix{Name: path})
			_ = unix.Close(fd)
		}
		done <- err
	}()
	return <-done
}
