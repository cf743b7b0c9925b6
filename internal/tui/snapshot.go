package tui

import (
	"context"
	"strconv"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"ragd/internal/fault"
	"ragd/internal/wire"
)

// snapshotTime is how long a snapshot waits for the daemon's answers.
const snapshotTime = 5 * time.Second

// ParseSize reads "80x24".
func ParseSize(s string) (w, h int, err error) {
	a, b, ok := strings.Cut(strings.ToLower(s), "x")
	w, errW := strconv.Atoi(a)
	h, errH := strconv.Atoi(b)
	if !ok || errW != nil || errH != nil || w < 1 || h < 1 || w > 1000 || h > 1000 {
		return 0, 0, fault.New(fault.Invalid, "bad_size", "the size %q is not of the form 80x24, each from 1 to 1000", s)
	}
	return w, h, nil
}

// Snapshot draws one frame of w×h cells without a terminal. It waits until
// the page has its data. Without a daemon it fails with the reason, unless
// offline says that the frame is wanted in any case.
func Snapshot(ctx context.Context, o Options, w, h int, offline bool) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, snapshotTime)
	defer cancel()
	m, err := o.model(ctx)
	if err != nil {
		return "", err
	}
	p := newPump(m)
	p.handle(tea.WindowSizeMsg{Width: w, Height: h})
	p.start(m.Init())
	for !m.settled() {
		if link := m.sh.world.link; link.State == wire.LinkDown {
			if offline {
				break
			}
			_, steps := offlineAdvice(link)
			return "", fault.New(fault.Unavailable, link.Code, "%s", link.Reason).WithHint("%s", steps[0])
		}
		if !p.step(ctx) {
			if offline {
				break
			}
			return "", fault.New(fault.Unavailable, "daemon_timeout", "the daemon did not answer within %s", snapshotTime)
		}
	}
	lines := strings.Split(m.View(), "\n")
	for i, l := range lines {
		if o.Color == Plain {
			l = ansi.Strip(l) // what is pinned to its column for terminals is plain text here
		}
		lines[i] = strings.TrimRight(l, " ")
	}
	return strings.Join(lines, "\n") + "\n", nil
}

// settled says that the page shows what it was asked for.
func (m *Model) settled() bool {
	w := m.sh.world
	return w.live() && w.kbsKnown && m.pages[m.cur].Ready()
}

// pump runs a model without a terminal: messages one at a time, commands
// beside it. It is the event loop of snapshots and of tests.
type pump struct {
	m    *Model
	msgs chan tea.Msg
	quit bool
}

func newPump(m *Model) *pump { return &pump{m: m, msgs: make(chan tea.Msg, 256)} }

// start runs a command; what it comes to is handled by step.
func (p *pump) start(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	go func() { p.msgs <- cmd() }()
}

func (p *pump) handle(msg tea.Msg) {
	switch msg := msg.(type) {
	case nil:
		return
	case tea.BatchMsg:
		for _, cmd := range msg {
			p.start(cmd)
		}
		return
	case tea.QuitMsg:
		p.quit = true
		return
	}
	_, cmd := p.m.Update(msg)
	p.start(cmd)
}

// step handles the next message; false = ctx ended first.
func (p *pump) step(ctx context.Context) bool {
	select {
	case msg := <-p.msgs:
		p.handle(msg)
		return true
	case <-ctx.Done():
		return false
	}
}
