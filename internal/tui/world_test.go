package tui

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"ragd/internal/wire"
)

// richBackend is a daemon at work, with names of every kind.
func richBackend() *fakeBackend {
	f := &fakeBackend{
		events: make(chan wire.Event, 4096), fail: map[string]error{}, wait: map[string]chan struct{}{},
		docs: map[string][]wire.Document{}, views: map[string]wire.DocumentView{}, jobs: map[string][]wire.Job{},
	}
	f.status = wire.Status{
		Version: "0.4.0", PID: 4242, Started: before(26 * time.Hour), Phase: "indexing", KBCount: 4,
		Documents: 12_843, Chunks: 98_211, Bytes: 812_000_000, Queue: wire.Queue{Pending: 812, Processing: 2, Begun: 2, Failed: 5},
		Rate: 41.7, ETASeconds: 19,
		Embedder: wire.Embedder{State: "ready", Model: "all-MiniLM-L6-v2", Dimension: 384, Backlog: 4_120, Embedded: 94_091, Total: 98_211, Rate: 85, ETASeconds: 48},
		Watchers: []wire.Watcher{
			{Root: "kbs", Dir: "/home/ada/kbs", Mode: "events", Watches: 1_204, LastEvent: before(3 * time.Second)},
			{Root: "mail", Dir: "/srv/mail", Mode: "degraded", Reason: "the watch limit is reached", Advice: "sysctl fs.inotify.max_user_watches=524288"},
		},
		Index: wire.Index{Bytes: 912_000_000, FreeDiskBytes: 120_000_000_000, RetainedRevisions: 37},
		Agents: []wire.Agent{
			{Name: "claude", Client: "claude-code 2.1", Connected: before(2 * time.Hour), Calls: 118, LastTool: "rag_search", LastQuery: "how are keys rotated?"},
			{Name: "reviewer", Connected: before(5 * time.Minute), Scope: &wire.Scope{KBs: []string{"notes", "papers"}, ReadOnly: true}},
		},
	}
	f.kbs = []wire.KB{
		{Name: "manuals", Dir: "/home/ada/kbs/manuals", Available: true, Documents: 8_120, Chunks: 71_002, Bytes: 512_000_000, Queue: wire.Queue{Pending: 800, Processing: 2, Begun: 2, Failed: 2}, LastIndexed: before(2 * time.Second)},
		{Name: "notes", Dir: "/home/ada/notes", Available: true, Documents: 1_204, Chunks: 8_911, Bytes: 12_400_000, LastIndexed: before(18 * time.Second)},
		{Name: "papers", Dir: "/home/ada/kbs/papers", Available: true, Documents: 3_519, Chunks: 18_298, Bytes: 288_000_000, Excluded: 12, Queue: wire.Queue{Pending: 12, Failed: 3}, LastIndexed: before(3 * time.Hour)},
		{Name: "記録-\x1b[31mrot", Dir: "/srv/mail", Available: false, Reason: "the folder is not mounted"},
	}
	f.addJobs()
	f.addDocs()
	f.addLog()
	f.search = func(_ context.Context, query, _, _ string) (wire.SearchResult, error) { return richResult(query), nil }
	return f
}

