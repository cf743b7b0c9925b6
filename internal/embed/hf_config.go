package embed

import (
	"encoding/json"
	"errors"
	"io/fs"
	"strings"

	"ragd/internal/embed/kernel"
	"ragd/internal/fault"
)

// maxConfig bounds the JSON files of a model folder, tokenizer.json included.
const maxConfig = 64 << 20

// bertConfig is what config.json says of the encoder.
type bertConfig struct {
	ModelType    string  `json:"model_type"`
	Name         string  `json:"_name_or_path"`
	Hidden       int     `json:"hidden_size"`
	Layers       int     `json:"num_hidden_layers"`
	Heads        int     `json:"num_attention_heads"`
	FFN          int     `json:"intermediate_size"`
	Act          string  `json:"hidden_act"`
	Eps          float64 `json:"layer_norm_eps"`
	Positions    int     `json:"max_position_embeddings"`
	Vocab        int     `json:"vocab_size"`
	PositionKind string  `json:"position_embedding_type"`
}

// readJSON decodes a file of the folder; found is false if it is not there.
func readJSON(dir fs.FS, name string, into any) (found bool, err error) {
	info, err := fs.Stat(dir, name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err == nil && info.Size() > maxConfig {
		return false, fault.New(fault.Invalid, "model_file", "%s of the model has %d bytes, more than %d", name, info.Size(), maxConfig)
	}
	data, err := fs.ReadFile(dir, name)
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	if err != nil {
		return false, fault.New(fault.Invalid, "model_file", "%s of the model cannot be read", name).Because(err)
	}
	return true, nil
}

func readBertConfig(dir fs.FS) (bertConfig, error) {
	c := bertConfig{Eps: 1e-12, PositionKind: "absolute", Act: "gelu"}
	found, err := readJSON(dir, "config.json", &c)
	if err != nil {
		return c, err
	}
	if !found {
		return c, fault.New(fault.NotFound, "model_not_found", "the model folder has no config.json").
			WithHint("model_dir names a folder with config.json, tokenizer.json or vocab.txt, and model.safetensors")
	}
	if c.ModelType != "bert" {
		return c, fault.New(fault.Invalid, "model_architecture", "the model's architecture is %q; only the BERT family (\"bert\") can be run", c.ModelType).
			WithHint("serve other models with Ollama or another OpenAI-compatible server and set EMBEDDINGS_BASE_URL")
	}
	if c.PositionKind != "absolute" {
		return c, fault.New(fault.Invalid, "model_architecture", "the model's positions are %q; only \"absolute\" can be run", c.PositionKind)
	}
	return c, nil
}

func (c bertConfig) activation() (kernel.Activation, error) {
	switch c.Act {
	case "gelu":
		return kernel.GELU, nil
	case "gelu_new", "gelu_pytorch_tanh":
		return kernel.GELUTanh, nil
	case "relu":
		return kernel.ReLU, nil
	}
	return 0, fault.New(fault.Invalid, "model_architecture", "the model's activation is %q; gelu, gelu_new and relu can be run", c.Act)
}

// sentence is what the files of sentence-transformers say beside config.json.
type sentence struct {
	pool           string // "mean" or "cls"
	tokens         int    // of a window, 0: as many as there are positions
	query, passage string // prefixes
}

func readSentence(dir fs.FS) (sentence, error) {
	s := sentence{pool: "mean"}
	var modules []struct {
		Type string `json:"type"`
		Path string `json:"path"`
	}
	if _, err := readJSON(dir, "modules.json", &modules); err != nil {
		return s, err
	}
	for _, m := range modules {
		if kind := m.Type[strings.LastIndex(m.Type, ".")+1:]; kind != "Transformer" && kind != "Pooling" && kind != "Normalize" {
			return s, fault.New(fault.Invalid, "model_architecture", "the model has a layer of type %q behind its encoder, which cannot be run", m.Type)
		}
	}
	if err := s.readPooling(dir); err != nil {
		return s, err
	}
	var limits struct {
		Max int `json:"max_seq_length"`
	}
	if _, err := readJSON(dir, "sentence_bert_config.json", &limits); err != nil {
		return s, err
	}
	s.tokens = limits.Max
	var prompts struct {
		Prompts map[string]string `json:"prompts"`
	}
	if _, err := readJSON(dir, "config_sentence_transformers.json", &prompts); err != nil {
		return s, err
	}
	s.query = prompts.Prompts["query"]
	for _, name := range []string{"document", "passage"} {
		if p := prompts.Prompts[name]; p != "" {
			s.passage = p
		}
	}
	return s, nil
}

func (s *sentence) readPooling(dir fs.FS) error {
	var p struct {
		Mean bool `json:"pooling_mode_mean_tokens"`
		CLS  bool `json:"pooling_mode_cls_token"`
		Max  bool `json:"pooling_mode_max_tokens"`
		Sqrt bool `json:"pooling_mode_mean_sqrt_len_tokens"`
	}
	found, err := readJSON(dir, "1_Pooling/config.json", &p)
	switch {
	case err != nil || !found:
		return err
	case p.Max || p.Sqrt && !p.Mean || p.Mean == p.CLS:
		return fault.New(fault.Invalid, "model_architecture", "the model's pooling is neither the mean of the tokens nor the first token")
	case p.CLS:
		s.pool = "cls"
	}
	return nil
}
