package tui

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"ragd/internal/wire"
)

// page is one screen. The root routes to it and draws the frame around it.
type page interface {
	// Update takes keys and mouse events meant for the page (mouse rows are
	// relative to the page), and every message that carries data.
	Update(msg tea.Msg) tea.Cmd
	// View draws exactly h lines of at most w cells.
	View(w, h int) string
	// Load asks for what the page shows; called when the page is entered,
	// after a gap, and when documents have changed.
	Load() tea.Cmd
	// Ready says that a first answer of Load is there.
	Ready() bool
	// Keys are what the page understands, the most useful first.
	Keys() []key.Binding
	// Back takes one step back inside the page; false = there is none.
	Back() bool
	// Typing says that letters are text now, not commands.
	Typing() bool
	// Unsaved says what leaving the program would lose; "" = nothing.
	Unsaved() string
}

// The pages by number.
const (
	pageOverview = iota
	pageQueue
	pageFailed
	pageSearch
	pageDocuments
	pageAgents
	pageCount
)

// PageNames are the names for --page, in the order of their number keys.
var pageNames = [pageCount]string{"overview", "queue", "failed", "search", "documents", "agents"}

// shared is what all pages have in common. Update owns it.
type shared struct {
	backend Backend
	desk    Desk
	world   *world
	st      Styles
	keys    KeyMap
	g       Glyphs
	now     func() time.Time
	actions int         // calls under way that change something
	editing atomic.Bool // an editor has the terminal
}

// Messages between the parts. Loads and actions come back as messages of their own.
type (
	eventsMsg struct {
		events []wire.Event
		closed bool
	}
	statusMsg struct {
		status wire.Status
		err    error
	}
	kbsMsg struct {
		kbs []wire.KB
		err error
	}
	// doneMsg ends an action.
	doneMsg struct {
		text string
		err  error
	}
	toastMsg struct {
		text string
		bad  bool
	}
	toastGoneMsg struct{ seq int }
	tickMsg      struct{ seq int }
	reloadMsg    struct{}
	helpMsg      struct{}
	// goMsg switches to a page; then is handed to it.
	goMsg struct {
		page int
		then tea.Msg
	}
	// askMsg opens a yes/no question, promptMsg one that is answered by text.
	askMsg struct {
		question string
		yes      tea.Cmd
	}
	promptMsg struct {
		title, hint, text string
		done              func(string) tea.Cmd
	}
)

func send(msg tea.Msg) tea.Cmd { return func() tea.Msg { return msg } }

// act runs something that changes the daemon or the desk, and tells how it went.
func (s *shared) act(do func(ctx context.Context) (string, error)) tea.Cmd {
	s.actions++
	return func() tea.Msg {
		text, err := do(context.Background())
		return doneMsg{text, err}
	}
}

func (s *shared) loadKBs() tea.Cmd {
	return func() tea.Msg {
		kbs, err := s.backend.KBs(context.Background())
		return kbsMsg{kbs, err}
	}
}

func (s *shared) loadStatus() tea.Cmd {
	return func() tea.Msg {
		st, err := s.backend.Status(context.Background())
		return statusMsg{st, err}
	}
}

// copy puts text on the clipboard and says what it was.
func (s *shared) copy(text, what string) tea.Cmd {
	return s.act(func(ctx context.Context) (string, error) {
		return "copied " + what, s.desk.Copy(ctx, text)
	})
}
