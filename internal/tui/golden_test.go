package tui

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"ragd/internal/wire"
)

var update = flag.Bool("update", false, "write the golden frames anew")

// scenes are the states of which there are golden frames.
var scenes = []struct {
	name string
	set  func(f *fakeBackend)
	open func(a *app)
}{
	{"overview", nil, func(a *app) { feed(a) }},
	{"overview-first-run", func(f *fakeBackend) { *f = *emptyBackend() }, func(*app) {}},
	{"overview-idle", idle, func(*app) {}},
	{"queue", nil, func(a *app) { a.goTo("2") }},
	{"queue-empty", idle, func(a *app) { a.goTo("2") }},
	{"failed", nil, func(a *app) { a.goTo("3"); a.until("the head", a.headKnown) }},
	{"failed-details", nil, func(a *app) { a.goTo("3"); a.press("j", "enter"); a.until("the head", a.headKnown) }},
	{"failed-none", idle, func(a *app) { a.goTo("3") }},
	{"search-empty", nil, func(a *app) { a.goTo("4"); a.until("history", a.historyKnown) }},
	{"search", nil, func(a *app) { a.goTo("4"); a.look("signing keys") }},
	{"search-results", nil, func(a *app) { a.goTo("4"); a.look("signing keys"); a.press("enter", "j", "j", "j"); a.rest() }},
	{"search-read", nil, func(a *app) { a.goTo("4"); a.look("signing keys"); a.press("enter", "enter"); a.rest() }},
	{"documents", nil, func(a *app) {
		a.goTo("5")
		a.press("j", "enter")
		a.until("notes", a.m.settled)
		a.press("j", "j", "enter")
		a.until("papers", a.m.settled)
	}},
	{"document", nil, func(a *app) {
		a.goTo("5")
		a.handle(showDoc{"notes", "2026/03/standup.md"})
		a.until("the text", a.m.settled)
	}},
	{"document-failed", nil, func(a *app) {
		a.goTo("5")
		a.handle(showDoc{"papers", "2024/Quarterly report.pdf"})
		a.until("the text", a.m.settled)
	}},
	{"agents", nil, func(a *app) { a.goTo("6") }},
	{"help", nil, func(a *app) { a.goTo("3"); a.press("?") }},
	{"palette", nil, func(a *app) { a.press(":"); a.typed("pau") }},
	{"ask", nil, func(a *app) { a.goTo("3"); a.press("i"); a.rest() }},
	{"prompt", nil, func(a *app) { a.press("a"); a.rest(); a.typed("~/notes") }},
	{"lost", nil, func(a *app) {
		a.back.events <- wire.Event{Type: "link", Link: &wire.Link{State: wire.LinkDown, Code: "daemon_gone", Reason: "the daemon broke the connection off"}}
		a.until("the loss", func() bool { return a.m.sh.world.link.State == wire.LinkDown })
	}},
}

func feed(a *app) {
	for i, ev := range []wire.DocEvent{
		{KB: "manuals", Path: "linux/networking/arp.html", What: "indexed", Chunks: 12, TookMS: 31},
		{KB: "papers", Path: "2024/Quarterly report.pdf", What: "failed", Message: "the PDF asks for a password"},
		{KB: "notes", Path: "2026/03/standup.md", What: "indexed", Chunks: 4, TookMS: 6},
		{KB: "notes", Path: "old/draft.md", What: "deleted"},
	} {
		a.back.events <- wire.Event{Type: "document", At: before(time.Duration(20-i) * time.Second), Document: &ev}
	}
	for i := range 60 {
		for range (i*7)%11 + i/6 {
			a.m.sh.world.spark.add(before(time.Duration(59-i) * time.Second))
		}
	}
	a.until("the activity", func() bool { return len(a.m.sh.world.activity) == 4 })
}

func (a *app) goTo(page string) {
	a.press(page)
	a.until("page "+page, a.m.settled)
}

func (a *app) headKnown() bool { return a.m.pages[pageFailed].(*failedPage).head.job != 0 }

func (a *app) historyKnown() bool {
	return len(a.m.pages[pageSearch].(*searchPage).history.queries) > 0
}

