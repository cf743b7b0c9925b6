package tui

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"ragd/internal/wire"
)

func TestPoorTextsAreMarkedCountedAndExplained(t *testing.T) {
	q := &wire.Quality{Chars: 40, Pages: 9, EmptyPages: 7, Language: "de", Flag: "7 of its 9 pages have no text", Note: "report.pdf was not read: it is damaged."}
	poor := func(f *fakeBackend) {
		f.status.Poor = 3
		for i := range f.docs["notes"] {
			f.docs["notes"][i].Quality = q
		}
		v := f.views["notes/2026/03/standup.md"]
		v.Quality = q
		f.views["notes/2026/03/standup.md"] = v
	}
	show := func(open func(*app)) string { return ansi.Strip(scene(t, poor, open, [2]int{120, 40}, nil)) }
	for name, c := range map[string]struct {
		open func(*app)
		want []string
	}{
		"overview":  {func(*app) {}, []string{"the text of 3 documents is poor"}},
		"documents": {func(a *app) { a.goTo("5"); a.press("j", "enter"); a.until("notes", a.m.settled) }, []string{"○ poor"}},
		"document": {func(a *app) {
			a.goTo("5")
			a.handle(showDoc{"notes", "2026/03/standup.md"})
			a.until("the text", a.m.settled)
		}, []string{"poor: 7 of its 9 pages have no text", "report.pdf was not read", "9 pages", "language de"}},
	} {
		frame := show(c.open)
		for _, want := range c.want {
			if !strings.Contains(frame, want) {
				t.Errorf("%s: %q is not in\n%s", name, want, frame)
			}
		}
	}
}
