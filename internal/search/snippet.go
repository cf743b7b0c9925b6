package search

import (
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"ragd/internal/analysis"
	"ragd/internal/store"
)

// cutSnippet sets the hit's Content, Marks and lines: all of the chunk when
// it fits in limit characters, else the window with the most different phrases of
// the query, cut on grapheme borders and preferably at a line or a word. Lines
// are those of what is shown, as in the file.
func cutSnippet(a *analysis.Analyzer, hit *Hit, rec store.ChunkRecord, want *wanted, limit int, place [2]int) {
	text := rec.Content
	marks := want.find(a, text)
	start, end := 0, len(text)
	if utf8.RuneCountInString(text) > limit {
		if place[1] > place[0] && place[1] <= len(text) {
			start, end = around(text, place, limit)
		} else {
			start, end = window(text, marks, limit)
		}
		hit.Truncated = true
	}
	hit.Content = text[start:end]
	for _, m := range marks {
		if m.start >= start && m.end <= end {
			hit.Marks = append(hit.Marks, [2]int{m.start - start, m.end - start})
		}
	}
	hit.FirstLine, hit.LastLine = shownLines(rec, start, end)
}

// shownLines are the file's lines of Content[start:end]. Lines of a repeated
// prefix belong to no line of the slice and count as its first.
func shownLines(rec store.ChunkRecord, start, end int) (first, last int) {
	from := max(start, rec.PrefixLen)
	to := max(end, from)
	first = rec.FirstLine + strings.Count(rec.Content[rec.PrefixLen:from], "\n")
	shown := strings.TrimRight(rec.Content[from:to], "\n")
	last = first + strings.Count(shown, "\n")
	return min(first, rec.LastLine), min(last, rec.LastLine)
}

// window chooses the stretch of at most limit characters that holds the most
// different phrases, then the most marks, then the earliest.
func window(text string, marks []mark, limit int) (start, end int) {
	best := 0
	if i := densest(text, marks, limit*9/10); i >= 0 {
		best = marks[i].start
	}
	start = leadIn(text, best, limit/10)
	end = advance(text, start, limit)
	if rest := utf8.RuneCountInString(text[start:end]); rest < limit {
		start = retreat(text, start, limit-rest) // the window reached the end: fill it from before
	}
	return snap(text, start, end)
}

// densest is the mark that begins the stretch of at most span characters with
// the most different phrases, then the most marks; -1 when there is no mark.
func densest(text string, marks []mark, span int) int {
	best, bestKinds, bestMarks := -1, 0, 0
	inside := map[int]int{} // marks of each phrase from i up to next
	next, stop, from := 0, 0, 0
	if len(marks) > 0 {
		from = marks[0].start
		stop = advance(text, from, span)
	}
	for i, m := range marks {
		stop = advance(text, stop, utf8.RuneCountInString(text[from:m.start]))
		from = m.start
		for ; next < len(marks) && marks[next].end <= stop; next++ {
			inside[marks[next].what]++
		}
		if kinds := len(inside); kinds > bestKinds || kinds == bestKinds && next-i > bestMarks {
			best, bestKinds, bestMarks = i, kinds, next-i
		}
		if next == i {
			next++ // a mark longer than the stretch
			continue
		}
		if inside[m.what]--; inside[m.what] == 0 {
			delete(inside, m.what)
		}
	}
	return best
}

// around chooses the stretch of at most limit characters about the part that
// matched by meaning.
func around(text string, place [2]int, limit int) (start, end int) {
	start = place[0]
	if spare := limit - utf8.RuneCountInString(text[place[0]:place[1]]); spare > 0 {
		start = leadIn(text, start, spare/2)
	}
	end = advance(text, start, limit)
	if rest := utf8.RuneCountInString(text[start:end]); rest < limit {
		start = retreat(text, start, limit-rest)
	}
	return snap(text, start, end)
}

// leadIn moves back from at to the start of its line or sentence, at most n characters.
func leadIn(text string, at, n int) int {
	low := retreat(text, at, n)
	if i := strings.LastIndexByte(text[low:at], '\n'); i >= 0 {
		return low + i + 1
	}
	if i := strings.LastIndex(text[low:at], ". "); i >= 0 {
		return low + i + 2
	}
	if i := strings.IndexByte(text[low:at], ' '); i >= 0 && low > 0 {
		return low + i + 1
	}
	return low
}

func advance(text string, at, n int) int {
	for ; n > 0 && at < len(text); n-- {
		_, w := utf8.DecodeRuneInString(text[at:])
		at += w
	}
	return at
}

func retreat(text string, at, n int) int {
	for ; n > 0 && at > 0; n-- {
		_, w := utf8.DecodeLastRuneInString(text[:at])
		at -= w
	}
	return at
}

// snapRange is how far before a cut the walk over graphemes begins; no
// grapheme worth keeping whole is longer.
const snapRange = 256

// snap moves both cuts inwards to grapheme borders.
func snap(text string, start, end int) (int, int) {
	if start > 0 {
		start = borderAtOrAfter(text, start)
	}
	if end < len(text) {
		if e := borderAtOrBefore(text, end); e > start {
			end = e
		}
	}
	return min(start, end), end
}

func borderAtOrAfter(text string, at int) int {
	for _, b := range bordersAround(text, at) {
		if b >= at {
			return b
		}
	}
	return at
}

func borderAtOrBefore(text string, at int) int {
	best := at
	for _, b := range bordersAround(text, at) {
		if b > at {
			break
		}
		best = b
	}
	return best
}

// bordersAround lists grapheme borders from some way before at to just after it.
func bordersAround(text string, at int) []int {
	from := max(0, at-snapRange)
	if i := strings.LastIndexAny(text[from:at], " \n"); i >= 0 {
		from += i
	} else {
		for from < at && !utf8.RuneStart(text[from]) {
			from++
		}
	}
	borders := []int{from}
	state, rest, pos := -1, text[from:], from
	for len(rest) > 0 && pos <= at && pos < from+2*snapRange {
		var cluster string
		cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		pos += len(cluster)
		borders = append(borders, pos)
	}
	return borders
}
