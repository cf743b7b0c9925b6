package tui

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"ragd/internal/fault"
	"ragd/internal/wire"
)

var errNotFailed = fault.New(fault.Conflict, "job_not_failed", "job 901 is not failed")

func TestAnySizeIsDrawnAndNoneIsWider(t *testing.T) {
	sizes := [][2]int{{1, 1}, {0, 0}, {7, 3}, {39, 12}, {40, 11}, {40, 12}, {41, 13}, {59, 17}, {76, 20}, {99, 24}, {100, 24}, {110, 31}, {300, 100}, {1, 100}, {300, 1}}
	for _, sc := range scenes {
		t.Run(sc.name, func(t *testing.T) {
			t.Parallel()
			f := richBackend()
			if sc.set != nil {
				sc.set(f)
			}
			a := liveApp(t, f, 80, 24, nil)
			sc.open(a)
			for _, s := range append(sizes, [2]int{80, 24}) {
				a.handle(tea.WindowSizeMsg{Width: s[0], Height: s[1]})
				if s[0] == 0 {
					continue
				}
				checkFrame(t, a.m.View(), s[0], s[1])
				a.press("down")
				checkFrame(t, a.m.View(), s[0], s[1])
			}
		})
	}
}

func TestTooSmallATerminalIsToldSo(t *testing.T) {
	a := liveApp(t, richBackend(), 30, 8, nil)
	a.sees("30×8 is too small")
}

func TestAPasteOfAMegabyteIsBoundedAndSafe(t *testing.T) {
	a := liveApp(t, richBackend(), 80, 24, nil)
	a.press("4")
	paste := []rune(strings.Repeat("wört\x1b[31m\u202e\nline ", 70_000))
	began := time.Now()
	a.handle(tea.KeyMsg{Type: tea.KeyRunes, Runes: paste, Paste: true})
	view := a.m.View()
	if d := time.Since(began); d > time.Second {
		t.Errorf("the paste took %v", d)
	}
	checkFrame(t, view, 80, 24)
	p := a.m.pages[pageSearch].(*searchPage)
	if n := utf8.RuneCountInString(p.in.text); n > maxQuery {
		t.Errorf("%d characters were kept", n)
	}
	if strings.ContainsAny(p.in.text, "\x1b\n") {
		t.Errorf("control characters were kept")
	}
	a.press("backspace", "left", "home", "ctrl+w", "end")
	checkFrame(t, a.m.View(), 80, 24)
}

func TestStaleAnswersAreDropped(t *testing.T) {
	f := richBackend()
	gates := map[string]chan struct{}{"slow": make(chan struct{}), "slow fast": make(chan struct{})}
	f.search = func(ctx context.Context, query, _, _ string) (wire.SearchResult, error) {
		if g := gates[query]; g != nil {
			<-g // an answer that comes although nobody waits for it any more
		}
		return richResult(query), nil
	}
	a := liveApp(t, f, 80, 24, nil)
	a.press("4")
	p := a.m.pages[pageSearch].(*searchPage)
	a.typed("slow")
	a.until("the first question", func() bool { return len(f.note("Search slow")) == 1 })
	a.typed(" fast")
	a.until("the second question", func() bool { return len(f.note("Search slow fast")) == 1 })
	close(gates["slow fast"])
	a.until("the second answer", func() bool { return p.known })
	close(gates["slow"])
	a.rest()
	if p.answer.Query != "slow fast" {
		t.Errorf("the answer shown is to %q", p.answer.Query)
	}
}

func TestTypingAsksOncePerPauseAndNotPerKey(t *testing.T) {
	f := richBackend()
	a := liveApp(t, f, 80, 24, nil)
	a.press("4")
	a.look("a fairly long question that is typed in one go")
	if n := len(f.note("Search")); n > 3 {
		t.Errorf("%d questions were asked", n)
	}
}

func TestDrawingAsksNobody(t *testing.T) {
	for _, sc := range scenes {
		f := richBackend()
		if sc.set != nil {
			sc.set(f)
		}
		a := liveApp(t, f, 80, 24, nil)
		sc.open(a)
		a.rest()
		calls, desk := f.calls.Load(), a.desk.calls.Load()
		for range 3 {
			a.m.View()
		}
		if f.calls.Load() != calls || a.desk.calls.Load() != desk {
			t.Errorf("%s: drawing called the daemon or the desk", sc.name)
		}
	}
}

