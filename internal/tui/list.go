package tui

import (
	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"
)

// list is the cursor and the window of a list of any length. It knows no
// rows: a page draws the rows from window() only, so the cost of a frame is
// that of the rows on the screen.
type list struct {
	n, cur, off, h int
}

// resize sets the number of rows and the height and keeps the cursor inside.
func (l *list) resize(n, h int) {
	l.n, l.h = max(n, 0), max(h, 1)
	l.moveTo(l.cur)
}

func (l *list) moveTo(i int) {
	l.cur = max(min(i, l.n-1), 0)
	if l.cur < l.off {
		l.off = l.cur
	}
	if l.cur >= l.off+l.h {
		l.off = l.cur - l.h + 1
	}
	l.off = max(min(l.off, l.n-l.h), 0)
}

// window returns the rows to draw: from (inclusive) to (exclusive).
func (l *list) window() (from, to int) { return l.off, min(l.off+l.h, l.n) }

// key moves the cursor; false = not a key of lists.
func (l *list) key(msg tea.KeyMsg, k KeyMap) bool {
	switch {
	case key.Matches(msg, k.Up):
		l.moveTo(l.cur - 1)
	case key.Matches(msg, k.Down):
		l.moveTo(l.cur + 1)
	case key.Matches(msg, k.PageUp):
		l.moveTo(l.cur - l.h)
	case key.Matches(msg, k.PageDown):
		l.moveTo(l.cur + l.h)
	case key.Matches(msg, k.HalfUp):
		l.moveTo(l.cur - max(l.h/2, 1))
	case key.Matches(msg, k.HalfDown):
		l.moveTo(l.cur + max(l.h/2, 1))
	case key.Matches(msg, k.Top):
		l.moveTo(0)
	case key.Matches(msg, k.Bottom):
		l.moveTo(l.n - 1)
	default:
		return false
	}
	return true
}

// click moves the cursor to the row drawn at line y (0-based); again says
// that it was there already, which pages take for enter.
func (l *list) click(y int) (hit, again bool) {
	i := l.off + y
	if y < 0 || y >= l.h || i >= l.n {
		return false, false
	}
	again = i == l.cur
	l.moveTo(i)
	return true, again
}

// wheel moves the cursor by a turn of the mouse wheel.
func (l *list) wheel(msg tea.MouseMsg) bool {
	switch msg.Button {
	case tea.MouseButtonWheelUp:
		l.moveTo(l.cur - 3)
	case tea.MouseButtonWheelDown:
		l.moveTo(l.cur + 3)
	default:
		return false
	}
	return true
}

// scroll is the window of a text without a cursor.
type scroll struct{ n, off, h int }

func (s *scroll) resize(n, h int) {
	s.n, s.h = n, max(h, 1)
	s.to(s.off)
}

func (s *scroll) to(off int) { s.off = max(min(off, s.n-s.h), 0) }

func (s *scroll) atEnd() bool { return s.off+s.h >= s.n }

func (s *scroll) key(msg tea.KeyMsg, k KeyMap) bool {
	switch {
	case key.Matches(msg, k.Up):
		s.to(s.off - 1)
	case key.Matches(msg, k.Down):
		s.to(s.off + 1)
	case key.Matches(msg, k.PageUp):
		s.to(s.off - s.h)
	case key.Matches(msg, k.PageDown):
		s.to(s.off + s.h)
	case key.Matches(msg, k.HalfUp):
		s.to(s.off - max(s.h/2, 1))
	case key.Matches(msg, k.HalfDown):
		s.to(s.off + max(s.h/2, 1))
	case key.Matches(msg, k.Top):
		s.to(0)
	case key.Matches(msg, k.Bottom):
		s.to(s.n)
	default:
		return false
	}
	return true
}

func (s *scroll) wheel(msg tea.MouseMsg) bool {
	switch msg.Button {
	case tea.MouseButtonWheelUp:
		s.to(s.off - 3)
	case tea.MouseButtonWheelDown:
		s.to(s.off + 3)
	default:
		return false
	}
	return true
}

func isClick(msg tea.MouseMsg) bool {
	return msg.Action == tea.MouseActionPress && msg.Button == tea.MouseButtonLeft
}
