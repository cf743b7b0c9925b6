package chunk

import (
	"strings"
	"unicode/utf8"
)

// unit is a piece of the body that stays whole: a paragraph, a list item, a
// table, or a piece of one that was too large. Units are in order and do not
// overlap; only white space lies between two.
type unit struct {
	start, end         int // bytes
	charStart, charEnd int // code points
	path               []string
	heading            bool   // is a heading line, which begins a section
	cost               uint8  // of a border before it
	prefix             string // for a chunk that begins here
	prefixChars        int
	paragraph          int // where the paragraph begins that this unit is a later piece of; -1 = none
	level              uint8
}

// What a border before a unit costs; the packer takes the cheapest.
const (
	costSection  = 0
	costBlock    = 2 // paragraph, table, fence, top-level definition
	costItem     = 3 // list item, second level of code
	costInner    = 4 // inside an item, deeper code
	costSentence = 5 // sentences, rows
	costLine     = 6 // lines; what a line ending in ":" introduces
	costHard     = 7 // inside a sentence
	costNever    = 9 // after a heading or header row, before a closing bracket
)

// add appends body[start:end] as a unit, without white space around it but
// with the indentation of its first line. It reports whether there was any text.
func (s *splitter) add(start, end int, u unit) bool {
	start, end = s.trim(start, end)
	if start >= end {
		return false
	}
	u.start, u.end = start, end
	u.charStart = s.charsAt(start)
	u.charEnd = s.charsAt(end)
	if n := len(s.units); n > 0 && s.units[n-1].heading && !u.heading {
		u.cost = costNever
	}
	s.units = append(s.units, u)
	return true
}

// trim leaves out blank lines before and blanks after body[start:end].
func (s *splitter) trim(start, end int) (int, int) {
	for {
		nl := start
		for nl < end && (s.body[nl] == ' ' || s.body[nl] == '\t') {
			nl++
		}
		if nl == end {
			return end, end
		}
		if s.body[nl] != '\n' {
			break
		}
		start = nl + 1
	}
	to := end
	for to > start && isBlank(s.body[to-1]) {
		to--
	}
	// After a character outside ASCII a blank may belong to its grapheme; a line end never does.
	if to < end && s.body[to-1] >= utf8.RuneSelf && s.body[to] != '\n' && s.body[to] != '\r' {
		to++
	}
	return start, to
}

func isBlank(b byte) bool { return b == ' ' || b == '\n' || b == '\t' || b == '\r' }

// charsAt returns the number of code points in body[:at]; at never gets
// smaller from one call to the next, so that the body is read once.
func (s *splitter) charsAt(at int) int {
	s.chars += utf8.RuneCountInString(s.body[s.counted:at])
	s.counted = at
	return s.chars
}

// fits reports whether body[start:end] has at most n code points.
func (s *splitter) fits(start, end, n int) bool {
	return end-start <= n || end-start <= n*utf8.UTFMax && utf8.RuneCountInString(s.body[start:end]) <= n
}

// soft is the size up to which prose and tables stay whole.
func (s *splitter) soft() int { return min(s.opt.Target*3/2, s.opt.Max) }

// lineEnd returns the end of the line that holds at, without its line feed.
func lineEnd(s string, at, end int) int {
	if i := strings.IndexByte(s[at:end], '\n'); i >= 0 {
		return at + i
	}
	return end
}
