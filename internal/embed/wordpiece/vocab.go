package wordpiece

import (
	"strings"

	"ragd/internal/fault"
)

const (
	// maxVocab bounds the vocabulary of a foreign model.
	maxVocab = 1 << 20
	// maxWordRunes is the length from which a word is unknown without being looked at.
	maxWordRunes = 100
)

// Options say how a vocabulary wants its text prepared.
type Options struct {
	Lowercase    bool
	StripAccents bool
	KeepChinese  bool // true: Chinese characters are not set apart
	KeepControls bool // true: control characters are not removed
	Prefix       string
	Unknown      string
	Special      []string // found in raw text and mapped whole; nil: the usual five
}

// Uncased returns the options of bert-base-uncased and its family.
func Uncased() Options {
	return Options{Lowercase: true, StripAccents: true, Prefix: "##", Unknown: "[UNK]"}
}

// Tokenizer maps text to ids. It is safe for concurrent use.
type Tokenizer struct {
	opt      Options
	ids      map[string]int32 // whole words and first pieces
	cont     map[string]int32 // continuing pieces, without their prefix
	longest  int              // bytes of the longest entry of either
	unknown  int32
	cls, sep int32
	special  []specialToken
	size     int
}

type specialToken struct {
	text string
	id   int32
}

// New makes a tokenizer of a vocabulary: one entry a line, the line number is
// the id. The text is kept, not copied.
func New(vocab string, opt Options) (*Tokenizer, error) {
	var words []string
	for line := range strings.Lines(vocab) {
		if len(words) == maxVocab {
			return nil, fault.New(fault.Invalid, "model_vocabulary", "the vocabulary has more than %d entries", maxVocab)
		}
		words = append(words, strings.TrimRight(line, "\r\n"))
	}
	return FromWords(words, opt)
}

// FromWords makes a tokenizer of the vocabulary's entries in the order of their ids.
func FromWords(words []string, opt Options) (*Tokenizer, error) {
	t := &Tokenizer{opt: opt, ids: make(map[string]int32, len(words)), cont: make(map[string]int32, len(words)/4), size: len(words)}
	for i, w := range words {
		if rest, ok := strings.CutPrefix(w, opt.Prefix); ok && opt.Prefix != "" && rest != "" {
			t.cont[rest] = int32(i)
			t.longest = max(t.longest, len(rest))
		}
		// A text can hold "##" too, but as punctuation apart: only whole words are looked up here.
		t.ids[w] = int32(i)
		t.longest = max(t.longest, len(w))
	}
	for name, id := range map[string]*int32{opt.Unknown: &t.unknown, "[CLS]": &t.cls, "[SEP]": &t.sep} {
		v, ok := t.ids[name]
		if !ok {
			return nil, fault.New(fault.Invalid, "model_vocabulary", "the vocabulary has no entry %q", name)
		}
		*id = v
	}
	names := opt.Special
	if names == nil {
		names = []string{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"}
	}
	for _, name := range names {
		if id, ok := t.ids[name]; ok && name != "" {
			t.special = append(t.special, specialToken{name, id})
		}
	}
	return t, nil
}

// Size returns the number of entries; every id is below it.
func (t *Tokenizer) Size() int { return t.size }

// CLS returns the id that opens a sequence.
func (t *Tokenizer) CLS() int32 { return t.cls }

// SEP returns the id that closes a sequence.
func (t *Tokenizer) SEP() int32 { return t.sep }

// Unknown returns the id of a word that the vocabulary cannot spell.
func (t *Tokenizer) Unknown() int32 { return t.unknown }
