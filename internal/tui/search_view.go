package tui

import (
	"fmt"
	"slices"
	"strings"

	"ragd/internal/wire"
)

func (p *searchPage) View(w, h int) string {
	if p.zoom {
		hit, _ := p.hit()
		p.prev.place(0, 0, w, h)
		return block(indent(p.prev.view(hit, w-2, h, true), " "), w, h)
	}
	lines := []string{p.inputLine(w), p.stateLine(w)}
	if len(p.answer.Results) == 0 {
		lines = append(lines, p.emptyLines(w, h-len(lines))...)
		return block(lines, w, h)
	}
	p.hitY = len(lines)
	rest := h - len(lines)
	switch {
	case w >= 100:
		return block(append(lines, p.sideBySide(w, rest)...), w, h)
	case rest >= 14:
		listH := max(rest*45/100, 6) &^ 1
		lines = append(lines, p.list(w, listH)...)
		lines = append(lines, p.sh.rule(w))
		hit, _ := p.hit()
		p.prev.place(0, len(lines), w, h-len(lines))
		lines = append(lines, indent(p.prev.view(hit, w-2, h-len(lines), p.focus == onPreview), " ")...)
		return block(lines, w, h)
	}
	p.prev.place(0, 0, 0, 0)
	return block(append(lines, p.list(w, rest)...), w, h)
}

func (p *searchPage) sideBySide(w, h int) []string {
	lw := w * 46 / 100
	hit, _ := p.hit()
	p.prev.place(lw+2, p.hitY, w-lw-2, h)
	sep := " " + p.sh.st.Border.Render(p.sh.g.VLine) + " "
	return beside(p.list(lw, h), p.prev.view(hit, w-lw-4, h, p.focus == onPreview), lw, h, sep)
}

func (p *searchPage) inputLine(w int) string {
	st := p.sh.st
	where := "all KBs"
	if p.kb != "" {
		where = "in " + visible(p.kb)
	}
	right := clip(searchModes[p.mode].name+" "+p.sh.g.Dot+" "+where, w/3)
	field := p.in.view(w-5-width(right)-2, st, p.focus == onInput, "what are you looking for?")
	left := " " + st.Key.Render(p.sh.g.Cursor) + " " + field
	return left + spaces(w-width(left)-width(right)-1) + st.Accent.Render(right)
}

// stateLine says how many hits there are, how long it took and what is missing from them.
func (p *searchPage) stateLine(w int) string {
	st, dot := p.sh.st, " "+p.sh.g.Dot+" "
	switch {
	case p.err != nil:
		return "   " + st.Fail.Render(clip(visible(explain(p.err)), w-4))
	case !p.known:
		return ""
	}
	a := p.answer
	n := len(a.Results)
	text := plural(n, "result", "results")
	switch {
	case n == searchHits:
		text = fmt.Sprintf("%d of the best %d", p.ls.cur+1, n)
	case n > 0:
		text = fmt.Sprintf("%d of %s", p.ls.cur+1, text)
	}
	if a.TookMS > 0 {
		text += dot + fmt.Sprintf("%.0f ms", max(a.TookMS, 1))
	}
	var notes []string
	if a.Weak && n > 0 {
		notes = append(notes, "only weak matches")
	}
	if f := a.Freshness; f.Pending > 0 {
		notes = append(notes, count(f.Pending)+" not indexed yet")
	} else if f.Failed > 0 {
		notes = append(notes, count(f.Failed)+" failed")
	}
	if a.Fallback != "" {
		notes = append(notes, visible(a.Fallback))
	}
	line := "   " + st.Dim.Render(text)
	if len(notes) > 0 {
		line += st.Warn.Render(dot + strings.Join(notes, dot))
	}
	return cut(line, w)
}

func (p *searchPage) emptyLines(w, h int) []string {
	st := p.sh.st
	switch {
	case p.err != nil:
		return nil
	case p.known && p.in.text != "":
		return []string{"", "   " + st.Dim.Render(clip(sentence(visible(p.answer.Reason)), w-4))}
	case strings.TrimSpace(p.in.text) != "":
		return nil
	case len(p.history.queries) > 0:
		lines := []string{p.sh.section("Earlier", "ctrl+p brings them back", w)}
		qs := newest(p.history.queries, max(h-1, 1))
		for _, q := range slices.Backward(qs) {
			lines = append(lines, "   "+st.Dim.Render(clip(visible(q), w-4)))
		}
		return lines
	}
	return []string{"", "   " + st.Dim.Render(clip("Words, a whole question, \"an exact phrase\", or -word to leave something out.", w-4))}
}

