package safetensors

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math"
	"unsafe"

	"ragd/internal/fault"
)

// maxHeader bounds the header of a foreign file; the format's own limit is 100 MB.
const maxHeader = 16 << 20

// Tensor is one array of a file. Data lies in the file's memory.
type Tensor struct {
	DType string // "F32", "F16", "BF16", "I8", …
	Shape []int
	Data  []byte
}

// File is a parsed file.
type File struct {
	Tensors  map[string]Tensor
	Metadata map[string]string
}

type entry struct {
	DType   string   `json:"dtype"`
	Shape   []int64  `json:"shape"`
	Offsets [2]int64 `json:"data_offsets"`
}

func bad(format string, args ...any) *fault.Error {
	return fault.New(fault.Invalid, "model_file", "the model file is damaged: "+format, args...).
		WithHint("download the file again and compare its SHA-256")
}

var sizes = map[string]int64{"F64": 8, "F32": 4, "F16": 2, "BF16": 2, "I64": 8, "I32": 4, "I16": 2, "I8": 1, "U8": 1, "BOOL": 1}

// Parse reads a whole file. The tensors keep pointing into data.
func Parse(data []byte) (*File, error) {
	if len(data) < 8 {
		return nil, bad("it has %d bytes", len(data))
	}
	n := binary.LittleEndian.Uint64(data)
	if n > maxHeader || n > uint64(len(data)-8) {
		return nil, bad("its header says it has %d bytes, the file has %d", n, len(data))
	}
	body := data[8+n:]
	var raw map[string]json.RawMessage
	dec := json.NewDecoder(bytes.NewReader(data[8 : 8+n]))
	if err := dec.Decode(&raw); err != nil {
		return nil, bad("its header cannot be read").Because(err)
	}
	f := &File{Tensors: make(map[string]Tensor, len(raw)), Metadata: map[string]string{}}
	for name, value := range raw {
		if name == "__metadata__" {
			if err := json.Unmarshal(value, &f.Metadata); err != nil {
				return nil, bad("its metadata cannot be read").Because(err)
			}
			continue
		}
		var e entry
		if err := json.Unmarshal(value, &e); err != nil {
			return nil, bad("the entry %q cannot be read", name).Because(err)
		}
		t, err := e.tensor(name, body)
		if err != nil {
			return nil, err
		}
		f.Tensors[name] = t
	}
	return f, nil
}

func (e entry) tensor(name string, body []byte) (Tensor, error) {
	size, ok := sizes[e.DType]
	if !ok {
		size = 0
	}
	count, shape := int64(1), make([]int, len(e.Shape))
	for i, d := range e.Shape {
		if d < 0 || d > math.MaxInt32 || d > 0 && count > math.MaxInt32/d {
			return Tensor{}, bad("%q has the shape %v", name, e.Shape)
		}
		count *= d
		shape[i] = int(d)
	}
	from, to := e.Offsets[0], e.Offsets[1]
	if from < 0 || to < from || to > int64(len(body)) {
		return Tensor{}, bad("%q ends at byte %d of %d: the file is cut short", name, to, len(body))
	}
	if ok && to-from != count*size {
		return Tensor{}, bad("%q of shape %v has %d bytes, not %d", name, e.Shape, to-from, count*size)
	}
	return Tensor{DType: e.DType, Shape: shape, Data: body[from:to:to]}, nil
}

// Len returns the number of values.
func (t Tensor) Len() int {
	n := 1
	for _, d := range t.Shape {
		n *= d
	}
	return n
}

// Floats returns the values of an F32, F16 or BF16 tensor as a new slice.
func (t Tensor) Floats() ([]float32, error) {
	out := make([]float32, t.Len())
	switch t.DType {
	case "F32":
		for i := range out {
			out[i] = math.Float32frombits(binary.LittleEndian.Uint32(t.Data[4*i:]))
		}
	case "F16":
		for i := range out {
			out[i] = half(binary.LittleEndian.Uint16(t.Data[2*i:]))
		}
	case "BF16":
		for i := range out {
			out[i] = math.Float32frombits(uint32(binary.LittleEndian.Uint16(t.Data[2*i:])) << 16)
		}
	default:
		return nil, fault.New(fault.Invalid, "model_type", "weights of type %s are not supported; F32, F16, BF16 and I8 are", t.DType)
	}
	for i, x := range out {
		if x-x != 0 {
			return nil, bad("value %d of a tensor of shape %v is %v", i, t.Shape, x)
		}
	}
	return out, nil
}

// Int8s returns the values of an I8 tensor, in place.
func (t Tensor) Int8s() ([]int8, error) {
	if t.DType != "I8" {
		return nil, fault.New(fault.Invalid, "model_type", "the weights are %s, not I8", t.DType)
	}
	return unsafe.Slice((*int8)(unsafe.Pointer(unsafe.SliceData(t.Data))), len(t.Data)), nil
}

// half converts an IEEE 754 binary16.
func half(h uint16) float32 {
	sign, exp, frac := uint32(h>>15)<<31, uint32(h>>10&31), uint32(h&1023)
	switch exp {
	case 0:
		v := float32(frac) / (1 << 24)
		return math.Float32frombits(math.Float32bits(v) | sign)
	case 31:
		return math.Float32frombits(sign | 0xff<<23 | frac<<13)
	}
	return math.Float32frombits(sign | (exp+112)<<23 | frac<<13)
}