func (f *fakeBackend) addJobs() {
	f.jobs["processing"] = []wire.Job{
		{ID: 1, KB: "manuals", Path: "linux/networking/bonding.html", State: "processing", Stage: "extract", Reason: "new", Created: before(4 * time.Second)},
		{ID: 2, KB: "manuals", Path: "linux/networking/日本語のマニュアル.html", State: "processing", Stage: "chunk", Reason: "new", Created: before(3 * time.Second)},
	}
	for i := range 812 {
		kb := "manuals"
		if i%70 == 3 {
			kb = "papers"
		}
		f.jobs["pending"] = append(f.jobs["pending"], wire.Job{ID: int64(10 + i), KB: kb, Path: fmt.Sprintf("linux/admin-guide/chapter-%03d.html", i), State: "pending", Reason: "new", Created: before(time.Duration(20+i) * time.Second)})
	}
	failed := func(id int64, kb, path, code, stage, msg string, attempts int) {
		f.jobs["failed"] = append(f.jobs["failed"], wire.Job{ID: id, KB: kb, Path: path, State: "failed", Stage: stage, Class: "permanent", Code: code, Message: msg, Attempts: attempts, Created: before(3 * time.Hour), Updated: before(2 * time.Hour)})
	}
	failed(901, "papers", "2024/Quarterly report.pdf", "encrypted", "extract", "the PDF asks for a password", 1)
	failed(902, "papers", "2023/tax/\x1b]0;owned\x07.pdf", "encrypted", "extract", "the PDF asks for a password", 1)
	failed(903, "papers", "scans/👨‍👩‍👧 family letter.pdf", "needs_tesseract", "extract", "the pages are pictures and no OCR program is installed", 1)
	failed(904, "manuals", "old/setup.doc", "corrupt", "extract", "the file ends in the middle of its directory", 1)
	failed(905, "manuals", "printer/driver.bin.txt", "binary", "extract", "the content is not text", 1)
}

func (f *fakeBackend) addDocs() {
	add := func(kb, path, status, code string, chunks, bytes int64) {
		f.docs[kb] = append(f.docs[kb], wire.Document{KB: kb, Path: path, Status: status, Code: code, Chunks: chunks, Bytes: bytes})
	}
	add("notes", "2026/03/standup.md", "indexed", "", 4, 2_100)
	add("notes", "2026/03/über-café.md", "indexed", "", 2, 900)
	add("notes", "2026/04/plan.md", "pending", "", 0, 1_200)
	add("notes", "README.md", "indexed", "", 1, 420)
	add("notes", "build.log", "excluded", "ignored", 0, 88_000)
	add("notes", "שלום עולם.md", "indexed", "", 1, 300)
	add("notes", "한국어 문서.md", "indexed", "", 1, 310)
	add("papers", "2024/Quarterly report.pdf", "failed", "encrypted", 0, 481_000)
	add("papers", "attention.pdf", "indexed", "", 61, 2_100_000)
	text := "# Standup\n\nWho did what.\n\n## Monday\n\nWe rotate the signing keys every ninety days; the old key stays valid for a week.\n\n## Tuesday\n\nNothing\u00a0happened.\n"
	f.views["notes/2026/03/standup.md"] = wire.DocumentView{
		Document: wire.Document{KB: "notes", Path: "2026/03/standup.md", Title: "Standup", Status: "indexed", Chunks: 3, Bytes: 2_100, Format: "markdown",
			RevisionID: "9f8e7d6c5b4a", IndexedAt: before(2 * time.Hour), Modified: before(3 * time.Hour)},
		FrontMatter: map[string]any{"tags": []any{"team", "daily"}},
		Content:     text,
		Revisions: []wire.Revision{
			{ID: "9f8e7d6c5b4a39281706", Created: before(2 * time.Hour), Current: true, Chars: 160},
			{ID: "00aa11bb22cc33dd44ee", Created: before(26 * time.Hour), Chars: 120},
		},
		Borders: []wire.ChunkBorder{
			{Index: 0, CharStart: 0, CharEnd: 26, FirstLine: 1, LastLine: 3, Headings: []string{"Standup"}},
			{Index: 1, CharStart: 26, CharEnd: 119, FirstLine: 5, LastLine: 7, Headings: []string{"Standup", "Monday"}},
			{Index: 2, CharStart: 119, CharEnd: len([]rune(text)), FirstLine: 9, LastLine: 11, Headings: []string{"Standup", "Tuesday"}},
		},
	}
	f.views["papers/2024/Quarterly report.pdf"] = wire.DocumentView{Document: wire.Document{KB: "papers", Path: "2024/Quarterly report.pdf", Status: "failed", Code: "encrypted", Reason: "the PDF asks for a password", Bytes: 481_000}}
}

