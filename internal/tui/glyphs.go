package tui

import "strings"

// Glyphs are the signs of the screen that are not text, in Unicode or ASCII.
// What is drawn from them always says the same thing in words nearby.
type Glyphs struct {
	ASCII                                bool
	Cursor, Mark, Open, Closed, Leaf     string
	OK, Busy, Wait, Fail, Off, Dot       string
	HLine, VLine, TL, TR, BL, BR, Crumb  string
	Bar, Dash, Ellipsis, Enter, Up, Down string
	Spark                                []string
}

// NewGlyphs returns the set for a terminal that can or cannot show UTF-8.
func NewGlyphs(utf8 bool) Glyphs {
	if !utf8 {
		return Glyphs{
			ASCII: true, Cursor: ">", Mark: "*", Open: "-", Closed: "+", Leaf: " ",
			OK: "o", Busy: "~", Wait: ".", Fail: "x", Off: "-", Dot: "|",
			HLine: "-", VLine: "|", TL: "+", TR: "+", BL: "+", BR: "+", Crumb: ">",
			Bar: "|", Dash: "-", Ellipsis: "...", Enter: "enter", Up: "up", Down: "down",
			Spark: strings.Split(" .:-=+*#", ""),
		}
	}
	return Glyphs{
		Cursor: "▸", Mark: "✓", Open: "▾", Closed: "▸", Leaf: " ",
		OK: "●", Busy: "◐", Wait: "○", Fail: "✗", Off: "·", Dot: "·",
		HLine: "─", VLine: "│", TL: "╭", TR: "╮", BL: "╰", BR: "╯", Crumb: "›",
		Bar: "▌", Dash: "–", Ellipsis: "…", Enter: "enter", Up: "↑", Down: "↓",
		Spark: strings.Split("▁▂▃▄▅▆▇█", ""),
	}
}
