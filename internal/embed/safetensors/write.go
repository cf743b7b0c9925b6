package safetensors

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"unsafe"
)

// Writer collects tensors and writes them in the order they were added, so the
// same calls give the same bytes.
type Writer struct {
	names    []string
	tensors  []Tensor
	metadata map[string]string
}

// NewWriter makes a writer of a file with this metadata (may be nil).
func NewWriter(metadata map[string]string) *Writer { return &Writer{metadata: metadata} }

// AddFloats adds an F32 tensor.
func (w *Writer) AddFloats(name string, values []float32, shape ...int) {
	data := make([]byte, 0, 4*len(values))
	for _, v := range values {
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(v))
	}
	w.add(name, Tensor{"F32", shape, data})
}

// AddInt8s adds an I8 tensor; the values are not copied.
func (w *Writer) AddInt8s(name string, values []int8, shape ...int) {
	w.add(name, Tensor{"I8", shape, unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))), len(values))})
}

func (w *Writer) add(name string, t Tensor) {
	w.names = append(w.names, name)
	w.tensors = append(w.tensors, t)
}

// WriteTo writes the file; data begins at a multiple of 64 bytes.
func (w *Writer) WriteTo(out io.Writer) (int64, error) {
	header := map[string]any{}
	if w.metadata != nil {
		header["__metadata__"] = w.metadata
	}
	at := int64(0)
	for i, name := range w.names {
		t := w.tensors[i]
		if _, twice := header[name]; twice {
			return 0, fmt.Errorf("safetensors: %q was added twice", name)
		}
		if size := sizes[t.DType] * int64(t.Len()); size != int64(len(t.Data)) {
			return 0, fmt.Errorf("safetensors: %q has %d bytes, its shape %v needs %d", name, len(t.Data), t.Shape, size)
		}
		shape := make([]int64, len(t.Shape))
		for j, d := range t.Shape {
			shape[j] = int64(d)
		}
		header[name] = entry{t.DType, shape, [2]int64{at, at + int64(len(t.Data))}}
		at += int64(len(t.Data))
	}
	text, err := json.Marshal(header) // keys in order: the same bytes every time
	if err != nil {
		return 0, fmt.Errorf("safetensors: write the header: %w", err)
	}
	for (len(text)+8)%64 != 0 {
		text = append(text, ' ')
	}
	var n int64
	for _, part := range append([][]byte{binary.LittleEndian.AppendUint64(nil, uint64(len(text))), text}, datas(w.tensors)...) {
		m, err := out.Write(part)
		n += int64(m)
		if err != nil {
			return n, fmt.Errorf("safetensors: write: %w", err)
		}
	}
	return n, nil
}

func datas(ts []Tensor) [][]byte {
	out := make([][]byte, len(ts))
	for i, t := range ts {
		out[i] = t.Data
	}
	return out
}