func TestMissingDaemonIsAPlainPageThatHealsItself(t *testing.T) {
	for _, c := range []struct{ code, want string }{
		{"daemon_not_running", "ragd serve"}, {"api_version", "another version"}, {"not_ragd", "RAGD_ADMIN_SOCKET"},
		{"daemon_denied", "another user"}, {"too_many_streams", "Close another ragtui"}, {"daemon_bad_answer", "cannot be reached"},
	} {
		t.Run(c.code, func(t *testing.T) {
			f := richBackend()
			a := newApp(t, f, 80, 24, nil)
			a.sees("Connecting")
			down := wire.Event{Type: "link", Link: &wire.Link{State: wire.LinkDown, Code: c.code, Reason: "because\x1b[31m of it"}}
			f.events <- down
			f.events <- wire.Event{Type: "link", Link: &wire.Link{State: wire.LinkConnecting}}
			a.until("the page", func() bool { return a.m.sh.world.link.State == wire.LinkDown })
			a.drain()
			a.sees(c.want, "no daemon", "tried again")
			checkFrame(t, a.m.View(), 80, 24)
			for _, k := range []string{"j", "enter", "2", "3", "p", "r", "4", "esc", "5", "6", "l", "1"} {
				a.press(k)
				checkFrame(t, a.m.View(), 80, 24)
			}
			a.hello()
			a.sees("live", "manuals")
		})
	}
}

func TestAGapIsFollowedByAWholeResync(t *testing.T) {
	f := richBackend()
	a := liveApp(t, f, 80, 24, nil)
	a.goTo("5")
	a.press("j", "enter")
	a.until("the listing", a.m.settled)
	f.events <- wire.Event{Type: "link", Link: &wire.Link{State: wire.LinkDown, Code: "daemon_gone"}}
	a.until("the loss", func() bool { return a.m.sh.world.link.State == wire.LinkDown })
	a.sees("lost", "before the daemon went away", "README.md")
	// While nobody looked, the daemon has got another KB, fewer documents and another queue.
	f.docs["notes"] = f.docs["notes"][:2]
	f.kbs = append(f.kbs[:0:0], f.kbs[1:]...)
	f.kbs[0].Documents = 77
	f.status.Queue = wire.Queue{Pending: 7}
	a.hello()
	a.until("the new listing", func() bool {
		a.m.View()
		return len(a.m.sh.world.kbs) == 3 && len(a.m.pages[pageDocuments].(*documentsPage).set("notes").rows) == 2
	})
	a.seesNot("README.md", "manuals")
	a.sees("live", "2 Queue 7", "77 documents")
}

func TestAHelloInMidStreamReplacesThePicture(t *testing.T) {
	f := richBackend()
	a := liveApp(t, f, 80, 24, nil)
	s := f.status
	s.Queue = wire.Queue{Pending: 3}
	f.events <- wire.Event{Type: "hello", Status: &s}
	a.until("the new status", func() bool { return a.m.sh.world.queue().Pending == 3 })
	a.until("the KBs again", func() bool { return len(f.note("KBs")) >= 2 })
}

func TestEventsOfEveryKindUpdateThePages(t *testing.T) {
	f := richBackend()
	a := liveApp(t, f, 100, 30, nil)
	f.events <- wire.Event{Type: "queue", Queue: &wire.Queue{Pending: 1, Processing: 0, Failed: 9}}
	f.events <- wire.Event{Type: "watcher", Watcher: &wire.Watcher{Root: "mail", Dir: "/srv/mail", Mode: "unavailable", Reason: "unplugged"}}
	f.events <- wire.Event{Type: "watcher", Watcher: &wire.Watcher{Root: "new", Dir: "/srv/new", Mode: "polling"}}
	f.events <- wire.Event{Type: "agents", Agents: []wire.Agent{{Name: "late"}}}
	f.events <- wire.Event{Type: "phase", Phase: "scanning"}
	f.events <- wire.Event{Type: "log", Log: &wire.LogLine{At: clock, Level: "WARN", Message: "something new"}}
	f.events <- wire.Event{Type: "some-future-kind"}
	f.events <- wire.Event{Type: "queue"} // without its value
	a.until("the queue", func() bool { return a.m.sh.world.queue().Failed == 9 })
	a.drain()
	a.sees("3 Failed 9", "unplugged", "Looking through the folders", "1 agent")
	f.log = append(f.log, wire.LogLine{At: clock, Level: "WARN", Message: "something new"})
	a.goTo("6")
	a.sees("late", "something new")
}

