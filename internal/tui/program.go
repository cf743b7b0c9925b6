package tui

import (
	"fmt"
	"runtime/debug"
	"sync/atomic"
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// frameGap is the least time between two frames; a key is drawn at once, a
// burst of messages as one frame.
const frameGap = 8 * time.Millisecond

// program joins the model and the screen: it draws after messages, and keeps
// what is known of a panic until the terminal is in order again.
type program struct {
	m       *Model
	screen  *screen
	drawn   time.Time
	waiting bool // a frameMsg is on its way
	failed  error
	crash   *atomic.Pointer[string]
}

type frameMsg struct{}

func newProgram(m *Model, s *screen) *program {
	m.pinned = true
	return &program{m: m, screen: s, crash: &atomic.Pointer[string]{}}
}

// Init starts the model.
func (p *program) Init() tea.Cmd { return p.guard(p.m.Init()) }

// View has nothing to say to Bubble Tea: the screen is drawn by draw.
func (p *program) View() string { return "" }

// Update hands the message to the model and draws what has become of it. A
// panic ends the program in the same way as a key does.
func (p *program) Update(msg tea.Msg) (model tea.Model, cmd tea.Cmd) {
	defer func() {
		if r := recover(); r != nil {
			p.m.quitting = true // its state is not to be drawn any more
			model, cmd = p, send(p.note(r))
		}
	}()
	switch msg := msg.(type) {
	case frameMsg:
		p.waiting = false
	case tea.WindowSizeMsg:
		p.screen.forget()
		_, cmd = p.m.Update(msg)
	case editorMsg:
		return p, p.guard(runOutside(p, msg))
	case suspendMsg:
		return p, suspend(p)
	default:
		_, cmd = p.m.Update(msg)
	}
	return p, tea.Batch(p.guard(cmd), p.draw())
}

func (p *program) draw() tea.Cmd {
	if p.waiting || p.m.quitting || p.m.w <= 0 {
		return nil
	}
	if wait := frameGap - time.Since(p.drawn); wait > 0 {
		p.waiting = true
		return tea.Tick(wait, func(time.Time) tea.Msg { return frameMsg{} })
	}
	p.drawn = time.Now()
	if err := p.screen.paint(p.m.View(), p.m.w); err != nil {
		// A terminal that cannot be written to is gone, and nobody looks any more.
		p.failed = err
		return tea.Quit
	}
	return nil
}

// note keeps the value and the stack of the first panic.
func (p *program) note(r any) tea.Msg {
	text := fmt.Sprintf("%v\n\n%s", r, debug.Stack())
	p.crash.CompareAndSwap(nil, &text)
	return tea.Quit()
}

// guard makes a panic of a command, or of one it brings forth, end the program in good order.
func (p *program) guard(cmd tea.Cmd) tea.Cmd {
	if cmd == nil {
		return nil
	}
	return func() (msg tea.Msg) {
		defer func() {
			if r := recover(); r != nil {
				msg = p.note(r)
			}
		}()
		msg = cmd()
		if batch, ok := msg.(tea.BatchMsg); ok {
			for i, c := range batch {
				batch[i] = p.guard(c)
			}
		}
		return msg
	}
}
