package analysis

import "unicode"

// NonLatinShare returns the share of text's letters that are outside the
// Latin script, 0..1; 0 for a text without letters.
func NonLatinShare(text string) float64 {
	return letterShare(text, func(r rune) bool { return !unicode.Is(unicode.Latin, r) })
}

// PairShare returns the share of text's letters that are indexed by pairs:
// Han, Kana and Hangul.
func PairShare(text string) float64 {
	return letterShare(text, func(r rune) bool {
		return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
	})
}

func letterShare(text string, is func(rune) bool) float64 {
	letters, some := 0, 0
	for _, r := range text {
		switch {
		case r < 0x80:
			if c := r | 0x20; 'a' <= c && c <= 'z' {
				letters++
			}
		case unicode.IsLetter(r):
			letters++
			if is(r) {
				some++
			}
		}
	}
	if letters == 0 {
		return 0
	}
	return float64(some) / float64(letters)
}
