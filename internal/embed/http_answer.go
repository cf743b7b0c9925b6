package embed

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"math"

	"ragd/internal/fault"
)

// rawVector is one vector as the server sent it; err says what is wrong with it alone.
type rawVector struct {
	values []float64
	err    error
}

func badAnswer(format string, args ...any) *rejected {
	return &rejected{err: fault.New(fault.Permanent, "embed_bad_answer", "the embedding server's answer is wrong: "+format, args...), probe: true}
}

// parseAnswer reads the vectors of n inputs, in the inputs' order.
func parseAnswer(body []byte, n int) ([]rawVector, error) {
	var a struct {
		Data []struct {
			Index     *int            `json:"index"`
			Embedding json.RawMessage `json:"embedding"`
		} `json:"data"`
	}
	if err := json.Unmarshal(body, &a); err != nil {
		return nil, badAnswer("it is not the JSON of embeddings")
	}
	if len(a.Data) != n {
		return nil, badAnswer("it has %d vectors for %d texts", len(a.Data), n)
	}
	out, seen := make([]rawVector, n), make([]bool, n)
	for i, d := range a.Data {
		at := i // a server that leaves out every index keeps the order
		if (d.Index == nil) != (a.Data[0].Index == nil) {
			return nil, badAnswer("some vectors have an index and some have none")
		}
		if d.Index != nil {
			at = *d.Index
		}
		if at < 0 || at >= n || seen[at] {
			return nil, badAnswer("the index %d is twice there or out of range", at)
		}
		seen[at] = true
		out[at] = parseVector(d.Embedding)
	}
	return out, nil
}

// parseVector reads an array of numbers, or base64 of little-endian floats.
func parseVector(raw json.RawMessage) rawVector {
	bad := func(what string) rawVector {
		return rawVector{err: fault.New(fault.Permanent, "embed_bad_vector", "the embedding server gave the text a vector that %s", what)}
	}
	var v []float64
	if bytes.HasPrefix(raw, []byte(`"`)) {
		var text string
		if err := json.Unmarshal(raw, &text); err != nil {
			return bad("cannot be read")
		}
		data, err := base64.StdEncoding.DecodeString(text)
		if err != nil || len(data)%4 != 0 {
			return bad("cannot be read")
		}
		for i := 0; i < len(data); i += 4 {
			v = append(v, float64(math.Float32frombits(binary.LittleEndian.Uint32(data[i:]))))
		}
	} else if err := json.Unmarshal(raw, &v); err != nil || bytes.Contains(raw, []byte("null")) {
		return bad("holds something other than numbers")
	}
	if len(v) == 0 {
		return bad("is empty")
	}
	if len(v) > maxDim {
		return bad("is longer than any model's")
	}
	var square float64
	for _, x := range v {
		square += x * x
	}
	switch {
	case math.IsNaN(square) || math.IsInf(square, 0):
		return bad("is not finite")
	case square < 1e-24:
		return bad("is zero")
	}
	return rawVector{values: v}
}

// accept writes the vectors of a batch into its items, normalised. A vector of
// another length than the server gave before is its text's failure.
func (h *HTTP) accept(batch []*item, vs []rawVector) {
	if n := oneLength(vs); n > 0 {
		h.dim.CompareAndSwap(0, int64(n))
	}
	want := int(h.dim.Load())
	for i, v := range vs {
		it := batch[i]
		switch {
		case v.err != nil:
			it.err = v.err
		case len(v.values) != want:
			it.err = fault.New(fault.Permanent, "embed_bad_vector", "the embedding server gave the text a vector of %d dimensions, the others have %d",
				len(v.values), want)
		default:
			it.vector, it.err = unit(v.values)
		}
	}
}

// strange reports whether all vectors are of one length that is not the identity's.
func (h *HTTP) strange(vs []rawVector) bool {
	n, want := oneLength(vs), int(h.dim.Load())
	return n > 0 && want > 0 && n != want
}

// oneLength returns the length that all vectors have which can be read, or 0.
func oneLength(vs []rawVector) (n int) {
	for _, v := range vs {
		switch {
		case v.err != nil:
		case n > 0 && n != len(v.values):
			return 0
		default:
			n = len(v.values)
		}
	}
	return n
}

// otherDimension is the outage of a server whose vectors are n numbers long.
func (h *HTTP) otherDimension(n int) error {
	err := h.end.outage("answers with vectors of %d dimensions, %d are expected", n, h.dim.Load())
	if h.opt.Dimension == 0 {
		return err.WithHint("its model has changed; restart ragd to embed the index anew")
	}
	return err.WithHint("set EMBEDDINGS_DIMENSION to what the model gives; the index is then embedded anew")
}
