package tui

import (
	"cmp"
	"fmt"
	"time"

	"github.com/charmbracelet/lipgloss"

	"ragd/internal/wire"
)

// kbState is the state of a KB in words, and how grave it is.
func (p *overview) kbState(kb wire.KB) (string, lipgloss.Style) {
	st, g := p.sh.st, p.sh.g
	switch {
	case !kb.Available:
		why := "not available"
		if kb.Reason != "" {
			why += ": " + visible(kb.Reason)
		}
		return g.Fail + " " + why, st.Fail
	case kb.Paused:
		return g.Off + " paused" + toDo(kb.Queue, ", "), st.Warn
	case kb.Queue.Pending+kb.Queue.Processing > 0:
		return g.Busy + toDo(kb.Queue, " "), st.Info
	case kb.Queue.Failed > 0:
		return g.Fail + " " + count(kb.Queue.Failed) + " failed", st.Fail
	case kb.Documents == 0:
		return g.Wait + " empty", st.Dim
	}
	return g.OK + " up to date", st.OK
}

// toDo is what is left of a queue, after a lead.
func toDo(q wire.Queue, lead string) string {
	text := ""
	if n := q.Pending + q.Processing; n > 0 {
		text, lead = lead+count(n)+" to do", ", "
	}
	if q.Failed > 0 {
		text += lead + count(q.Failed) + " failed"
	}
	return text
}

// engine is the part about the machinery: one line per thing, warnings first.
func (p *overview) engine(w int) []string {
	s := p.sh.world.status
	if s == nil {
		return nil
	}
	var lines []string
	row := func(name, text string, style lipgloss.Style) {
		lines = append(lines, "   "+p.sh.st.Dim.Render(fit(name, 10))+style.Render(clip(text, w-15)))
	}
	st, dot := p.sh.st, " "+p.sh.g.Dot+" "
	for _, warn := range s.Warnings {
		row("Note", visible(warn), st.Warn)
	}
	text, style := p.embedder(s.Embedder, w-15)
	row("Embedder", text, style)
	for i, x := range s.Watchers {
		name := "Watching"
		if i > 0 {
			name = ""
		}
		text, style := p.watcher(x)
		row(name, text, style)
	}
	disk := size(s.Index.Bytes)
	if s.Bytes > 0 {
		disk += " for " + size(s.Bytes) + " of files"
	}
	if s.Index.RetainedRevisions > 0 {
		disk += dot + plural(s.Index.RetainedRevisions, "old revision", "old revisions")
	}
	if s.Index.FreeDiskBytes > 0 {
		disk += dot + size(s.Index.FreeDiskBytes) + " free"
	}
	row("Index", disk, st.Text)
	if s.Poor > 0 {
		row("Quality", "the text of "+plural(s.Poor, "document", "documents")+" is poor; the documents page marks them", st.Warn)
	}
	if s.Index.Quarantined != "" {
		row("", "a damaged index was set aside at "+visible(s.Index.Quarantined), st.Warn)
	}
	up := p.sh.now().Sub(s.Started)
	if s.Started.IsZero() {
		up = time.Duration(s.UptimeSeconds) * time.Second
	}
	row("Daemon", fmt.Sprintf("ragd %s%sup %s%s%s", visible(s.Version), dot, span(up), dot, plural(len(s.Agents), "agent", "agents")), st.Text)
	return append([]string{p.sh.section("Engine", "", w)}, lines...)
}

// embedder says how embedding goes in w cells. The time left is what is waited
// for: where there is no room for all, what is known anyway goes first.
func (p *overview) embedder(e wire.Embedder, w int) (text string, style lipgloss.Style) {
	for _, with := range [...]embedderParts{{true, true, true}, {false, true, true}, {false, false, true}, {}} {
		if text, style = p.embedderLine(e, with); width(text) <= w {
			break
		}
	}
	return text, style
}

// embedderParts are the parts of the embedder's line that it can do without.
type embedderParts struct{ dimension, percent, rate bool }

