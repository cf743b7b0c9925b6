package tui

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	tea "github.com/charmbracelet/bubbletea"

	"ragd/internal/wire"
)

// failedRow is a line of the list: a group's head (job < 0) or a file.
type failedRow struct {
	group string
	job   int // index in jobs
	n     int // of a head: files in the group
}

func groupOf(j wire.Job) string {
	return cmp.Or(j.Code, j.Class, "error") + "\x00" + j.Stage
}

func groupTitle(group string) string {
	code, stage, _ := strings.Cut(group, "\x00")
	title := sentenceCase(strings.ReplaceAll(visible(code), "_", " "))
	if stage != "" {
		title += " (" + visible(stage) + ")"
	}
	return title
}

// arrange groups and filters what was loaded, and keeps the cursor on its file.
func (p *failedPage) arrange() {
	j, _ := p.job()
	p.group(j.ID)
}

// group builds the rows, the largest group first, with the cursor on the file
// of job on where it is still there. The rows from before are not looked at:
// they may point into a list that has been replaced.
func (p *failedPage) group(on int64) {
	groups := map[string][]int{}
	alive := map[int64]bool{}
	for i, j := range p.jobs {
		alive[j.ID] = true
		if p.filter.match(j.KB, j.Path, j.Message, j.Code, j.Stage) {
			groups[groupOf(j)] = append(groups[groupOf(j)], i)
		}
	}
	for id := range p.marked {
		if !alive[id] {
			delete(p.marked, id)
		}
	}
	names := make([]string, 0, len(groups))
	for name := range groups {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(groups[b]), len(groups[a])), strings.Compare(a, b))
	})
	cur := p.ls.cur
	p.rows = p.rows[:0]
	for _, name := range names {
		p.rows = append(p.rows, failedRow{name, -1, len(groups[name])})
		if p.folded[name] {
			continue
		}
		for _, i := range groups[name] {
			if p.jobs[i].ID == on && on != 0 {
				cur = len(p.rows)
			}
			p.rows = append(p.rows, failedRow{name, i, 0})
		}
	}
	p.ls.resize(len(p.rows), max(p.ls.h, 1))
	p.ls.moveTo(cur)
	if _, ok := p.job(); !ok {
		p.zoom = false
	}
}

func (p *failedPage) groupIDs(group string) []int64 {
	var ids []int64
	for _, j := range p.jobs {
		if groupOf(j) == group && p.filter.match(j.KB, j.Path, j.Message, j.Code, j.Stage) {
			ids = append(ids, j.ID)
		}
	}
	return ids
}

// wantHead asks for the file's head a moment after the cursor has come to rest.
func (p *failedPage) wantHead() tea.Cmd {
	j, ok := p.job()
	if !ok || j.ID == p.head.job {
		return nil
	}
	p.wantSeq++
	seq := p.wantSeq
	return tea.Tick(80*time.Millisecond, func(time.Time) tea.Msg { return headDueMsg{seq} })
}

func (p *failedPage) loadHead(seq int) tea.Cmd {
	j, ok := p.job()
	if !ok {
		return nil
	}
	file := p.sh.filePath(j.KB, rawPath(j.Path, j.PathBytes))
	return func() tea.Msg {
		h := fileHead{job: j.ID}
		h.bytes, h.size, h.err = p.sh.desk.Head(file, headBytes)
		return headMsg{seq, h}
	}
}

func (p *failedPage) View(w, h int) string {
	if p.zoom {
		lines := p.details(w - 2)
		p.detail.resize(len(lines), h)
		return block(indent(lines[p.detail.off:], " "), w, h)
	}
	lines := p.filter.line(p.sh, w)
	right := ""
	if n := len(p.marked); n > 0 {
		right = plural(n, "marked", "marked") + "  "
	}
	if int64(len(p.jobs)) < p.total {
		right += fmt.Sprintf("first %s of ", count(len(p.jobs)))
	}
	right += plural(p.total, "file", "files")
	if p.total == 0 {
		right = ""
	}
	if len(p.rows) == 0 {
		lines = append(lines, p.sh.section("Failed", right, w), "", "   "+p.empty())
		return block(lines, w, h)
	}
	if w >= 110 {
		return p.sideBySide(lines, right, w, h)
	}
	lines = append(lines, p.sh.section("Failed", right, w))
	room := h - len(lines)
	detailH := 0
	if room >= 12 {
		detailH = min(max(room/2, 8), room-max(len(p.rows), 3)-1)
		detailH = max(detailH, 7)
	}
	listH := room - detailH
	if detailH > 0 {
		listH--
	}
	lines = append(lines, p.list(w, listH, len(lines))...)
	if detailH > 0 {
		lines = append(lines, p.sh.rule(w))
		lines = append(lines, indent(p.details(w-4), "   ")...)
	}
	return block(lines, w, h)
}

func (p *failedPage) sideBySide(top []string, right string, w, h int) string {
	lw := w * 45 / 100
	left := append([]string{}, top...)
	left = append(left, p.sh.section("Failed", right, lw))
	left = append(left, p.list(lw, h-len(left), len(left))...)
	sep := " " + p.sh.st.Border.Render(p.sh.g.VLine) + " "
	return block(beside(left, p.details(w-lw-4), lw, h, sep), w, h)
}

func (s *shared) rule(w int) string {
	return " " + s.st.Border.Render(strings.Repeat(s.g.HLine, max(w-2, 0)))
}

func indent(lines []string, by string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = by + l
	}
	return out
}

