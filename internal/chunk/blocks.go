package chunk

import (
	"strings"
)

// close adds the open block, which ends at end, as units.
func (m *markdown) close(end int) {
	kind := m.kind
	m.kind = blockNone
	if kind == blockNone || end <= m.start {
		return
	}
	u := unit{path: m.path(), cost: costBlock, paragraph: -1}
	if kind == blockItem {
		u.cost = costItem
		if len(m.items) > 1 {
			u.cost = costInner
		}
	} else if m.content > 0 {
		u.cost = costInner
	}
	if m.colon {
		u.cost = costLine
	}
	before := len(m.units)
	switch {
	case kind == blockFence && !m.fits(m.start, end, m.opt.Max):
		m.cutFence(m.start, end, u)
	case kind == blockFence:
		m.add(m.start, end, u)
	case kind == blockTable:
		m.cutTable(m.start, end, u)
	default:
		m.prose(m.start, end, u)
	}
	if n := len(m.units); n > before {
		m.colon = (kind == blockParagraph || kind == blockItem) && m.body[m.units[n-1].end-1] == ':'
	}
}

// heading adds a heading and makes it the one that what follows stands under.
func (m *markdown) heading(start, end, level int, text string) {
	m.items, m.content, m.colon = m.items[:0], 0, false
	m.pushHeading(level, cleanHeading(text))
	u := unit{path: m.path(), cost: costSection, heading: true, level: uint8(level), paragraph: -1}
	if m.fits(start, end, m.opt.Target/2) {
		m.add(start, end, u)
		return
	}
	u.heading = false // of monstrous length: text
	m.prose(start, end, u)
}

// pushHeading closes the headings of the same or a deeper level and opens one.
func (s *splitter) pushHeading(level int, text string) {
	for len(s.open) > 0 && s.open[len(s.open)-1].level >= level {
		s.open = s.open[:len(s.open)-1]
	}
	parent := s.path()
	path := parent
	if text != "" {
		path = append(parent[:len(parent):len(parent)], text)
	}
	s.open = append(s.open, openHeading{level, path})
}

// path returns the headings that what comes next stands under.
func (s *splitter) path() []string {
	if n := len(s.open); n > 0 {
		return s.open[n-1].path
	}
	return s.stretchHeadings
}

const headingMax = 200 // bytes of a heading in a path

// cleanHeading takes the marks of Markdown and runs of blanks out of a heading.
func cleanHeading(s string) string {
	if len(s) > 4*headingMax {
		s = s[:runeStart(s, 4*headingMax)]
	}
	if i := strings.LastIndex(s, "{#"); i > 0 && strings.HasSuffix(strings.TrimSpace(s), "}") {
		s = s[:i]
	}
	if strings.ContainsAny(s, "[`*_<") {
		s = withoutLinks(s)
		s = withoutTags(s)
		s = strings.NewReplacer("**", "", "__", "", "`", "").Replace(s)
	}
	s = strings.Join(strings.Fields(s), " ")
	return clip(s, headingMax)
}

// clip cuts s to at most n bytes at a grapheme's border.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.TrimSpace(s[:backBorder(s, runeStart(s, n), 0)])
}

// withoutLinks replaces [text](target) and ![text](target) by the text.
func withoutLinks(s string) string {
	for range 16 {
		open := strings.IndexByte(s, '[')
		if open < 0 {
			return s
		}
		mid := strings.Index(s[open:], "](")
		if mid < 0 {
			return s
		}
		end := strings.IndexByte(s[open+mid:], ')')
		if end < 0 {
			return s
		}
		s = strings.TrimSuffix(s[:open], "!") + s[open+1:open+mid] + s[open+mid+end+1:]
	}
	return s
}

// withoutTags leaves out <…> that looks like a tag.
func withoutTags(s string) string {
	var b strings.Builder
	for s != "" {
		open := strings.IndexByte(s, '<')
		if open < 0 || open+1 >= len(s) {
			break
		}
		end := strings.IndexByte(s[open:], '>')
		c := s[open+1]
		if end < 0 || c != '/' && (c|0x20 < 'a' || c|0x20 > 'z') {
			b.WriteString(s[:open+1])
			s = s[open+1:]
			continue
		}
		b.WriteString(s[:open])
		s = s[open+end+1:]
	}
	b.WriteString(s)
	return b.String()
}