func (p *overview) embedderLine(e wire.Embedder, with embedderParts) (string, lipgloss.Style) {
	st, dot := p.sh.st, " "+p.sh.g.Dot+" "
	switch e.State {
	case "", "off":
		return "off: " + cmp.Or(visible(e.Reason), "search is by keyword"), st.Dim
	case "failed":
		return p.sh.g.Fail + " failed: " + visible(e.Reason), st.Fail
	}
	text := visible(e.Model)
	if e.Dimension > 0 && with.dimension {
		text += fmt.Sprintf(" (%d)", e.Dimension)
	}
	if e.Serving != "" && e.Serving != e.Model {
		text += ", searches still use " + visible(e.Serving)
	}
	style := st.Text
	if e.State == "paused" {
		text, style = p.sh.g.Off+" paused: "+visible(e.Reason)+dot+text, st.Warn
	}
	failed := ""
	if e.Failed > 0 {
		failed = dot + p.sh.g.Fail + " " + plural(e.Failed, "document has", "documents have") + " parts without"
		style = st.Warn
	}
	switch {
	case e.Backlog == 0:
		return text + dot + "nothing waits" + failed, style
	case e.Total >= e.Backlog && with.percent:
		text += dot + fmt.Sprintf("%d%%", e.Embedded*100/max(e.Total, 1)) + dot + plural(e.Backlog, "chunk waits", "chunks wait")
	default:
		text += dot + plural(e.Backlog, "chunk waits", "chunks wait")
	}
	if e.Rate > 0 && with.rate {
		text += dot + rate(e.Rate) + "/s"
	}
	if e.ETASeconds > 0 {
		text += dot + "about " + span(time.Duration(e.ETASeconds)*time.Second) + " left"
	}
	return text + failed, style
}

func (p *overview) watcher(x wire.Watcher) (string, lipgloss.Style) {
	st, g, dot := p.sh.st, p.sh.g, " "+p.sh.g.Dot+" "
	where := visible(x.Dir)
	if where == "" {
		where = visible(x.Root)
	}
	switch x.Mode {
	case "unavailable":
		return g.Fail + " " + where + " cannot be read: " + visible(x.Reason), st.Fail
	case "degraded":
		text := g.Fail + " " + where + dot + "degraded: " + visible(x.Reason)
		if x.Advice != "" {
			text += dot + visible(x.Advice)
		}
		return text, st.Warn
	case "polling":
		return where + dot + "polling" + because(x.Reason), st.Text
	}
	text := where + dot + plural(x.Watches, "folder", "folders")
	if x.Overflows > 0 {
		text += dot + plural(x.Overflows, "overflow", "overflows")
	}
	if !x.LastEvent.IsZero() {
		text += dot + "last change " + ago(p.sh.now(), x.LastEvent)
	}
	return text, st.Text
}

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + visible(reason)
}

// activityLine is one thing that happened, newest on top of a list of them.
func (s *shared) activityLine(a activity, w int) string {
	st, g := s.st, s.g
	sign, style := g.OK, st.OK
	detail := ""
	switch a.doc.What {
	case "indexed":
		detail = plural(a.doc.Chunks, "chunk", "chunks")
		if a.doc.TookMS > 0 && w >= 76 {
			detail += fmt.Sprintf(" in %d ms", a.doc.TookMS)
		}
	case "failed":
		sign, style, detail = g.Fail, st.Fail, "failed"+because(a.doc.Message)
	case "deleted", "excluded", "unchanged":
		sign, style, detail = g.Off, st.Dim, a.doc.What+because(a.doc.Message)
	default:
		sign, style, detail = g.Wait, st.Dim, visible(a.doc.What)
	}
	at := ""
	if w >= 60 {
		at = s.local(a.at).Format("15:04:05") + " "
	}
	room := w - 7 - len(at)
	name := visible(a.doc.KB + "/" + a.doc.Path)
	// The name comes first, but not at the cost of all that is said of it.
	name = clipPath(name, max(room-width(detail), room*3/5))
	detail = clip(detail, room-width(name))
	return "   " + style.Render(sign) + " " + st.Dim.Render(at) + name + "  " + st.Dim.Render(detail)
}

// firstRun is the page while there is no KB: what to do, and that it can be done here.
func (p *overview) firstRun(w int) []string {
	st := p.sh.st
	lines := []string{"", "  " + st.Strong.Render("Nothing is indexed yet.")}
	add := func(lead, text string) {
		for i, l := range wrapText(text, w-7) {
			if i > 0 {
				lead = ""
			}
			lines = append(lines, "  "+st.Key.Render(fit(lead, 3))+l)
		}
	}
	lines = append(lines, "")
	add("a", "add a folder with documents (press a); it stays where it is")
	root := ""
	if s := p.sh.world.status; s != nil && len(s.Watchers) > 0 {
		root = visible(s.Watchers[0].Dir)
	}
	if root != "" {
		lines = append(lines, "")
		add(p.sh.g.Cursor, "or put a folder of files into "+root+": each folder there is one knowledge base, and shows up here by itself")
	}
	lines = append(lines, "")
	add(p.sh.g.Cursor, "then ask an agent, or press 4 and search")
	return lines
}
