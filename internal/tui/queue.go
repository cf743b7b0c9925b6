package tui

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"ragd/internal/wire"
)

// The orders of the queue page.
const (
	byTurn = iota
	byKB
	byAge
	sortCount
)

var sortNames = [sortCount]string{"next first", "by KB", "oldest first"}

// queuePage shows what waits and what is in work.
type queuePage struct {
	sh      *shared
	jobs    map[string][]queueRow // by state, those that wait in the order of their turns
	total   map[string]int64
	loading int
	ready   bool
	err     error
	order   int
	filter  filter
	rows    []*queueRow // those that are shown
	ls      list
	rowY    int

	took, longest time.Duration // what the loads of both states took
	loadedAt      time.Time     // when the last of them ended
	waits         bool          // a queueDueMsg is on its way
}

// queueDueMsg ends the pause between two loads of a long queue.
type queueDueMsg struct{}

// restFactor times the time of a load is how long a queue is left alone
// before it is loaded again: a long one changes every second while the daemon
// is at work, and asking for all of it each time would be work for both.
const restFactor = 20

func newQueue(sh *shared) page {
	return &queuePage{sh: sh, jobs: map[string][]queueRow{}, total: map[string]int64{}, filter: newFilter()}
}

func (p *queuePage) Load() tea.Cmd {
	if p.loading > 0 || p.waits {
		return nil
	}
	if rest := p.longest*restFactor - p.sh.now().Sub(p.loadedAt); p.ready && rest > 0 {
		p.waits = true
		return tea.Tick(rest, func(time.Time) tea.Msg { return queueDueMsg{} })
	}
	p.loading, p.took = 2, 0
	return tea.Batch(p.sh.loadJobs("processing"), p.sh.loadJobs("pending"))
}

func (p *queuePage) Ready() bool     { return p.ready && p.loading == 0 }
func (p *queuePage) Typing() bool    { return p.filter.typing }
func (p *queuePage) Unsaved() string { return "" }

func (p *queuePage) Back() bool {
	used := p.filter.back()
	p.arrange()
	return used
}

func (p *queuePage) Keys() []key.Binding {
	k := p.sh.keys
	if p.filter.typing {
		return p.filter.keys()
	}
	return []key.Binding{k.Bump, as(k.Pause, "pause KB"), as(k.PauseAll, "pause all"), k.Sort, k.Filter, as(k.Enter, "document"), k.CopyRef}
}

func (p *queuePage) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case jobsMsg:
		if msg.state == "failed" {
			return nil
		}
		p.take(msg)
	case queueDueMsg:
		p.waits, p.longest = false, 0
		return p.Load()
	case tea.KeyMsg:
		return p.key(msg)
	case tea.MouseMsg:
		if !p.ls.wheel(msg) && isClick(msg) {
			if hit, again := p.ls.click(msg.Y - p.rowY); hit && again {
				return p.enter()
			}
		}
	}
	return nil
}

func (p *queuePage) take(msg jobsMsg) {
	p.took += msg.took
	if p.loading = max(p.loading-1, 0); p.loading == 0 {
		p.longest, p.loadedAt = p.took, p.sh.now()
	}
	if p.err = msg.err; p.err != nil {
		return
	}
	rows := queueRows(msg.jobs.Jobs)
	if msg.state == "pending" {
		byTurns(rows, p.sh.now())
	}
	p.jobs[msg.state], p.total[msg.state], p.ready = rows, msg.jobs.Total, true
	p.arrange()
}

func (p *queuePage) key(msg tea.KeyMsg) tea.Cmd {
	k := p.sh.keys
	if p.filter.typing {
		if p.filter.key(msg) {
			p.arrange()
		}
		return nil
	}
	switch {
	case p.ls.key(msg, k):
	case key.Matches(msg, k.Filter):
		p.filter.typing = true
	case key.Matches(msg, k.Sort):
		p.order = (p.order + 1) % sortCount
		p.arrange()
	case key.Matches(msg, k.Enter):
		return p.enter()
	case key.Matches(msg, k.PauseAll):
		return pauseOf("", !allPaused(p.sh.world))(p.sh)
	case p.ls.cur >= len(p.rows):
	case key.Matches(msg, k.Bump):
		return p.bump(p.rows[p.ls.cur])
	case key.Matches(msg, k.Pause):
		name := p.rows[p.ls.cur].kb
		kb, _ := p.sh.world.kb(name)
		return pauseOf(name, !kb.Paused)(p.sh)
	case key.Matches(msg, k.CopyRef):
		j := p.rows[p.ls.cur]
		return p.sh.copy(p.sh.filePath(j.kb, j.path), "the path")
	}
	return nil
}

func (p *queuePage) enter() tea.Cmd {
	if p.ls.cur >= len(p.rows) {
		return nil
	}
	j := p.rows[p.ls.cur]
	return send(goMsg{pageDocuments, showDoc{j.kb, j.path}})
}

func (p *queuePage) bump(j *queueRow) tea.Cmd {
	p.longest = 0 // what a person does is seen at once
	kb, path := j.kb, j.path
	return p.sh.act(func(ctx context.Context) (string, error) {
		ok, err := p.sh.backend.Bump(ctx, kb, path)
		if !ok {
			return "it does not wait any more", err
		}
		return visible(path) + " is next", err
	})
}

