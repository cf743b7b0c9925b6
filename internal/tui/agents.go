package tui

import (
	"context"
	"strings"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"ragd/internal/wire"
)

// levels of the log, least grave first; a filter shows one and those above.
var levels = [...]string{"DEBUG", "INFO", "WARN", "ERROR"}

// agentsPage shows who is connected, and what the daemon says.
type agentsPage struct {
	sh     *shared
	level  int
	follow bool
	filter filter
	rows   []int // indices into the world's log that are shown
	dirty  bool
	ls     list
	rowY   int
	ready  bool
	err    error
}

type logMsg struct {
	lines []wire.LogLine
	err   error
}

func newAgents(sh *shared) page {
	return &agentsPage{sh: sh, follow: true, level: 1, filter: newFilter(), dirty: true}
}

func (p *agentsPage) Load() tea.Cmd {
	return func() tea.Msg {
		lines, err := p.sh.backend.Log(context.Background(), 0)
		return logMsg{lines, err}
	}
}

func (p *agentsPage) Ready() bool     { return p.ready || p.err != nil }
func (p *agentsPage) Typing() bool    { return p.filter.typing }
func (p *agentsPage) Unsaved() string { return "" }

func (p *agentsPage) Back() bool {
	used := p.filter.back()
	p.dirty = true
	return used
}

func (p *agentsPage) Keys() []key.Binding {
	k := p.sh.keys
	if p.filter.typing {
		return p.filter.keys()
	}
	return []key.Binding{as(k.Level, "level"), k.Filter, k.Follow, as(k.Enter, "whole line"), as(k.CopyRef, "copy line")}
}

func (p *agentsPage) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case logMsg:
		p.err = msg.err
		if msg.err == nil {
			p.sh.world.log, p.ready, p.dirty = newest(msg.lines, maxLog), true, true
		}
	case wire.Event:
		p.dirty = true
	case tea.KeyMsg:
		return p.key(msg)
	case tea.MouseMsg:
		p.refresh()
		if p.ls.wheel(msg) {
			p.follow = p.ls.cur == p.ls.n-1
		} else if isClick(msg) {
			if hit, again := p.ls.click(msg.Y - p.rowY); hit {
				p.follow = false
				if again {
					return p.whole()
				}
			}
		}
	}
	return nil
}

func (p *agentsPage) key(msg tea.KeyMsg) tea.Cmd {
	k := p.sh.keys
	p.refresh()
	if p.filter.typing {
		p.dirty = p.filter.key(msg) || p.dirty
		return nil
	}
	switch {
	case key.Matches(msg, k.Level):
		p.level, p.dirty = (p.level+1)%len(levels), true
	case p.ls.key(msg, k):
		p.follow = p.ls.cur == p.ls.n-1
	case key.Matches(msg, k.Filter):
		p.filter.typing = true
	case key.Matches(msg, k.Follow):
		p.follow = !p.follow
		if p.follow {
			p.ls.moveTo(p.ls.n - 1)
		}
	case key.Matches(msg, k.Enter):
		return p.whole()
	case key.Matches(msg, k.CopyRef):
		if l, ok := p.line(); ok {
			return p.sh.copy(logText(l), "the line")
		}
	}
	return nil
}

func (p *agentsPage) line() (wire.LogLine, bool) {
	if p.ls.cur < len(p.rows) && p.rows[p.ls.cur] < len(p.sh.world.log) {
		return p.sh.world.log[p.rows[p.ls.cur]], true
	}
	return wire.LogLine{}, false
}

func (p *agentsPage) whole() tea.Cmd {
	l, ok := p.line()
	if !ok {
		return nil
	}
	return send(noteMsg{"Log line", []string{p.sh.local(l.At).Format("2006-01-02 15:04:05.000"), l.Level, "", l.Message, l.Attrs}})
}

func logText(l wire.LogLine) string {
	return strings.TrimSpace(l.At.Format("2006-01-02T15:04:05.000Z07:00") + " " + l.Level + " " + l.Message + " " + l.Attrs)
}

func (p *agentsPage) refresh() {
	if !p.dirty {
		return
	}
	p.dirty = false
	p.rows = p.rows[:0]
	for i, l := range p.sh.world.log {
		if levelOf(l.Level) >= p.level && p.filter.match(l.Message, l.Attrs) {
			p.rows = append(p.rows, i)
		}
	}
	p.ls.resize(len(p.rows), max(p.ls.h, 1))
	if p.follow {
		p.ls.moveTo(len(p.rows) - 1)
	}
}

func levelOf(name string) int {
	for i, l := range levels {
		if strings.HasPrefix(strings.ToUpper(name), l) {
			return i
		}
	}
	return 1
}

func (p *agentsPage) View(w, h int) string {
	p.refresh()
	lines := p.agents(w, max(h/3, 3))
	lines = append(lines, "")
	lines = append(lines, p.filter.line(p.sh, w)...)
	mode := "from " + strings.ToLower(levels[p.level])
	if p.level == 0 {
		mode = "all levels"
	}
	if p.follow {
		mode += ", following"
	}
	lines = append(lines, p.sh.section("Log", mode, w))
	p.rowY = len(lines)
	p.ls.resize(len(p.rows), h-len(lines))
	if p.follow {
		p.ls.moveTo(len(p.rows) - 1)
	}
	from, to := p.ls.window()
	for i := from; i < to; i++ {
		lines = append(lines, p.row(p.sh.world.log[p.rows[i]], i == p.ls.cur && !p.follow, w))
	}
	if len(p.rows) == 0 {
		text := "nothing here"
		if p.err != nil {
			text = visible(explain(p.err))
		}
		lines = append(lines, "   "+p.sh.st.Dim.Render(clip(text, w-4)))
	}
	return block(lines, w, h)
}

func (p *agentsPage) row(l wire.LogLine, on bool, w int) string {
	st, g := p.sh.st, p.sh.g
	style, at := st.Dim, "15:04:05"
	switch levelOf(l.Level) {
	case 2:
		style = st.Warn
	case 3:
		style = st.Fail
	}
	level := fit(visible(strings.ToUpper(l.Level)), 5)
	if w < 60 {
		at, level = "15:04", level[:1]
	}
	stamp := p.sh.local(l.At).Format(at)
	text := visible(l.Message)
	attrs := visible(l.Attrs)
	room := w - 5 - width(stamp) - width(level) - 1
	if on {
		return " " + st.Cursor.Render(fit(g.Cursor+" "+stamp+" "+level+" "+text+"  "+attrs, w-2))
	}
	text = clip(text, room)
	rest := clip(attrs, room-width(text)-2)
	return "   " + st.Dim.Render(stamp) + " " + style.Render(level) + " " + text + "  " + st.Dim.Render(rest)
}
