package embed

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"ragd/internal/fault"
)

const (
	defaultHTTPTimeout = 30 * time.Second
	// maxAnswer bounds what is read of one answer.
	maxAnswer = 64 << 20
)

// settings are the names of what a person can change about a server.
type settings struct{ url, key, model, timeout string }

var (
	embeddingSettings = settings{"EMBEDDINGS_BASE_URL", "EMBEDDINGS_API_KEY", "EMBEDDINGS_MODEL", "EMBEDDINGS_TIMEOUT_MS"}
	contextSettings   = settings{"CONTEXTUAL_CHUNKING_BASE_URL", "CONTEXTUAL_CHUNKING_API_KEY", "CONTEXTUAL_CHUNKING_MODEL", "CONTEXTUAL_CHUNKING_TIMEOUT_MS"}
)

// endpoint is one address of an OpenAI-compatible server. Its key is sent to
// that address only, and is in no error.
type endpoint struct {
	url     string
	key     string
	model   string
	timeout time.Duration
	client  *http.Client
	what    string // "embedding server"
	names   settings
}

// newEndpoint checks its arguments and calls nobody. path is added to the
// base address unless it is its end already.
func newEndpoint(base, path, key, model string, timeout time.Duration, transport http.RoundTripper, what string, names settings) (*endpoint, error) {
	u, err := url.Parse(base)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return nil, fault.New(fault.Invalid, "embeddings_url", "%s is not an http or https URL with a host", names.url).
			WithHint("for example http://127.0.0.1:11434/v1")
	case u.User != nil:
		return nil, fault.New(fault.Invalid, "embeddings_url", "%s holds a user or password; put the key in %s", names.url, names.key)
	case model == "":
		return nil, fault.New(fault.Invalid, "embeddings_model", "%s is empty; it names the model as the server knows it", names.model)
	case strings.ContainsAny(key, "\r\n"):
		return nil, fault.New(fault.Invalid, "embeddings_key", "%s holds a line break", names.key)
	}
	if timeout <= 0 {
		timeout = defaultHTTPTimeout
	}
	if !strings.HasSuffix(strings.TrimRight(u.Path, "/"), path) {
		u = u.JoinPath(path)
	}
	return &endpoint{
		url: u.String(), key: key, model: model, timeout: timeout, what: what, names: names,
		client: &http.Client{
			Transport: transport,
			// The key goes to the server that was configured and to no other.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}, nil
}

// answer is what a server said.
type answer struct {
	status int
	header http.Header
	body   []byte // at most maxAnswer+1 bytes
}

// errSlow is the cause of an outage where the server did not answer in time.
var errSlow = errors.New("no answer in time")

// post sends one request. An error is an Unavailable fault, because of errSlow
// where that was it.
func (e *endpoint) post(ctx context.Context, body any) (answer, error) {
	data, err := json.Marshal(body)
	if err != nil {
		return answer{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, e.timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url, bytes.NewReader(data))
	if err != nil {
		return answer{}, err
	}
	req.Header.Set("Content-Type", "application/json")
	if e.key != "" {
		req.Header.Set("Authorization", "Bearer "+e.key)
	}
	resp, err := e.client.Do(req)
	if err != nil {
		return answer{}, e.unreachable(ctx, err)
	}
	defer resp.Body.Close() //nolint:errcheck // read to the limit below
	out := answer{status: resp.StatusCode, header: resp.Header}
	if out.body, err = io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1)); err != nil {
		return answer{}, e.unreachable(ctx, err)
	}
	return out, nil
}

func (e *endpoint) unreachable(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return e.outage("did not answer within %s", e.timeout).Because(errSlow)
	}
	return e.outage("cannot be reached").Because(e.clean(err))
}

func (e *endpoint) outage(format string, args ...any) *fault.Error {
	return fault.New(fault.Unavailable, "embedder_unavailable", "the "+e.what+" "+e.host()+" "+format, args...)
}

func (e *endpoint) host() string {
	rest := strings.SplitN(e.url, "://", 2)[1]
	return strings.ReplaceAll(rest[:strings.IndexByte(rest, '/')], "%", "%%")
}

// refused says what a status other than 200 means for the server as a whole:
// an outage, and how long the server asked to wait (0: it did not).
func (e *endpoint) refused(a answer) (wait time.Duration, err *fault.Error) {
	said := e.said(a.body)
	switch s := a.status; {
	case s == http.StatusUnauthorized || s == http.StatusForbidden:
		return 0, e.outage("refused the key (status %d): %s", s, said).WithHint("check %s", e.names.key)
	case s == http.StatusNotFound:
		return 0, e.outage("does not know this address or the model %q (status 404): %s", e.model, said).
			WithHint("check %s and %s", e.names.url, e.names.model)
	case busy(s):
		wait = waitOf(a.header.Get("Retry-After"), time.Now())
		out := e.outage("is busy or down (status %d): %s", s, said)
		if wait > 0 {
			return wait, out.Because(&retryAfter{wait})
		}
		return 0, out
	default:
		return 0, e.outage("answered with status %d: %s", s, said)
	}
}

// busy statuses are worth asking again later.
func busy(status int) bool {
	return status == http.StatusTooManyRequests || status > http.StatusInternalServerError
}

func badRequest(status int) bool {
	return status == http.StatusBadRequest || status == http.StatusUnprocessableEntity
}

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
func (e *endpoint) said(body []byte) string {
	var wrapped struct {
		Error json.RawMessage `json:"error"`
	}
	text := string(body[:min(len(body), 4096)])
	if json.Unmarshal(body, &wrapped) == nil && len(wrapped.Error) > 0 {
		var inner struct {
			Message string `json:"message"`
		}
		if json.Unmarshal(wrapped.Error, &inner) == nil && inner.Message != "" {
			text = inner.Message
		} else {
			text = strings.Trim(string(wrapped.Error), `"`)
		}
	}
	text = oneLine(e.redact(text), 300)
	if text == "" {
		return "no message"
	}
	return text
}

// oneLine returns at most most bytes of a text, without control characters
// and runs of space.
func oneLine(text string, most int) string {
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r <= ' ' || r == 0x7f }), " ")
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}

func (e *endpoint) redact(text string) string {
	if e.key == "" {
		return text
	}
	return strings.ReplaceAll(text, e.key, "[key]")
}

// clean returns err without the key, should a transport have put it there.
func (e *endpoint) clean(err error) error {
	if e.key != "" && strings.Contains(err.Error(), e.key) {
		return errors.New(e.redact(err.Error()))
	}
	return err
}
