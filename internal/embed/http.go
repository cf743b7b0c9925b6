package embed

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"

	"ragd/internal/fault"
)

const (
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
	Dimension int           // asked for; 0: whatever the server answers
	Expect    int           // what it has answered before, if Dimension is 0; not asked for
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
	end    *endpoint
	dim    atomic.Int64 // 0: not known yet
	noDim  atomic.Bool  // the server refuses "dimensions": it is not sent again
	dimOK  atomic.Bool  // the server has taken "dimensions" once
	closed atomic.Bool
	gone   chan struct{} // closed by Close
	rest   rest          // of queries, after an outage
}

var _ Embedder = (*HTTP)(nil)

// NewHTTP checks the options; it does not call the server.
func NewHTTP(opt HTTPOptions) (*HTTP, error) {
	end, err := newEndpoint(opt.BaseURL, "/embeddings", opt.APIKey, opt.Model, opt.Timeout, opt.Transport, "embedding server", embeddingSettings)
	if err != nil {
		return nil, err
	}
	if opt.Dimension < 0 || opt.Dimension > maxDim {
		return nil, fault.New(fault.Invalid, "embeddings_dimension", "EMBEDDINGS_DIMENSION is %d; it is 0 (the server's) to %d", opt.Dimension, maxDim)
	}
	def := func(p *int, v int) {
		if *p <= 0 {
			*p = v
		}
	}
	def(&opt.MaxTokens, defaultHTTPWindow)
	def(&opt.BatchTokens, defaultBatchTokens)
	def(&opt.BatchTexts, defaultBatchTexts)
	h := &HTTP{opt: opt, end: end, gone: make(chan struct{})}
	h.dim.Store(int64(max(opt.Dimension, opt.Expect)))
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

// EmbedPassages implements Embedder.
func (h *HTTP) EmbedPassages(ctx context.Context, texts []string) ([][]float32, error) {
	out, err := h.embed(ctx, texts, h.opt.PassagePrefix, 0, patient)
	h.noteOutcome(err)
	return out, err
}

// Close implements Embedder. Queries in flight end; passages end with their context.
func (h *HTTP) Close() error {
	if h.closed.CompareAndSwap(false, true) {
		close(h.gone)
	}
	h.end.client.CloseIdleConnections()
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
