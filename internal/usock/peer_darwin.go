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
	var inner error
	err = raw.Control(func(fd uintptr) {
		var cred *unix.Xucred
		cred, inner = unix.GetsockoptXucred(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
		if inner != nil {
			return
		}
		p.UID = int(cred.Uid)
		// The process id is for messages only.
		if pid, err := unix.GetsockoptInt(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERPID); err == nil {
			p.PID = pid
		}
	})
	if err != nil {
		return Peer{}, false, err
	}
	return p, inner == nil, inner
}
