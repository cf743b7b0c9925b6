package analysis

import (
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Accent folding.
//
// Latin and Greek letters lose all marks (é → e, ά → α); letters that NFD does
// not take apart but people type without are spelled out (ß → ss, æ → ae,
// ø → o, ł → l, đ → d, þ → th).
//
// Cyrillic keeps what is a letter of its own to its readers: й ї ў ѓ ќ stay.
// ё becomes е, because Russian is mostly printed that way, and stress marks go.
//
// Kana keep dakuten and handakuten (が is not か), Hangul stays in syllables.
// Arabic alef forms become one, tatweel goes.
const (
	foldLow  = 0x00C0 // first character that folding can change
	foldHigh = 0x1FFF // last one
)

// foldTable holds the folded form of the characters foldLow..foldHigh as up
// to two runes; zero = unchanged but for case.
var foldTable = buildFoldTable()

func buildFoldTable() *[foldHigh - foldLow + 1][2]rune {
	var t [foldHigh - foldLow + 1][2]rune
	for r := rune(foldLow); r <= foldHigh; r++ {
		latinGreek := r <= 0x024F || 0x0370 <= r && r <= 0x03FF || r >= 0x1E00
		if base := baseLetter(r); latinGreek && base != r {
			t[r-foldLow][0] = base
		} else if l := unicode.ToLower(r); l != r {
			t[r-foldLow][0] = l
		}
	}
	for from, to := range spelledOut {
		var pair [2]rune
		copy(pair[:], []rune(to))
		t[from-foldLow] = pair
		if up := unicode.ToUpper(from); up >= foldLow {
			t[up-foldLow] = pair
		}
	}
	return &t
}

// spelledOut are foldings that are not a matter of taking marks off.
var spelledOut = map[rune]string{
	'ß': "ss", 'ẞ': "ss", 'æ': "ae", 'œ': "oe", 'ø': "o", 'ǿ': "o", 'ł': "l", 'đ': "d", 'ð': "d",
	'þ': "th", 'ħ': "h", 'ŧ': "t", 'ı': "i", 'ŋ': "n", 'ς': "σ", 'ё': "е", 'ѐ': "е", 'ѝ': "и",
	'أ': "ا", 'إ': "ا", 'آ': "ا", 'ٱ': "ا", 'ى': "ي", 'ـ': "",
}

// baseLetter returns the lower-case letter of r without its marks.
func baseLetter(r rune) rune {
	d := []rune(norm.NFD.String(string(unicode.ToLower(r))))
	if len(d) > 1 {
		for _, m := range d[1:] {
			if !unicode.Is(unicode.Mn, m) {
				return unicode.ToLower(r)
			}
		}
	}
	return d[0]
}

// foldRune returns the folded form of r: one or two runes, second zero when
// there is only one, first zero when there is none.
func foldRune(r rune) (rune, rune) {
	switch {
	case r >= foldLow && r <= foldHigh:
		if f := foldTable[r-foldLow]; f[0] != 0 {
			return f[0], f[1]
		}
		if r == 'ـ' {
			return 0, 0
		}
		if r >= 0x0660 && unicode.IsDigit(r) {
			return foldDigit(r), 0
		}
		return r, 0
	case r < 0x80:
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r, 0
	case r == 0x2010 || r == 0x2011:
		return '-', 0
	case r == 0x2019 || r == 0x02BC:
		return '\'', 0
	case unicode.IsDigit(r):
		return foldDigit(r), 0
	}
	return unicode.ToLower(r), 0
}

// foldDigit returns the ASCII form of a decimal digit of any script: every
// range of Unicode's Nd begins with a zero and is whole tens long.
func foldDigit(r rune) rune {
	for _, t := range unicode.Nd.R16 {
		if rune(t.Lo) <= r && r <= rune(t.Hi) {
			return '0' + (r-rune(t.Lo))%10
		}
	}
	for _, t := range unicode.Nd.R32 {
		if rune(t.Lo) <= r && r <= rune(t.Hi) {
			return '0' + (r-rune(t.Lo))%10
		}
	}
	return r
}
