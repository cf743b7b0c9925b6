package analysis

import "unicode"

// NonLatinShare returns the share of text's letters that are outside the
// Latin script, 0..1; 0 for a text without letters.
func NonLatinShare(text string) float64 {
	letters, other := 0, 0
	for _, r := range text {
		switch {
		case r < 0x80:
			if c := r | 0x20; 'a' <= c && c <= 'z' {
				letters++
			}
		case unicode.IsLetter(r):
			letters++
			if !unicode.Is(unicode.Latin, r) {
				other++
			}
		}
	}
	if letters == 0 {
		return 0
	}
	return float64(other) / float64(letters)
}