func (f *fakeBackend) addLog() {
	say := func(ago time.Duration, level, msg, attrs string) {
		f.log = append(f.log, wire.LogLine{At: before(ago), Level: level, Message: msg, Attrs: attrs})
	}
	say(90*time.Minute, "INFO", "ragd is ready", "version=0.4.0 kbs=4")
	say(40*time.Minute, "DEBUG", "scan finished", "kb=notes files=1204 took=212ms")
	say(30*time.Minute, "WARN", "watch limit reached", "root=mail limit=8192")
	say(20*time.Minute, "ERROR", "document failed", "kb=papers path=\x1b[2Jtrick.pdf code=encrypted")
	say(10*time.Second, "INFO", "agent connected", "name=reviewer")
}

func richResult(query string) wire.SearchResult {
	text := "We rotate the signing keys every ninety days; the old key stays valid for a week."
	at := func(word string) [2]int { i := strings.Index(text, word); return [2]int{i, i + len(word)} }
	long := "A long way before the words that matter, with nothing in it that anybody has asked for, and some more of it. " + text
	off := len(long) - len(text)
	lower := func(m [2]int) [2]int { return [2]int{m[0] + off, m[1] + off} }
	return wire.SearchResult{Query: query, TookMS: 3.2, Freshness: wire.Freshness{Pending: 812}, Results: []wire.Hit{
		{KB: "notes", Path: "2026/03/standup.md", Title: "Standup", ChunkIndex: 1, Lines: wire.Lines{First: 5, Last: 7}, Headings: []string{"Standup", "Monday"}, Score: 0.91, Match: "both",
			RevisionID: "9f8e7d6c5b4a", Content: text, Marks: [][2]int{at("rotate"), at("signing"), at("keys")},
			Explain: map[string]any{"lexical_score": 0.88, "lexical_rank": 1.0, "meaning_score": 0.75, "meaning_rank": 2.0}},
		{KB: "manuals", Path: "security/key-management/rotation-of-signing-keys.html", Title: "Rotation", ChunkIndex: 12, Lines: wire.Lines{First: 210, Last: 233}, Headings: []string{"Keys", "Rotation"}, Score: 0.74, Match: "keyword",
			Content: long, Marks: [][2]int{lower(at("rotate")), lower(at("signing"))}},
		{KB: "papers", Path: "鍵の管理/署名鍵.pdf", Title: "署名鍵", ChunkIndex: 3, Page: 4, Score: 0.52, Match: "meaning", Content: "署名鍵は九十日ごとに交換する。\n古い鍵は一週間有効である。"},
		{KB: "記録-\x1b[31mrot", Path: "e\u0301te\u0301 👩‍💻 notes.md", Title: "", ChunkIndex: 0, Lines: wire.Lines{First: 1, Last: 1}, Score: 0.31, Match: "keyword", Content: "keys \x1b[2J and bells \x07", Marks: [][2]int{{0, 4}}},
	}}
}

// app is a model with its pump, driven as a person would.
type app struct {
	*pump
	t    testing.TB
	back *fakeBackend
	desk *fakeDesk
	now  time.Time
}

