package tui

import (
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"ragd/internal/wire"
)

// overview is the page that stays open: what is indexed, what is going on,
// and whether anything needs a person.
type overview struct {
	sh   *shared
	ls   list
	rowY int // line of the first KB, for the mouse; set when the page was last laid out
}

func newOverview(sh *shared) page { return &overview{sh: sh} }

func (p *overview) Load() tea.Cmd   { return nil } // KBs and status are the root's
func (p *overview) Ready() bool     { return p.sh.world.kbsKnown }
func (p *overview) Back() bool      { return false }
func (p *overview) Typing() bool    { return false }
func (p *overview) Unsaved() string { return "" }

func (p *overview) Keys() []key.Binding {
	k := p.sh.keys
	return []key.Binding{as(k.Enter, "documents"), as(k.Filter, "search"), k.Add, as(k.Pause, "pause KB"), as(k.PauseAll, "pause all"), k.Why}
}

func (p *overview) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case kbsMsg:
		p.ls.resize(len(p.sh.world.kbs), p.ls.h)
	case tea.KeyMsg:
		return p.key(msg)
	case tea.MouseMsg:
		if p.ls.wheel(msg) || !isClick(msg) {
			return nil
		}
		if hit, again := p.ls.click(msg.Y - p.rowY); hit && again {
			return p.enter()
		}
	}
	return nil
}

func (p *overview) key(msg tea.KeyMsg) tea.Cmd {
	k := p.sh.keys
	switch {
	case p.ls.key(msg, k):
	case key.Matches(msg, k.Enter):
		return p.enter()
	case key.Matches(msg, k.Filter):
		return send(goMsg{pageSearch, focusInput{}})
	case key.Matches(msg, k.Add):
		return addFolderPrompt(p.sh)
	case key.Matches(msg, k.Why):
		return whyPrompt(p.sh, "")
	case key.Matches(msg, k.Pause):
		if kb, ok := p.selected(); ok {
			return pauseOf(kb.Name, !kb.Paused)(p.sh)
		}
	case key.Matches(msg, k.PauseAll):
		return pauseOf("", !allPaused(p.sh.world))(p.sh)
	}
	return nil
}

// allPaused says that indexing as a whole is paused by a person.
func allPaused(w *world) bool {
	if w.status != nil && w.status.Phase == "paused" {
		return true
	}
	for _, kb := range w.kbs {
		if !kb.Paused {
			return false
		}
	}
	return len(w.kbs) > 0
}

func (p *overview) selected() (wire.KB, bool) {
	kbs := p.sh.world.kbs
	if p.ls.cur < len(kbs) {
		return kbs[p.ls.cur], true
	}
	return wire.KB{}, false
}

func (p *overview) enter() tea.Cmd {
	if kb, ok := p.selected(); ok {
		return send(goMsg{pageDocuments, showKB{kb.Name}})
	}
	return nil
}

func (p *overview) View(w, h int) string {
	wd := p.sh.world
	if wd.kbsKnown && len(wd.kbs) == 0 {
		return block(p.firstRun(w), w, h)
	}
	now := p.headline(w)
	engine := p.engine(w)
	// KBs get what they need, up to what the other parts leave; the activity gets the rest.
	rest := h - len(now) - 1
	if rest < 8 {
		engine = nil
	} else if room := rest - 4; len(engine)+1 > room {
		engine = engine[:max(room-1, 0)]
	}
	if len(engine) > 0 {
		rest -= len(engine) + 1
	}
	kbRows := max(min(len(wd.kbs), rest-1), 1)
	if left := rest - 1 - kbRows; left < 3 && rest-1 > 4 {
		kbRows = max(min(kbRows, rest-1-3), 1)
	}
	lines := append([]string{}, now...)
	lines = append(lines, "")
	lines = append(lines, p.kbTable(w, kbRows, len(lines))...)
	if len(engine) > 0 {
		lines = append(lines, "")
		lines = append(lines, engine...)
	}
	if left := h - len(lines) - 2; left >= 1 {
		lines = append(lines, "", p.sh.section("Latest", "", w))
		lines = append(lines, p.latest(w, left)...)
	}
	return block(lines, w, h)
}

// section is a heading with something at its right edge.
func (s *shared) section(title, right string, w int) string {
	return " " + s.st.Title.Render(title) + spaces(w-2-width(title)-width(right)) + s.st.Dim.Render(right)
}

// headline says in one or two lines what the daemon is doing.
func (p *overview) headline(w int) []string {
	st, g, wd := p.sh.st, p.sh.g, p.sh.world
	s := wd.status
	if s == nil {
		return []string{""}
	}
	q := s.Queue
	sign, style, word := g.OK, st.OK, phaseWords(s)
	switch {
	case s.Phase == "paused" || s.PausedReason != "":
		sign, style = g.Off, st.Warn
	case q.Pending+q.Processing > 0 || s.Phase != "idle":
		sign, style = g.Busy, st.Info
	}
	line := " " + style.Render(sign+" ") + st.Strong.Render(word)
	parts := []string{}
	if q.Pending+q.Processing > 0 {
		parts = append(parts, count(waiting(q))+" waiting", count(q.Begun)+" in work")
	}
	documents, chunks := s.Documents, s.Chunks
	if wd.kbsKnown { // the table below is of that moment, and the sum has to fit
		documents, chunks = 0, 0
		for _, kb := range wd.kbs {
			documents, chunks = documents+kb.Documents, chunks+kb.Chunks
		}
	}
	totals := plural(documents, "document", "documents")
	if w >= 100 || len(parts) == 0 {
		totals += ", " + plural(chunks, "chunk", "chunks")
	}
	if w < 60 && len(parts) > 0 {
		totals = ""
	}
	if totals != "" {
		parts = append(parts, totals)
	}
	line += st.Dim.Render("  "+strings.Join(parts, " "+g.Dot+" ")) + failedNote(p.sh, q.Failed)
	lines := []string{cut(line, w)}
	if s.PausedReason != "" {
		lines = append(lines, "   "+st.Warn.Render(clip(visible(s.PausedReason), w-4)))
	}
	return append(lines, p.speed(w))
}

