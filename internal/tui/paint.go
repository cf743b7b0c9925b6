package tui

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// finishFrame is the last step of every frame. In a terminal that is not
// UTF-8, what is left of other scripts becomes question marks of the same
// width. In one that is, clusters of characters about whose width terminals
// disagree (joined emoji, flags, Indic conjuncts) are pinned to their column,
// so that what stands to their right stays where it belongs.
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

func pin(line string) string {
	var b strings.Builder
	var state byte
	x := 0
	for len(line) > 0 {
		seq, w, n, next := ansi.DecodeSequence(line, state, nil)
		if n == 0 {
			b.WriteString(line)
			break
		}
		if w > 0 && len(seq) > 1 && ansi.StringWidthWc(seq) != w || w > 0 && manyRunes(seq) {
			// Erase the cells, draw, and go on at the column that was counted.
			b.WriteString(ansi.EraseCharacter(w))
			b.WriteString(seq)
			b.WriteString(ansi.CursorHorizontalAbsolute(x + w + 1))
		} else {
			b.WriteString(seq)
		}
		x += w
		state = next
		line = line[n:]
	}
	return b.String()
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
