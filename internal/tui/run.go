package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync/atomic"
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
	opts := []tea.ProgramOption{
		tea.WithContext(ctx), tea.WithAltScreen(), tea.WithMouseCellMotion(),
		tea.WithoutSignalHandler(),                 // its handler may wait for ever for a loop that has ended with ctx
		tea.WithOutput(o.Output), tea.WithFPS(120), // the renderer sleeps while nothing changes; this bounds the wait for a frame
	}
	if o.Input != nil {
		opts = append(opts, tea.WithInput(o.Input))
	}
	defer endOnInterrupt(cancel, &m.sh.editing)()
	_, err = tea.NewProgram(m, opts...).Run()
	switch {
	case errors.Is(err, tea.ErrProgramPanic):
		return fmt.Errorf("ragtui failed; the terminal was put back in order: %w", err)
	case errors.Is(err, tea.ErrInterrupted), errors.Is(err, tea.ErrProgramKilled), errors.Is(err, context.Canceled):
		return nil // a signal or the caller ended it
	}
	return err
}

// endOnInterrupt cancels when SIGINT comes from outside (the key is read as a
// key), but not one that is meant for the editor in the foreground. The
// function returned ends it.
func endOnInterrupt(cancel func(), editing *atomic.Bool) func() {
	sig, done, gone := make(chan os.Signal, 1), make(chan struct{}), make(chan struct{})
	signal.Notify(sig, os.Interrupt)
	go func() {
		defer close(gone)
		for {
			select {
			case <-sig:
				if !editing.Load() {
					cancel()
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