func TestWrongAnswersAreShownAndNothingBreaks(t *testing.T) {
	garbage := fault.New(fault.Internal, "daemon_bad_answer", "the daemon sent \x1b[2J garbage")
	for _, page := range pageNames {
		t.Run(page, func(t *testing.T) {
			f := richBackend()
			for _, m := range []string{"Status", "Documents", "Document", "Jobs", "Search", "Log", "Ignored", "RetryJob", "RetryAll", "IgnoreJob", "Pause", "Bump"} {
				f.fail[m] = garbage
			}
			a := newApp(t, f, 80, 24, func(o *Options) { o.Page = page })
			s := f.status
			f.events <- wire.Event{Type: "link", Link: &wire.Link{State: wire.LinkLive}}
			f.events <- wire.Event{Type: "hello", Status: &s}
			a.until("the hello", func() bool { return a.m.sh.world.kbsKnown })
			for _, k := range []string{"j", "enter", "x", "esc", "r", "R", "i", "n", "p", "P", "b", "w", "esc", "/", "a", "esc"} {
				a.press(k)
				checkFrame(t, a.m.View(), 80, 24)
			}
			a.rest()
			checkFrame(t, a.m.View(), 80, 24)
		})
	}
	t.Run("values that make no sense", func(t *testing.T) {
		f := richBackend()
		f.status.Rate, f.status.ETASeconds, f.status.Bytes, f.status.Index.FreeDiskBytes = -3, -9, -1, -1
		f.status.Embedder.Rate = 1e-300
		f.search = func(context.Context, string, string, string) (wire.SearchResult, error) {
			return wire.SearchResult{Results: []wire.Hit{{Content: "é", Score: -7, Marks: [][2]int{{-4, 9}, {1, 2}, {0, 1}, {2, 1}, {99, 100}}, Lines: wire.Lines{First: -3}, Explain: "text"}}}, nil
		}
		f.views["notes/2026/03/standup.md"] = wire.DocumentView{Document: wire.Document{Status: "indexed", RevisionID: "x"}, Content: "short",
			Borders: []wire.ChunkBorder{{Index: 0, CharStart: 900, CharEnd: -4}, {Index: -1, CharStart: -9, CharEnd: 2}, {Index: 5, CharStart: 3, CharEnd: 999}}}
		a := liveApp(t, f, 80, 24, nil)
		checkFrame(t, a.m.View(), 80, 24)
		a.press("4")
		a.typed("é")
		a.until("an answer", func() bool { return a.m.pages[pageSearch].(*searchPage).known })
		checkFrame(t, a.m.View(), 80, 24)
		a.goTo("f5")
		a.handle(showDoc{"notes", "2026/03/standup.md"})
		a.until("the text", a.m.settled)
		checkFrame(t, a.m.View(), 80, 24)
	})
}

func TestASlowDaemonBlocksNoKey(t *testing.T) {
	f := richBackend()
	a := liveApp(t, f, 80, 24, nil)
	for _, m := range []string{"Jobs", "Documents", "Document", "Search", "Status", "Log", "RetryAll"} {
		f.wait[m] = make(chan struct{}) // never answered
	}
	began := time.Now()
	for _, k := range []string{"2", "j", "3", "R", "j", "5", "j", "enter", "6", "l", "4", "x", "y", "esc", "1"} {
		a.handle(keyMsg(k))
		checkFrame(t, a.m.View(), 80, 24)
	}
	if d := time.Since(began); d > time.Second {
		t.Errorf("15 keys took %v", d)
	}
}

