package embed

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"ragd/internal/fault"
)

// maxAnswer bounds what is read of one answer.
const maxAnswer = 64 << 20

// patience says how long a call may wait for a busy server.
type patience struct {
	tries int           // of one request
	wait  time.Duration // longest single wait that is honoured here; beyond it the caller is told
	well  bool          // the server has answered a harmless text in the meantime
}

var (
	patient = patience{tries: 4, wait: 30 * time.Second}
	quick   = patience{tries: 2, wait: time.Second}
)

// rejected is an answer that may be the fault of one text of the request: the
// batch is worth halving.
type rejected struct {
	err   error
	probe bool // the server itself may be at fault: ask it something harmless first
}

func (r *rejected) Error() string { return r.err.Error() }
func (r *rejected) Unwrap() error { return r.err }

// retryAfter is the wait a server asked for, as the cause of an Unavailable fault.
type retryAfter struct{ wait time.Duration }

func (r *retryAfter) Error() string { return "the server asks to wait " + r.wait.String() }

// RetryAfter returns how long a server asked to be left alone, if err says so.
func RetryAfter(err error) (time.Duration, bool) {
	var r *retryAfter
	if errors.As(err, &r) {
		return r.wait, true
	}
	return 0, false
}

func (h *HTTP) outage(format string, args ...any) *fault.Error {
	return fault.New(fault.Unavailable, "embedder_unavailable", "the embedding server "+h.host()+" "+format, args...).
		WithHint("keyword search goes on; embedding resumes by itself when the server answers")
}

func (h *HTTP) host() string {
	rest := strings.SplitN(h.url, "://", 2)[1]
	return rest[:strings.IndexByte(rest, '/')]
}

// call sends one request and repeats it while the server is busy. It returns
// a *rejected, or a *fault.Error of kind Unavailable, or the context's error.
func (h *HTTP) call(ctx context.Context, inputs []string, p patience) ([]rawVector, error) {
	pause := 500 * time.Millisecond
	for try := 1; ; try++ {
		vs, again, err := h.once(ctx, inputs)
		if err == nil {
			return vs, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if again < 0 || try == p.tries {
			return nil, err
		}
		if again == 0 {
			again, pause = pause, pause*2
		}
		if again > p.wait {
			return nil, err
		}
		t := time.NewTimer(again)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return nil, ctx.Err()
		}
	}
}

// once sends one request. again says whether a failure is worth repeating: the
// server's wait, 0 for the caller's choice, -1 for not at all.
func (h *HTTP) once(ctx context.Context, inputs []string) (vs []rawVector, again time.Duration, err error) {
	body := map[string]any{"model": h.opt.Model, "input": inputs}
	withDim := h.opt.Dimension > 0 && !h.noDim.Load()
	if withDim {
		body["dimensions"] = h.opt.Dimension
	}
	data, err := json.Marshal(body)
	if err != nil {
		return nil, -1, err
	}
	inner, cancel := context.WithTimeout(ctx, h.opt.Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(inner, http.MethodPost, h.url, bytes.NewReader(data))
	if err != nil {
		return nil, -1, err
	}
	req.Header.Set("Content-Type", "application/json")
	if h.opt.APIKey != "" {
		req.Header.Set("Authorization", "Bearer "+h.opt.APIKey)
	}
	resp, err := h.client.Do(req)
	if err != nil {
		return h.unreachable(inner, err)
	}
	defer resp.Body.Close() //nolint:errcheck // read to the limit below
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil {
		return h.unreachable(inner, err)
	}
	if resp.StatusCode == http.StatusOK {
		if len(answer) > maxAnswer {
			return nil, -1, &rejected{err: fault.New(fault.Permanent, "embed_bad_answer", "the embedding server's answer is longer than %d bytes", maxAnswer)}
		}
		if withDim {
			h.dimOK.Store(true)
		}
		vs, err := parseAnswer(answer, len(inputs))
		return vs, -1, err
	}
	if withDim && badRequest(resp.StatusCode) {
		named := strings.Contains(strings.ToLower(string(answer)), "dimension")
		if (named || !h.dimOK.Load()) && h.noDim.CompareAndSwap(false, true) {
			vs, again, err := h.once(ctx, inputs)
			if err != nil && !named {
				h.noDim.Store(false) // something else was wrong, with and without
			}
			return vs, again, err
		}
	}
	again, err = h.refused(resp, answer)
	return nil, again, err
}

// unreachable classifies a failed exchange. A timeout may be the fault of one
// text, which is worth asking about; anything else is the server's.
func (h *HTTP) unreachable(ctx context.Context, err error) ([]rawVector, time.Duration, error) {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return nil, -1, &rejected{err: h.outage("did not answer within %s", h.opt.Timeout), probe: true}
	}
	return nil, 0, h.outage("cannot be reached").Because(h.clean(err))
}

