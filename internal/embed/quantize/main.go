// Command quantize makes the built-in model's folder from a model in the
// Hugging Face layout:
//
//	go run ./internal/embed/quantize -source all-MiniLM-L6-v2 -out internal/embed/model
//
// Matrices become int8 with a scale for each output channel (each word, for the
// word embeddings), after large input channels were taken down; all else stays
// float. The same source gives the same bytes
// on every machine; -check compares instead of writing.
package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ragd/internal/embed"
	"ragd/internal/embed/quant"
	"ragd/internal/embed/safetensors"
)

// method enters the revision: change it with anything that changes the weights.
const method = "int8-rows-mse-smooth-1"

func main() {
	source := flag.String("source", "", "folder of the fp32 model")
	out := flag.String("out", "", "folder to write")
	check := flag.Bool("check", false, "write nothing; fail if the folder differs")
	flag.Parse()
	if err := run(*source, *out, *check); err != nil {
		fmt.Fprintln(os.Stderr, "quantize:", err)
		os.Exit(1)
	}
}

func run(source, out string, check bool) error {
	if source == "" || out == "" {
		return errors.New("-source and -out are needed")
	}
	files := map[string][]byte{}
	for _, name := range []string{"config.json", "sentence_bert_config.json", "tokenizer_config.json", "1_Pooling/config.json", "vocab.txt"} {
		data, err := os.ReadFile(filepath.Join(source, name))
		if err != nil {
			return err
		}
		files[name] = data
	}
	data, err := os.ReadFile(filepath.Join(source, "model.safetensors"))
	if err != nil {
		return err
	}
	if files["model.safetensors"], err = convert(data); err != nil {
		return err
	}
	for name, data := range files {
		path := filepath.Join(out, name)
		if check {
			have, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			if !bytes.Equal(have, data) {
				return fmt.Errorf("%s differs from what %s gives", path, source)
			}
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			return err
		}
	}
	sum := sha256.Sum256(files["model.safetensors"])
	fmt.Printf("model.safetensors: %d bytes, sha256 %x\n", len(files["model.safetensors"]), sum)
	return nil
}

// convert returns the quantised file of an fp32 one.
func convert(data []byte) ([]byte, error) {
	file, err := safetensors.Parse(data)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(data)
	source := hex.EncodeToString(sum[:])
	revision := sha256.Sum256([]byte(source + " " + method))
	w := safetensors.NewWriter(map[string]string{
		"format": "pt", "source_sha256": source, "quantization": method, "license": "apache-2.0",
		"revision": hex.EncodeToString(revision[:8]),
	})
	names := make([]string, 0, len(file.Tensors))
	for name := range file.Tensors {
		names = append(names, name)
	}
	slices.Sort(names)
	floats, width := map[string][]float32{}, map[string]int{}
	var matrices []string // in order; written behind the floats, which so stay aligned
	for _, name := range names {
		t := file.Tensors[name]
		if t.DType != "F32" || strings.HasPrefix(name, "pooler.") {
			continue // position_ids and the classifier's head are not used
		}
		f, err := t.Floats()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if !quantized(name, t.Shape) {
			w.AddFloats(name, f, t.Shape...)
			continue
		}
		floats[name], width[name] = f, t.Shape[1]
		matrices = append(matrices, name)
	}
	factors, err := smooth(floats, width)
	if err != nil {
		return nil, err
	}
	codes := map[string][]int8{}
	for _, name := range matrices {
		factors.apply(name, floats[name])
		q, scale := quant.Rows(floats[name], width[name])
		w.AddFloats(name+embed.ScaleSuffix, scale, len(scale))
		if tensor, values := factors.inputScale(name); values != nil {
			w.AddFloats(tensor, values, len(values))
		}
		codes[name] = q
	}
	for _, name := range matrices {
		w.AddInt8s(name, codes[name], len(codes[name])/width[name], width[name])
	}
	var out bytes.Buffer
	if _, err := w.WriteTo(&out); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// quantized reports whether a tensor is a matrix that is worth it.
func quantized(name string, shape []int) bool {
	return len(shape) == 2 && strings.HasSuffix(name, ".weight") &&
		!strings.Contains(name, "position_embeddings") && !strings.Contains(name, "token_type_embeddings")
}