func TestEveryFrameOfHostileNamesIsSafe(t *testing.T) {
	names := []string{
		"\x1b]52;c;ZXZpbA==\x07", "a\nb", "\x9b31m", "\xff\xfe", "rtl \u202egnp.exe", "zero\u200bwidth", "\u0301lead", "Z\u0301\u0302\u0303\u0304\u0305\u0306\u0307\u0308algo",
		"👩‍👩‍👦‍👦", "🇩🇪🇩", "e\u0301", "ｶﾞｷﾞ", "ﷺ", "शक्ति", "\u2028line", strings.Repeat("字", 300), strings.Repeat("x/", 400) + "deep", " ", "", "tab\there",
	}
	f := richBackend()
	f.kbs, f.jobs = nil, map[string][]wire.Job{}
	for i, n := range names {
		f.kbs = append(f.kbs, wire.KB{Name: fmt.Sprintf("%02d%s", i, n), Available: i%2 == 0, Reason: n, Dir: "/" + n})
		f.jobs["failed"] = append(f.jobs["failed"], wire.Job{ID: int64(i + 1), KB: n, Path: n, State: "failed", Code: n, Message: n, Hint: n, Stage: n})
		f.jobs["pending"] = append(f.jobs["pending"], wire.Job{ID: int64(i + 100), KB: n, Path: n, PathBytes: []byte(n), State: "pending", Reason: n})
		f.docs[f.kbs[0].Name] = append(f.docs[f.kbs[0].Name], wire.Document{Path: n, Status: "failed", Code: n})
		f.log = append(f.log, wire.LogLine{Message: n, Attrs: n, Level: n})
		f.status.Agents = append(f.status.Agents, wire.Agent{Name: n, Client: n, LastTool: n, LastQuery: n})
		f.status.Warnings = append(f.status.Warnings, n)
	}
	f.status.Version = "\x1b[31m"
	f.search = func(context.Context, string, string, string) (wire.SearchResult, error) {
		var r wire.SearchResult
		for _, n := range names {
			r.Results = append(r.Results, wire.Hit{KB: n, Path: n, Title: n, Headings: []string{n, n}, Content: n + " " + n, Match: n, Marks: [][2]int{{0, len(n)}}})
		}
		r.Fallback, r.Reason = names[0], names[0]
		return r, nil
	}
	for _, size := range [][2]int{{80, 24}, {40, 12}, {120, 40}} {
		f.events = make(chan wire.Event, 16) // the app before still listens to the other
		a := liveApp(t, f, size[0], size[1], nil)
		for _, page := range []string{"f1", "f2", "f3", "f5", "f6"} {
			a.goTo(page)
			for range len(names) {
				a.press("j")
				checkFrame(t, a.m.View(), size[0], size[1])
			}
			a.press("enter")
			checkFrame(t, a.m.View(), size[0], size[1])
			a.press("esc")
		}
		a.press("f4")
		a.typed("x")
		a.until("an answer", func() bool { return a.m.pages[pageSearch].(*searchPage).known })
		a.press("enter")
		for range len(names) {
			a.press("j")
			checkFrame(t, a.m.View(), size[0], size[1])
		}
		a.press(":")
		checkFrame(t, a.m.View(), size[0], size[1])
	}
}

func TestColumnsStayAlignedBesideWideAndJoinedCharacters(t *testing.T) {
	f := richBackend()
	f.jobs = map[string][]wire.Job{}
	names := []string{"plain.md", "日本語.md", "👨‍👩‍👧.md", "é combining.md", "ｶﾞ.md", "שלום.md", "🇩🇪.md", "शक्ति.md", "한국어.md"}
	for i, n := range names {
		f.jobs["pending"] = append(f.jobs["pending"], wire.Job{ID: int64(i + 1), KB: "notes", Path: n, State: "pending", Reason: "REASON", Created: before(time.Minute)})
	}
	a := liveApp(t, f, 80, 24, nil)
	a.m.pinned = true
	a.goTo("2")
	seen, column := 0, 0
	for _, l := range strings.Split(a.m.View(), "\n") {
		before, _, ok := strings.Cut(l, "REASON")
		if !ok {
			continue
		}
		seen++
		if column == 0 {
			column = ansi.StringWidth(before)
		}
		if n := ansi.StringWidth(before); n != column {
			t.Errorf("the column begins at cell %d, not %d: %q", n, column, l)
		}
	}
	if seen != len(names) {
		t.Errorf("%d of %d rows are shown", seen, len(names))
	}
}

func TestDisputedWidthsArePinnedToTheirColumn(t *testing.T) {
	for _, c := range []struct{ name, line, want string }{
		{"a family", "a👨‍👩‍👧b", "a\x1b[2X👨‍👩‍👧\x1b[4Gb"},
		{"plain text is left alone", "abc – 日本", "abc – 日本"},
		{"styles are kept", "\x1b[1m👩‍💻\x1b[0mx", "\x1b[1m\x1b[2X👩‍💻\x1b[3G\x1b[0mx"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := c.line
			if mayDisagree(got) {
				got = pin(got)
			}
			if got != c.want {
				t.Errorf("%q becomes %q, not %q", c.line, got, c.want)
			}
			if ansi.StringWidth(got) != ansi.StringWidth(c.line) {
				t.Errorf("the width has changed")
			}
		})
	}
}

