package tui

import "github.com/charmbracelet/bubbles/key"

// KeyMap is every key of the program, in one place.
type KeyMap struct {
	// Everywhere.
	Quit, Help, Palette, Back, Page, NextPage, Refresh key.Binding
	// In lists and texts.
	Up, Down, PageUp, PageDown, HalfUp, HalfDown, Top, Bottom key.Binding
	Filter, Enter, Toggle, Focus                              key.Binding
	// What pages do.
	Add, Pause, PauseAll, Bump, Sort, Why                   key.Binding
	Retry, RetryAll, Mark, MarkAll, Ignore, Folder, CopyRef key.Binding
	CopyText, Edit, Opener, Mode, KB, Older, Newer          key.Binding
	Level, Follow, Expand, Collapse                         key.Binding
}

// NewKeyMap returns the keys.
func NewKeyMap() KeyMap {
	b := func(keyName, help string, keys ...string) key.Binding {
		return key.NewBinding(key.WithKeys(keys...), key.WithHelp(keyName, help))
	}
	return KeyMap{
		Quit:     b("q", "quit", "q"),
		Help:     b("?", "keys of this page", "?"),
		Palette:  b(":", "command palette", ":", "ctrl+k"),
		Back:     b("esc", "one step back", "esc"),
		Page:     b("1-6 F1-F6", "go to a page", "1", "2", "3", "4", "5", "6", "f1", "f2", "f3", "f4", "f5", "f6"),
		NextPage: b("[ ]", "page before, after", "[", "]"),
		Refresh:  b("ctrl+r", "load again", "ctrl+r"),

		Up: b("↑/k", "up", "up", "k"), Down: b("↓/j", "down", "down", "j"),
		PageUp: b("pgup", "page up", "pgup", "ctrl+b"), PageDown: b("pgdn", "page down", "pgdown", "ctrl+f"),
		HalfUp: b("ctrl+u", "half a page up", "ctrl+u"), HalfDown: b("ctrl+d", "half a page down", "ctrl+d"),
		Top: b("g", "to the top", "g", "home"), Bottom: b("G", "to the end", "G", "end"),
		Filter: b("/", "filter", "/"), Enter: b("enter", "open", "enter"),
		Toggle: b("space", "fold, unfold", " "), Focus: b("tab", "next pane", "tab", "shift+tab"),

		Add: b("a", "add a folder", "a"), Pause: b("p", "pause or resume this KB", "p"),
		PauseAll: b("P", "pause or resume all", "P"), Bump: b("b", "to the front", "b"),
		Sort: b("s", "sort", "s"), Why: b("w", "why is a file not indexed", "w"),

		Retry: b("r", "retry", "r"), RetryAll: b("R", "retry all", "R"),
		Mark: b("space", "mark", " "), MarkAll: b("m", "mark all of this kind", "m"),
		Ignore: b("i", "ignore the file", "i"), Folder: b("o", "open the folder", "o"),
		CopyRef: b("y", "copy", "y"), CopyText: b("Y", "copy the text", "Y"),
		Edit: b("e", "open in the editor", "e"), Opener: b("o", "open with the system", "o"),
		Mode: b("ctrl+t", "keyword, meaning, both", "ctrl+t"), KB: b("ctrl+g", "which KB", "ctrl+g"),
		Older: b("ctrl+p", "older query", "ctrl+p"), Newer: b("ctrl+n", "newer query", "ctrl+n"),

		Level: b("l", "level", "l"), Follow: b("f", "follow", "f"),
		Expand: b("→", "unfold", "right", "l"), Collapse: b("←", "fold", "left", "h"),
	}
}

// as gives a binding other words for the help of one page.
func as(b key.Binding, help string) key.Binding {
	b.SetHelp(b.Help().Key, help)
	return b
}