func badRequest(status int) bool {
	return status == http.StatusBadRequest || status == http.StatusUnprocessableEntity
}

// refused classifies a status other than 200.
func (h *HTTP) refused(resp *http.Response, answer []byte) (again time.Duration, err error) {
	said := h.said(answer)
	switch s := resp.StatusCode; {
	case badRequest(s) || s == http.StatusRequestEntityTooLarge:
		return -1, &rejected{err: fault.New(fault.Permanent, "embed_rejected", "the embedding server refused the text (status %d): %s", s, said)}
	case s == http.StatusUnauthorized || s == http.StatusForbidden:
		return -1, h.outage("refused the key (status %d): %s", s, said).WithHint("check EMBEDDINGS_API_KEY")
	case s == http.StatusNotFound:
		return -1, h.outage("does not know this address or the model %q (status 404): %s", h.opt.Model, said).
			WithHint("check EMBEDDINGS_BASE_URL and EMBEDDINGS_MODEL")
	case s == http.StatusInternalServerError:
		return 0, &rejected{err: h.outage("failed (status 500): %s", said), probe: true}
	case s == http.StatusTooManyRequests || s > 500:
		wait := waitOf(resp.Header.Get("Retry-After"), time.Now())
		out := h.outage("is busy or down (status %d): %s", s, said)
		if wait > 0 {
			return wait, out.Because(&retryAfter{wait})
		}
		return 0, out
	default:
		return -1, h.outage("answered with status %d: %s", s, said)
	}
}

// waitOf reads a Retry-After header: seconds or a date. 0: none.
func waitOf(header string, now time.Time) time.Duration {
	if s, err := strconv.ParseFloat(header, 64); err == nil && s > 0 && s < 1e6 {
		return time.Duration(s * float64(time.Second))
	}
	if t, err := http.ParseTime(header); err == nil && t.After(now) {
		return t.Sub(now)
	}
	return 0
}

// said returns the start of an error body on one line, without the key.
func (h *HTTP) said(answer []byte) string {
	var e struct {
		Error json.RawMessage `json:"error"`
	}
	text := string(answer[:min(len(answer), 4096)])
	if json.Unmarshal(answer, &e) == nil && len(e.Error) > 0 {
		var inner struct {
			Message string `json:"message"`
		}
		if json.Unmarshal(e.Error, &inner) == nil && inner.Message != "" {
			text = inner.Message
		} else {
			text = strings.Trim(string(e.Error), `"`)
		}
	}
	text = strings.Join(strings.FieldsFunc(h.redact(text), func(r rune) bool { return r <= ' ' || r == 0x7f }), " ")
	if len(text) > 300 {
		text = strings.ToValidUTF8(text[:300], "") + "…"
	}
	if text == "" {
		return "no message"
	}
	return text
}

func (h *HTTP) redact(text string) string {
	if h.opt.APIKey == "" {
		return text
	}
	return strings.ReplaceAll(text, h.opt.APIKey, "[key]")
}

// clean returns err without the key, should a transport have put it there.
func (h *HTTP) clean(err error) error {
	if h.opt.APIKey != "" && strings.Contains(err.Error(), h.opt.APIKey) {
		return errors.New(h.redact(err.Error()))
	}
	return err
}