func failedNote(sh *shared, failed int64) string {
	if failed == 0 {
		return ""
	}
	return "  " + sh.st.Fail.Render(sh.g.Fail+" "+count(failed)+" failed")
}

func phaseWords(s *wire.Status) string {
	switch s.Phase {
	case "warming_up":
		return "Warming up"
	case "scanning":
		return "Looking through the folders"
	case "indexing":
		return "Indexing"
	case "paused":
		return "Paused"
	case "idle":
		if s.Queue.Pending+s.Queue.Processing > 0 {
			return "Indexing"
		}
		return "Everything is indexed"
	}
	return sentenceCase(visible(s.Phase))
}

func sentenceCase(s string) string {
	if s == "" {
		return "Running"
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// sureAfter is how long the daemon must have been at work before its speed
// says anything about the time left.
const sureAfter = 10 * time.Second

// speed is the sparkline of the last minute, with the rate and the time left
// where the daemon knows them.
func (p *overview) speed(w int) string {
	st, wd := p.sh.st, p.sh.world
	n := min(max(w/4, 8), 60)
	bars, top := wd.spark.bars(p.sh.now(), n)
	var b strings.Builder
	for _, v := range bars {
		i := 0
		if top > 0 && v > 0 {
			i = 1 + v*(len(p.sh.g.Spark)-2)/top
		}
		b.WriteString(p.sh.g.Spark[i])
	}
	text := "quiet for a minute"
	s := wd.status
	queued := s.Queue.Pending+s.Queue.Processing > 0
	switch {
	case s.Rate > 0 && queued && p.sh.now().Sub(s.Started) >= sureAfter:
		text = rate(s.Rate) + " documents/s"
		if w < 60 {
			text = rate(s.Rate) + "/s"
		}
		if s.ETASeconds > 0 {
			text += " " + p.sh.g.Dot + " about " + span(time.Duration(s.ETASeconds)*time.Second) + " left"
		}
	case queued && s.Phase == "paused":
		text = "nothing is taken from the queue"
	case queued:
		text = "time left not known yet"
	case s.Embedder.Backlog > 0:
		text = "found by keyword; by meaning as it is embedded"
	case top > 0:
		text = "in the last minute"
	}
	return cut("   "+st.Accent.Render(b.String())+"  "+st.Dim.Render(text), w)
}

func (p *overview) kbTable(w, rows, y int) []string {
	st, g, kbs := p.sh.st, p.sh.g, p.sh.world.kbs
	p.ls.resize(len(kbs), rows)
	p.rowY = y + 1
	wide, widest := w >= 76, w >= 110
	nameW := len("Knowledge bases") + 1
	for _, kb := range kbs {
		nameW = max(nameW, width(visible(kb.Name))+1)
	}
	nameW = min(nameW, w*2/5)
	stateW := w - 4 - nameW - 10 - 2
	if wide {
		stateW -= 10 + 10
	}
	if widest {
		stateW -= 16
	}
	right := ""
	if len(kbs) > rows {
		right = fmt.Sprintf("%d of %d", p.ls.cur+1, len(kbs))
	}
	head := "   " + st.Title.Render(fit("Knowledge bases", nameW)) + st.Dim.Render(fitRight("documents", 10))
	if wide {
		head += st.Dim.Render(fitRight("chunks", 10) + fitRight("size", 10))
	}
	if widest {
		head += st.Dim.Render(fitRight("last indexed", 16))
	}
	if w >= 60 {
		head += st.Dim.Render("  state")
	}
	lines := []string{cut(head, w-width(right)-2)}
	if right != "" {
		lines[0] += spaces(w-width(lines[0])-width(right)-1) + st.Dim.Render(right)
	}
	from, to := p.ls.window()
	for i := from; i < to; i++ {
		kb := kbs[i]
		row := fit(clipPath(visible(kb.Name), nameW), nameW) + fitRight(count(kb.Documents), 10)
		if wide {
			row += fitRight(count(kb.Chunks), 10) + fitRight(size(kb.Bytes), 10)
		}
		if widest {
			row += fitRight(ago(p.sh.now(), kb.LastIndexed), 16)
		}
		text, style := p.kbState(kb)
		if i == p.ls.cur {
			lines = append(lines, " "+st.Cursor.Render(fit(g.Cursor+" "+row+"  "+clip(text, stateW), w-2)))
			continue
		}
		lines = append(lines, "   "+row+"  "+style.Render(clip(text, stateW)))
	}
	return lines
}

func (p *overview) latest(w, n int) []string {
	st, wd := p.sh.st, p.sh.world
	if len(wd.activity) == 0 {
		last := time.Time{}
		for _, kb := range wd.kbs {
			if kb.LastIndexed.After(last) {
				last = kb.LastIndexed
			}
		}
		return []string{"   " + st.Dim.Render("nothing since the daemon started; last indexed "+ago(p.sh.now(), last))}
	}
	var lines []string
	acts := newest(wd.activity, n)
	for i := len(acts) - 1; i >= 0; i-- {
		lines = append(lines, p.sh.activityLine(acts[i], w))
	}
	return lines
}
