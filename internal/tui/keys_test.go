package tui

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"
)

// calls says what the daemon was asked for since the test began.
func (a *app) called(want string) {
	a.t.Helper()
	a.until("the call "+want, func() bool {
		for _, s := range a.back.note("") {
			if strings.TrimSpace(s) == want {
				return true
			}
		}
		return false
	})
}

func (a *app) desked(want string) {
	a.t.Helper()
	a.until(want, func() bool { return strings.HasPrefix(a.desk.last(), want) })
}

// steps is a person's way through a page; pressed keys are collected, so that
// the test can say that no key of the page was left out.
type steps struct {
	*app
	pressed map[string]bool
}

func (s steps) press(keys ...string) {
	s.t.Helper()
	for _, k := range keys {
		s.pressed[k] = true
		s.app.press(k)
	}
}

var ways = []struct {
	page int
	walk func(s steps)
}{
	{pageOverview, func(s steps) {
		s.moveThrough(func() int { return s.m.pages[pageOverview].(*overview).ls.cur }, 4)
		s.press("down", "p")
		s.called("Pause notes")
		s.press("P")
		s.called("Pause")
		s.press("w")
		s.until("the prompt", func() bool { return s.m.overlay != nil })
		s.typed("/home/ada/notes/build.log")
		s.press("enter")
		s.called("Ignored /home/ada/notes/build.log")
		s.until("the verdict", func() bool { _, ok := s.m.overlay.(*note); return ok })
		s.sees(".gitignore:3: *.log")
		s.press("esc", "a")
		s.until("the prompt", func() bool { return s.m.overlay != nil })
		s.typed(s.t.TempDir() + ", my notes")
		s.press("enter")
		s.desked("add /")
		s.press("enter")
		s.until("the documents of notes", func() bool { return s.m.cur == pageDocuments })
		s.press("esc")
		s.press("/")
		s.until("the search", func() bool { return s.m.cur == pageSearch })
	}},
	{pageQueue, func(s steps) {
		s.moveThrough(func() int { return s.m.pages[pageQueue].(*queuePage).ls.cur }, 814)
		s.press("b")
		s.called("Bump manuals linux/networking/bonding.html")
		s.press("p")
		s.called("Pause manuals")
		s.press("P")
		s.called("Pause")
		s.press("y")
		s.desked("copy /home/ada/kbs/manuals/linux/networking/bonding.html")
		s.press("s")
		s.sees("by KB")
		s.press("s")
		s.sees("oldest first")
		s.press("/")
		s.typed("chapter-031")
		s.sees("chapter-031.html")
		s.seesNot("chapter-030.html")
		s.press("enter", "esc")
		s.sees("chapter-811.html")
		s.press("enter")
		s.until("the document", func() bool { return s.m.cur == pageDocuments })
	}},
	{pageFailed, func(s steps) {
		p := s.m.pages[pageFailed].(*failedPage)
		s.moveThrough(func() int { return p.ls.cur }, len(p.rows))
		s.press("down", "r")
		s.called("RetryJob 901")
		s.press("R")
		s.called("RetryAll")
		s.press("y")
		s.desked("copy /home/ada/kbs/papers/2024/Quarterly report.pdf")
		s.press("o")
		s.desked("open /home/ada/kbs/papers/2024")
		s.press("e")
		s.desked("edit /home/ada/kbs/papers/2024/Quarterly report.pdf:1")
		s.press("w")
		s.called("Ignored /home/ada/kbs/papers/2024/Quarterly report.pdf")
		s.until("the verdict", func() bool { return s.m.overlay != nil })
		s.press("esc", "i")
		s.until("the question", func() bool { return s.m.overlay != nil })
		s.press("n")
		if n := len(s.back.note("IgnoreJob")); n != 0 {
			s.t.Errorf("a file was ignored although the answer was no")
		}
		s.press("i")
		s.until("the question", func() bool { return s.m.overlay != nil })
		s.press("y")
		s.called("IgnoreJob 901")
		s.press(" ", " ")
		s.sees("2 marked")
		s.press("g", "m")
		s.seesNot("marked")
		s.press("m")
		s.sees("2 marked")
		s.press("r")
		s.called("RetryJob 902")
		s.press("left")
		s.seesNot("Quarterly report.pdf")
		s.press("right", "down", "enter")
		s.sees("the PDF asks for a password")
		s.press("esc", "/")
		s.typed("driver")
		s.seesNot("Quarterly")
		s.press("esc")
	}},
	{pageSearch, func(s steps) {
		p := s.m.pages[pageSearch].(*searchPage)
		s.until("the history", s.historyKnown)
		s.press("ctrl+p")
		if p.in.text != "how do I mount a volume?" {
			s.t.Errorf("the older query is %q", p.in.text)
		}
		s.press("ctrl+p", "ctrl+n", "ctrl+n")
		if p.in.text != "" {
			s.t.Errorf("after the newest query there is %q", p.in.text)
		}
		s.look("signing keys")
		s.press("ctrl+t")
		s.called("Search signing keys  keyword")
		s.press("ctrl+g")
		s.called("Search signing keys manuals keyword")
		s.until("the answer", p.Ready)
		s.press("enter")
		s.desked("remember signing keys")
		s.moveThrough(func() int { return p.ls.cur }, 4)
		s.press("e")
		s.desked("edit /home/ada/notes/2026/03/standup.md:5")
		s.press("o")
		s.desked("open /home/ada/notes/2026/03/standup.md")
		s.press("y")
		s.desked("copy notes/2026/03/standup.md:5-7 (Standup › Monday)")
		s.press("Y")
		s.desked("copy We rotate")
		s.press("tab")
		if p.focus != onPreview {
			s.t.Errorf("tab does not lead to the preview")
		}
		s.press("esc", "enter")
		if !p.zoom {
			s.t.Errorf("enter does not open the hit")
		}
		s.press("esc", "/")
		if !p.Typing() {
			s.t.Errorf("/ does not lead back to the input")
		}
		s.press("esc")
	}},
	{pageDocuments, func(s steps) {
		p := s.m.pages[pageDocuments].(*documentsPage)
		s.press("down", "enter")
		s.until("the listing", s.m.settled)
		s.sees("README.md")
		s.moveThrough(func() int { return p.ls.cur }, len(p.tree.rows))
		s.press("down", "down", "left")
		s.seesNot("plan.md")
		s.press("right")
		s.sees("plan.md")
		s.press(" ", " ")
		s.press("w")
		s.until("the prompt", func() bool { return s.m.overlay != nil })
		s.press("esc", "/")
		s.typed("standup")
		s.until("the filter", func() bool { s.m.View(); return len(p.tree.rows) > 0 && p.filter.on() && s.m.settled() })
		s.sees("standup.md")
		s.seesNot("README.md")
		s.press("enter", "g", "down", "down", "down")
		s.press("y")
		s.desked("copy /home/ada/notes/")
		s.press("e", "o")
		s.desked("open /home/ada/notes/")
		s.press("enter")
		s.until("the document", func() bool { return p.doc != nil && !p.doc.loading })
		s.press("esc", "esc", "s")
		s.sees("not indexed only")
		s.press("s", "s")
	}},
	{pageAgents, func(s steps) {
		p := s.m.pages[pageAgents].(*agentsPage)
		s.sees("watch limit reached", "document failed")
		s.press("l")
		s.seesNot("ragd is ready")
		s.press("l")
		s.seesNot("watch limit")
		s.press("l")
		s.sees("scan finished")
		s.press("/")
		s.typed("limit")
		s.seesNot("scan finished")
		s.press("esc", "f")
		if p.follow {
			s.t.Errorf("f does not end following")
		}
		s.moveThrough(func() int { return p.ls.cur }, 5)
		s.press("y")
		s.desked("copy 2026-03-14T13:39:26.000Z INFO ragd is ready")
		s.press("enter")
		s.until("the line", func() bool { return s.m.overlay != nil })
		s.press("esc")
	}},
}

