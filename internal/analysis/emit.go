package analysis

import "unicode/utf8"

const (
	termMax  = 64 // bytes; a longer term is cut
	termKeep = 40 // bytes kept of it, before "~" and 16 digits of its hash
)

// put appends one finished term to the running text.
func (a *Analyzer) put(term []byte) {
	start := len(a.out)
	a.out = appendTerm(a.out, term)
	if a.recording {
		a.terms = append(a.terms, recorded(a.out[start:], start > 0))
	}
}

// putTail appends one finished term to those that follow the running text.
func (a *Analyzer) putTail(term []byte) {
	start := len(a.tail)
	a.tail = appendTerm(a.tail, term)
	if a.recording {
		a.whole = recorded(a.tail[start:], start > 0)
	}
}

// recorded returns an appended term without the space before it.
func recorded(term []byte, spaced bool) string {
	if spaced {
		term = term[1:]
	}
	return string(term)
}

// putWord appends a folded word, stemmed when its letters are all ASCII or
// all Russian.
func (a *Analyzer) putWord(word []byte) {
	if len(word) >= stemMin && len(word) <= stemMax && stemmable(word) {
		word = a.stems.find(word, hashWord(word))
	}
	a.put(word)
}

// stemmable reports whether word is made of a..z alone or of а..я alone.
func stemmable(word []byte) bool {
	if word[0] < 0x80 {
		for _, b := range word {
			if b < 'a' || b > 'z' {
				return false
			}
		}
		return true
	}
	for i := 0; i+1 < len(word); i += 2 {
		if b, c := word[i], word[i+1]; !(b == 0xD0 && c >= 0xB0 || b == 0xD1 && c <= 0x8F) {
			return false
		}
	}
	return len(word)%2 == 0
}

// appendTerm appends a space, unless dst is empty, and the term, cut to
// termMax: what is longer keeps its first termKeep bytes (fewer, to end on a
// character), then "~" and the hexadecimal FNV-1a of the whole, so that it is
// still found by its full text.
func appendTerm(dst, term []byte) []byte {
	if len(dst) > 0 {
		dst = append(dst, ' ')
	}
	if len(term) <= termMax {
		return append(dst, term...)
	}
	keep := termKeep
	for keep > 0 && !utf8.RuneStart(term[keep]) {
		keep--
	}
	dst = append(dst, term[:keep]...)
	dst = append(dst, '~')
	return appendHash(dst, hashLong(term))
}

func hashLong[T string | []byte](term T) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(term) {
		h = (h ^ uint64(term[i])) * 1099511628211
	}
	return h
}

func appendHash(dst []byte, h uint64) []byte {
	const digits = "0123456789abcdef"
	for shift := 60; shift >= 0; shift -= 4 {
		dst = append(dst, digits[h>>shift&15])
	}
	return dst
}
