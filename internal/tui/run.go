package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"ragd/internal/fault"
)

// Options are what the program needs to run. Backend and Desk must be set.
type Options struct {
	Backend Backend
	Desk    Desk
	Input   io.Reader // nil = the terminal
	Output  io.Writer // the terminal
	Color   ColorLevel
	Dark    bool             // the terminal's background
	UTF8    bool             // the locale
	Page    string           // the first page, by name; "" = overview
	Query   string           // asked on the search page, which is then the first
	Now     func() time.Time // nil = time.Now
}

// Terminal is an Output that is more than the terminal's file.
type Terminal interface {
	io.Writer
	TTY() *os.File
}

// PageNames returns the pages in the order of their number keys.
func PageNames() []string { return slices.Clone(pageNames[:]) }

func (o Options) page() (int, error) {
	if o.Page == "" {
		if o.Query != "" {
			return pageSearch, nil
		}
		return pageOverview, nil
	}
	if i := slices.Index(pageNames[:], o.Page); i >= 0 {
		return i, nil
	}
	return 0, fault.New(fault.Invalid, "unknown_page", "there is no page %q; allowed: %s", o.Page, strings.Join(pageNames[:], ", "))
}

func (o Options) model(ctx context.Context) (*Model, error) {
	first, err := o.page()
	if err != nil {
		return nil, err
	}
	now := o.Now
	if now == nil {
		now = time.Now
	}
	sh := &shared{
		backend: o.Backend, desk: o.Desk, world: &world{}, now: now,
		st: NewStyles(o.Color, o.Dark), keys: NewKeyMap(), g: NewGlyphs(o.UTF8),
	}
	m := newModel(sh, o.Backend.Events(ctx), first)
	if o.Query != "" {
		m.pages[pageSearch].(*searchPage).in.set(o.Query)
	}
	return m, nil
}

// Run shows the dashboard until the person leaves it or ctx ends. The
// terminal is as it was before, whatever the reason for leaving.
func Run(ctx context.Context, o Options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	m, err := o.model(ctx)
	if err != nil {
		return err
	}
	if o.Input == nil {
		o.Input = os.Stdin
	}
	defer quietLog()()
	p := newProgram(m, newScreen(o))
	if err := p.screen.enter(); err != nil {
		return err
	}
	tp := tea.NewProgram(p, tea.WithInput(o.Input), tea.WithOutput(io.Discard),
		tea.WithoutRenderer(),      // see screen
		tea.WithoutSignalHandler()) // its handler may wait for ever for a loop that has ended with ctx
	stop := watchTerminal(ctx, p, tp)
	_, err = tp.Run()
	stop()
	if leaveErr := p.screen.leave(); err == nil {
		err = errors.Join(p.failed, leaveErr)
	}
	switch {
	case p.crash.Load() != nil:
		return fmt.Errorf("ragtui failed; the terminal is in order again. Please report this: %s", *p.crash.Load())
	case errors.Is(err, tea.ErrProgramKilled):
		return fmt.Errorf("ragtui ended by itself: %w", err)
	}
	return err
}

// quietLog keeps what libraries log (net/http, of a server that talks out of
// turn) off the terminal, raw as it is. The function returned ends it.
func quietLog() (restore func()) {
	was := log.Writer()
	log.SetOutput(io.Discard)
	return func() { log.SetOutput(was) }
}

// watchTerminal tells the program the terminal's size, now and when it
// changes, and makes it quit when ctx ends, or when SIGINT comes from outside
// (the key is read as a key) and is not meant for an editor in the
// foreground. The program's own way of ending with a context leaves its
// reader of keys behind. The function returned ends it.
func watchTerminal(ctx context.Context, p *program, tp *tea.Program) func() {
	sig, done, gone := make(chan os.Signal, 4), make(chan struct{}), make(chan struct{})
	signal.Notify(sig, os.Interrupt, syscall.SIGWINCH, syscall.SIGCONT)
	tell := func() {
		if w, h, ok := p.screen.cells(); ok {
			tp.Send(tea.WindowSizeMsg{Width: w, Height: h})
		}
	}
	go func() {
		defer close(gone)
		tell()
		ended := ctx.Done()
		for {
			select {
			case <-ended:
				ended = nil
				tp.Quit()
			case s := <-sig:
				switch {
				case s != os.Interrupt:
					tell()
				case !p.m.sh.editing.Load():
					tp.Quit()
				}
			case <-done:
				return
			}
		}
	}()
	return func() {
		signal.Stop(sig)
		close(done)
		<-gone
	}
}
