package chunk

import "strings"

// blockKind is the kind of block that a line of Markdown belongs to.
type blockKind uint8

const (
	blockNone blockKind = iota
	blockParagraph
	blockItem // text of a list item
	blockQuote
	blockTable
	blockFence
	blockHTML
	blockIndented
)

// markdown scans Markdown line by line for its blocks: headings of both
// kinds, fences, tables, lists, quotes, HTML and paragraphs, as CommonMark
// and GFM define them at the top level. Inside lists it only follows what
// matters for cutting: items and fences. One pass, no nesting to run away.
type markdown struct {
	*splitter
	end int // of the stretch

	kind     blockKind
	start    int // of the open block
	lastLine int // start of the last line of the open block
	colon    bool
	blank    bool // a blank line was just before
	fence    fence
	htmlEnd  string // what ends the open HTML block; "" = a blank line
	items    []int  // columns at which the contents of the open list items begin
	content  int    // the last of them; 0 = no list
	lazy     bool   // the line before is text that a less indented line may go on with
}

// scanMarkdown adds the blocks of body[from:end] as units.
func scanMarkdown(s *splitter, from, end int) {
	m := markdown{splitter: s, end: end, start: from}
	for at := from; at < end; {
		stop := lineEnd(s.body, at, end)
		m.line(at, stop)
		m.relieve()
		at = stop + 1
	}
	m.close(end)
}

// line takes the line body[at:stop] in.
func (m *markdown) line(at, stop int) {
	text := m.body[at:stop]
	indent, first := indentOf(text)
	if first == len(text) {
		m.blankLine(at)
		return
	}
	text = text[first:]
	switch {
	case m.kind == blockFence:
		if m.inFence(text, indent, at, stop) {
			return
		}
	case m.kind == blockHTML && m.htmlEnd != "":
		if strings.Contains(text, m.htmlEnd) {
			m.lastLine = at
			m.close(stop)
		}
		return
	case m.kind == blockHTML:
		m.lastLine = at
		return
	}
	m.block(at, stop, text, indent)
	m.blank = false
}

func (m *markdown) blankLine(at int) {
	m.blank = true
	switch {
	case m.kind == blockFence, m.kind == blockHTML && m.htmlEnd != "", m.kind == blockIndented:
		return
	}
	m.close(at)
}

// block takes in a line that is not inside a fence or HTML.
func (m *markdown) block(at, stop int, text string, indent int) {
	if indent < m.content && (m.blank || !m.lazy || startsBlock(text) || isItem(text)) {
		m.close(at)
		m.leaveItems(indent)
	}
	inList := m.content > 0 && indent >= m.content
	if inList {
		indent -= m.content
	}
	lazy := m.lazy
	m.lazy = false
	if indent < 4 || m.content > 0 {
		if m.special(at, stop, text, indent, inList) {
			return
		}
	}
	if indent >= 4 && !inList && m.kind != blockParagraph && m.kind != blockItem && m.kind != blockQuote {
		m.open(blockIndented, at)
		return
	}
	if m.kind == blockIndented || m.kind == blockTable && !strings.Contains(text, "|") && m.blank {
		m.close(at)
	}
	if m.kind == blockNone {
		m.open(blockParagraph, at)
	}
	m.lazy = lazy || indent < 4
	m.lastLine = at
}

