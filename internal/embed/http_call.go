package embed

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"ragd/internal/fault"
)

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
	a, err := h.end.post(ctx, body)
	switch {
	case errors.Is(err, errSlow):
		// It may be the fault of one text, which is worth asking about.
		return nil, -1, &rejected{err: err, probe: true}
	case err != nil:
		return nil, 0, err
	case a.status == http.StatusOK:
		if len(a.body) > maxAnswer {
			return nil, -1, &rejected{err: fault.New(fault.Permanent, "embed_bad_answer", "the embedding server's answer is longer than %d bytes", maxAnswer)}
		}
		if withDim {
			h.dimOK.Store(true)
		}
		vs, err := parseAnswer(a.body, len(inputs))
		return vs, -1, err
	case withDim && badRequest(a.status):
		named := strings.Contains(strings.ToLower(string(a.body)), "dimension")
		if (named || !h.dimOK.Load()) && h.noDim.CompareAndSwap(false, true) {
			vs, again, err := h.once(ctx, inputs)
			if err != nil && !named {
				h.noDim.Store(false) // something else was wrong, with and without
			}
			return vs, again, err
		}
	}
	again, err = h.refused(a)
	return nil, again, err
}

// refused tells a text's fault from the server's.
func (h *HTTP) refused(a answer) (again time.Duration, err error) {
	switch s := a.status; {
	case badRequest(s) || s == http.StatusRequestEntityTooLarge:
		return -1, &rejected{err: fault.New(fault.Permanent, "embed_rejected", "the embedding server refused the text (status %d): %s", s, h.end.said(a.body))}
	case s == http.StatusInternalServerError:
		return 0, &rejected{err: h.end.outage("failed (status 500): %s", h.end.said(a.body)), probe: true}
	}
	wait, out := h.end.refused(a)
	if wait == 0 && !busy(a.status) {
		wait = -1
	}
	return wait, out
}
