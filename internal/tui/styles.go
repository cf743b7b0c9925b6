package tui

import (
	"io"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"
)

// ColorLevel is how much colour the terminal shows.
type ColorLevel int

// The levels; Mono still uses bold, underline and reverse, Plain nothing at all.
const (
	Plain ColorLevel = iota
	Mono
	Colors16
	Colors256
	TrueColor
)

// Styles are the only styles of the program.
type Styles struct {
	Text, Strong, Dim, Accent, Title lipgloss.Style
	OK, Warn, Fail, Info             lipgloss.Style
	Cursor, CursorIdle               lipgloss.Style // the selected row with and without focus
	Tab, TabOn, Badge                lipgloss.Style
	Key, KeyText, Match, Border      lipgloss.Style
	Input, Caret                     lipgloss.Style
}

type shade struct{ dark, light [3]string } // true colour, 256, 16

func (s shade) color() lipgloss.TerminalColor {
	cc := func(c [3]string) lipgloss.CompleteColor {
		return lipgloss.CompleteColor{TrueColor: c[0], ANSI256: c[1], ANSI: c[2]}
	}
	return lipgloss.CompleteAdaptiveColor{Dark: cc(s.dark), Light: cc(s.light)}
}

// NewStyles makes the styles for a colour level and a dark or light background.
func NewStyles(level ColorLevel, dark bool) Styles {
	r := lipgloss.NewRenderer(io.Discard)
	r.SetHasDarkBackground(dark)
	r.SetColorProfile([]termenv.Profile{termenv.Ascii, termenv.ANSI, termenv.ANSI, termenv.ANSI256, termenv.TrueColor}[level])
	plain := r.NewStyle().Inline(true)
	fg := func(s shade) lipgloss.Style {
		if level <= Mono {
			return plain
		}
		return plain.Foreground(s.color())
	}
	var (
		dim    = shade{[3]string{"#7f8490", "245", "8"}, [3]string{"#6a6f7a", "242", "8"}}
		accent = shade{[3]string{"#7aa2f7", "111", "12"}, [3]string{"#2a5db0", "25", "4"}}
		ok     = shade{[3]string{"#9ece6a", "149", "10"}, [3]string{"#3f7a1f", "64", "2"}}
		warn   = shade{[3]string{"#e0af68", "179", "11"}, [3]string{"#8f5e00", "94", "3"}}
		fail   = shade{[3]string{"#f7768e", "204", "9"}, [3]string{"#b3243b", "124", "1"}}
		info   = shade{[3]string{"#7dcfff", "117", "14"}, [3]string{"#0b6a88", "24", "6"}}
		selBg  = shade{[3]string{"#2d3450", "237", "4"}, [3]string{"#d5e0f5", "189", "6"}}
		selFg  = shade{[3]string{"#ffffff", "231", "15"}, [3]string{"#101828", "233", "0"}}
		idleBg = shade{[3]string{"#252836", "235", "8"}, [3]string{"#e8ebf0", "255", "7"}}
		litBg  = shade{[3]string{"#e0af68", "179", "11"}, [3]string{"#ffe08a", "222", "11"}}
		litFg  = shade{[3]string{"#16161e", "233", "0"}, [3]string{"#16161e", "233", "0"}}
	)
	s := Styles{
		Text: plain, Strong: plain.Bold(true), Dim: fg(dim), Accent: fg(accent), Title: fg(accent).Bold(true),
		OK: fg(ok), Warn: fg(warn), Fail: fg(fail), Info: fg(info),
		Tab: fg(dim), TabOn: fg(accent).Bold(true).Underline(true), Badge: fg(warn),
		Key: fg(accent).Bold(true), KeyText: fg(dim), Border: fg(dim),
		Input: plain, Caret: plain.Reverse(true),
	}
	if level <= Mono {
		s.Dim, s.KeyText, s.Border, s.Tab = plain.Faint(true), plain.Faint(true), plain.Faint(true), plain
		s.Fail, s.Warn = plain.Bold(true), plain.Bold(true)
		s.Cursor, s.CursorIdle = plain.Reverse(true), plain.Underline(true).UnderlineSpaces(false)
		s.Match = plain.Bold(true).Underline(true).UnderlineSpaces(false)
		return s
	}
	s.Cursor = plain.Background(selBg.color()).Foreground(selFg.color()).Bold(true)
	s.CursorIdle = plain.Background(idleBg.color())
	s.Match = plain.Background(litBg.color()).Foreground(litFg.color())
	return s
}
