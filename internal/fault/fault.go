// Package fault is the vocabulary of errors that reach a person or decide a
// retry. It owns the error kinds and the code, message and hint that go with
// them; it does not log, does not retry and knows no transport.
package fault

import (
	"context"
	"errors"
	"fmt"
)

// Kind says what may be done about an error.
type Kind uint8

const (
	// Internal is every error nobody classified: logged whole, shown as "internal error".
	Internal Kind = iota
	// Invalid: the caller gave a value that is not allowed.
	Invalid
	// NotFound: the thing named does not exist, or the caller may not know that it does.
	NotFound
	// Denied: the caller may not do this.
	Denied
	// Conflict: the thing exists but is in the wrong state.
	Conflict
	// Permanent: the same input will fail the same way; do not retry until it changes.
	Permanent
	// Transient: the same input may succeed later; retry with backoff.
	Transient
	// Unavailable: a part that is not the input's fault is down (disk full, embedder out); pause, burn no attempts.
	Unavailable
	// Cancelled: the caller or a shutdown stopped the work.
	Cancelled
)

var kindNames = [...]string{
	"internal", "invalid", "not_found", "denied", "conflict",
	"permanent", "transient", "unavailable", "cancelled",
}

// String returns the kind's name as it stands in job rows and JSON.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "internal"
}

// ParseKind is the inverse of String; unknown names are Internal.
func ParseKind(s string) Kind {
	for i, n := range kindNames {
		if n == s {
			return Kind(i)
		}
	}
	return Internal
}

// Error is an error a person can act on.
type Error struct {
	Kind    Kind
	Code    string // stable, snake_case: "kb_not_found"
	Message string // names the wrong value and what is allowed
	Hint    string // the next step; may be empty
	Err     error  // the cause, for the log only; may be nil
}

// Error returns the message, and the cause where there is one.
func (e *Error) Error() string {
	if e.Err != nil {
		return e.Message + ": " + e.Err.Error()
	}
	return e.Message
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// New makes an error of a kind; the message is formatted as by fmt.Sprintf.
func New(kind Kind, code, format string, args ...any) *Error {
	return &Error{Kind: kind, Code: code, Message: fmt.Sprintf(format, args...)}
}

// WithHint sets the next step and returns e.
func (e *Error) WithHint(format string, args ...any) *Error {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}

// Because sets the cause and returns e.
func (e *Error) Because(err error) *Error {
	e.Err = err
	return e
}

// As returns the first *Error in err's chain.
func As(err error) (*Error, bool) {
	var e *Error
	ok := errors.As(err, &e)
	return e, ok
}

// KindOf classifies any error: an *Error by its kind, a context error as
// Cancelled, everything else as Internal. KindOf(nil) is Internal too; ask
// only about errors.
func KindOf(err error) Kind {
	if e, ok := As(err); ok {
		return e.Kind
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return Cancelled
	}
	return Internal
}