func (a *app) look(query string) {
	a.t.Helper()
	a.typed(query)
	a.until("an answer", func() bool {
		p := a.m.pages[pageSearch].(*searchPage)
		return p.known && p.answer.Query == query && p.Ready()
	})
}

func idle(f *fakeBackend) {
	f.status.Phase, f.status.Queue, f.status.Rate, f.status.ETASeconds = "idle", wire.Queue{}, 0, 0
	f.status.Embedder.Backlog, f.status.Watchers = 0, f.status.Watchers[:1]
	f.jobs = map[string][]wire.Job{}
	for i := range f.kbs {
		f.kbs[i].Queue = wire.Queue{}
		f.kbs[i].LastIndexed = before(7 * time.Minute)
	}
}

func emptyBackend() *fakeBackend {
	f := richBackend()
	idle(f)
	f.kbs, f.status.KBCount, f.status.Documents, f.status.Chunks, f.status.Bytes, f.status.Agents = nil, 0, 0, 0, 0, nil
	return f
}

var goldenSizes = [][2]int{{80, 24}, {120, 40}, {40, 12}}

func TestFramesAreAsAgreed(t *testing.T) {
	for _, sc := range scenes {
		for _, size := range goldenSizes {
			t.Run(fmt.Sprintf("%s at %dx%d", sc.name, size[0], size[1]), func(t *testing.T) {
				t.Parallel()
				frame := scene(t, sc.set, sc.open, size, nil)
				golden(t, fmt.Sprintf("%s_%dx%d.txt", sc.name, size[0], size[1]), ansi.Strip(frame))
			})
		}
	}
}

func TestColouredFramesAreAsAgreed(t *testing.T) {
	looks := []struct {
		name string
		set  func(o *Options)
	}{
		{"dark", func(o *Options) { o.Color = TrueColor }},
		{"light16", func(o *Options) { o.Color, o.Dark = Colors16, false }},
		{"nocolor", func(o *Options) { o.Color = Mono }},
		{"ascii", func(o *Options) { o.UTF8 = false }},
	}
	for _, look := range looks {
		for _, sc := range scenes {
			switch sc.name {
			case "overview", "queue", "failed", "search-results", "documents", "agents":
			default:
				continue
			}
			t.Run(look.name+" "+sc.name, func(t *testing.T) {
				t.Parallel()
				frame := scene(t, sc.set, sc.open, [2]int{80, 24}, look.set)
				golden(t, fmt.Sprintf("%s_%s.ansi", sc.name, look.name), strings.ReplaceAll(frame, "\x1b", "␛"))
			})
		}
	}
}

func scene(t *testing.T, set func(*fakeBackend), open func(*app), size [2]int, look func(*Options)) string {
	t.Helper()
	f := richBackend()
	if set != nil {
		set(f)
	}
	a := liveApp(t, f, size[0], size[1], look)
	open(a)
	a.m.toast = ""
	frame := a.m.View()
	checkFrame(t, frame, size[0], size[1])
	return frame
}

// checkFrame holds what is true of every frame: its size, and no control character but those of styles.
func checkFrame(t testing.TB, frame string, w, h int) {
	t.Helper()
	lines := strings.Split(frame, "\n")
	if len(lines) != h {
		t.Errorf("the frame has %d lines, not %d:\n%s", len(lines), h, frame)
	}
	for i, l := range lines {
		if n := ansi.StringWidth(l); n > w {
			t.Errorf("line %d is %d cells wide, not %d: %q", i, n, w, l)
		}
		for _, r := range ansi.Strip(l) {
			if r < 0x20 || r == 0x7f || r >= 0x80 && r < 0xa0 {
				t.Errorf("line %d has the control character %U: %q", i, r, l)
			}
		}
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	lines := strings.Split(got, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	got = strings.Join(lines, "\n") + "\n"
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (make it with: go test ./internal/tui -update)", err)
	}
	if got != string(want) {
		t.Errorf("%s differs:\n--- got\n%s--- want\n%s", name, got, want)
	}
}
