package tui

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"
)

// What is asked of a terminal, and taken back again. Lines do not wrap at the
// edge: where a terminal finds a character wider than it was counted, the rest
// is lost instead of pushing all lines down.
const (
	enterScreen = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[?1002h\x1b[?1006h\x1b[?2004h\x1b[2J"
	leaveScreen = "\x1b[?2004l\x1b[?1006l\x1b[?1002l\x1b[?7h\x1b[?25h\x1b[?1049l"
	beginFrame  = "\x1b[?2026h" // terminals that can show a frame at once do so
	endFrame    = "\x1b[?2026l"
)

// screen draws frames on a terminal. It stands in for Bubble Tea's renderer,
// whose clock ticks 60 times a second even while nothing changes: this one
// draws when it is told to and sleeps otherwise. It is used by one goroutine
// at a time.
type screen struct {
	out   io.Writer
	in    *os.File // put into raw mode; nil = none
	size  *os.File // asked for its size; nil = none
	lines []string // as they stand on the terminal
	on    bool
	saved *term.State
}

func newScreen(o Options) *screen {
	s := &screen{out: o.Output}
	if f, ok := o.Input.(*os.File); ok && term.IsTerminal(f.Fd()) {
		s.in = f
	}
	if t, ok := o.Output.(Terminal); ok {
		s.size = t.TTY()
	} else if f, ok := o.Output.(*os.File); ok {
		s.size = f
	}
	return s
}

// enter takes the terminal; nothing happens where it is taken already.
func (s *screen) enter() error {
	if s.on {
		return nil
	}
	if s.in != nil {
		saved, err := term.MakeRaw(s.in.Fd())
		if err != nil {
			return fmt.Errorf("put the terminal into raw mode: %w", err)
		}
		s.saved = saved
	}
	s.on, s.lines = true, nil
	return s.write(enterScreen)
}

// leave gives the terminal back as it was.
func (s *screen) leave() error {
	if !s.on {
		return nil
	}
	s.on = false
	err := s.write(leaveScreen)
	if s.saved != nil {
		if restoreErr := term.Restore(s.in.Fd(), s.saved); err == nil {
			err = restoreErr
		}
	}
	return err
}

func (s *screen) write(seq string) error {
	if _, err := io.WriteString(s.out, seq); err != nil {
		return fmt.Errorf("write to the terminal: %w", err)
	}
	return nil
}

// cells returns the terminal's size; false = unknown.
func (s *screen) cells() (w, h int, ok bool) {
	if s.size == nil {
		return 0, 0, false
	}
	w, h, err := term.GetSize(s.size.Fd())
	return w, h, err == nil
}

// forget makes the next frame be drawn whole.
func (s *screen) forget() { s.lines = nil }

// paint draws the lines that differ from those on the terminal, in one write.
func (s *screen) paint(frame string, w int) error {
	if !s.on {
		return nil
	}
	lines := strings.Split(frame, "\n")
	var b strings.Builder
	if s.lines == nil {
		b.WriteString(ansi.EraseEntireScreen)
	}
	for i, line := range lines {
		if i < len(s.lines) && s.lines[i] == line {
			continue
		}
		b.WriteString(ansi.CursorPosition(1, i+1))
		b.WriteString(line)
		if width(line) < w {
			b.WriteString(ansi.EraseLineRight)
		}
	}
	if len(s.lines) > len(lines) {
		b.WriteString(ansi.CursorPosition(1, len(lines)+1) + ansi.EraseScreenBelow)
	}
	s.lines = lines
	if b.Len() == 0 {
		return nil
	}
	return s.write(beginFrame + b.String() + endFrame)
}
