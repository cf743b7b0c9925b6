package indexer

import (
	"context"
	"errors"
	"math"
	"time"

	"ragd/internal/embed"
	"ragd/internal/fault"
	"ragd/internal/store"
)

// codeNoWords is the embedders' code for a text without words.
const codeNoWords = "embed_no_words"

// embedded is the end of one text: a vector, or why there is none.
type embedded struct {
	vector []float32
	err    error
}

// embed gives some chunks their vectors, the first ones if they are much work:
// what waits is in the index. An error means that the stage has to rest; what
// could be done until then is written. done is how many chunks wait no more.
func (e *Embedding) embed(ctx context.Context, list []store.EmbedChunk) (done int, err error) {
	sentences, err := e.contexts.of(ctx, list)
	if err != nil {
		return 0, err
	}
	windows := make([][]windowText, 0, len(list))
	var hashes []store.VectorHash
	for i, c := range list {
		ws := windowsOf(e.opt.Embedder, c, sentences[c.ID])
		if i > 0 && len(hashes)+len(ws) > embedWindows {
			list = list[:i]
			break
		}
		windows = append(windows, ws)
		for _, w := range ws {
			hashes = append(hashes, w.hash)
		}
	}
	known, err := e.opt.Store.KnownVectors(ctx, e.generation, hashes)
	if err != nil {
		return 0, err
	}
	var texts []string
	at := map[store.VectorHash]int{}
	for _, ws := range windows {
		for _, w := range ws {
			if _, again := at[w.hash]; !again && !known[w.hash] {
				at[w.hash] = len(texts)
				texts = append(texts, w.text)
			}
		}
	}
	results, pause := e.embedTexts(ctx, texts)
	out := make([]store.EmbeddedChunk, 0, len(list))
	for i, c := range list {
		if end, ok := e.outcome(c, windows[i], known, at, results); ok {
			out = append(out, end)
		}
	}
	if err := e.write(ctx, out); err != nil {
		return 0, err
	}
	return len(out), pause
}

// outcome joins a chunk's windows. ok is false when it has to wait on.
func (e *Embedding) outcome(c store.EmbedChunk, ws []windowText, known map[store.VectorHash]bool, at map[store.VectorHash]int, results []embedded) (out store.EmbeddedChunk, ok bool) {
	out.ID = c.ID
	for _, w := range ws {
		v := store.WindowVector{Hash: w.hash, Start: w.start, End: w.end}
		if !known[w.hash] {
			r := results[at[w.hash]]
			if r.err != nil && !e.gaveUp(c.ID, r.err, &out) {
				return out, false
			}
			if r.vector == nil {
				continue
			}
			v.Vector = r.vector
		}
		out.Windows = append(out.Windows, v)
	}
	return out, true
}

// gaveUp says whether a text's error is its end. It notes the failure, unless
// the text merely has no words.
func (e *Embedding) gaveUp(chunk int64, err error, out *store.EmbeddedChunk) bool {
	f, ok := fault.As(err)
	if !ok {
		f = fault.New(fault.Internal, "embed_failed", "%v", err)
	}
	switch f.Kind {
	case fault.Unavailable, fault.Cancelled:
		return false
	case fault.Transient, fault.Internal:
		e.attempts[chunk]++
		if e.attempts[chunk] < embedAttempts {
			return false
		}
	}
	delete(e.attempts, chunk)
	if f.Code != codeNoWords {
		out.Failed = f
	}
	return true
}

// embedTexts returns a result for every text, and an error when the stage has
// to rest. A call that fails as a whole, or whose answer does not fit, is made
// again for each text alone, so that no text suffers for another.
func (e *Embedding) embedTexts(ctx context.Context, texts []string) ([]embedded, error) {
	out := make([]embedded, len(texts))
	if len(texts) == 0 {
		return out, nil
	}
	vectors, err := e.opt.Embedder.EmbedPassages(ctx, texts)
	var partial *embed.BatchError
	switch {
	case err == nil && len(vectors) == len(texts), errors.As(err, &partial) && len(vectors) == len(texts):
		e.take(out, vectors, partial)
	case err != nil && outage(err):
		for i := range out {
			out[i].err = err
		}
	case len(texts) == 1:
		if err == nil {
			err = fault.New(fault.Permanent, "bad_answer", "the embedder gave %d vectors for one text", len(vectors))
		}
		out[0].err = err
	default:
		return out, e.embedSingly(ctx, texts, out)
	}
	return out, firstPause(out)
}

func (e *Embedding) embedSingly(ctx context.Context, texts []string, out []embedded) error {
	for i := range texts {
		one, err := e.embedTexts(ctx, texts[i:i+1])
		out[i] = one[0]
		if err != nil {
			for k := i + 1; k < len(out); k++ {
				out[k].err = err
			}
			return err
		}
	}
	return nil
}

// take checks each vector; a bad one is its own text's failure.
func (e *Embedding) take(out []embedded, vectors [][]float32, partial *embed.BatchError) {
	dim := e.opt.Embedder.Identity().Dim
	for i, v := range vectors {
		if partial != nil && partial.Errs[i] != nil {
			out[i].err = partial.Errs[i]
			continue
		}
		if err := checkVector(v, dim); err != nil {
			out[i].err = err
			continue
		}
		out[i].vector = v
	}
}

func checkVector(v []float32, dim int) error {
	if len(v) != dim {
		return fault.New(fault.Permanent, "bad_vector", "the embedder gave a vector of %d numbers instead of %d", len(v), dim)
	}
	var square float64
	for _, x := range v {
		square += float64(x) * float64(x)
	}
	if !(square > 1e-24) || math.IsInf(square, 0) {
		return fault.New(fault.Permanent, "bad_vector", "the embedder gave a vector that is zero or not finite")
	}
	return nil
}

// outage errors are no text's fault.
func outage(err error) bool {
	kind := fault.KindOf(err)
	return kind == fault.Unavailable || kind == fault.Cancelled
}

// firstPause is why the stage has to rest: an outage, or an error that may pass.
func firstPause(out []embedded) error {
	for _, r := range out {
		if r.err != nil && (outage(r.err) || fault.KindOf(r.err) == fault.Transient || fault.KindOf(r.err) == fault.Internal) {
			return r.err
		}
	}
	return nil
}

// write stores what became of some chunks. It lands even while stopping.
func (e *Embedding) write(ctx context.Context, list []store.EmbeddedChunk) error {
	if len(list) == 0 {
		return nil
	}
	wctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTimeout)
	defer cancel()
	err := e.opt.Store.PutVectors(wctx, e.generation, list)
	if err != nil && !outage(err) && len(list) > 1 {
		for i := range list {
			if err = e.write(ctx, list[i:i+1]); err != nil {
				return err
			}
		}
		return nil
	}
	if err == nil {
		e.rate.add(time.Now(), len(list))
	}
	return err
}
