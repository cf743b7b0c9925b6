package admin

import (
	"context"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"time"

	"ragd/internal/wire"
)

const (
	maxLogMessage = 2000 // bytes kept of a line's message, and of its attributes
	recentLines   = 1000
)

// Recorder is a slog.Handler that keeps the last lines in memory, hands each
// to a listener, and passes all on to the handler below.
type Recorder struct {
	next  slog.Handler
	level slog.Leveler
	attrs string // of WithAttrs, already written
	group string
	ring  *ring
}

// NewRecorder keeps lines of level and above; it passes on to next what next
// wants. on is called for each kept line; it must not block nor log. It may be nil.
func NewRecorder(next slog.Handler, level slog.Leveler, on func(wire.LogLine)) *Recorder {
	return &Recorder{next: next, level: level, ring: &ring{on: on}}
}

// Enabled reports whether the recorder or the handler below wants lines of this level.
func (r *Recorder) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= r.level.Level() || r.next.Enabled(ctx, l)
}

// Handle keeps the line and passes it on.
func (r *Recorder) Handle(ctx context.Context, rec slog.Record) error {
	if rec.Level >= r.level.Level() {
		attrs := r.attrs
		rec.Attrs(func(a slog.Attr) bool {
			attrs += attrText(r.group, a)
			return len(attrs) < maxLogMessage
		})
		at := rec.Time
		if at.IsZero() {
			at = time.Now()
		}
		r.ring.add(wire.LogLine{At: at, Level: strings.ToLower(rec.Level.String()), Message: short(rec.Message), Attrs: short(strings.TrimPrefix(attrs, " "))})
	}
	if !r.next.Enabled(ctx, rec.Level) {
		return nil
	}
	return r.next.Handle(ctx, rec)
}

// WithAttrs returns a recorder that adds attributes to each line.
func (r *Recorder) WithAttrs(attrs []slog.Attr) slog.Handler {
	c := *r
	for _, a := range attrs {
		c.attrs += attrText(r.group, a)
	}
	c.next = r.next.WithAttrs(attrs)
	return &c
}

// WithGroup returns a recorder that puts a name before the attributes that follow.
func (r *Recorder) WithGroup(name string) slog.Handler {
	c := *r
	if name != "" {
		c.group += name + "."
	}
	c.next = r.next.WithGroup(name)
	return &c
}

// Lines returns the last n lines, oldest first; n ≤ 0 is all that is kept.
func (r *Recorder) Lines(n int) []wire.LogLine { return r.ring.last(n) }

func attrText(group string, a slog.Attr) string {
	v := a.Value.Resolve()
	if v.Kind() == slog.KindGroup {
		var b strings.Builder
		if a.Key != "" {
			group += a.Key + "."
		}
		for _, sub := range v.Group() {
			b.WriteString(attrText(group, sub))
		}
		return b.String()
	}
	if a.Key == "" {
		return ""
	}
	text := short(v.String())
	if text == "" || strings.ContainsAny(text, " =\"\n\t") {
		text = strconv.Quote(text)
	}
	return " " + group + a.Key + "=" + text
}

func short(s string) string {
	if len(s) > maxLogMessage {
		s = s[:maxLogMessage] + "…"
	}
	return strings.ToValidUTF8(s, "�")
}

// ring keeps the last recentLines lines.
type ring struct {
	on func(wire.LogLine)

	mu    sync.Mutex
	lines []wire.LogLine
	next  int // where the next line goes once lines is full
}

func (g *ring) add(l wire.LogLine) {
	g.mu.Lock()
	if len(g.lines) < recentLines {
		g.lines = append(g.lines, l)
	} else {
		g.lines[g.next] = l
		g.next = (g.next + 1) % recentLines
	}
	g.mu.Unlock()
	if g.on != nil {
		g.on(l)
	}
}

func (g *ring) last(n int) []wire.LogLine {
	g.mu.Lock()
	defer g.mu.Unlock()
	all := append(append(make([]wire.LogLine, 0, len(g.lines)), g.lines[g.next:]...), g.lines[:g.next]...)
	if n > 0 && n < len(all) {
		all = all[len(all)-n:]
	}
	return all
}
