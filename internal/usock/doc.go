// Package usock is everything about Unix sockets and lock files that is easy
// to get wrong: private folders, the socket's mode, the lock that decides who
// may listen, sockets left behind by a crash, the length limit of socket
// paths, and who is at the other end. It knows no protocol.
package usock