func newApp(t testing.TB, back *fakeBackend, w, h int, set func(o *Options)) *app {
	t.Helper()
	a := &app{t: t, back: back, desk: &fakeDesk{head: []byte("%PDF-1.7\n1 0 obj\n<</Type/Catalog>>\nendobj\n")}, now: clock}
	o := Options{Backend: back, Desk: a.desk, Color: Plain, Dark: true, UTF8: true, Now: func() time.Time { return a.now }}
	if set != nil {
		set(&o)
	}
	m, err := o.model(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	a.pump = newPump(m)
	a.handle(tea.WindowSizeMsg{Width: w, Height: h})
	a.start(m.Init())
	return a
}

// liveApp is an app whose daemon has said hello and whose page is loaded.
func liveApp(t testing.TB, back *fakeBackend, w, h int, set func(o *Options)) *app {
	t.Helper()
	a := newApp(t, back, w, h, set)
	a.hello()
	return a
}

func (a *app) hello() {
	a.t.Helper()
	s := a.back.status
	s.Watchers = append([]wire.Watcher{}, s.Watchers...)
	a.back.events <- wire.Event{Type: "link", Link: &wire.Link{State: wire.LinkLive}}
	a.back.events <- wire.Event{Type: "hello", At: clock, Status: &s}
	a.until("the first load", a.m.settled)
}

// until handles messages until ok, or fails.
func (a *app) until(what string, ok func() bool) {
	a.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	for !ok() {
		if !a.step(ctx) {
			a.t.Fatalf("%s does not come to pass; the screen is\n%s", what, a.m.View())
		}
	}
}

// rest handles what comes within a short while.
func (a *app) rest() {
	ctx, cancel := context.WithTimeout(context.Background(), 120*time.Millisecond)
	defer cancel()
	for a.step(ctx) {
	}
}

// press sends keys by their names; other strings are typed letter by letter.
func (a *app) press(keys ...string) {
	a.t.Helper()
	for _, k := range keys {
		a.handle(keyMsg(k))
		a.drain()
	}
}

// drain handles what is there at once, without waiting for timers.
func (a *app) drain() {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Millisecond)
	defer cancel()
	for a.step(ctx) {
	}
}

func (a *app) typed(text string) {
	a.t.Helper()
	for _, r := range text {
		a.handle(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}})
	}
}

func (a *app) sees(parts ...string) {
	a.t.Helper()
	view := a.m.View()
	for _, p := range parts {
		if !strings.Contains(view, p) {
			a.t.Errorf("the screen does not show %q:\n%s", p, view)
		}
	}
}

func (a *app) seesNot(parts ...string) {
	a.t.Helper()
	view := a.m.View()
	for _, p := range parts {
		if strings.Contains(view, p) {
			a.t.Errorf("the screen shows %q:\n%s", p, view)
		}
	}
}

var keyTypes = map[string]tea.KeyType{
	"enter": tea.KeyEnter, "esc": tea.KeyEsc, "up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft, "right": tea.KeyRight,
	"tab": tea.KeyTab, "shift+tab": tea.KeyShiftTab, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown, "home": tea.KeyHome, "end": tea.KeyEnd,
	"backspace": tea.KeyBackspace, "delete": tea.KeyDelete, " ": tea.KeySpace,
	"ctrl+a": tea.KeyCtrlA, "ctrl+b": tea.KeyCtrlB, "ctrl+c": tea.KeyCtrlC, "ctrl+d": tea.KeyCtrlD, "ctrl+e": tea.KeyCtrlE, "ctrl+f": tea.KeyCtrlF,
	"ctrl+g": tea.KeyCtrlG, "ctrl+k": tea.KeyCtrlK, "ctrl+n": tea.KeyCtrlN, "ctrl+p": tea.KeyCtrlP, "ctrl+r": tea.KeyCtrlR, "ctrl+t": tea.KeyCtrlT,
	"ctrl+u": tea.KeyCtrlU, "ctrl+w": tea.KeyCtrlW, "ctrl+h": tea.KeyCtrlH, "ctrl+left": tea.KeyCtrlLeft, "ctrl+right": tea.KeyCtrlRight,
	"f1": tea.KeyF1, "f2": tea.KeyF2, "f3": tea.KeyF3, "f4": tea.KeyF4, "f5": tea.KeyF5, "f6": tea.KeyF6,
}

func keyMsg(name string) tea.KeyMsg {
	if t, ok := keyTypes[name]; ok {
		if t == tea.KeySpace {
			return tea.KeyMsg{Type: t, Runes: []rune{' '}}
		}
		return tea.KeyMsg{Type: t}
	}
	return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(name)}
}
