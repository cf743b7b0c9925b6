package embed

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"ragd/internal/fault"
)

const (
	defaultHTTPTimeout = 30 * time.Second
	defaultHTTPWindow  = 512  // tokens; what most served models take
	defaultBatchTokens = 8192 // of one request
	defaultBatchTexts  = 64
	maxDim             = 16384
)

// HTTPOptions describe an OpenAI-compatible server.
type HTTPOptions struct {
	BaseURL   string        // "http://127.0.0.1:11434/v1"; "/embeddings" is added
	APIKey    string        // sent as a bearer token; never logged, never in an error
	Model     string        // as the server knows it
	Dimension int           // 0: whatever the server answers
	Timeout   time.Duration // of one request; 0: 30 s

	QueryPrefix, PassagePrefix string
	MaxTokens                  int // of one window; 0: 512
	BatchTokens                int // of one request; 0: 8192
	BatchTexts                 int // of one request; 0: 64

	// Transport replaces the HTTP transport; nil is http.DefaultTransport.
	Transport http.RoundTripper
}

// HTTP is an embedder behind an OpenAI-compatible server (Ollama, LM Studio,
// llama.cpp, vLLM, OpenAI).
type HTTP struct {
	opt    HTTPOptions
	url    string
	client *http.Client
	dim    atomic.Int64 // 0: not known yet
	noDim  atomic.Bool  // the server refuses "dimensions": it is not sent again
	dimOK  atomic.Bool  // the server has taken "dimensions" once
	closed atomic.Bool
}

var _ Embedder = (*HTTP)(nil)

// NewHTTP checks the options; it does not call the server.
func NewHTTP(opt HTTPOptions) (*HTTP, error) {
	u, err := url.Parse(opt.BaseURL)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return nil, fault.New(fault.Invalid, "embeddings_url", "EMBEDDINGS_BASE_URL is not an http or https URL with a host").
			WithHint("for example http://127.0.0.1:11434/v1")
	case u.User != nil:
		return nil, fault.New(fault.Invalid, "embeddings_url", "EMBEDDINGS_BASE_URL holds a user or password; put the key in EMBEDDINGS_API_KEY")
	case opt.Model == "":
		return nil, fault.New(fault.Invalid, "embeddings_model", "EMBEDDINGS_MODEL is empty; it names the model as the server knows it")
	case opt.Dimension < 0 || opt.Dimension > maxDim:
		return nil, fault.New(fault.Invalid, "embeddings_dimension", "EMBEDDINGS_DIMENSION is %d; it is 0 (the server's) to %d", opt.Dimension, maxDim)
	case strings.ContainsAny(opt.APIKey, "\r\n"):
		return nil, fault.New(fault.Invalid, "embeddings_key", "EMBEDDINGS_API_KEY holds a line break")
	}
	def := func(p *int, v int) {
		if *p <= 0 {
			*p = v
		}
	}
	def(&opt.MaxTokens, defaultHTTPWindow)
	def(&opt.BatchTokens, defaultBatchTokens)
	def(&opt.BatchTexts, defaultBatchTexts)
	if opt.Timeout <= 0 {
		opt.Timeout = defaultHTTPTimeout
	}
	if !strings.HasSuffix(strings.TrimRight(u.Path, "/"), "/embeddings") {
		u = u.JoinPath("embeddings")
	}
	h := &HTTP{opt: opt, url: u.String(), client: &http.Client{
		Transport: opt.Transport,
		// The key goes to the server that was configured and to no other.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	h.dim.Store(int64(opt.Dimension))
	return h, nil
}

// Identity implements Embedder. The server's weights cannot be seen, so the
// model's name stands for them.
func (h *HTTP) Identity() Identity {
	return Identity{
		Name: h.opt.Model, Revision: "server", Dim: int(h.dim.Load()),
		QueryPrefix: h.opt.QueryPrefix, PassagePrefix: h.opt.PassagePrefix, MaxTokens: h.opt.MaxTokens,
	}
}

// CountTokens implements Embedder with an estimate.
func (h *HTTP) CountTokens(text string) int { return estimate(text) }

// Windows implements Embedder by the same estimate.
func (h *HTTP) Windows(text string, limit, overlap int) []Window {
	if most := h.opt.MaxTokens - special; limit <= 0 || limit > most {
		limit = most
	}
	return estimateWindows(text, limit, overlap)
}

// EmbedQuery implements Embedder.
func (h *HTTP) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	vs, err := h.embed(ctx, []string{text}, h.opt.QueryPrefix, maxQueryWindows, quick)
	if err != nil {
		var b *BatchError
		if errors.As(err, &b) {
			return nil, b.Errs[0]
		}
		return nil, err
	}
	return vs[0], nil
}

