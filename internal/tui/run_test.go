package tui

import (
	"bytes"
	"context"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"ragd/internal/wire"
)

// tape is a terminal's output, kept.
type tape struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (t *tape) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.b.Write(p)
}

func (t *tape) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.b.String()
}

// clockPanics is a clock that fails, which Update needs for the first event.
func clockPanics(o *Options) { o.Now = func() time.Time { panic("on purpose") } }

type panicBackend struct{ *fakeBackend }

func (panicBackend) KBs(context.Context) ([]wire.KB, error) { panic("on purpose") }

// TestRunTakesTheTerminalAndGivesItBack whatever the reason for the end, and leaves no goroutine.
func TestRunTakesTheTerminalAndGivesItBack(t *testing.T) {
	for _, c := range []struct {
		name string
		back func(f *fakeBackend) Backend
		end  func(cancel func(), keys *os.File)
		err  string
		set  func(o *Options)
	}{
		{"by a key", nil, func(_ func(), keys *os.File) { _, _ = keys.WriteString("q") }, "", nil},
		{"by the caller", nil, func(cancel func(), _ *os.File) { cancel() }, "", nil},
		{"by a panic of a command", func(f *fakeBackend) Backend { return panicBackend{f} }, func(func(), *os.File) {}, "on purpose", nil},
		{"by a panic of an update", nil, func(func(), *os.File) {}, "on purpose", clockPanics},
	} {
		t.Run(c.name, func(t *testing.T) {
			// Bubble Tea lets timers that are running end by themselves, after at most ten seconds.
			defer goleak.VerifyNone(t, goleak.IgnoreCurrent(),
				goleak.IgnoreAnyFunction("github.com/charmbracelet/bubbletea.Tick.func1"),
				goleak.IgnoreAnyFunction("github.com/charmbracelet/bubbletea.(*Program).execBatchMsg"))
			in, keys, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = keys.Close(); _ = in.Close() }()
			f := richBackend()
			s := f.status
			f.events <- wire.Event{Type: "link", Link: &wire.Link{State: wire.LinkLive}}
			f.events <- wire.Event{Type: "hello", Status: &s}
			var back Backend = f
			if c.back != nil {
				back = c.back(f)
			}
			out := &tape{}
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			done := make(chan error, 1)
			o := Options{Backend: back, Desk: &fakeDesk{}, Input: in, Output: out, UTF8: true}
			if c.set != nil {
				c.set(&o)
			}
			go func() { done <- Run(ctx, o) }()
			for end := time.Now().Add(10 * time.Second); !strings.Contains(out.String(), enterScreen); time.Sleep(time.Millisecond) {
				if time.Now().After(end) {
					t.Fatal("the terminal is not taken")
				}
			}
			time.Sleep(20 * time.Millisecond)
			c.end(cancel, keys)
			select {
			case err = <-done:
			case <-time.After(10 * time.Second):
				t.Fatal("the program does not end")
			}
			if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("it ends with %v", err)
			}
			if !strings.HasSuffix(out.String(), leaveScreen) {
				t.Errorf("the terminal is not given back: %q", out.String())
			}
			close(f.events) // ends the command that waits for the next event
		})
	}
}

func TestOnlyLinesThatChangedAreDrawn(t *testing.T) {
	out := &tape{}
	s := &screen{out: out}
	if err := s.enter(); err != nil {
		t.Fatal(err)
	}
	paint := func(frame string) string {
		t.Helper()
		before := len(out.String())
		if err := s.paint(frame, 5); err != nil {
			t.Fatal(err)
		}
		return out.String()[before:]
	}
	paint("one\ntwo\nthree")
	if got := paint("one\ntwo\nthree"); got != "" {
		t.Errorf("an equal frame draws %q", got)
	}
	if got := paint("one\nTWO\nthree"); !strings.Contains(got, "\x1b[2;1HTWO\x1b[K") || strings.Contains(got, "one") {
		t.Errorf("one changed line draws %q", got)
	}
	if got := paint("one"); !strings.Contains(got, "\x1b[2;1H\x1b[J") {
		t.Errorf("a shorter frame draws %q", got)
	}
	s.forget()
	if got := paint("one"); !strings.Contains(got, "\x1b[2J") || !strings.Contains(got, "one") {
		t.Errorf("after a resize it draws %q", got)
	}
	if err := s.leave(); err != nil {
		t.Fatal(err)
	}
	if got := paint("late"); got != "" {
		t.Errorf("a terminal that was given back is drawn on: %q", got)
	}
}

func TestSnapshotNeedsADaemonUnlessToldOtherwise(t *testing.T) {
	options := func(f *fakeBackend) Options {
		return Options{Backend: f, Desk: &fakeDesk{}, UTF8: true, Dark: true, Now: func() time.Time { return clock }}
	}
	t.Run("with a daemon", func(t *testing.T) {
		f := richBackend()
		s := f.status
		f.events <- wire.Event{Type: "link", Link: &wire.Link{State: wire.LinkLive}}
		f.events <- wire.Event{Type: "hello", Status: &s}
		o := options(f)
		o.Query = "signing keys"
		frame, err := Snapshot(t.Context(), o, 80, 24, false)
		if err != nil {
			t.Fatal(err)
		}
		checkFrame(t, strings.TrimSuffix(frame, "\n"), 80, 24)
		if !strings.Contains(frame, "standup.md:5-7") || strings.Contains(frame, "\x1b") {
			t.Errorf("the frame is\n%s", frame)
		}
	})
	down := func() *fakeBackend {
		f := richBackend()
		f.events <- wire.Event{Type: "link", Link: &wire.Link{State: wire.LinkDown, Code: "daemon_not_running", Reason: "no daemon is running"}}
		return f
	}
	t.Run("without one", func(t *testing.T) {
		if _, err := Snapshot(t.Context(), options(down()), 80, 24, false); err == nil || !strings.Contains(explain(err), "ragd serve") {
			t.Errorf("the error is %v", err)
		}
	})
	t.Run("without one, frame wanted", func(t *testing.T) {
		frame, err := Snapshot(t.Context(), options(down()), 80, 24, true)
		if err != nil || !strings.Contains(frame, "ragd serve") {
			t.Errorf("%v\n%s", err, frame)
		}
	})
	t.Run("an unknown page", func(t *testing.T) {
		o := options(richBackend())
		o.Page = "serach"
		if _, err := Snapshot(t.Context(), o, 80, 24, false); err == nil || !strings.Contains(err.Error(), "serach") {
			t.Errorf("the error is %v", err)
		}
	})
}

func TestSizesAreReadStrictly(t *testing.T) {
	for in, ok := range map[string]bool{"80x24": true, "120X40": true, "80": false, "x": false, "0x5": false, "80x-1": false, "9999x9": false, "80x24x3": false} {
		if _, _, err := ParseSize(in); (err == nil) != ok {
			t.Errorf("%q: %v", in, err)
		}
	}
}
