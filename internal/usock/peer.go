package usock

// Peer is who is at the other end of a connection.
type Peer struct {
	UID int
	PID int // 0 where the platform does not tell
}
