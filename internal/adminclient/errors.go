package adminclient

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/http"
	"syscall"

	"ragd/internal/fault"
	"ragd/internal/wire"
)

// CodeNotRunning is the code of the error for "no daemon listens on this socket".
const CodeNotRunning = "daemon_not_running"

// IsNotRunning reports whether err says that no daemon listens on the socket.
func IsNotRunning(err error) bool {
	f, ok := fault.As(err)
	return ok && f.Code == CodeNotRunning
}

func dialError(socket string, err error) error {
	if f, ok := fault.As(err); ok {
		return f
	}
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ECONNREFUSED):
		return fault.New(fault.Unavailable, CodeNotRunning, "no daemon is running (nothing listens on %s)", socket).
			WithHint("start it with: ragd serve").Because(err)
	case errors.Is(err, fs.ErrPermission):
		return fault.New(fault.Denied, "daemon_denied", "the daemon's socket %s belongs to another user", socket).
			WithHint("run this as the user who started the daemon").Because(err)
	case errors.Is(err, syscall.EINVAL):
		return fault.New(fault.Invalid, "socket_path", "%s is no usable socket path", socket).
			WithHint("socket paths are limited to about 100 bytes; set a shorter one").Because(err)
	}
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "dial" {
		return fault.New(fault.Unavailable, "daemon_unreachable", "the daemon cannot be reached on %s", socket).Because(err)
	}
	return fault.New(fault.Unavailable, "daemon_gone", "the daemon broke the connection off").
		WithHint("it may be restarting; try again").Because(err)
}

func badAnswer(format string, args ...any) *fault.Error {
	return fault.New(fault.Internal, "daemon_bad_answer", "the daemon sent "+format, args...).
		WithHint("is it of the same release as this program? compare: ragd version, ragd status")
}

// errorFrom turns an error answer into a fault with the daemon's code, message and hint.
func errorFrom(resp *http.Response) error {
	data, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	var we wire.Error
	if err != nil || json.Unmarshal(data, &we) != nil || we.Error.Code == "" {
		return badAnswer("status %d without an error body", resp.StatusCode)
	}
	e := fault.New(kindOf(resp.StatusCode), we.Error.Code, "%s", we.Error.Message)
	e.Hint = we.Error.Hint
	return e
}

func kindOf(status int) fault.Kind {
	switch status {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusMethodNotAllowed, http.StatusUnsupportedMediaType:
		return fault.Invalid
	case http.StatusUnauthorized, http.StatusForbidden:
		return fault.Denied
	case http.StatusNotFound:
		return fault.NotFound
	case http.StatusConflict:
		return fault.Conflict
	case http.StatusUnprocessableEntity:
		return fault.Permanent
	case http.StatusTooManyRequests:
		return fault.Transient
	case http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return fault.Unavailable
	}
	return fault.Internal
}