func TestAsciiTerminalGetsAsciiOnly(t *testing.T) {
	for _, sc := range scenes {
		frame := scene(t, sc.set, sc.open, [2]int{80, 24}, func(o *Options) { o.UTF8 = false })
		for _, r := range frame {
			if r > 0x7e {
				t.Errorf("%s shows %q", sc.name, r)
				break
			}
		}
	}
}

func TestVisibleKeepsTextAndUnmasksControl(t *testing.T) {
	for in, want := range map[string]string{
		"plain":          "plain",
		"a\x1b[31mb":     "a␛[31mb",
		"\x00\x07\x7f":   "␀␇␡",
		"a\u0085b":       "a<0085>b",
		"\xffx":          "\\xffx",
		"l\u202er":       "l<202E>r",
		"\u200d":         "<200D>",
		"न\u200dम":       "न\u200dम",
		"👩\u200d💻":       "👩\u200d💻",
		"\u0301a":        "◌\u0301a",
		"tab\t.":         "tab␉.",
		"日本":             "日本",
		"\u2028\u2029":   "<2028><2029>",
		"soft\u00adness": "soft<00AD>ness",
	} {
		if got := visible(in); got != want {
			t.Errorf("visible(%q) = %q, not %q", in, got, want)
		}
	}
}

func TestErrorsAreToldWithTheirHint(t *testing.T) {
	if got := explain(fmt.Errorf("wrapped: %w", fault.New(fault.Invalid, "x", "wrong").WithHint("do that"))); got != "wrong (do that)" {
		t.Errorf("%q", got)
	}
	if got := explain(errors.New("plain")); got != "plain" {
		t.Errorf("%q", got)
	}
}

func FuzzVisibleIsSafeAndFits(f *testing.F) {
	for _, s := range []string{"", "plain", "\x1b[31m", "👨‍👩‍👧/é", "\xff\u202e", strings.Repeat("字", 50), "a\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301"} {
		f.Add(s, 10)
	}
	f.Fuzz(func(t *testing.T, s string, w int) {
		w = max(min(w, 200), -5)
		v := visible(s)
		for _, r := range v {
			if r < 0x20 || r == 0x7f || r >= 0x80 && r < 0xa0 {
				t.Fatalf("%q shows %U", s, r)
			}
		}
		if !utf8.ValidString(v) {
			t.Fatalf("%q is not UTF-8", v)
		}
		for name, got := range map[string]string{"clip": clip(v, w), "clipPath": clipPath(v, w)} {
			if n := width(got); n > max(w, 0) {
				t.Fatalf("%s(%q, %d) takes %d cells: %q", name, v, w, n, got)
			}
		}
		if n := width(fit(v, w)); n != max(w, 0) {
			t.Fatalf("fit(%q, %d) takes %d cells", v, w, n)
		}
		for _, l := range wrapText(s, max(w, 2)) {
			if n := width(l); n > max(w, 2) {
				t.Fatalf("wrapText(%q, %d) has a line of %d cells: %q", s, w, n, l)
			}
		}
		if n := ansi.StringWidth(pin(v)); n != ansi.StringWidth(v) {
			t.Fatalf("pin changes the width of %q from %d to %d", v, ansi.StringWidth(v), n)
		}
	})
}

func FuzzHitsAreDrawnSafely(f *testing.F) {
	f.Add("We rotate keys", 3, 9, 10, 12, 40)
	f.Add("é👨‍👩‍👧\x1b[31m", -1, 4, 2, 300, 7)
	f.Fuzz(func(t *testing.T, text string, a, b, c, d, w int) {
		w = max(min(w, 300), 1)
		sh := &shared{st: NewStyles(TrueColor, true), g: NewGlyphs(true)}
		marks := [][2]int{{a, b}, {c, d}}
		line := sh.snippet(text, marks, w)
		if n := width(line); n > w {
			t.Fatalf("the snippet of %q takes %d of %d cells", text, n, w)
		}
		words := litWords(wire.Hit{Content: text, Marks: marks})
		for _, l := range sh.litLines(wrapText(text, w+2), words, "") {
			if strings.ContainsAny(ansi.Strip(l), "\x1b\n\r") {
				t.Fatalf("%q is drawn raw as %q", text, l)
			}
		}
	})
}
