package tui

import (
	"testing"

	tea "github.com/charmbracelet/bubbletea"
)

func TestKeysThatArriveTogetherAreTakenOneByOne(t *testing.T) {
	a := liveApp(t, richBackend(), 100, 30, nil)
	together := func(s string) { a.m.Update(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(s)}) }
	if together("4who"); a.m.cur != pageSearch || a.m.pages[pageSearch].(*searchPage).in.text != "who" {
		t.Errorf("page %d, input %q", a.m.cur, a.m.pages[pageSearch].(*searchPage).in.text)
	}
	b := liveApp(t, richBackend(), 100, 30, nil)
	b.goTo("3")
	before := b.m.pages[pageFailed].(*failedPage).ls.cur
	b.m.Update(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("jj")})
	if got := b.m.pages[pageFailed].(*failedPage).ls.cur; got != before+2 {
		t.Errorf("the cursor went from %d to %d", before, got)
	}
}
