package tui

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/lipgloss"
)

func (p *documentsPage) View(w, h int) string {
	if p.doc != nil {
		return p.doc.view(w, h)
	}
	p.refresh()
	lines := p.filter.line(p.sh, w)
	right := ""
	if len(p.tree.rows) > 0 {
		right = count(p.ls.cur+1) + "/" + count(len(p.tree.rows))
	}
	if p.show != showAll {
		right += " " + showNames[p.show] + " only"
	}
	lines = append(lines, p.sh.section("Documents", right, w))
	if len(p.tree.rows) == 0 {
		text := "There is no knowledge base yet; press a on the first page to add a folder."
		if !p.sh.world.kbsKnown {
			text = "Loading" + p.sh.g.Ellipsis
		}
		return block(append(lines, "", "   "+p.sh.st.Dim.Render(clip(text, w-4))), w, h)
	}
	p.rowY = len(lines)
	p.ls.resize(len(p.tree.rows), h-len(lines))
	from, to := p.ls.window()
	for i := from; i < to; i++ {
		lines = append(lines, p.line(p.tree.rows[i], i == p.ls.cur, w))
	}
	return block(lines, w, h)
}

func (p *documentsPage) line(r treeRow, on bool, w int) string {
	st, g := p.sh.st, p.sh.g
	s := p.tree.sets[r.kb]
	name, tail, style := p.cells(s, r, w)
	lead := spaces(min(int(r.depth)*2, w/3))
	switch r.kind {
	case treeKB:
		lead += fold(g, s.open) + " "
	case treeDir:
		lead += fold(g, p.tree.isOpen(s, s.rows[r.from].path[:r.plen])) + " "
	default:
		lead += g.Leaf + " "
	}
	nameW := w - 3 - width(lead) - width(tail) - 1
	name = clipPath(name, nameW)
	gap := spaces(nameW - width(name) + 1)
	if on {
		return " " + st.Cursor.Render(lead+name+gap+tail)
	}
	if r.kind == treeKB {
		name = st.Strong.Render(name)
	}
	return " " + st.Dim.Render(lead) + name + gap + style.Render(tail)
}

func fold(g Glyphs, open bool) string {
	if open {
		return g.Open
	}
	return g.Closed
}

// cells are a row's name and what stands at its right edge.
func (p *documentsPage) cells(s *docSet, r treeRow, w int) (name, tail string, style lipgloss.Style) {
	st, g := p.sh.st, p.sh.g
	switch r.kind {
	case treeKB:
		return visible(s.name), p.kbTail(s, w), st.Dim
	case treeDir:
		path := s.rows[r.from].path[:r.plen-1]
		tail = count(r64(r.to - r.from))
		if n := s.bad[r.to] - s.bad[r.from]; n > 0 {
			tail = fmt.Sprintf("%s %s not in  %s", g.Busy, count(r64(n)), tail)
		}
		return visible(path[strings.LastIndexByte(path, '/')+1:]) + "/", tail, st.Dim
	case treeNote:
		return p.note(s), "", st.Dim
	}
	d := s.rows[r.from]
	name = d.path[r.plen:]
	facts := fitRight(size(d.bytes), 8)
	if w >= 70 {
		facts = fitRight(plural(r64(d.chunks), "chunk", "chunks"), 12) + " " + facts
	}
	word, style := p.sh.docState(d)
	return visible(name), facts + "  " + fit(word, 10), style
}

func r64(n int32) int64 { return int64(n) }

func (p *documentsPage) kbTail(s *docSet, w int) string {
	kb, _ := p.sh.world.kb(s.name)
	switch {
	case s.loading && s.total > 0:
		return fmt.Sprintf("loading %s of %s", count(len(s.next)), count(s.total))
	case s.loading:
		return "loading"
	}
	if w < 60 {
		return count(kb.Documents)
	}
	tail := plural(kb.Documents, "document", "documents")
	if kb.Excluded > 0 {
		tail += ", " + count(kb.Excluded) + " left out"
	}
	if kb.Queue.Failed > 0 {
		tail += ", " + count(kb.Queue.Failed) + " failed"
	}
	return tail
}

func (p *documentsPage) note(s *docSet) string {
	switch {
	case s.err != nil:
		return "cannot be loaded: " + visible(explain(s.err))
	case s.loading || !s.loaded:
		return "loading" + p.sh.g.Ellipsis
	case p.tree.show != nil:
		return "nothing here matches"
	}
	return "no documents yet"
}

// docState is a document's state as sign and word.
func (s *shared) docState(d docRow) (string, lipgloss.Style) {
	st, g := s.st, s.g
	switch d.status {
	case docPending:
		return g.Busy + " waiting", st.Info
	case docFailed:
		return g.Fail + " failed", st.Fail
	case docExcluded:
		return g.Off + " left out", st.Dim
	}
	if d.poor {
		return g.Wait + " poor", st.Warn
	}
	return g.OK + " indexed", st.Dim
}
