package embed

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"

	"ragd/internal/embed/kernel"
	"ragd/internal/embed/safetensors"
	"ragd/internal/fault"
)

// maxWeights bounds model.safetensors of a folder.
const maxWeights = 8 << 30

// source is where a model's parts come from.
type source struct {
	name, revision string
	dir            fs.FS // config files
	vocab          string
	weights        []byte
	static         bool // weights lie in the binary
}

// OpenDir opens a model of the BERT family from a folder in the Hugging Face
// layout: config.json, tokenizer.json or vocab.txt, model.safetensors with F32,
// F16, BF16 or (as the built-in model has them) I8 weights. Pooling, window
// length and prefixes come from the files of sentence-transformers, if there.
// Links are followed wherever they lead: in the Hugging Face cache, every file
// of a model's folder is one.
func OpenDir(dir string, opt Options) (*Model, error) {
	const name = "model.safetensors"
	if at, err := os.Stat(dir); err != nil || !at.IsDir() {
		if err == nil {
			err = errors.New("it is no folder")
		}
		return nil, fault.New(fault.NotFound, "model_not_found", "the model folder %q cannot be opened", dir).Because(err)
	}
	files := os.DirFS(dir)
	info, err := fs.Stat(files, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fault.New(fault.NotFound, "model_not_found", "the model folder %q has no %s", dir, name).
			WithHint("weights in other formats (pytorch_model.bin, ONNX) are not read")
	}
	if err == nil && (!info.Mode().IsRegular() || info.Size() > maxWeights) {
		err = fault.New(fault.Invalid, "model_file", "%s is no file of at most %d bytes", name, int64(maxWeights))
	}
	var data []byte
	if err == nil {
		data, err = fs.ReadFile(files, name)
	}
	if err != nil {
		return nil, fault.New(fault.Invalid, "model_file", "%s of %q cannot be read", name, dir).Because(err)
	}
	sum := sha256.Sum256(data)
	m, err := open(source{
		name: nameOf(dir), revision: hex.EncodeToString(sum[:8]), dir: files, weights: data,
	}, opt)
	data = nil
	debug.FreeOSMemory() // the file is not needed any more, and may be large
	return m, err
}

// nameOf is a model's name by its folder. The Hugging Face cache has it in
// models--ORGANISATION--NAME/snapshots/REVISION.
func nameOf(dir string) string {
	dir = filepath.Clean(dir)
	if snapshots := filepath.Dir(dir); filepath.Base(snapshots) == "snapshots" {
		if _, full, ok := strings.Cut(filepath.Base(filepath.Dir(snapshots)), "models--"); ok {
			_, name, found := strings.Cut(full, "--")
			if found {
				return name
			}
			return full
		}
	}
	return filepath.Base(dir)
}

func open(src source, opt Options) (*Model, error) {
	c, err := readBertConfig(src.dir)
	if err != nil {
		return nil, err
	}
	act, err := c.activation()
	if err != nil {
		return nil, err
	}
	s, err := readSentence(src.dir)
	if err != nil {
		return nil, err
	}
	tok, err := readTokenizer(src.dir, src.vocab)
	if err != nil {
		return nil, err
	}
	if tok.Size() > c.Vocab {
		return nil, fault.New(fault.Invalid, "model_vocabulary", "the vocabulary has %d entries, the model has %d", tok.Size(), c.Vocab)
	}
	file, err := safetensors.Parse(src.weights)
	if err != nil {
		return nil, err
	}
	w, err := newWeights(file, opt.Float, src.static)
	if err != nil {
		return nil, err
	}
	if err := w.check(c); err != nil {
		return nil, err
	}
	kern, err := kernel.New(kernel.Config{
		Layers: c.Layers, Hidden: c.Hidden, Heads: c.Heads, FFN: c.FFN, Vocab: c.Vocab, Positions: c.Positions,
		Act: act, Eps: float32(c.Eps), Path: opt.Path,
	})
	if err != nil {
		return nil, err
	}
	if err := w.fill(kern, c); err != nil {
		kern.Close()
		return nil, err
	}
	m := &Model{id: src.identity(c, s, opt), tok: tok, kern: kern, layers: c.Layers}
	if s.pool == "cls" {
		m.pool = kernel.CLS
	}
	m.start(opt)
	return m, nil
}

func (src source) identity(c bertConfig, s sentence, opt Options) Identity {
	id := Identity{
		Name: src.name, Revision: src.revision, Dim: c.Hidden, Pooling: s.pool,
		QueryPrefix: s.query, PassagePrefix: s.passage, MaxTokens: c.Positions,
	}
	if s.tokens >= 16 && s.tokens < c.Positions {
		id.MaxTokens = s.tokens
	}
	if opt.QueryPrefix != nil {
		id.QueryPrefix = *opt.QueryPrefix
	}
	if opt.PassagePrefix != nil {
		id.PassagePrefix = *opt.PassagePrefix
	}
	return id
}
