package tui

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// maxMarks bounds the combining marks kept on one base character; more than
// that is not a script but an attempt to paint over the neighbouring lines.
const maxMarks = 6

// visible returns s as one line that is safe to draw: control characters,
// direction overrides, other invisible characters and bytes that are not
// UTF-8 are replaced by signs that can be seen.
func visible(s string) string { return visibleTab(s, "␉") }

// visibleText is visible for a line of running text: a tab is four spaces.
func visibleText(s string) string { return visibleTab(s, "    ") }

func visibleTab(s, tab string) string {
	if plainASCII(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 16)
	var prev rune
	marks := 0
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n <= 1:
			fmt.Fprintf(&b, "\\x%02x", s[i])
			prev, marks = 'x', 0
		case r == '\t':
			b.WriteString(tab)
			prev, marks = ' ', 0
		case r < 0x20:
			b.WriteRune(0x2400 + r)
			prev, marks = 'x', 0
		case r == 0x7f:
			b.WriteRune('␡')
			prev, marks = 'x', 0
		case r == 0x200c || r == 0x200d || r >= 0xfe00 && r <= 0xfe0f:
			// Joiners and variation selectors belong to scripts and emoji; alone they are invisible.
			if prev >= 0x80 || r == 0xfe0f && prev != 0 {
				b.WriteRune(r)
			} else {
				fmt.Fprintf(&b, "<%04X>", r)
				prev = 'x'
			}
		case hidden(r):
			fmt.Fprintf(&b, "<%04X>", r)
			prev, marks = 'x', 0
		case unicode.In(r, unicode.Mn, unicode.Me):
			if prev == 0 {
				b.WriteRune('◌')
			}
			if marks++; marks <= maxMarks {
				b.WriteRune(r)
			}
			prev = r
		default:
			b.WriteRune(r)
			prev, marks = r, 0
		}
		i += n
	}
	return b.String()
}

// hidden says that a character would be drawn as nothing or would change how others are drawn.
func hidden(r rune) bool {
	if r < 0x80 {
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Cs, unicode.Zl, unicode.Zp) ||
		r == 0x115f || r == 0x1160 || r == 0x3164 || r == 0xffa0 // Hangul fillers
}

func plainASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < 0x20 || s[i] > 0x7e {
			return false
		}
	}
	return true
}

// width is the number of cells s takes, by graphemes; styles count nothing.
func width(s string) int {
	if plainASCII(s) {
		return len(s)
	}
	return ansi.StringWidth(s)
}

// clip cuts s to w cells, ending in an ellipsis when something is lost.
func clip(s string, w int) string {
	if w <= 0 {
		return ""
	}
	if width(s) <= w {
		return s
	}
	return ansi.Truncate(s, w, "…")
}

// fit is clip padded with spaces to exactly w cells.
func fit(s string, w int) string {
	if w <= 0 {
		return ""
	}
	s = clip(s, w)
	return s + spaces(w-width(s))
}

// fitRight is fit with the text at the right edge, for numbers.
func fitRight(s string, w int) string {
	if w <= 0 {
		return ""
	}
	s = clip(s, w)
	return spaces(w-width(s)) + s
}

// clipPath shortens a path in the middle, so that its end, the name, stays.
func clipPath(s string, w int) string {
	total := width(s)
	if total <= w {
		return s
	}
	if w <= 4 {
		return clip(s, w)
	}
	name := s[strings.LastIndexByte(s, '/')+1:]
	head := 0
	if nw := width(name); nw+12 < w {
		head = (w - nw - 1) / 2
	}
	drop := total - (w - 1 - head)
	tail := ansi.TruncateLeft(s, drop, "")
	for width(tail) > w-1-head { // a wide character lay across the cut
		drop++
		tail = ansi.TruncateLeft(s, drop, "")
	}
	return ansi.Truncate(s, head, "") + "…" + tail
}

// truncateLeft drops the first n cells of s and puts prefix before the rest.
func truncateLeft(s string, n int, prefix string) string {
	return ansi.TruncateLeft(s, n, prefix)
}

const blanks = "                                                                                                                                "

func spaces(n int) string {
	if n <= 0 {
		return ""
	}
	if n <= len(blanks) {
		return blanks[:n]
	}
	return strings.Repeat(" ", n)
}

// wrapLine breaks one line of drawn text into lines of at most w cells, after
// spaces, slashes and hyphens where it can, else between any two characters.
func wrapLine(s string, w int) []string {
	if w <= 0 {
		return nil
	}
	if width(s) <= w {
		return []string{s}
	}
	var out []string
	start, used := 0, 0   // of the line being filled
	brk, brkUsed := -1, 0 // the last place in it where it may be broken
	for i := 0; i < len(s); {
		g, gw := ansi.FirstGraphemeCluster(s[i:], ansi.GraphemeWidth)
		if g == "" {
			break
		}
		if g == " " && used+gw > w { // the space is what the line breaks at
			out = append(out, s[start:i])
			i++
			start, used, brk = i, 0, -1
			continue
		}
		for used > 0 && used+gw > w {
			if brk > start {
				out = append(out, strings.TrimRight(s[start:brk], " "))
				start, used = brk, used-brkUsed
			} else {
				out = append(out, s[start:i])
				start, used = i, 0
			}
			brk = -1
		}
		i += len(g)
		if g == " " && used == 0 && len(out) > 0 {
			start = i // a space at the break is no indent of the next line
			continue
		}
		used += gw
		if g == " " || g == "/" || g == "-" {
			brk, brkUsed = i, used
		}
	}
	return append(out, s[start:])
}

// wrapText makes text visible and breaks it at newlines and words.
func wrapText(s string, w int) []string {
	var out []string
	for line := range strings.SplitSeq(strings.TrimRight(s, "\n"), "\n") {
		out = append(out, wrapLine(visibleText(strings.TrimSuffix(line, "\r")), w)...)
	}
	return out
}

// block cuts or fills lines to exactly h lines of at most w cells.
func block(lines []string, w, h int) string {
	var b strings.Builder
	for i := range h {
		if i > 0 {
			b.WriteByte('\n')
		}
		if i < len(lines) {
			b.WriteString(cut(lines[i], w))
		}
	}
	return b.String()
}

// cut is clip for styled text, without an ellipsis.
func cut(s string, w int) string {
	if width(s) <= w {
		return s
	}
	return ansi.Truncate(s, w, "")
}

// beside joins two blocks of lines with a separator; the left is w cells wide.
func beside(left, right []string, w, h int, sep string) []string {
	out := make([]string, h)
	for i := range h {
		var l, r string
		if i < len(left) {
			l = cut(left[i], w)
		}
		if i < len(right) {
			r = right[i]
		}
		out[i] = l + spaces(w-width(l)) + sep + r
	}
	return out
}
