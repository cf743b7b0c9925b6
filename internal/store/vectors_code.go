package store

import (
	"encoding/binary"
	"errors"
	"math"

	"ragd/internal/fault"
)

const (
	maxDim     = 8192
	maxWindows = 255 // of one chunk
)

// unit returns v scaled to length 1, or a fault when it is no vector of the
// dimension: too short or long, zero, or not finite.
func unit(v []float32, dim int) ([]float32, error) {
	if len(v) != dim {
		return nil, fault.New(fault.Permanent, "bad_vector", "the vector has %d numbers instead of %d", len(v), dim)
	}
	var square float64
	for _, x := range v {
		square += float64(x) * float64(x)
	}
	if !(square > 1e-24) || math.IsInf(square, 0) {
		return nil, fault.New(fault.Permanent, "bad_vector", "the vector is zero or not finite")
	}
	inv := 1 / math.Sqrt(square)
	out := make([]float32, dim)
	for i, x := range v {
		out[i] = float32(float64(x) * inv)
	}
	return out, nil
}

// packVector is a unit vector as a scale and a signed byte for each dimension.
func packVector(v []float32) []byte {
	top := float32(0)
	for _, x := range v {
		top = max(top, x, -x)
	}
	scale := top / 127
	out := make([]byte, 4, 4+len(v))
	binary.LittleEndian.PutUint32(out, math.Float32bits(scale))
	for _, x := range v {
		out = append(out, byte(int8(math.RoundToEven(float64(x/scale)))))
	}
	return out
}

// dotPacked is the product of a vector and a packed one.
func dotPacked(q []float32, code []byte) (float64, bool) {
	if len(code) != 4+len(q) {
		return 0, false
	}
	scale := math.Float32frombits(binary.LittleEndian.Uint32(code))
	code = code[4:]
	var a, b, c, d float32
	i := 0
	for ; i+4 <= len(q); i += 4 {
		a += q[i] * float32(int8(code[i]))
		b += q[i+1] * float32(int8(code[i+1]))
		c += q[i+2] * float32(int8(code[i+2]))
		d += q[i+3] * float32(int8(code[i+3]))
	}
	for ; i < len(q); i++ {
		a += q[i] * float32(int8(code[i]))
	}
	return float64(scale) * float64(a+b+c+d), true
}

func codeWords(dim int) int { return (dim + 63) / 64 }

// signs is the 1-bit code: bit i is set where v[i] > 0.
func signs(dst []uint64, v []float32) {
	clear(dst)
	for i, x := range v {
		if x > 0 {
			dst[i>>6] |= 1 << (i & 63)
		}
	}
}

// signsOfPacked is the 1-bit code of a packed vector.
func signsOfPacked(dst []uint64, code []byte) {
	clear(dst)
	for i, x := range code[4:] {
		if int8(x) > 0 {
			dst[i>>6] |= 1 << (i & 63)
		}
	}
}

// window is one entry of chunk_vectors.windows.
type window struct {
	vector     int64
	start, end int
	code       []uint64
}

func appendWindow(dst []byte, w window) []byte {
	dst = binary.AppendUvarint(dst, uint64(w.vector))
	dst = binary.AppendUvarint(dst, uint64(w.start))
	dst = binary.AppendUvarint(dst, uint64(w.end-w.start))
	dst = binary.AppendUvarint(dst, uint64(len(w.code)))
	for _, word := range w.code {
		dst = binary.LittleEndian.AppendUint64(dst, word)
	}
	return dst
}

var errWindows = errors.New("store: the windows of a chunk are malformed")

// eachWindow calls fn for every window; code is only valid in the call.
func eachWindow(b []byte, fn func(w window) error) error {
	var code [maxDim / 64]uint64
	for len(b) > 0 {
		var head [4]uint64
		for i := range head {
			n, size := binary.Uvarint(b)
			if size <= 0 || n > math.MaxInt32<<8 {
				return errWindows
			}
			head[i], b = n, b[size:]
		}
		words := int(head[3])
		if words > len(code) || len(b) < words*8 {
			return errWindows
		}
		for i := range words {
			code[i] = binary.LittleEndian.Uint64(b[i*8:])
		}
		b = b[words*8:]
		if err := fn(window{int64(head[0]), int(head[1]), int(head[1] + head[2]), code[:words]}); err != nil {
			return err
		}
	}
	return nil
}
