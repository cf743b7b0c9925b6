package embed

import (
	"errors"
	"io/fs"

	"ragd/internal/embed/wordpiece"
	"ragd/internal/fault"
)

// tokenizerJSON is the part of tokenizer.json that a BERT tokeniser uses.
type tokenizerJSON struct {
	Added []struct {
		Content string `json:"content"`
		Special bool   `json:"special"`
	} `json:"added_tokens"`
	Normalizer struct {
		Type      string `json:"type"`
		Clean     *bool  `json:"clean_text"`
		Chinese   *bool  `json:"handle_chinese_chars"`
		Accents   *bool  `json:"strip_accents"`
		Lowercase *bool  `json:"lowercase"`
	} `json:"normalizer"`
	Model struct {
		Type   string           `json:"type"`
		Prefix string           `json:"continuing_subword_prefix"`
		Unk    string           `json:"unk_token"`
		Vocab  map[string]int32 `json:"vocab"`
	} `json:"model"`
}

// readTokenizer reads tokenizer.json, or vocab.txt with tokenizer_config.json.
func readTokenizer(dir fs.FS, vocab string) (*wordpiece.Tokenizer, error) {
	if vocab == "" {
		var t tokenizerJSON
		found, err := readJSON(dir, "tokenizer.json", &t)
		if err != nil {
			return nil, err
		}
		if found {
			return t.tokenizer()
		}
		data, err := fs.ReadFile(dir, "vocab.txt")
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fault.New(fault.NotFound, "model_not_found", "the model folder has neither tokenizer.json nor vocab.txt")
		}
		if err != nil {
			return nil, fault.New(fault.Invalid, "model_file", "vocab.txt of the model cannot be read").Because(err)
		}
		vocab = string(data)
	}
	var c struct {
		Lower   *bool `json:"do_lower_case"`
		Accents *bool `json:"strip_accents"`
		Chinese *bool `json:"tokenize_chinese_chars"`
	}
	if _, err := readJSON(dir, "tokenizer_config.json", &c); err != nil {
		return nil, err
	}
	opt := wordpiece.Uncased()
	opt.Lowercase = or(c.Lower, true)
	opt.StripAccents = or(c.Accents, opt.Lowercase)
	opt.KeepChinese = !or(c.Chinese, true)
	return wordpiece.New(vocab, opt)
}

func or(p *bool, otherwise bool) bool {
	if p == nil {
		return otherwise
	}
	return *p
}

func (t *tokenizerJSON) tokenizer() (*wordpiece.Tokenizer, error) {
	if t.Model.Type != "WordPiece" || t.Normalizer.Type != "BertNormalizer" {
		return nil, fault.New(fault.Invalid, "model_tokenizer", "the model's tokeniser is %s over %s; only WordPiece over BertNormalizer is known",
			t.Model.Type, t.Normalizer.Type).WithHint("serve this model with an OpenAI-compatible server and set EMBEDDINGS_BASE_URL")
	}
	words := make([]string, len(t.Model.Vocab))
	for word, id := range t.Model.Vocab {
		if id < 0 || int(id) >= len(words) || words[id] != "" {
			return nil, fault.New(fault.Invalid, "model_vocabulary", "the vocabulary gives %q the id %d, which is taken or too high", word, id)
		}
		words[id] = word
	}
	opt := wordpiece.Options{Prefix: t.Model.Prefix, Unknown: t.Model.Unk, Special: []string{}}
	opt.Lowercase = or(t.Normalizer.Lowercase, true)
	opt.StripAccents = or(t.Normalizer.Accents, opt.Lowercase)
	opt.KeepChinese = !or(t.Normalizer.Chinese, true)
	opt.KeepControls = !or(t.Normalizer.Clean, true)
	for _, a := range t.Added {
		if a.Special {
			opt.Special = append(opt.Special, a.Content)
		}
	}
	return wordpiece.FromWords(words, opt)
}
