package tui

import (
	"strings"
	"unicode"
	"unicode/utf8"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/rivo/uniseg"
)

// input is one line of text being typed. It edits by graphemes, so a
// backspace takes a whole emoji, and draws what was pasted made visible.
type input struct {
	text  string
	pos   int // byte offset of the caret, on a grapheme border
	limit int // characters
}

func newInput(limit int) input { return input{limit: limit} }

func (in *input) set(s string) {
	in.text = cutRunes(oneLine(s), in.limit)
	in.pos = len(in.text)
}

// key edits; changed says that the text did, used that the key meant something here.
func (in *input) key(msg tea.KeyMsg) (changed, used bool) {
	before := in.text
	switch msg.String() {
	case "left":
		in.pos = in.before()
	case "right":
		in.pos = in.after()
	case "alt+left", "ctrl+left":
		in.pos = in.wordBefore()
	case "alt+right", "ctrl+right":
		in.pos = in.wordAfter()
	case "home", "ctrl+a":
		in.pos = 0
	case "end", "ctrl+e":
		in.pos = len(in.text)
	case "backspace", "ctrl+h":
		in.cut(in.before(), in.pos)
	case "delete":
		in.cut(in.pos, in.after())
	case "ctrl+w", "alt+backspace":
		in.cut(in.wordBefore(), in.pos)
	case "ctrl+u":
		in.cut(0, in.pos)
	default:
		if msg.Type != tea.KeyRunes && msg.Type != tea.KeySpace || msg.Alt {
			return false, false
		}
		in.insert(msg.Runes)
	}
	return in.text != before, true
}

func (in *input) insert(runes []rune) {
	room := in.limit - utf8.RuneCountInString(in.text)
	if room <= 0 {
		return
	}
	// A paste may be huge; what cannot fit is not even looked at.
	s := cutRunes(oneLine(string(runes[:min(len(runes), in.limit)])), room)
	in.text = in.text[:in.pos] + s + in.text[in.pos:]
	in.pos += len(s)
}

func (in *input) cut(from, to int) {
	in.text = in.text[:from] + in.text[to:]
	in.pos = from
}

func (in *input) before() int {
	last := 0
	for i := 0; i < in.pos; {
		last = i
		g, _, _, _ := uniseg.FirstGraphemeClusterInString(in.text[i:], -1)
		i += len(g)
	}
	return last
}

func (in *input) after() int {
	g, _, _, _ := uniseg.FirstGraphemeClusterInString(in.text[in.pos:], -1)
	return in.pos + len(g)
}

func (in *input) wordBefore() int {
	head := strings.TrimRightFunc(in.text[:in.pos], unicode.IsSpace)
	i := strings.LastIndexFunc(head, unicode.IsSpace)
	if i < 0 {
		return 0
	}
	_, n := utf8.DecodeRuneInString(head[i:])
	return i + n
}

func (in *input) wordAfter() int {
	rest := in.text[in.pos:]
	start := len(rest) - len(strings.TrimLeftFunc(rest, unicode.IsSpace))
	i := strings.IndexFunc(rest[start:], unicode.IsSpace)
	if i < 0 {
		return len(in.text)
	}
	return in.pos + start + i
}

// view draws the text in w cells around the caret.
func (in *input) view(w int, st Styles, focused bool, hint string) string {
	if w <= 0 {
		return ""
	}
	if in.text == "" {
		if !focused {
			return st.Dim.Render(clip(hint, w))
		}
		return st.Caret.Render(" ") + st.Dim.Render(clip(hint, w-2))
	}
	if !focused {
		return st.Input.Render(clip(visible(in.text), w))
	}
	head, at, tail := visible(in.text[:in.pos]), " ", ""
	if in.pos < len(in.text) {
		next := in.after()
		at, tail = visible(in.text[in.pos:next]), visible(in.text[next:])
	}
	room := w - width(at)
	if over := width(head) - room; over > 0 {
		head = truncateLeft(head, over+1, "…")
	}
	return st.Input.Render(head) + st.Caret.Render(at) + st.Input.Render(clip(tail, room-width(head)))
}

// oneLine turns line ends and tabs of a paste into spaces and drops bytes that are no text.
func oneLine(s string) string {
	s = strings.ToValidUTF8(s, "")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\r' || r == '\t':
			return ' '
		case r < 0x20 || r == 0x7f || r >= 0x80 && r < 0xa0:
			return -1
		}
		return r
	}, s)
}

func cutRunes(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