// EmbedPassages implements Embedder.
func (h *HTTP) EmbedPassages(ctx context.Context, texts []string) ([][]float32, error) {
	return h.embed(ctx, texts, h.opt.PassagePrefix, 0, patient)
}

// Close implements Embedder; requests in flight end by themselves.
func (h *HTTP) Close() error {
	h.closed.Store(true)
	h.client.CloseIdleConnections()
	return nil
}

// item is one window on its way to the server and back.
type item struct {
	input  string
	text   int // index of its text
	tokens int
	vector []float32
	err    error
}

// embed splits texts into windows, windows into requests, and joins the answers.
func (h *HTTP) embed(ctx context.Context, texts []string, prefix string, maxWindows int, p patience) ([][]float32, error) {
	if h.closed.Load() {
		return nil, fault.New(fault.Unavailable, "embedder_closed", "the embedder is closed")
	}
	failed := &BatchError{Size: len(texts)}
	var items []*item
	first := make([]int, len(texts)+1)
	for i, text := range texts {
		ws := h.Windows(text, 0, 0)
		switch {
		case len(ws) == 0:
			failed.set(i, errNoWords())
		case maxWindows > 0 && len(ws) > maxWindows:
			failed.set(i, fault.New(fault.Invalid, "query_too_long", "the query has more than %d tokens", maxWindows*h.opt.MaxTokens))
		default:
			for _, w := range ws {
				items = append(items, &item{input: prefix + text[w.Start:w.End], text: i, tokens: w.Tokens})
			}
		}
		first[i+1] = len(items)
	}
	for _, batch := range h.group(items) {
		if err := h.locate(ctx, batch, p); err != nil {
			return nil, err
		}
	}
	out := make([][]float32, len(texts))
	for i := range texts {
		own := items[first[i]:first[i+1]]
		if len(own) == 0 {
			continue
		}
		if v, err := joinItems(own); err != nil {
			failed.set(i, err)
		} else {
			out[i] = v
		}
	}
	return out, failed.orNil()
}

// group makes requests of at most BatchTexts windows and about BatchTokens tokens.
func (h *HTTP) group(items []*item) [][]*item {
	var out [][]*item
	from, tokens := 0, 0
	for i, it := range items {
		if i > from && (i-from >= h.opt.BatchTexts || tokens+it.tokens > h.opt.BatchTokens) {
			out = append(out, items[from:i])
			from, tokens = i, 0
		}
		tokens += it.tokens
	}
	if from < len(items) {
		out = append(out, items[from:])
	}
	return out
}

// joinItems makes one unit vector of a text's windows, or returns the first one's error.
func joinItems(own []*item) ([]float32, error) {
	for _, it := range own {
		if it.err != nil {
			return nil, it.err
		}
	}
	if len(own) == 1 {
		return own[0].vector, nil
	}
	sum := make([]float64, len(own[0].vector))
	for _, it := range own {
		for j, x := range it.vector {
			sum[j] += float64(it.tokens) * float64(x)
		}
	}
	return unit(sum)
}
