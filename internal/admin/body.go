package admin

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"time"
	"unicode/utf8"

	"ragd/internal/fault"
)

const (
	smallBody = 64 << 10
	drainBody = 16 << 20
)

// decodeBody reads one JSON object of at most limit bytes into v. Unknown
// fields, wrong types, a second value and bytes that are no UTF-8 are refused.
func decodeBody(w http.ResponseWriter, c *call, limit int64, v any) error {
	if mt, _, err := mime.ParseMediaType(c.Header.Get("Content-Type")); err != nil || mt != "application/json" {
		return &statusError{http.StatusUnsupportedMediaType, nil,
			fault.New(fault.Invalid, "bad_content_type", "the body's Content-Type is %.100q; allowed: application/json", c.Header.Get("Content-Type"))}
	}
	data, err := io.ReadAll(io.LimitReader(c.Body, limit+1))
	if err == nil && int64(len(data)) > limit {
		// A sender that is still writing would not see the answer; a little more is taken from it.
		_, _ = io.CopyN(io.Discard, c.Body, drainBody)
		w.Header().Set("Connection", "close")
		return fault.New(fault.Invalid, "too_large", "the body has more than %d bytes", limit)
	}
	if err != nil {
		w.Header().Set("Connection", "close") // the rest is not waited for
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return &statusError{http.StatusRequestTimeout, nil, fault.New(fault.Invalid, "body_slow", "the body did not arrive within %s", bodyTime)}
		}
		return fault.New(fault.Invalid, "bad_body", "the body broke off").Because(err)
	}
	// From here on the server reads only to notice that the client is gone; a
	// deadline would then end a long call.
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
	if !utf8.Valid(data) {
		return badJSON("it holds bytes that are not UTF-8")
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		return badJSON(jsonProblem(err))
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return badJSON("something follows after the object")
	}
	return nil
}

func badJSON(why string) error {
	return fault.New(fault.Invalid, "bad_json", "the body is not the JSON object that is wanted: %s", why)
}

// jsonProblem says what is wrong without the names of Go types.
func jsonProblem(err error) string {
	var syntax *json.SyntaxError
	var typ *json.UnmarshalTypeError
	switch {
	case errors.Is(err, io.EOF):
		return "it is empty"
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "it breaks off"
	case errors.As(err, &syntax):
		return syntax.Error()
	case errors.As(err, &typ):
		if typ.Field == "" {
			return "it is a " + typ.Value + ", not an object"
		}
		return typ.Field + " is a " + typ.Value
	}
	msg := err.Error()
	if rest, ok := bytes.CutPrefix([]byte(msg), []byte("json: ")); ok {
		return string(rest)
	}
	return msg
}
