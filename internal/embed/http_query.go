package embed

import (
	"context"
	"errors"
	"sync"
	"time"

	"ragd/internal/fault"
)

const (
	// queryPatience is how long a query waits for the server. A search that
	// comes later goes by keyword, and says so.
	queryPatience = 900 * time.Millisecond
	// queryRest is how long queries leave a server alone that was out or slow.
	queryRest = 3 * time.Second
)

// EmbedQuery implements Embedder. It waits for the server 0.9 s at most, and
// not at all for some seconds after an outage; what was asked is answered in
// the background then, so that a server that had to load its model has it.
func (h *HTTP) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	if err := h.rest.err(time.Now()); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	type result struct {
		vector []float32
		err    error
	}
	done := make(chan result, 1)
	inner, cancel := context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		select {
		case <-h.gone:
			cancel()
		case <-inner.Done():
		}
	}()
	go func() {
		defer cancel()
		v, err := h.embedQuery(inner, text)
		h.noteOutcome(err)
		done <- result{v, err}
	}()
	limit := time.NewTimer(min(queryPatience, h.end.timeout))
	defer limit.Stop()
	select {
	case r := <-done:
		return r.vector, r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-limit.C:
		err := h.end.outage("has not answered within %s", min(queryPatience, h.end.timeout))
		h.rest.begin(time.Now(), err)
		return nil, err
	}
}

func (h *HTTP) embedQuery(ctx context.Context, text string) ([]float32, error) {
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

// noteOutcome lets queries rest after an outage, and ends their rest when the
// server has answered.
func (h *HTTP) noteOutcome(err error) {
	f, ok := fault.As(err)
	switch {
	case err == nil, ok && f.Kind != fault.Unavailable && f.Kind != fault.Cancelled:
		h.rest.end()
	case ok && f.Kind == fault.Unavailable && !h.closed.Load():
		h.rest.begin(time.Now(), f)
	}
}

// rest is a time in which a server is not asked.
type rest struct {
	mu    sync.Mutex
	until time.Time
	why   error
}

func (r *rest) begin(now time.Time, why error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.until, r.why = now.Add(queryRest), why
}

func (r *rest) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.until, r.why = time.Time{}, nil
}

// err is why the server is not to be asked now; nil: it may be.
func (r *rest) err(now time.Time) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now.Before(r.until) {
		return r.why
	}
	return nil
}
