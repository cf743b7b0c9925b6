package embed

import (
	"embed"
	"io/fs"
	"unsafe"

	"ragd/internal/embed/safetensors"
)

// The built-in model lies in the binary's read-only data: the system maps it,
// and the word table (half of it) is read in place.
var (
	//go:embed model/config.json model/sentence_bert_config.json model/tokenizer_config.json model/1_Pooling
	builtinFiles embed.FS
	//go:embed model/vocab.txt
	builtinVocab string
	//go:embed model/model.safetensors
	builtinWeights string
)

// BuiltinName is the name of the model in the binary.
const BuiltinName = "all-MiniLM-L6-v2"

// OpenBuiltin opens the model that is part of the binary. It needs no file and
// no network.
func OpenBuiltin(opt Options) (*Model, error) {
	dir, err := fs.Sub(builtinFiles, "model")
	if err != nil {
		return nil, err
	}
	data := unsafe.Slice(unsafe.StringData(builtinWeights), len(builtinWeights)) // never written to
	file, err := safetensors.Parse(data)
	if err != nil {
		return nil, err
	}
	return open(source{
		name: BuiltinName, revision: file.Metadata["revision"], dir: dir,
		vocab: builtinVocab, weights: data, static: true,
	}, opt)
}
