package mcpserver

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// clip cuts s after n characters, on the border of one a reader sees, and
// marks the cut.
func clip(s string, n int) string {
	if len(s) <= n || utf8.RuneCountInString(s) <= n {
		return s
	}
	return cutFront(s, n-1) + "…"
}

// cutFront returns the longest start of s of at most n code points that does
// not split a grapheme. A single grapheme longer than n is cut inside.
func cutFront(s string, n int) string {
	hard := 0 // bytes of n code points
	for i := 0; i < n && hard < len(s); i++ {
		_, size := utf8.DecodeRuneInString(s[hard:])
		hard += size
	}
	if hard == len(s) {
		return s
	}
	if end := graphemeStart(s, hard); end > 0 {
		return s[:end]
	}
	return s[:hard]
}

// window returns the part of s of at most n code points that holds the most
// of the matched byte ranges (earliest on a tie), cut between graphemes and,
// where that costs little, between words. cut says that something is missing.
func window(s string, marks [][2]int, n int) (part string, cut bool) {
	total := utf8.RuneCountInString(s)
	if total <= n {
		return s, false
	}
	if n <= 0 {
		return "", true
	}
	from := bestStart(s, marks, n)
	from = graphemeStart(s, from)
	part = cutFront(s[from:], n)
	if from+len(part) < len(s) {
		if i := strings.LastIndexAny(part, " \n\t"); i > len(part)*4/5 {
			part = part[:i]
		}
	}
	return part, true
}

// bestStart is the byte offset at which to begin a window of n code points.
func bestStart(s string, marks [][2]int, n int) int {
	starts := make([]int, 0, len(marks))
	for _, m := range marks {
		if m[0] >= 0 && m[0] <= m[1] && m[1] <= len(s) {
			starts = append(starts, m[0])
		}
	}
	if len(starts) == 0 {
		return 0
	}
	size := bytesOf(s, n)
	slices.Sort(starts)
	best, bestCount, next := starts[0], 0, 0
	for i, from := range starts {
		for next < len(starts) && starts[next] < from+size*2/3 {
			next++
		}
		if next-i > bestCount {
			best, bestCount = from, next-i
		}
	}
	lead := size / 4 // some text before the first match
	from := max(0, min(best-lead, len(s)-size))
	if from > 0 {
		if i := strings.IndexAny(s[from:], " \n\t"); i >= 0 && from+i < best {
			from += i + 1
		}
	}
	return from
}

// bytesOf estimates how many bytes n code points of s take.
func bytesOf(s string, n int) int {
	return n * len(s) / max(1, utf8.RuneCountInString(s))
}

// graphemeStart is the start of the grapheme that holds byte at.
func graphemeStart(s string, at int) int {
	pos := plainBorder(s, at)
	state, rest := -1, s[pos:]
	for rest != "" && pos < at {
		var g string
		g, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if pos+len(g) > at {
			return pos
		}
		pos += len(g)
	}
	return pos
}

// plainBorder is the last place up to at where graphemes surely meet: between
// two ASCII characters, but not inside a CRLF. It spares segmenting what is
// before.
func plainBorder(s string, at int) int {
	for i := min(at, len(s)-1); i > 0; i-- {
		if s[i-1] < utf8.RuneSelf && s[i] < utf8.RuneSelf && !(s[i-1] == '\r' && s[i] == '\n') {
			return i
		}
	}
	return 0
}
