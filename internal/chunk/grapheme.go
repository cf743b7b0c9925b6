package chunk

import (
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// How far before a place its grapheme is looked for. Longer ones (heaps of
// combining marks) may be cut.
const (
	lookBackRunes = 24
	lookBackMost  = 512
)

// backBorder returns the last grapheme border at or before at, but not before
// low; at itself, when there is none after low.
func backBorder(s string, at, low int) int {
	if at >= len(s) || at <= low || plainBorder(s, at) {
		return at
	}
	from, to := around(s, at, low)
	if to == at || from <= low {
		return at
	}
	return from
}

// forwardBorder returns the first grapheme border at or after at, but not
// after high.
func forwardBorder(s string, at, high int) int {
	if at >= high || at <= 0 || plainBorder(s, at) {
		return min(at, high)
	}
	_, to := around(s, at, 0)
	return min(to, high)
}

// plainBorder reports whether at lies between two bytes of ASCII or next to a
// line feed, which is a border without looking further.
func plainBorder(s string, at int) bool {
	b, c := s[at-1], s[at]
	return b < utf8.RuneSelf && c < utf8.RuneSelf && (b != '\r' || c != '\n') || b == '\n' || c == '\n'
}

// around returns the borders of the grapheme that at stands in or before:
// to == at when at is a border.
func around(s string, at, low int) (from, to int) {
	state := -1
	p := safeStart(s, at, low)
	rest := s[p:runeStart(s, min(len(s), at+lookBackMost))]
	for rest != "" {
		var cluster string
		cluster, rest, _, state = uniseg.StepString(rest, state)
		next := p + len(cluster)
		if next >= at {
			return p, next
		}
		p = next
	}
	return at, at
}

// safeStart returns a place before at from which graphemes can be counted: at
// least lookBackRunes back, and not in front of a mark, a joiner or a flag's
// half, whose meaning depends on what is before it.
func safeStart(s string, at, low int) int {
	p := at
	for n := 0; p > low && n < lookBackMost; n++ {
		r, size := utf8.DecodeLastRuneInString(s[:p])
		p -= size
		if r == '\n' || n >= lookBackRunes && selfStanding(r) {
			break
		}
	}
	return p
}

// selfStanding reports whether a grapheme begins with r whatever is before it.
func selfStanding(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' ||
		0x3041 <= r && r <= 0x3096 || 0x30A1 <= r && r <= 0x30FA || 0x4E00 <= r && r <= 0x9FFF ||
		0xC0 <= r && r <= 0x24F || 0x410 <= r && r <= 0x44F || r == ' '
}

// back returns the place n code points before at, but not before low.
func back(s string, at, low, n int) int {
	for ; n > 0 && at > low; n-- {
		_, size := utf8.DecodeLastRuneInString(s[low:at])
		at -= size
	}
	return at
}

// ahead returns the place n code points after at, but not after high.
func ahead(s string, at, high, n int) int {
	if high-at <= n {
		return high
	}
	for ; n > 0 && at < high; n-- {
		if s[at] < utf8.RuneSelf {
			at++
			continue
		}
		_, size := utf8.DecodeRuneInString(s[at:high])
		at += size
	}
	return at
}
