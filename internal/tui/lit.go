package tui

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"ragd/internal/wire"
)

// litWords are the words of a hit that matched, in lower case, longest first.
func litWords(h wire.Hit) []string {
	var words []string
	for _, m := range goodMarks(h.Content, h.Marks) {
		for _, w := range strings.Fields(strings.ToLower(h.Content[m[0]:m[1]])) {
			if !slices.Contains(words, w) && len(words) < 64 {
				words = append(words, w)
			}
		}
	}
	slices.SortFunc(words, func(a, b string) int { return len(b) - len(a) })
	return words
}

// litLines puts lead before each line and lights the words in it.
func (s *shared) litLines(lines []string, words []string, lead string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = lead + s.lightUp(l, words)
	}
	return out
}

// lightUp marks the words in a line that stand as words of their own. Scripts
// without spaces have no such thing; there any place will do.
func (s *shared) lightUp(line string, words []string) string {
	if len(words) == 0 {
		return line
	}
	lower := strings.ToLower(line)
	if len(lower) != len(line) { // a letter changed its length with its case: offsets would lie
		return line
	}
	var b strings.Builder
	last := 0
	for i := 0; i < len(line); {
		n := 0
		for _, w := range words {
			if strings.HasPrefix(lower[i:], w) && alone(lower, i, i+len(w)) {
				n = len(w)
				break
			}
		}
		if n > 0 {
			b.WriteString(line[last:i])
			b.WriteString(s.st.Match.Render(line[i : i+n]))
			i += n
			last = i
			continue
		}
		_, size := utf8.DecodeRuneInString(line[i:])
		i += size
	}
	return b.String() + line[last:]
}

func alone(s string, from, to int) bool {
	first, _ := utf8.DecodeRuneInString(s[from:])
	last, _ := utf8.DecodeLastRuneInString(s[:to])
	before, _ := utf8.DecodeLastRuneInString(s[:from])
	after, _ := utf8.DecodeRuneInString(s[to:])
	return !(from > 0 && spaced(before) && spaced(first)) && !(to < len(s) && spaced(after) && spaced(last))
}

// spaced says that a letter is of a script that puts spaces between words.
func spaced(r rune) bool {
	if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
		return false
	}
	return !unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer)
}

// clipStyled is clip for text with styles.
func clipStyled(s string, w int) string {
	if width(s) <= w {
		return s
	}
	return ansi.Truncate(s, w, "…")
}
