package usock

import (
	"net"

	"golang.org/x/sys/unix"
)

// PeerOf asks the kernel who connected. known is false where it cannot tell.
func PeerOf(conn *net.UnixConn) (p Peer, known bool, err error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return Peer{}, false, err
	}
	var cred *unix.Ucred
	var inner error
	err = raw.Control(func(fd uintptr) {
		cred, inner = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	})
	if err != nil {
		return Peer{}, false, err
	}
	if inner != nil {
		return Peer{}, false, inner
	}
	return Peer{UID: int(cred.Uid), PID: int(cred.Pid)}, true, nil
}
