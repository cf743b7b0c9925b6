package analysis

import (
	"unicode"
)

// class is what the rules need to know of a character.
type class uint8

const (
	clsSep    class = iota // ends every token
	clsGlue                // may join two parts: . - / : @ & ' , + #
	clsLower               // letter, lower case
	clsUpper               // letter, upper or title case
	clsOther               // letter of a script without case, or a mark that belongs to it
	clsDigit               // decimal digit
	clsUnder               // _
	clsCJK                 // Han, Kana, Hangul, Bopomofo
	clsThai                // Thai, Lao, Khmer, Burmese
	clsSymbol              // emoji and other symbols
	clsJoin                // inside a token, part of no term: the apostrophe of don't
	clsDrop                // to be taken out as if it were not there
)

func (c class) letter() bool { return c == clsLower || c == clsUpper || c == clsOther }
func (c class) wordy() bool  { return c >= clsLower && c <= clsUnder }

// asciiClass classes the first 128 bytes; the rest are clsOther, which the
// fast scan takes as "look closer".
var asciiClass = func() (t [256]class) {
	for i := range t {
		switch {
		case i >= 0x80:
			t[i] = clsOther
		case 'a' <= i && i <= 'z':
			t[i] = clsLower
		case 'A' <= i && i <= 'Z':
			t[i] = clsUpper
		case '0' <= i && i <= '9':
			t[i] = clsDigit
		}
	}
	t['_'] = clsUnder
	for _, c := range ".-/:@&',+#" {
		t[c] = clsGlue
	}
	return t
}()

// blobByte marks the bytes of base64, hexadecimal and the like.
var blobByte = func() (t [256]bool) {
	for i := range t {
		t[i] = asciiClass[i].wordy() && i < 0x80
	}
	for _, c := range "+/=-" {
		t[c] = true
	}
	return t
}()

// classOf classes a character outside ASCII, after NFKC.
func classOf(r rune) class {
	switch {
	case r < 0x80:
		return asciiClass[r]
	case r == 0x2010 || r == 0x2011 || r == 0x2019 || r == 0x02BC:
		return clsGlue // hyphens and the typographic apostrophe; foldRune gives their ASCII form
	case 0x3040 <= r && r <= 0x312F || 0x31A0 <= r && r <= 0x31FF:
		if r == 0x30FB { // ・
			return clsSep
		}
		return clsCJK
	case 0x3400 <= r && r <= 0x4DBF || 0x4E00 <= r && r <= 0x9FFF || 0xAC00 <= r && r <= 0xD7FB,
		0xF900 <= r && r <= 0xFAFF, 0x20000 <= r && r <= 0x3FFFF, r >= 0x3005 && r <= 0x3007, 0x1100 <= r && r <= 0x11FF:
		return clsCJK
	case 0x1B000 <= r && r <= 0x1B16F: // more Kana
		return clsCJK
	case isThai(r) && !unicode.Is(unicode.Nd, r):
		if unicode.IsLetter(r) || unicode.IsMark(r) {
			return clsThai
		}
		return clsSep
	}
	return classByCategory(r)
}

// isThai reports whether r is in a block of a script that is written without
// spaces and indexed by threes: Thai, Lao, Burmese, Khmer.
func isThai(r rune) bool {
	return 0x0E00 <= r && r <= 0x0EFF || 0x1000 <= r && r <= 0x109F || 0x1780 <= r && r <= 0x17FF
}

func classByCategory(r rune) class {
	switch {
	case unicode.IsLower(r):
		return clsLower
	case unicode.IsUpper(r) || unicode.IsTitle(r):
		return clsUpper
	case unicode.IsLetter(r):
		return clsOther
	case unicode.IsDigit(r):
		return clsDigit
	case unicode.IsMark(r):
		if droppedMark(r) {
			return clsDrop
		}
		return clsOther
	case unicode.Is(unicode.Cf, r):
		return clsDrop
	case unicode.Is(unicode.So, r):
		return clsSymbol
	case unicode.Is(unicode.No, r) || unicode.Is(unicode.Nl, r):
		return clsOther
	}
	return clsSep
}

// droppedMark reports whether a mark is folded away: the accents that Latin,
// Greek and Cyrillic letters carry, and the vowel points of Hebrew and
// Arabic. Marks of other scripts are spelling and stay.
func droppedMark(r rune) bool {
	switch {
	case 0x0300 <= r && r <= 0x036F, // combining diacritical marks
		0x0483 <= r && r <= 0x0489,                                                                      // Cyrillic titlo and the like
		0x0591 <= r && r <= 0x05C7,                                                                      // Hebrew points
		0x0610 <= r && r <= 0x061A, 0x064B <= r && r <= 0x065F, r == 0x0670, 0x06D6 <= r && r <= 0x06ED, // Arabic
		0x1AB0 <= r && r <= 0x1AFF, 0x1DC0 <= r && r <= 0x1DFF, 0x20D0 <= r && r <= 0x20F0,
		0xFE00 <= r && r <= 0xFE0F, 0xFE20 <= r && r <= 0xFE2F, 0xE0100 <= r && r <= 0xE01EF:
		return true
	}
	return false
}