func (p *searchPage) list(w, h int) []string {
	p.rowH = 2
	if h < 6 {
		p.rowH = 1
	}
	p.ls.resize(len(p.answer.Results), max(h/p.rowH, 1))
	from, to := p.ls.window()
	var lines []string
	for i := from; i < to; i++ {
		lines = append(lines, p.row(p.answer.Results[i], i == p.ls.cur, w)...)
	}
	for len(lines) < h {
		lines = append(lines, "")
	}
	return lines[:h]
}

func (p *searchPage) row(h wire.Hit, on bool, w int) []string {
	st, g := p.sh.st, p.sh.g
	right := fmt.Sprintf("%.2f %-7s", h.Score, clip(visible(h.Match), 7))
	if w < 50 {
		right = fmt.Sprintf("%.2f", h.Score)
	}
	where := visible(h.KB+"/"+h.Path) + place(h)
	room := w - 4 - width(right) - 2
	head := ""
	if len(h.Headings) > 0 && room-width(where) > 14 {
		head = "  " + clip(visible(strings.Join(h.Headings, " › ")), room-width(where)-2)
	}
	where = clipPath(where, room)
	gap := spaces(room - width(where) - width(head))
	var first string
	switch {
	case on && p.focus != onInput:
		first = " " + st.Cursor.Render(g.Cursor+" "+where+head+gap+"  "+right)
	case on:
		first = " " + st.CursorIdle.Render(g.Cursor+" "+where+head+gap+"  "+right)
	default:
		first = "   " + where + st.Dim.Render(head) + gap + "  " + st.Dim.Render(right)
	}
	if p.rowH == 1 {
		return []string{first}
	}
	return []string{first, "     " + p.sh.snippet(h.Content, h.Marks, w-6)}
}

// place is where in its file a hit is: ":12–34", or its page.
func place(h wire.Hit) string {
	switch {
	case h.Page > 0:
		return fmt.Sprintf(" p. %d", h.Page)
	case h.Lines.First > 0 && h.Lines.Last > h.Lines.First:
		return fmt.Sprintf(":%d-%d", h.Lines.First, h.Lines.Last)
	case h.Lines.First > 0:
		return fmt.Sprintf(":%d", h.Lines.First)
	}
	return ""
}

// snippet is a hit's text in one line, begun so that the first matched word shows, with the matched words lit.
func (s *shared) snippet(text string, marks [][2]int, w int) string {
	marks = goodMarks(text, marks)
	start := 0
	if len(marks) > 0 {
		start = snippetStart(text, marks[0][0], w)
	}
	var b strings.Builder
	used := 0
	put := func(part string, lit bool) {
		if used > w || part == "" {
			return
		}
		shown := visible(flat(part))
		used += width(shown)
		if lit {
			shown = s.st.Match.Render(shown)
		}
		b.WriteString(shown)
	}
	if start > 0 {
		put("…", false)
	}
	at := start
	for _, m := range marks {
		if m[0] < at {
			continue
		}
		put(text[at:m[0]], false)
		put(text[m[0]:m[1]], true)
		at = m[1]
	}
	// Of a long text only the part that can be seen is looked at.
	put(text[at:cutAt(text, at, 4*w)], false)
	return clipStyled(b.String(), w)
}

// snippetStart is a word's beginning at most a third of the width before the first match.
func snippetStart(text string, first, w int) int {
	if first <= w/2 {
		return 0
	}
	start := cutAt(text, first-w/3, 0)
	if i := strings.IndexAny(text[start:first], " \n"); i >= 0 {
		start += i + 1
	}
	return start
}

// cutAt is the byte offset at+n moved to the border of a character, within the text.
func cutAt(text string, at, n int) int {
	i := max(min(at+n, len(text)), 0)
	for i > 0 && i < len(text) && text[i]&0xc0 == 0x80 {
		i--
	}
	return max(i, 0)
}

// flat turns line ends and tabs into spaces.
func flat(s string) string {
	if !strings.ContainsAny(s, "\n\r\t") {
		return s
	}
	return strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ", "\t", " ").Replace(s)
}

// goodMarks drops ranges that do not lie in the text or overlap; the daemon's word is not taken for it.
func goodMarks(text string, marks [][2]int) [][2]int {
	out := make([][2]int, 0, len(marks))
	end := 0
	for _, m := range marks {
		if m[0] < end || m[1] <= m[0] || m[1] > len(text) {
			continue
		}
		m[0], m[1] = cutAt(text, m[0], 0), cutAt(text, m[1], 0)
		if m[1] > m[0] {
			out = append(out, m)
			end = m[1]
		}
	}
	return out
}