func (p *failedPage) empty() string {
	st := p.sh.st
	switch {
	case p.err != nil:
		return st.Fail.Render(clip("The failed files cannot be loaded: "+explain(p.err), 200))
	case !p.ready:
		return st.Dim.Render("Loading" + p.sh.g.Ellipsis)
	case p.filter.on():
		return st.Dim.Render("Nothing that failed matches the filter.")
	}
	return st.OK.Render(p.sh.g.OK) + " " + st.Dim.Render("Nothing has failed.")
}

func (p *failedPage) list(w, h, y int) []string {
	p.rowY = y
	p.ls.resize(len(p.rows), h)
	from, to := p.ls.window()
	lines := make([]string, 0, h)
	for i := from; i < to; i++ {
		lines = append(lines, p.row(p.rows[i], i == p.ls.cur, w))
	}
	for len(lines) < h {
		lines = append(lines, "")
	}
	return lines
}

func (p *failedPage) row(r failedRow, on bool, w int) string {
	st, g := p.sh.st, p.sh.g
	if r.job < 0 {
		fold := g.Open
		if p.folded[r.group] {
			fold = g.Closed
		}
		text := fold + " " + groupTitle(r.group)
		if on {
			return " " + st.Cursor.Render(fit(text+"  "+count(r.n), w-2))
		}
		return " " + st.Strong.Render(clip(text, w-10)) + "  " + st.Dim.Render(count(r.n))
	}
	j := p.jobs[r.job]
	mark := " "
	if p.marked[j.ID] {
		mark = g.Mark
	}
	tail := fmt.Sprintf("%s %d×", shortSpan(p.sh.now().Sub(j.Updated)), j.Attempts)
	if g.ASCII {
		tail = strings.ReplaceAll(tail, "×", "x")
	}
	pathW := w - 6 - 10
	cells := fit(clipPath(visible(j.KB+"/"+j.Path), pathW), pathW) + fitRight(tail, 9)
	if on {
		return " " + st.Cursor.Render(fit(g.Cursor+mark+" "+cells, w-2))
	}
	return "  " + st.Accent.Render(mark) + " " + cut(cells, w-5)
}

// details is everything about the file under the cursor, or about its group.
func (p *failedPage) details(w int) []string {
	st := p.sh.st
	j, ok := p.job()
	if !ok {
		if p.ls.cur >= len(p.rows) {
			return nil
		}
		ids := p.groupIDs(p.rows[p.ls.cur].group)
		return []string{st.Strong.Render(clip(groupTitle(p.rows[p.ls.cur].group), w)), "",
			clip("r retries all "+count(len(ids))+" of this kind, space marks them, i ignores them.", w)}
	}
	var lines []string
	lines = append(lines, st.Strong.Render(clipPath(visible(j.KB+"/"+j.Path), w)))
	for _, l := range wrapText(cmp.Or(j.Message, j.Code, "no reason was given"), w-2) {
		lines = append(lines, st.Fail.Render(p.sh.g.Bar)+" "+l)
	}
	for _, l := range wrapText(fixFor(j), w-2) {
		lines = append(lines, st.OK.Render(p.sh.g.Bar)+" "+l)
	}
	dot := " " + p.sh.g.Dot + " "
	next := "parked: it waits for a change or a retry"
	if j.NextTry.After(p.sh.now()) {
		next = "next try in " + span(j.NextTry.Sub(p.sh.now()))
	}
	facts := plural(j.Attempts, "attempt", "attempts") + dot + "last " + ago(p.sh.now(), j.Updated) + dot + next
	if j.Stage != "" {
		facts = "stage " + visible(j.Stage) + dot + facts
	}
	for _, l := range wrapLine(facts, w) {
		lines = append(lines, st.Dim.Render(l))
	}
	return append(lines, p.headLines(j, w)...)
}

func (p *failedPage) headLines(j wire.Job, w int) []string {
	st := p.sh.st
	if p.head.job != j.ID {
		return nil
	}
	if p.head.err != nil {
		return []string{"", st.Dim.Render(clip("The file: "+visible(explain(p.head.err)), w))}
	}
	lines := []string{"", st.Dim.Render("The file begins (" + size(p.head.size) + "):")}
	if !looksText(p.head.bytes) {
		return append(lines, hexLines(p.head.bytes, w)...)
	}
	return append(lines, wrapText(string(p.head.bytes), w)...)
}

func looksText(b []byte) bool {
	if len(b) == 0 {
		return true
	}
	odd := 0
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == 0 || r == utf8.RuneError && n == 1 && i < len(b)-4 || r < 0x20 && r != '\n' && r != '\r' && r != '\t' {
			odd++
		}
		i += n
	}
	return odd*50 < len(b)
}

func hexLines(b []byte, w int) []string {
	per := max(min((w-2)/4, 16), 4)
	var lines []string
	for i := 0; i < len(b) && len(lines) < 64; i += per {
		row := b[i:min(i+per, len(b))]
		var hex, text strings.Builder
		for _, c := range row {
			fmt.Fprintf(&hex, "%02x ", c)
			if c >= 0x20 && c < 0x7f {
				text.WriteByte(c)
			} else {
				text.WriteByte('.')
			}
		}
		lines = append(lines, fit(hex.String(), per*3)+" "+text.String())
	}
	return lines
}

// filePath is where a document's file lies on this machine. For a part of a
// file (an attachment) it is the file itself.
func (s *shared) filePath(kb, path string) string {
	path, _, _ = strings.Cut(path, " › ")
	if k, ok := s.world.kb(kb); ok && k.Dir != "" {
		return strings.TrimSuffix(k.Dir, "/") + "/" + path
	}
	return kb + "/" + path
}

func (s *shared) openPath(path, what string) tea.Cmd {
	return s.act(func(ctx context.Context) (string, error) {
		return "opened " + what, s.desk.Open(ctx, path)
	})
}
