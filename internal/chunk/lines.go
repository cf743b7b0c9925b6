package chunk

import "strings"

// indentOf returns the column of the first character of line that is not a
// blank (tabs go to the next multiple of four) and its index.
func indentOf(line string) (column, first int) {
	for first < len(line) {
		switch line[first] {
		case ' ':
			column++
		case '\t':
			column += 4 - column%4
		case '\r':
		default:
			return column, first
		}
		first++
	}
	return column, first
}

// fence is an open code fence.
type fence struct {
	sign   byte
	n      int
	indent int
	inList bool
}

// fenceOpen reads the opening line of a fence.
func fenceOpen(text string) (fence, bool) {
	n := 0
	for n < len(text) && text[n] == text[0] {
		n++
	}
	if n < 3 || text[0] != '`' && text[0] != '~' || text[0] == '`' && strings.IndexByte(text[n:], '`') >= 0 {
		return fence{}, false
	}
	return fence{sign: text[0], n: n}, true
}

// closedBy reports whether text is a line that closes f.
func (f fence) closedBy(text string) bool {
	n := 0
	for n < len(text) && text[n] == f.sign {
		n++
	}
	return n >= f.n && blankLine(text[n:])
}

// inFence takes a line in while a fence is open; false when the fence ended
// before it, with the list item that it stood in.
func (m *markdown) inFence(text string, indent, at, stop int) bool {
	if m.fence.inList && indent < min(m.content, m.fence.indent) && !m.fence.closedBy(text) {
		m.close(at)
		return false
	}
	m.lastLine = at
	if m.fence.closedBy(text) && indent < m.fence.indent+4 {
		m.close(stop)
	}
	m.blank = false
	return true
}

// atxLevel returns the level of a heading like "## Title"; 0 = it is none.
func atxLevel(text string) int {
	n := 0
	for n < len(text) && text[n] == '#' {
		n++
	}
	if n > 6 || n < len(text) && text[n] != ' ' && text[n] != '\t' {
		return 0
	}
	return n
}

func atxText(text string) string {
	text = strings.Trim(strings.TrimLeft(text, "#"), " \t\r")
	if closed := strings.TrimRight(text, "#"); closed == "" || closed != text && isBlank(closed[len(closed)-1]) {
		return closed
	}
	return text
}

// underline returns the level of the heading that text underlines; 0 = it is
// no underline.
func underline(text string) int {
	text = strings.TrimRight(text, " \t\r")
	switch {
	case strings.Trim(text, "=") == "":
		return 1
	case strings.Trim(text, "-") == "":
		return 2
	}
	return 0
}

// thematicBreak reports whether text is three or more of -, * or _ alone.
func thematicBreak(text string) bool {
	n := 0
	for i := range len(text) {
		if text[i] == text[0] {
			n++
		} else if !isBlank(text[i]) {
			return false
		}
	}
	return n >= 3 && text[0] != '+'
}

// itemMarker returns the width of a list item's marker with the blanks after
// it, and its number; width 0 = text begins no item.
func itemMarker(text string) (width, number int) {
	n := 0
	switch c := text[0]; {
	case c == '-' || c == '*' || c == '+':
		n, number = 1, 1
	case '0' <= c && c <= '9':
		for n < len(text) && n < 10 && '0' <= text[n] && text[n] <= '9' {
			number = number*10 + int(text[n]-'0')
			n++
		}
		if n > 9 || n == len(text) || text[n] != '.' && text[n] != ')' {
			return 0, 0
		}
		n++
	default:
		return 0, 0
	}
	if n == len(text) {
		return n + 1, number
	}
	if text[n] != ' ' && text[n] != '\t' {
		return 0, 0
	}
	blanks, _ := indentOf(text[n:])
	if blanks > 4 {
		blanks = 1
	}
	return n + blanks, number
}

func isItem(text string) bool {
	n, _ := itemMarker(text)
	return n > 0
}

// startsBlock reports whether text begins a block that ends a list's lazily
// continued paragraph.
func startsBlock(text string) bool {
	switch text[0] {
	case '#':
		return atxLevel(text) > 0
	case '`', '~':
		_, ok := fenceOpen(text)
		return ok
	case '>':
		return true
	case '-', '*', '_':
		return thematicBreak(text)
	case '<':
		_, ok := htmlStart(text, true)
		return ok
	}
	return false
}

// delimiterRow reports whether text is like "|---|:-:|".
func delimiterRow(text string) bool {
	dash := false
	for i := range len(text) {
		switch text[i] {
		case '-':
			dash = true
		case '|', ':', ' ', '\t', '\r':
		default:
			return false
		}
	}
	return dash && (strings.IndexByte(text, '|') >= 0)
}

// htmlStart reports whether text begins a block of HTML, and what ends it: ""
// is a blank line. Inside a paragraph only tags of blocks do.
func htmlStart(text string, inParagraph bool) (end string, ok bool) {
	lower := strings.ToLower(text[:min(len(text), 16)])
	for _, raw := range [...][2]string{
		{"<!--", "-->"}, {"<?", "?>"}, {"<![cdata[", "]]>"},
		{"<pre", "</pre>"}, {"<script", "</script>"}, {"<style", "</style>"}, {"<textarea", "</textarea>"},
	} {
		if strings.HasPrefix(lower, raw[0]) && tagEnds(lower, len(raw[0]), raw[0][1]) {
			return raw[1], true
		}
	}
	name := strings.TrimPrefix(lower[1:], "/")
	n := 0
	for n < len(name) && ('a' <= name[n] && name[n] <= 'z' || '0' <= name[n] && name[n] <= '9') {
		n++
	}
	if n == 0 {
		return "", strings.HasPrefix(lower, "<!") && len(lower) > 2
	}
	if strings.Contains(htmlBlocks, " "+name[:n]+" ") {
		return "", true
	}
	switch name[:n] {
	case "pre", "script", "style", "textarea":
		return "", false // only as begun above
	}
	// Any other tag begins a block only if it stands alone on its line.
	line := strings.TrimRight(text, " \t\r")
	alone := strings.HasSuffix(line, ">") && strings.Count(line, "<") == 1 && strings.IndexByte(line, ':') < 0
	return "", !inParagraph && alone
}

func tagEnds(lower string, n int, sign byte) bool {
	if sign == '!' || sign == '?' || n >= len(lower) {
		return true
	}
	return isBlank(lower[n]) || lower[n] == '>'
}

const htmlBlocks = " address article aside base basefont blockquote body caption center col colgroup dd details dialog dir div dl dt " +
	"fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hr html iframe legend li link main menu " +
	"menuitem nav noframes ol optgroup option p param search section summary table tbody td tfoot th thead title tr track ul "
