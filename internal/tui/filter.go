package tui

import (
	"strings"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"
)

// filter narrows a list to rows that hold every word typed, in any case.
type filter struct {
	in     input
	typing bool
	words  []string
}

func newFilter() filter { return filter{in: newInput(200)} }

func (f *filter) on() bool { return len(f.words) > 0 }

// key edits; true = the rows have to be arranged again.
func (f *filter) key(msg tea.KeyMsg) bool {
	switch msg.String() {
	case "enter", "down":
		f.typing = false
		return false
	}
	changed, _ := f.in.key(msg)
	if changed {
		f.words = strings.Fields(strings.ToLower(f.in.text))
	}
	return changed
}

// back clears the filter; false = there was none.
func (f *filter) back() bool {
	if !f.typing && !f.on() && f.in.text == "" {
		return false
	}
	f.in.set("")
	f.typing, f.words = false, nil
	return true
}

// match says whether every word is in one of the fields.
func (f *filter) match(fields ...string) bool {
	for _, word := range f.words {
		found := false
		for _, s := range fields {
			if containsFold(s, word) {
				found = true
				break
			}
		}
		if !found {
			return false
		}
	}
	return true
}

// containsFold looks for a lower-case word in s without regard to case. Plain
// ASCII, the common case in paths, needs no copy of s.
func containsFold(s, lower string) bool {
	if len(lower) == 0 {
		return true
	}
	for i := range len(s) {
		if s[i] >= 0x80 {
			return strings.Contains(strings.ToLower(s), lower)
		}
	}
	first := lower[0]
	for i := 0; i+len(lower) <= len(s); i++ {
		if lowerByte(s[i]) == first && equalFold(s[i:i+len(lower)], lower) {
			return true
		}
	}
	return false
}

func equalFold(s, lower string) bool {
	for i := range len(s) {
		if lowerByte(s[i]) != lower[i] {
			return false
		}
	}
	return true
}

func lowerByte(b byte) byte {
	if b >= 'A' && b <= 'Z' {
		return b + 'a' - 'A'
	}
	return b
}

// line draws the filter while there is one.
func (f *filter) line(sh *shared, w int) []string {
	if !f.typing && !f.on() {
		return nil
	}
	return []string{" " + sh.st.Key.Render("/ ") + f.in.view(w-4, sh.st, f.typing, "part of a name")}
}

func (f *filter) keys() []key.Binding {
	return []key.Binding{
		key.NewBinding(key.WithKeys("enter"), key.WithHelp("enter", "keep the filter")),
		key.NewBinding(key.WithKeys("esc"), key.WithHelp("esc", "clear it")),
	}
}
