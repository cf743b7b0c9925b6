package tui

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/charmbracelet/bubbles/key"
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
