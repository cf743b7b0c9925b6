package safetensors

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"testing"
)

func file(header string, data ...byte) []byte {
	return append(append(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), header...), data...)
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	t.Parallel()
	w := NewWriter(map[string]string{"revision": "7"})
	w.AddFloats("f", []float32{1, -2.5, 3, 4, 5, 6}, 2, 3)
	w.AddInt8s("q", []int8{-127, 0, 127}, 3)
	var one, two bytes.Buffer
	if _, err := w.WriteTo(&one); err != nil {
		t.Fatal(err)
	}
	if _, err := w.WriteTo(&two); err != nil || !bytes.Equal(one.Bytes(), two.Bytes()) {
		t.Fatalf("two files of the same tensors differ, %v", err)
	}
	f, err := Parse(one.Bytes())
	if err != nil || f.Metadata["revision"] != "7" {
		t.Fatalf("%v %v", f, err)
	}
	if v, err := f.Tensors["f"].Floats(); err != nil || v[1] != -2.5 || !slices.Equal(f.Tensors["f"].Shape, []int{2, 3}) {
		t.Errorf("%v %v", v, err)
	}
	if v, err := f.Tensors["q"].Int8s(); err != nil || !slices.Equal(v, []int8{-127, 0, 127}) {
		t.Errorf("%v %v", v, err)
	}
	if _, err := f.Tensors["q"].Floats(); err == nil {
		t.Error("int8 is read as float")
	}
}

func TestHalvesAreWidened(t *testing.T) {
	t.Parallel()
	for bits, want := range map[uint16]float32{0x3c00: 1, 0xc000: -2, 0x0001: 1.0 / (1 << 24), 0x8000: 0, 0x7bff: 65504, 0x0400: 1.0 / (1 << 14)} {
		if got := half(bits); got != want {
			t.Errorf("%#x is %v, want %v", bits, got, want)
		}
	}
	if !math.IsInf(float64(half(0xfc00)), -1) || half(0x7e00) == half(0x7e00) {
		t.Error("infinity or NaN is lost")
	}
}

func TestDamagedFilesAreRefused(t *testing.T) {
	t.Parallel()
	for name, data := range map[string][]byte{
		"empty":             {},
		"header too long":   append(binary.LittleEndian.AppendUint64(nil, 1<<62), "{}"...),
		"not JSON":          file("{"),
		"past the end":      file(`{"a":{"dtype":"U8","shape":[9],"data_offsets":[0,9]}}`, 1, 2),
		"negative offset":   file(`{"a":{"dtype":"U8","shape":[2],"data_offsets":[-2,0]}}`, 1, 2),
		"shape too large":   file(`{"a":{"dtype":"U8","shape":[99999999999,99999999999],"data_offsets":[0,2]}}`, 1, 2),
		"negative shape":    file(`{"a":{"dtype":"U8","shape":[-1,-2],"data_offsets":[0,2]}}`, 1, 2),
		"size and shape":    file(`{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,2]}}`, 1, 2),
		"an entry's kind":   file(`{"a":[]}`),
		"the metadata kind": file(`{"__metadata__":3}`),
	} {
		if _, err := Parse(data); err == nil || !strings.Contains(err.Error(), "damaged") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(file(`{"a":{"dtype":"F16","shape":[1,2],"data_offsets":[0,4]},"__metadata__":{"x":"y"}}`, 1, 2, 3, 4))
	f.Add(file(`{"a":{"dtype":"I8","shape":[4],"data_offsets":[0,4]}}`, 1, 2, 3, 4))
	f.Fuzz(func(_ *testing.T, data []byte) {
		p, err := Parse(data)
		if err != nil {
			return
		}
		for _, t := range p.Tensors { // an error is fine, a panic is not
			_, _ = t.Floats()
			_, _ = t.Int8s()
		}
	})
}
