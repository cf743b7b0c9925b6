//go:build unix && !linux && !darwin

package usock

import "net"

// PeerOf cannot ask on this platform; the socket's mode is what keeps others out.
func PeerOf(*net.UnixConn) (p Peer, known bool, err error) { return Peer{}, false, nil }
