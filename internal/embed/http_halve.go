package embed

import (
	"context"
	"errors"

	"ragd/internal/fault"
)

// probeText is harmless: a server that cannot embed it is out.
const probeText = "hello"

// locate embeds a batch. If the server refuses it, its halves are tried, so
// that one bad text costs about 2 log2(n) requests and fails alone, in its
// item. An error is an outage or the context's.
func (h *HTTP) locate(ctx context.Context, batch []*item, p patience) error {
	inputs := make([]string, len(batch))
	for i, it := range batch {
		inputs[i] = it.input
	}
	vs, err := h.call(ctx, inputs, p)
	if err == nil {
		if h.strange(vs) { // either the server has another model now, or it is for these texts
			if err := h.probe(ctx); err != nil {
				return err
			}
		}
		h.accept(batch, vs)
		return nil
	}
	var r *rejected
	if !errors.As(err, &r) {
		return err
	}
	if r.probe && (!p.well || len(batch) == 1) { // once at first, and again before a text is blamed
		if perr := h.probe(ctx); perr != nil {
			return perr
		}
		p.well, p.tries = true, 1
	}
	if len(batch) == 1 {
		batch[0].err = textError(r)
		return nil
	}
	half := len(batch) / 2
	if err := h.locate(ctx, batch[:half], p); err != nil {
		return err
	}
	return h.locate(ctx, batch[half:], p)
}

// textError is what a single text's failure means once the server is known to
// be well: the same text will fail the same way.
func textError(r *rejected) error {
	e, ok := fault.As(r.err)
	if !ok || e.Kind != fault.Unavailable {
		return r.err
	}
	return fault.New(fault.Permanent, "embed_rejected", "the embedding server fails on this text").Because(r.err)
}

// probe asks for the vector of a harmless text. Its error is an outage.
func (h *HTTP) probe(ctx context.Context) error {
	vs, err := h.call(ctx, []string{probeText}, patience{tries: 1})
	var r *rejected
	if errors.As(err, &r) {
		if e, ok := fault.As(r.err); ok && e.Kind == fault.Unavailable {
			return e
		}
		return h.end.outage("fails on any text").Because(r.err)
	}
	if err == nil && h.strange(vs) {
		return h.otherDimension(len(vs[0].values))
	}
	return err
}
