package wordpiece

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// class says what a rune of the source does to the word being built.
type class uint8

const (
	letter class = iota // belongs to a word
	space               // ends a word
	alone               // a word by itself
	gone                // removed
)

// classify returns the class of a rune of the source, before decomposition.
func (t *Tokenizer) classify(r rune) class {
	if r < utf8.RuneSelf {
		return asciiClass(r, t.opt.KeepControls)
	}
	switch {
	case !t.opt.KeepControls && unicode.Is(removed, r):
		return gone
	case unicode.IsSpace(r):
		return space
	case !t.opt.KeepChinese && isChinese(r):
		return alone
	}
	return letter
}

func asciiClass(r rune, keepControls bool) class {
	switch {
	case r == ' ' || r == '\t' || r == '\n' || r == '\r':
		return space
	case (r == '\v' || r == '\f') && keepControls:
		return space
	case r < ' ' || r == 0x7f:
		if keepControls {
			return letter
		}
		return gone
	case isASCIIPunct(r):
		return alone
	}
	return letter
}

func isASCIIPunct(r rune) bool {
	return r >= '!' && r <= '/' || r >= ':' && r <= '@' || r >= '[' && r <= '`' || r >= '{' && r <= '~'
}

// isPunct reports whether r stands alone once it is normalised.
func isPunct(r rune) bool {
	if r < utf8.RuneSelf {
		return isASCIIPunct(r)
	}
	return unicode.Is(punctuation, r)
}

// isChinese is the reference's list of CJK blocks: later extensions are not in
// it, nor are the first 256 of extension E.
func isChinese(r rune) bool {
	return r >= 0x4E00 && r <= 0x9FFF || r >= 0x3400 && r <= 0x4DBF ||
		r >= 0x20000 && r <= 0x2A6DF || r >= 0x2A700 && r <= 0x2B81F || r >= 0x2B920 && r <= 0x2CEAF ||
		r >= 0xF900 && r <= 0xFAFF || r >= 0x2F800 && r <= 0x2FA1F
}

// fold appends the normalised runes of one source rune to dst.
func (t *Tokenizer) fold(dst []rune, r rune) []rune {
	if r < utf8.RuneSelf {
		if t.opt.Lowercase && r >= 'A' && r <= 'Z' {
			r += 'a' - 'A'
		}
		return append(dst, r)
	}
	if !t.opt.StripAccents {
		return t.lower(dst, r)
	}
	var raw [utf8.UTFMax]byte
	var buf [32]byte
	n := utf8.EncodeRune(raw[:], r)
	decomposed := buf[:0]
	decomposed = norm.NFD.Append(decomposed, raw[:n]...)
	for len(decomposed) > 0 {
		d, size := utf8.DecodeRune(decomposed)
		decomposed = decomposed[size:]
		if !unicode.Is(marks, d) {
			dst = t.lower(dst, d)
		}
	}
	return dst
}

// lower appends the lower case of r: one rune, but for the dotted capital I.
func (t *Tokenizer) lower(dst []rune, r rune) []rune {
	switch {
	case !t.opt.Lowercase:
		return append(dst, r)
	case r == 0x130:
		return append(dst, 'i', 0x307)
	}
	if l, ok := newerLower(r); ok {
		return append(dst, l)
	}
	return append(dst, unicode.ToLower(r))
}

// newerLower covers capitals that the reference's Unicode version knows and an
// older Go library may not.
func newerLower(r rune) (rune, bool) {
	switch {
	case r < 0x1C89:
		return 0, false
	case r == 0x1C89, r == 0xA7CC, r == 0xA7CE, r == 0xA7D2, r == 0xA7D4, r == 0xA7DA:
		return r + 1, true
	case r == 0xA7CB:
		return 0x264, true
	case r == 0xA7DC:
		return 0x19B, true
	case r >= 0x10D50 && r <= 0x10D65:
		return r + 0x20, true
	case r >= 0x16EA0 && r <= 0x16EB8:
		return r + 0x1B, true
	}
	return 0, false
}
