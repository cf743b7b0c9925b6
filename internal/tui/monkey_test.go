package tui

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"ragd/internal/fault"
	"ragd/internal/wire"
)

// TestNoOrderOfKeysEventsAndAnswersBreaksAPage presses random keys while the
// daemon changes, fails, restarts and the terminal is resized.
func TestNoOrderOfKeysEventsAndAnswersBreaksAPage(t *testing.T) {
	for seed := range uint64(6) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			m := monkey{rand.New(rand.NewPCG(seed, 77)), liveApp(t, richBackend(), 80, 24, nil)}
			for range 1_200 {
				m.step()
				if w, h := m.app.m.w, m.app.m.h; w > 0 && h > 0 && !m.app.m.quitting {
					checkFrame(t, m.app.m.View(), w, h)
				}
				if t.Failed() {
					return
				}
				if m.app.quit || m.app.m.quitting {
					m.app.quit, m.app.m.quitting, m.app.m.overlay = false, false, nil
				}
			}
		})
	}
}

type monkey struct {
	*rand.Rand
	app *app
}

func (m *monkey) step() {
	a, f := m.app, m.app.back
	switch m.IntN(12) {
	case 0:
		m.change(f)
	case 1:
		m.event(f)
	case 2:
		if m.IntN(4) == 0 {
			sizes := [][2]int{{1, 1}, {40, 12}, {80, 24}, {120, 40}, {57, 19}, {300, 100}}
			s := sizes[m.IntN(len(sizes))]
			a.handle(tea.WindowSizeMsg{Width: s[0], Height: s[1]})
		}
	case 3:
		buttons := []tea.MouseButton{tea.MouseButtonLeft, tea.MouseButtonWheelUp, tea.MouseButtonWheelDown}
		a.handle(tea.MouseMsg{X: m.IntN(130), Y: m.IntN(45), Action: tea.MouseActionPress, Button: buttons[m.IntN(3)]})
	case 4:
		ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
		for a.pump.step(ctx) {
		}
		cancel()
	default:
		all := []string{"j", "k", "g", "G", "enter", "esc", "esc", "tab", "/", ":", "?", " ", "m", "r", "R", "i", "y", "n", "N", "s", "w", "p", "P", "b", "l", "h", "f", "e", "o", "Y", "x",
			"1", "2", "3", "4", "5", "6", "f1", "f2", "f3", "f4", "f5", "f6", "[", "]", "up", "down", "left", "right", "pgup", "pgdown", "home", "end", "ctrl+d", "ctrl+u", "ctrl+t", "ctrl+g",
			"ctrl+p", "ctrl+n", "ctrl+r", "ctrl+k", "ctrl+w", "backspace", "delete", "日", "👩‍💻"}
		a.handle(keyMsg(all[m.IntN(len(all))]))
	}
}

// change is another state of the daemon, seen at the next call. The fields
// are replaced and not written into: calls under way may be reading them.
func (m *monkey) change(f *fakeBackend) {
	fresh := richBackend()
	if m.IntN(3) > 0 {
		fresh.jobs["failed"] = fresh.jobs["failed"][:m.IntN(6)]
		fresh.jobs["pending"] = fresh.jobs["pending"][:m.IntN(800)]
		fresh.docs["notes"] = fresh.docs["notes"][:m.IntN(8)]
		fresh.kbs = fresh.kbs[m.IntN(5):]
		fresh.log = fresh.log[:m.IntN(6)]
		fresh.status.Agents = fresh.status.Agents[:m.IntN(3)]
	}
	if m.IntN(4) == 0 {
		names := []string{"Jobs", "Documents", "Document", "Search", "KBs", "Log", "Status", "RetryJob"}
		fresh.fail[names[m.IntN(len(names))]] = fault.New(fault.Internal, "daemon_bad_answer", "nonsense")
	}
	f.swap(fresh)
}

func (m *monkey) event(f *fakeBackend) {
	f.mu.Lock()
	s, docs := f.status, slices.Clone(f.docs["notes"])
	f.mu.Unlock()
	path := "fresh.md"
	if len(docs) > 0 {
		path = docs[m.IntN(len(docs))].Path
	}
	what := []string{"indexed", "deleted", "failed", "excluded", "queued", "unchanged", "whatever"}
	events := []wire.Event{
		{Type: "hello", Status: &s}, {Type: "queue", Queue: &wire.Queue{Pending: m.Int64N(9)}}, {Type: "phase", Phase: "scanning"},
		{Type: "agents"}, {Type: "log", Log: &wire.LogLine{Level: "WARN", Message: "said"}},
		{Type: "link", Link: &wire.Link{State: wire.LinkDown, Code: "daemon_gone"}}, {Type: "link", Link: &wire.Link{State: wire.LinkLive}},
		{Type: "document", At: clock, Document: &wire.DocEvent{KB: "notes", Path: path, What: what[m.IntN(len(what))], Chunks: 2}},
		{Type: "document", At: clock, Document: &wire.DocEvent{KB: "gone", Path: path, What: "indexed"}},
	}
	f.events <- events[m.IntN(len(events))]
}