// arrange filters and sorts what was loaded, and keeps the cursor on its file.
func (p *queuePage) arrange() {
	var on int64
	if p.ls.cur > 0 && p.ls.cur < len(p.rows) { // at the top one stays at the top
		on = p.rows[p.ls.cur].id
	}
	p.rows = p.rows[:0]
	for _, state := range []string{"processing", "pending"} {
		for i := range p.jobs[state] {
			if j := &p.jobs[state][i]; p.filter.match(j.kb, j.path, j.what, state) {
				p.rows = append(p.rows, j)
			}
		}
	}
	switch p.order {
	case byKB:
		slices.SortStableFunc(p.rows, func(a, b *queueRow) int { return strings.Compare(a.kb, b.kb) })
	case byAge:
		slices.SortStableFunc(p.rows, func(a, b *queueRow) int { return a.created.Compare(b.created) })
	}
	p.ls.resize(len(p.rows), max(p.ls.h, 1))
	for i, j := range p.rows {
		if j.id == on && on != 0 {
			p.ls.moveTo(i)
			break
		}
	}
}

func (p *queuePage) View(w, h int) string {
	st := p.sh.st
	lines := p.summary(w, min(h/4, 6))
	lines = append(lines, p.filter.line(p.sh, w)...)
	shown := ""
	if total := p.total["pending"] + p.total["processing"]; int64(len(p.rows)) < total {
		shown = fmt.Sprintf("%s of %s shown, ", count(len(p.rows)), count(total))
	}
	pos := ""
	if len(p.rows) > 0 {
		pos = count(p.ls.cur+1) + "/" + count(len(p.rows)) + " "
	}
	lines = append(lines, p.sh.section("Queue", shown+pos+sortNames[p.order], w))
	p.rowY = len(lines)
	p.ls.resize(len(p.rows), h-len(lines))
	from, to := p.ls.window()
	for i := from; i < to; i++ {
		lines = append(lines, p.row(p.rows[i], i == p.ls.cur, w))
	}
	if len(p.rows) == 0 {
		lines = append(lines, "", "   "+st.Dim.Render(p.empty()))
	}
	return block(lines, w, h)
}

func (p *queuePage) empty() string {
	switch {
	case p.err != nil:
		return "The queue cannot be loaded: " + explain(p.err)
	case !p.ready:
		return "Loading" + p.sh.g.Ellipsis
	case p.filter.on():
		return "Nothing in the queue matches the filter."
	}
	return "The queue is empty: everything is indexed."
}

func (p *queuePage) row(j *queueRow, on bool, w int) string {
	st, g := p.sh.st, p.sh.g
	sign, style, what := g.Wait, st.Dim, j.what
	switch {
	case j.busy:
		sign, style = g.Busy, st.Info
	case j.nextTry.After(p.sh.now()):
		what = "again in " + shortSpan(j.nextTry.Sub(p.sh.now()))
	}
	kbW, whatW, ageW := min(max(w/8, 8), 20), 14, 6
	if w < 60 {
		kbW, whatW = 0, 9
	}
	name := visible(j.path)
	if kbW == 0 {
		name = visible(j.kb) + "/" + name
	}
	pathW := w - 5 - kbW - whatW - ageW - 3
	if kbW > 0 {
		pathW--
	}
	cells := fit(clipPath(name, pathW), pathW) + " " + fit(visible(what), whatW) + fitRight(shortSpan(p.sh.now().Sub(j.created)), ageW)
	if kbW > 0 {
		cells = fit(visible(j.kb), kbW) + " " + cells
	}
	if on {
		return " " + st.Cursor.Render(fit(g.Cursor+" "+sign+" "+cells, w-2))
	}
	return "   " + style.Render(sign) + " " + cells
}

// summary counts the queue by KB, and what is in work by stage.
func (p *queuePage) summary(w, most int) []string {
	st, q := p.sh.st, p.sh.world.queue()
	line := " " + st.Strong.Render(count(waiting(q))+" waiting") + st.Dim.Render(" "+p.sh.g.Dot+" "+count(q.Begun)+" in work")
	stages := map[string]int{}
	for i := range p.jobs["processing"] {
		if j := &p.jobs["processing"][i]; j.busy {
			stages[j.what]++
		}
	}
	names := make([]string, 0, len(stages))
	for name := range stages {
		names = append(names, name)
	}
	slices.Sort(names)
	for i, name := range names {
		names[i] = fmt.Sprintf("%s %d", visible(name), stages[name])
	}
	if len(names) > 0 {
		line += st.Dim.Render(": " + strings.Join(names, ", "))
	}
	if allPaused(p.sh.world) {
		line += "  " + st.Warn.Render(p.sh.g.Off+" paused")
	}
	lines := []string{cut(line, w)}
	return append(lines, p.perKB(w, most-1)...)
}

// perKB draws one bar per KB with something to do.
func (p *queuePage) perKB(w, most int) []string {
	var busy []wire.KB
	var top int64
	for _, kb := range p.sh.world.kbs {
		if n := kb.Queue.Pending + kb.Queue.Processing; n > 0 {
			busy = append(busy, kb)
			top = max(top, n)
		}
	}
	slices.SortStableFunc(busy, func(a, b wire.KB) int {
		return cmp.Compare(b.Queue.Pending+b.Queue.Processing, a.Queue.Pending+a.Queue.Processing)
	})
	var lines []string
	st, barW := p.sh.st, max(min(w-44, 40), 6)
	full := "█"
	if p.sh.g.ASCII {
		full = "#"
	}
	for _, kb := range busy[:max(min(len(busy), most), 0)] {
		n := kb.Queue.Pending + kb.Queue.Processing
		bar := strings.Repeat(full, max(int(n*int64(barW)/top), 1))
		text := count(n)
		if kb.Paused {
			text += " paused"
		}
		lines = append(lines, "   "+fit(visible(kb.Name), 20)+" "+st.Accent.Render(fit(bar, barW))+" "+st.Dim.Render(clip(text, 16)))
	}
	return lines
}
