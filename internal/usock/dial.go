package usock

import (
	"context"
	"net"
	"os"

	"ragd/internal/fault"
)

// Dial connects to a daemon of this user. A socket that another user put in
// its place is refused: what it would answer, or learn, is not its business.
// Other errors are the system's.
func Dial(ctx context.Context, path string) (*net.UnixConn, error) {
	var d net.Dialer
	c, err := d.DialContext(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	conn, ok := c.(*net.UnixConn)
	if !ok {
		_ = c.Close() // never used
		return nil, net.UnknownNetworkError("unix")
	}
	peer, known, err := PeerOf(conn)
	if err == nil && known && peer.UID != os.Geteuid() {
		err = fault.New(fault.Denied, "daemon_foreign", "the program that answers on %s belongs to another user (uid %d)", path, peer.UID).
			WithHint("run this as the user who started the daemon, or set another socket path")
	}
	if err != nil {
		_ = conn.Close() // nothing was said on it
		return nil, err
	}
	return conn, nil
}
