package tui

import (
	"fmt"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
)

func TestPagesAreReachedByNumberFunctionKeyBracketAndMouse(t *testing.T) {
	a := liveApp(t, richBackend(), 100, 30, nil)
	for i := range pageCount {
		a.press("esc", "esc")
		a.press(fmt.Sprint(i + 1))
		if a.m.cur != i {
			t.Errorf("%d leads to page %d", i+1, a.m.cur+1)
		}
		if i == pageSearch {
			a.press("esc")
		}
	}
	for i := range pageCount {
		a.press(fmt.Sprintf("f%d", i+1))
		if a.m.cur != i {
			t.Errorf("F%d leads to page %d", i+1, a.m.cur+1)
		}
	}
	a.press("]")
	if a.m.cur != 0 {
		t.Errorf("] after the last page leads to page %d", a.m.cur+1)
	}
	a.press("[")
	if a.m.cur != pageCount-1 {
		t.Errorf("[ before the first page leads to page %d", a.m.cur+1)
	}
	for _, tb := range a.m.tabs(100) {
		a.handle(tea.MouseMsg{X: tb.x + 1, Y: 0, Action: tea.MouseActionPress, Button: tea.MouseButtonLeft})
		if a.m.cur != tb.page {
			t.Errorf("a click on %q leads to page %d", tb.text, a.m.cur+1)
		}
	}
}

func TestEscGoesOneStepBackAndNeverQuits(t *testing.T) {
	a := liveApp(t, richBackend(), 100, 30, nil)
	a.goTo("3")
	a.press("enter", "?")
	for i, want := range []func() bool{
		func() bool { return a.m.overlay == nil && a.m.pages[pageFailed].(*failedPage).zoom },
		func() bool { return !a.m.pages[pageFailed].(*failedPage).zoom && a.m.cur == pageFailed },
		func() bool { return a.m.cur == pageOverview },
		func() bool { return a.m.cur == pageOverview && !a.quit },
	} {
		a.press("esc")
		if !want() {
			t.Errorf("the %d. esc leads elsewhere:\n%s", i+1, a.m.View())
		}
	}
}

func TestQuitAsksOnlyWhenSomethingWouldBeLost(t *testing.T) {
	t.Run("nothing to lose", func(t *testing.T) {
		a := liveApp(t, richBackend(), 80, 24, nil)
		a.press("q")
		if !a.quit {
			t.Error("q does not quit")
		}
	})
	t.Run("marked files", func(t *testing.T) {
		a := liveApp(t, richBackend(), 80, 24, nil)
		a.goTo("3")
		a.press(" ", "q")
		a.sees("1 file is marked")
		a.press("n")
		if a.quit {
			t.Error("no is taken for yes")
		}
		a.press("q", "y")
		a.until("the end", func() bool { return a.quit })
	})
	t.Run("an action under way", func(t *testing.T) {
		f := richBackend()
		f.wait["RetryAll"] = make(chan struct{})
		a := liveApp(t, f, 80, 24, nil)
		a.goTo("3")
		a.press("R", "q")
		a.sees("1 action is still under way")
		close(f.wait["RetryAll"])
	})
}

func TestPaletteFindsAndRunsByAFewLetters(t *testing.T) {
	for _, c := range []struct{ typed, want string }{
		{"pause notes", "Pause notes"}, {"retry all", "RetryAll"}, {"reindex papers", "Reindex papers false"}, {"resume index", "Resume"},
	} {
		a := liveApp(t, richBackend(), 80, 24, nil)
		a.press(":")
		a.typed(c.typed)
		a.press("enter")
		a.called(c.want)
	}
	t.Run("force asks first", func(t *testing.T) {
		a := liveApp(t, richBackend(), 80, 24, nil)
		a.press("ctrl+k")
		a.typed("by force")
		a.press("enter")
		a.until("the question", func() bool { _, ok := a.m.overlay.(*ask); return ok })
		a.press("y")
		a.called("Reindex  true")
	})
	t.Run("moving in it", func(t *testing.T) {
		a := liveApp(t, richBackend(), 80, 24, nil)
		a.press(":", "down", "down", "up", "pgdown", "pgup", "down", "enter")
		a.until("the failed files", func() bool { return a.m.cur == pageFailed })
		a.press(":")
		a.typed("zzzz")
		a.sees("no such command")
		a.press("esc")
		if a.m.overlay != nil {
			t.Error("esc does not close the palette")
		}
	})
}

