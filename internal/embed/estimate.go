package embed

import (
	"unicode"
	"unicode/utf8"
)

// The tokeniser of a server is not known. Tokens are estimated from above for
// the usual ones, in sixths: of a word's ASCII letters three make a token, a
// punctuation mark is one, other scripts cost up to three a character.
const sixths = 6

func cost(r rune, size int) int {
	switch {
	case r <= ' ':
		return 0
	case size == 1 && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'):
		return 2
	case size == 1 && r >= '0' && r <= '9':
		return 4
	case size == 4:
		return 18
	case size == 3:
		return 9
	}
	return 6
}

// estimate returns the tokens of a text, 0 only if it holds nothing but space
// and control characters.
func estimate(text string) int {
	sum, word := 0, false
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		i += size
		if blank(r) {
			word = false
			continue
		}
		if !word {
			sum += 2 // the rounding of each word
		}
		word = true
		sum += cost(r, size)
	}
	return (sum + sixths - 1) / sixths
}

func blank(r rune) bool {
	return r == utf8.RuneError || unicode.IsSpace(r) || unicode.In(r, unicode.Cc, unicode.Cf)
}

// estimateWindows splits a text into windows of at most limit estimated
// tokens, between words where it can, that share about overlap tokens.
func estimateWindows(text string, limit, overlap int) []Window {
	limit = max(limit, 8)
	overlap = min(max(overlap, 0), limit/2)
	var out []Window
	for from := skipBlank(text, 0); from < len(text); {
		to := fit(text, from, limit)
		out = append(out, Window{Start: from, End: to, Tokens: estimate(text[from:to])})
		next := skipBlank(text, to)
		if next >= len(text) {
			break
		}
		from = max(back(text, from, next, overlap), from+1)
	}
	return out
}

func skipBlank(text string, at int) int {
	for at < len(text) {
		r, size := utf8.DecodeRuneInString(text[at:])
		if !blank(r) {
			break
		}
		at += size
	}
	return at
}

// fit returns the end of the longest part from on of at most limit tokens: the
// end of a word if there is one in its second half, else of a character.
func fit(text string, from, limit int) int {
	sum, word, lastWord, at, most := 0, false, 0, from, limit*sixths
	for at < len(text) {
		r, size := utf8.DecodeRuneInString(text[at:])
		if blank(r) {
			if word {
				lastWord = at
			}
			word = false
			at += size
			continue
		}
		if !word {
			sum += 2
		}
		word = true
		if sum += cost(r, size); sum > most {
			if lastWord > from+(at-from)/2 {
				return lastWord
			}
			return at
		}
		at += size
	}
	return at
}

// back returns the start of the word about overlap tokens before at.
func back(text string, from, at, overlap int) int {
	best := at
	for i, sum := at, 0; i > from && overlap > 0; {
		r, size := utf8.DecodeLastRuneInString(text[:i])
		if blank(r) && i < at {
			best = i
		}
		if sum += cost(r, size); sum > overlap*sixths {
			break
		}
		i -= size
	}
	return best
}
