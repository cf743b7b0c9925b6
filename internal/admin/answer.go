package admin

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"runtime/debug"
	"strconv"
	"sync"
	"time"

	"ragd/internal/fault"
	"ragd/internal/wire"
)

var apiVersion = strconv.Itoa(wire.APIVersion) //nolint:gochecknoglobals // a constant in all but name

// statusError is an error with a status of its own.
type statusError struct {
	status int
	header map[string]string
	err    error
}

func (e *statusError) Error() string { return e.err.Error() }
func (e *statusError) Unwrap() error { return e.err }

// statusOf maps an error's kind, and the few codes that have a status of their own.
func statusOf(err error) int {
	var se *statusError
	if errors.As(err, &se) {
		return se.status
	}
	f, ok := fault.As(err)
	if ok && f.Code == "too_large" {
		return http.StatusRequestEntityTooLarge
	}
	switch fault.KindOf(err) {
	case fault.Invalid:
		return http.StatusBadRequest
	case fault.NotFound:
		return http.StatusNotFound
	case fault.Denied:
		return http.StatusForbidden
	case fault.Conflict:
		return http.StatusConflict
	case fault.Permanent:
		return http.StatusUnprocessableEntity
	case fault.Transient, fault.Unavailable, fault.Cancelled:
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

// errorBody is what the caller may know of an error. What nobody classified
// is logged whole and told as "internal": it may hold SQL or paths.
func errorBody(err error) wire.ErrorBody {
	if f, ok := fault.As(err); ok && f.Kind != fault.Internal {
		return wire.ErrorBody{Code: f.Code, Message: f.Message, Hint: f.Hint}
	}
	if fault.KindOf(err) == fault.Cancelled {
		return wire.ErrorBody{Code: "cancelled", Message: "the call took too long, or the daemon is stopping", Hint: "try again"}
	}
	return wire.ErrorBody{Code: "internal", Message: "something went wrong inside the daemon", Hint: "the daemon's log says more: ragtui, or ragd serve's output"}
}

func (s *Server) writeError(w *countingWriter, r *http.Request, err error) {
	if r.Context().Err() != nil && w.code == 0 && errors.Is(err, context.Canceled) {
		s.log.Debug("admin call given up by its caller", "path", r.URL.Path)
	}
	body := errorBody(err)
	if body.Code == "internal" {
		s.log.Error("admin call failed", "method", r.Method, "path", r.URL.Path, "error", err)
	}
	if w.code != 0 {
		return // the answer has begun; it can only be broken off
	}
	var se *statusError
	if errors.As(err, &se) {
		for k, v := range se.header {
			w.Header().Set(k, v)
		}
	}
	status := statusOf(err)
	if status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "1")
	}
	s.writeJSON(w, r, status, wire.Error{Error: body})
}

func (s *Server) writeJSON(w *countingWriter, r *http.Request, status int, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		s.log.Error("admin answer is no JSON", "path", r.URL.Path, "error", err)
		status = http.StatusInternalServerError
		data = []byte(`{"error":{"code":"internal","message":"something went wrong inside the daemon"}}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(data)+1))
	w.WriteHeader(status)
	if _, err := w.Write(append(data, '\n')); err != nil {
		s.log.Debug("admin answer not delivered", "path", r.URL.Path, "error", err)
	}
}

// recoverPanic turns a panic into an answer on this call alone.
func (s *Server) recoverPanic(w *countingWriter, r *http.Request) {
	p := recover()
	if p == nil {
		return
	}
	s.log.Error("panic in an admin call", "method", r.Method, "path", r.URL.Path, "panic", p, "stack", string(debug.Stack()))
	if w.code != 0 {
		panic(http.ErrAbortHandler) // half an answer must not look whole
	}
	s.writeJSON(w, r, http.StatusInternalServerError, wire.Error{Error: errorBody(errors.New("panic"))})
}

// countingWriter remembers the status.
type countingWriter struct {
	http.ResponseWriter
	code int
}

func (w *countingWriter) WriteHeader(code int) {
	if w.code == 0 {
		w.code = code
	}
	w.ResponseWriter.WriteHeader(code)
}

func (w *countingWriter) Write(p []byte) (int, error) {
	if w.code == 0 {
		w.code = http.StatusOK
	}
	return w.ResponseWriter.Write(p)
}

// Unwrap lets http.ResponseController find the connection.
func (w *countingWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *countingWriter) status() int {
	if w.code == 0 {
		return http.StatusOK
	}
	return w.code
}

// requestCounts are answers by status.
type requestCounts struct {
	mu sync.Mutex
	by map[int]int64
}

func (c *requestCounts) add(status int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.by == nil {
		c.by = map[int]int64{}
	}
	c.by[status]++
}

func (c *requestCounts) snapshot() map[int]int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make(map[int]int64, len(c.by))
	for k, v := range c.by {
		out[k] = v
	}
	return out
}

func deadline(r *http.Request, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(r.Context(), d)
}

// writeWithin bounds the writing of an answer. Not every writer can (a test's
// recorder cannot); then there is no connection to bound.
func writeWithin(w http.ResponseWriter, d time.Duration) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(d))
}

// readWithin bounds the reading of a body, also where no handler reads it.
func readWithin(w http.ResponseWriter, d time.Duration) {
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(d))
}
