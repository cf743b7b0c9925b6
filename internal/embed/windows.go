package embed

import (
	"math"

	"ragd/internal/fault"
)

// piece is one window of one text on its way through the kernel.
type piece struct {
	text   int     // index of its text
	ids    []int32 // with [CLS] and [SEP]
	vector []float32
}

// split appends the windows of a text, each of at most the model's length.
func (m *Model) split(to []*piece, index int, text string) []*piece {
	limit := m.limit(0)
	ids := m.tok.Append(make([]int32, 1, len(text)/4+special), text)
	if len(ids) == 1 {
		return to
	}
	if len(ids)-1 <= limit {
		ids[0] = m.tok.CLS()
		return append(to, &piece{text: index, ids: append(ids, m.tok.SEP())})
	}
	for _, w := range m.tok.Windows(text, limit, 0) {
		ids := append(make([]int32, 0, w.Tokens+special), m.tok.CLS())
		ids = m.tok.Append(ids, text[w.Start:w.End])
		to = append(to, &piece{text: index, ids: append(ids, m.tok.SEP())})
	}
	return to
}

// batches groups windows, in order, into batches of about batchTokens.
func (m *Model) batches(ws []*piece) [][]*piece {
	room := max(batchTokens, m.id.MaxTokens)
	var out [][]*piece
	from, tokens := 0, 0
	for i, w := range ws {
		if i > from && tokens+len(w.ids) > room {
			out = append(out, ws[from:i])
			from, tokens = i, 0
		}
		tokens += len(w.ids)
	}
	if from < len(ws) {
		out = append(out, ws[from:])
	}
	return out
}

// join makes one unit vector of a text's windows: their mean, weighted by tokens.
func (m *Model) join(ws []*piece) ([]float32, error) {
	sum := make([]float64, m.id.Dim)
	for _, w := range ws {
		weight := float64(len(w.ids) - special)
		if len(ws) == 1 {
			weight = 1
		}
		for j, x := range w.vector {
			sum[j] += weight * float64(x)
		}
	}
	if len(ws) == 1 && usable(ws[0].vector) {
		return ws[0].vector, nil // already of unit length
	}
	return unit(sum)
}

// unit returns v scaled to unit length, as floats.
func unit(v []float64) ([]float32, error) {
	var square float64
	for _, x := range v {
		square += x * x
	}
	if !(square > 1e-24) || math.IsInf(square, 0) {
		return nil, fault.New(fault.Permanent, "embed_bad_vector", "the text's vector is zero or not finite")
	}
	inv := 1 / math.Sqrt(square)
	out := make([]float32, len(v))
	for j, x := range v {
		out[j] = float32(x * inv)
	}
	return out, nil
}

// usable reports whether v is finite and of about unit length.
func usable(v []float32) bool {
	var square float64
	for _, x := range v {
		square += float64(x) * float64(x)
	}
	return square > 0.99 && square < 1.01 // false for NaN too
}