// special handles a line that begins or ends a block by its first characters.
func (m *markdown) special(at, stop int, text string, indent int, inList bool) bool {
	switch c := text[0]; c {
	case '`', '~':
		if f, ok := fenceOpen(text); ok {
			m.close(at)
			f.indent = indent
			if inList {
				f.indent += m.content
			}
			f.inList = inList
			m.open(blockFence, at)
			m.fence = f
			return true
		}
	case '#':
		if level := atxLevel(text); level > 0 && indent < 4 {
			m.close(at)
			if inList {
				m.open(blockItem, at)
			} else {
				m.heading(at, stop, level, atxText(text))
			}
			return true
		}
	case '=', '-', '*', '_', '+':
		return m.rule(at, stop, text, indent, inList)
	case '>':
		if m.kind != blockQuote && indent < 4 {
			m.close(at)
			m.open(blockQuote, at)
		}
		m.lastLine, m.lazy = at, true
		return true
	case '<':
		if end, ok := htmlStart(text, m.kind == blockParagraph || m.kind == blockItem); ok && indent < 4 {
			m.close(at)
			m.open(blockHTML, at)
			m.htmlEnd = end
			if end != "" && strings.Contains(text, end) {
				m.close(stop)
			}
			return true
		}
	case '|', ':':
		return m.table(at, text)
	}
	if '0' <= text[0] && text[0] <= '9' {
		return m.item(at, text, indent, inList)
	}
	return false
}

// rule handles a line that begins with a sign of which rules, underlines,
// delimiter rows and list items are made.
func (m *markdown) rule(at, stop int, text string, indent int, inList bool) bool {
	if text[0] == '-' && m.table(at, text) {
		return true
	}
	if m.kind == blockParagraph && !inList && m.content == 0 && indent < 4 {
		if level := underline(text); level > 0 {
			m.setext(at, stop, level)
			return true
		}
	}
	if text[0] != '=' && indent < 4 && thematicBreak(text) {
		m.close(at)
		m.open(blockParagraph, at)
		m.close(stop)
		return true
	}
	return m.item(at, text, indent, inList)
}

// setext turns the open paragraph into a heading.
func (m *markdown) setext(at, stop, level int) {
	text := m.body[m.start:at]
	start := m.start
	m.kind = blockNone
	m.heading(start, stop, level, text)
}

// item opens a list item if text begins one.
func (m *markdown) item(at int, text string, indent int, inList bool) bool {
	width, number := itemMarker(text)
	if width == 0 {
		return false
	}
	if number > 1 && m.kind == blockParagraph && m.content == 0 {
		return false // "…\n1986. A great year" goes on with the paragraph
	}
	if indent >= 4 && !inList && m.content == 0 {
		return false
	}
	m.close(at)
	if inList {
		indent += m.content
	}
	m.content = indent + width
	if len(m.items) < nestingMax {
		m.items = append(m.items, m.content)
	}
	m.open(blockItem, at)
	rest := strings.TrimLeft(text[min(width, len(text)):], " \t")
	if rest == "" {
		return true
	}
	if f, ok := fenceOpen(rest); ok {
		f.indent, f.inList = m.content, true
		m.kind, m.fence = blockFence, f
		return true
	}
	m.lazy = atxLevel(rest) == 0
	return true
}

// table opens a table when text is a delimiter row and the line before it is
// its header.
func (m *markdown) table(at int, text string) bool {
	if m.kind == blockTable {
		m.lastLine = at
		return true
	}
	if m.kind != blockParagraph && m.kind != blockItem || m.lastLine < m.start {
		return false
	}
	header := m.body[m.lastLine:at]
	if !delimiterRow(text) || !strings.Contains(header, "|") {
		return false
	}
	head := m.lastLine
	if head > m.start {
		m.close(head)
	}
	m.kind, m.start, m.lastLine = blockTable, head, at
	return true
}

// leaveItems closes the list items whose content begins right of column indent.
func (m *markdown) leaveItems(indent int) {
	for len(m.items) > 0 && m.items[len(m.items)-1] > indent {
		m.items = m.items[:len(m.items)-1]
	}
	m.content = 0
	if n := len(m.items); n > 0 {
		m.content = m.items[n-1]
	}
}

func (m *markdown) open(kind blockKind, at int) {
	if m.kind != kind || kind == blockItem || kind == blockFence {
		m.close(at)
		m.kind, m.start = kind, at
	}
	m.lastLine = at
}