// moveThrough drives every key of lists, by the place of the cursor in n rows.
func (s steps) moveThrough(cur func() int, n int) {
	s.t.Helper()
	for _, mv := range []struct {
		keys []string
		ok   func(from, to int) bool
	}{
		{[]string{"G", "end"}, func(_, to int) bool { return to == n-1 }},
		{[]string{"k", "up"}, func(from, to int) bool { return to == from-1 }},
		{[]string{"ctrl+u", "pgup", "ctrl+b"}, func(from, to int) bool { return to < from || to == 0 }},
		{[]string{"g", "home"}, func(_, to int) bool { return to == 0 }},
		{[]string{"j"}, func(from, to int) bool { return to == from+1 }},
		{[]string{"ctrl+d", "pgdown", "ctrl+f"}, func(from, to int) bool { return to > from || to == n-1 }},
		{[]string{"g"}, func(_, to int) bool { return to == 0 }},
		{[]string{"down"}, func(from, to int) bool { return to == from+1 }},
		{[]string{"g"}, func(_, to int) bool { return to == 0 }},
	} {
		for _, k := range mv.keys {
			from := cur()
			s.press(k)
			s.m.View()
			if !mv.ok(from, cur()) {
				s.t.Errorf("%s moves from row %d of %d to %d", k, from, n, cur())
			}
		}
	}
}

func TestEveryKeyOfEveryPageDoesWhatItSays(t *testing.T) {
	for _, way := range ways {
		t.Run(pageNames[way.page], func(t *testing.T) {
			t.Parallel()
			a := liveApp(t, richBackend(), 100, 30, nil)
			s := steps{a, map[string]bool{}}
			keys := a.m.pages[way.page].Keys()
			a.goTo(fmt.Sprint(way.page + 1))
			if a.m.pages[way.page].Typing() {
				// The keys of the input and those of the results are both this page's.
				keys = append(keys, (&searchPage{sh: a.m.sh, focus: onResults}).Keys()...)
			}
			way.walk(s)
			checkFrame(t, a.m.View(), 100, 30)
			for _, b := range keys {
				if !anyPressed(s.pressed, b) {
					t.Errorf("no step presses %v (%s)", b.Keys(), b.Help().Desc)
				}
			}
		})
	}
}

func anyPressed(pressed map[string]bool, b key.Binding) bool {
	for _, k := range b.Keys() {
		if pressed[k] {
			return true
		}
	}
	return false
}

func TestEveryKeyOfTheMapIsShownSomewhere(t *testing.T) {
	a := liveApp(t, richBackend(), 100, 30, nil)
	shown := map[string]bool{}
	note := func(keys []key.Binding) {
		for _, b := range keys {
			shown[strings.Join(b.Keys(), " ")] = true
		}
	}
	for _, p := range a.m.pages {
		note(p.Keys())
	}
	note((&searchPage{sh: a.m.sh, focus: onResults}).Keys())
	k := a.m.sh.keys
	note([]key.Binding{k.Up, k.Down, k.HalfUp, k.HalfDown, k.PageUp, k.PageDown, k.Top, k.Bottom, k.Page, k.NextPage, k.Palette, k.Refresh, k.Back, k.Quit, k.Help})
	v := reflect.ValueOf(k)
	for i := range v.NumField() {
		b := v.Field(i).Interface().(key.Binding)
		if !shown[strings.Join(b.Keys(), " ")] {
			t.Errorf("%s (%v) is in no help", v.Type().Field(i).Name, b.Keys())
		}
	}
}

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
