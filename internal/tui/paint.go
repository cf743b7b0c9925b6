package tui

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// finishFrame is the last step of every frame. In a terminal that is not
// UTF-8, what is left of other scripts becomes question marks of the same
// width. In one that is, clusters of characters about whose width terminals
// disagree (joined emoji, flags, Indic conjuncts) are pinned to their column,
// so that what stands to their right stays where it belongs and no letter is lost.
func (m *Model) finishFrame(frame string) string {
	if m.sh.g.ASCII {
		return asciiOnly(frame)
	}
	if !m.pinned || !mayDisagree(frame) {
		return frame
	}
	lines := strings.Split(frame, "\n")
	for i, line := range lines {
		if mayDisagree(line) {
			lines[i] = pin(line)
		}
	}
	return strings.Join(lines, "\n")
}

// mayDisagree is a quick look for characters that pin might have to treat.
func mayDisagree(s string) bool {
	for _, r := range s {
		if r >= 0x300 && (r < 0x2000 || r >= 0x3000 || r == 0x200d || r == 0x20e3) {
			switch {
			case r >= 0x3000 && r < 0xd7b0: // CJK and Hangul: all agree
			case r >= 0xf900 && r < 0xfb00, r >= 0xff00 && r < 0xfff0:
			default:
				return true
			}
		}
	}
	return false
}

// cell is one cluster of a line, or a sequence that takes no room.
type cell struct {
	seq   string
	w     int
	extra int // cells more in a terminal that counts each character for itself
}

func pin(line string) string {
	cells := cellsOf(line)
	var b strings.Builder
	x := 0
	for i := 0; i < len(cells); {
		c := cells[i]
		switch {
		case c.extra > 0:
			n, used := flow(&b, cells[i:], x)
			i, x = i+n, x+used
			continue
		case c.w > 0 && (len(c.seq) > 1 && ansi.StringWidthWc(c.seq) != c.w || manyRunes(c.seq)):
			// Erase the cells, draw, and go on at the column that was counted.
			b.WriteString(ansi.EraseCharacter(c.w))
			b.WriteString(c.seq)
			b.WriteString(ansi.CursorHorizontalAbsolute(x + c.w + 1))
		default:
			b.WriteString(c.seq)
		}
		x += c.w
		i++
	}
	return b.String()
}

func cellsOf(line string) []cell {
	var out []cell
	var state byte
	for len(line) > 0 {
		seq, w, n, next := ansi.DecodeSequence(line, state, nil)
		if n == 0 {
			return append(out, cell{seq: line})
		}
		out = append(out, cell{seq, w, spread(seq, w)})
		state, line = next, line[n:]
	}
	return out
}

// spread is by how many cells a cluster of letters is wider where vowel signs
// and conjuncts are not joined. Emoji and Hangul jamo do join, or lose nothing.
func spread(seq string, w int) int {
	if w == 0 || len(seq) < 4 {
		return 0
	}
	n := 0
	for _, r := range seq {
		switch {
		case r >= 0x1100 && r < 0x1200, r >= 0xd7b0 && r < 0xd800, r >= 0x1f000 && r < 0x20000, r == 0x20e3, r >= 0xfe00 && r <= 0xfe0f:
			return 0
		case !unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
			n++
		}
	}
	return max(n-w, 0)
}

// flow writes what begins with a cluster that may turn out wider, up to the
// first gap that has room for the difference, and goes on at the column that
// was counted only behind that gap: pinned one by one, the clusters would
// overwrite each other's letters. It returns the cells and columns it took.
func flow(b *strings.Builder, cells []cell, x int) (n, used int) {
	extra, w, gap := 0, 0, 0
	for ; n < len(cells) && !isBorder(cells[n].seq); n++ {
		if cells[n].seq == " " && blanksAt(cells[n:]) > extra { // one stays between the words
			gap = extra
			break
		}
		extra, w = extra+cells[n].extra, w+cells[n].w
	}
	end := n
	var after strings.Builder // styles that begin within the gap
	for blank := 0; blank < gap; n++ {
		if cells[n].w > 0 {
			blank++
		} else {
			after.WriteString(cells[n].seq)
		}
	}
	if gap > 0 {
		b.WriteString(ansi.CursorHorizontalAbsolute(x + w + 1))
		b.WriteString(spaces(gap))
		b.WriteString(ansi.CursorHorizontalAbsolute(x + 1))
	}
	b.WriteString(ansi.EraseCharacter(w))
	for _, c := range cells[:end] {
		b.WriteString(c.seq)
	}
	if end < len(cells) { // at the end of the line nothing is in the way
		b.WriteString(ansi.CursorHorizontalAbsolute(x + w + gap + 1))
	}
	b.WriteString(after.String())
	return n, w + gap
}

// blanksAt counts the spaces that cells begin with; styles may change between them.
func blanksAt(cells []cell) int {
	n := 0
	for _, c := range cells {
		if c.w > 0 && c.seq != " " {
			break
		}
		n += c.w
	}
	return n
}

func isBorder(seq string) bool {
	r, _ := utf8.DecodeRuneInString(seq)
	return r >= 0x2500 && r < 0x2580
}

// manyRunes says that a cluster is more than a letter with marks.
func manyRunes(s string) bool {
	if len(s) < 4 {
		return false
	}
	for i, r := range s {
		if i > 0 && (r == 0x200d || r >= 0xfe00 && r <= 0xfe0f || r >= 0x1f000 || r == 0x20e3 || r >= 0x900 && r < 0x1200) {
			return true
		}
	}
	return false
}

// asciiOnly replaces what a terminal without UTF-8 cannot show, cell for cell.
func asciiOnly(s string) string {
	var b strings.Builder
	var state byte
	for len(s) > 0 {
		seq, w, n, next := ansi.DecodeSequence(s, state, nil)
		if n == 0 {
			break
		}
		switch {
		case seq[0] < 0x80:
			b.WriteString(seq)
		case asciiFor[seq] != "":
			b.WriteString(asciiFor[seq])
		default:
			b.WriteString(strings.Repeat("?", w))
		}
		state = next
		s = s[n:]
	}
	return b.String()
}

// asciiFor are the signs of running text and of visible(); all one cell wide.
var asciiFor = map[string]string{
	"…": "~", "·": "-", "–": "-", "—": "-", "×": "x", "›": ">", "‹": "<", "‘": "'", "’": "'", "“": "\"", "”": "\"",
	"↑": "^", "↓": "v", "→": ">", "←": "<", "─": "-", "│": "|", "▸": ">", "▾": "v", "●": "o", "✓": "*", "✗": "x",
}