func TestRowsCanBeClickedAndTheWheelScrolls(t *testing.T) {
	click := func(x, y int) tea.MouseMsg {
		return tea.MouseMsg{X: x, Y: y, Action: tea.MouseActionPress, Button: tea.MouseButtonLeft}
	}
	a := liveApp(t, richBackend(), 100, 30, nil)
	y := lineOf(a.m.View(), "papers")
	a.handle(click(5, y))
	if kb, _ := a.m.pages[pageOverview].(*overview).selected(); kb.Name != "papers" {
		t.Errorf("a click selects %q", kb.Name)
	}
	a.handle(click(5, y))
	a.until("the documents", func() bool { return a.m.cur == pageDocuments })
	a.goTo("2")
	a.handle(tea.MouseMsg{X: 5, Y: 9, Action: tea.MouseActionPress, Button: tea.MouseButtonWheelDown})
	if p := a.m.pages[pageQueue].(*queuePage); p.ls.cur != 3 {
		t.Errorf("the wheel leads to row %d", p.ls.cur)
	}
	a.goTo("4")
	a.look("signing keys")
	a.handle(click(8, lineOf(a.m.View(), "署名鍵.pdf")))
	if h, _ := a.m.pages[pageSearch].(*searchPage).hit(); h.Page != 4 {
		t.Errorf("a click selects %v", h.Path)
	}
	a.goTo("f3")
	a.handle(click(8, lineOf(a.m.View(), "setup.doc")))
	if j, _ := a.m.pages[pageFailed].(*failedPage).job(); j.ID != 904 {
		t.Errorf("a click selects job %d", j.ID)
	}
}

func lineOf(view, part string) int {
	for i, l := range strings.Split(view, "\n") {
		if strings.Contains(l, part) {
			return i
		}
	}
	return -1
}

func TestDocumentPageIsReadByKeys(t *testing.T) {
	a := liveApp(t, richBackend(), 60, 14, nil)
	a.goTo("5")
	a.handle(showDoc{"notes", "2026/03/standup.md"})
	p := a.m.pages[pageDocuments].(*documentsPage)
	a.until("the text", func() bool { return p.doc != nil && p.doc.known })
	a.m.View()
	a.press("n")
	a.sees("chunk 0")
	a.press("n", "N", "G")
	a.sees("Nothing")
	a.press("g", "j", "k", "y")
	a.desked("copy /home/ada/notes/2026/03/standup.md")
	a.press("e", "o", "w")
	a.called("Ignored /home/ada/notes/2026/03/standup.md")
	a.until("the verdict", func() bool { return a.m.overlay != nil })
	a.press("esc", "esc")
	if p.doc != nil {
		t.Error("esc does not leave the document")
	}
}

func TestInputEditsByGraphemes(t *testing.T) {
	for _, c := range []struct {
		name, start, want string
		keys              []string
	}{
		{"backspace takes a family", "a👨‍👩‍👧", "a", []string{"backspace"}},
		{"backspace takes a letter with its accent", "cafe\u0301", "caf", []string{"backspace"}},
		{"delete at the caret", "abc", "bc", []string{"home", "delete"}},
		{"word back", "one two three", "one two ", []string{"ctrl+w"}},
		{"to the start", "one two", "", []string{"ctrl+u"}},
		{"between words", "one two", "one X two", []string{"ctrl+left", "left", " ", "X"}},
		{"jump forward", "one two", "oneX two", []string{"ctrl+a", "ctrl+right", "X"}},
		{"keys of other uses change nothing", "abc", "abc", []string{"up", "f1", "ctrl+r"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := newInput(100)
			in.set(c.start)
			for _, k := range c.keys {
				in.key(keyMsg(k))
			}
			if in.text != c.want {
				t.Errorf("%q becomes %q, not %q", c.start, in.text, c.want)
			}
			for w := range 12 {
				if n := width(in.view(w, NewStyles(Plain, true), true, "hint")); n > w && w > 1 {
					t.Errorf("drawn in %d cells it takes %d", w, n)
				}
			}
		})
	}
}

func TestRetryTellsWhatWentWrong(t *testing.T) {
	f := richBackend()
	a := liveApp(t, f, 100, 30, nil)
	a.goTo("3")
	f.mu.Lock()
	f.fail["RetryJob"] = errNotFailed
	f.mu.Unlock()
	a.press("r")
	a.until("the error", func() bool { return a.m.toastBad })
	a.sees("is not failed")
	a.press("j")
	if a.m.toast != "" {
		t.Error("an error stays although a key was pressed")
	}
}
