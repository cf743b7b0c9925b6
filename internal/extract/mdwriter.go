package extract

import (
	"strings"
	"unicode/utf8"

	"ragd/internal/chunk"
)

const (
	tableColumnsMax = 512
	cellMax         = 32 << 10 // bytes
)

// mdWriter builds a Markdown body block by block, with sections where the
// format has pages, slides or sheets. When the text gets too large, full says
// so and the rest is left out; the caller then refuses the file.
type mdWriter struct {
	b        strings.Builder
	sections []chunk.Section
	full     bool
	deep     bool // something was left out for being nested too deep
	list     bool // the last block is a list item
}

// block begins a block: one blank line after what stands before.
func (w *mdWriter) block() {
	w.list = false
	if w.b.Len() > 0 && !strings.HasSuffix(w.b.String(), "\n\n") {
		w.b.WriteByte('\n')
	}
}

func (w *mdWriter) line(s string) {
	if w.full = w.full || w.b.Len()+len(s) > outputMax; w.full {
		return
	}
	w.b.WriteString(s)
	w.b.WriteByte('\n')
}

// paragraph writes text; line ends in it stay.
func (w *mdWriter) paragraph(s string) {
	if s = cleanBlock(s); s == "" {
		return
	}
	w.block()
	w.line(escapeBlock(s))
}

// heading writes a heading of level 1 to 6.
func (w *mdWriter) heading(level int, s string) {
	if s = oneLine(s); s == "" {
		return
	}
	w.block()
	w.line(strings.Repeat("#", min(max(level, 1), 6)) + " " + s)
}

// item writes a list item; depth counts from 0.
func (w *mdWriter) item(depth int, mark, s string) {
	if s = cleanBlock(s); s == "" {
		return
	}
	if !w.list {
		w.block()
	}
	w.list = true
	indent := strings.Repeat("  ", min(depth, 8))
	w.line(indent + mark + " " + strings.ReplaceAll(s, "\n", "\n"+indent+"  "))
}

// code writes a fenced block.
func (w *mdWriter) code(language, s string) {
	s = strings.TrimRight(cleanText(s), "\n")
	if strings.TrimSpace(s) == "" {
		return
	}
	fence := "```"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	w.block()
	w.line(fence + language)
	w.line(s)
	w.line(fence)
}

// table writes rows; the first is the header. Empty rows and trailing empty
// cells are left out. A table of one column is written as paragraphs.
func (w *mdWriter) table(rows [][]string) {
	columns := 0
	kept := rows[:0:0]
	for _, row := range rows {
		row = row[:min(len(row), tableColumnsMax)]
		n := len(row)
		for n > 0 && strings.TrimSpace(row[n-1]) == "" {
			n--
		}
		if n > 0 {
			kept = append(kept, row[:n])
			columns = max(columns, n)
		}
	}
	switch {
	case len(kept) == 0:
		return
	case columns == 1:
		for _, row := range kept {
			w.paragraph(row[0])
		}
		return
	}
	w.block()
	for i, row := range kept {
		w.row(row, columns, i == 0)
		if w.full {
			return
		}
	}
}

// row writes one row of a table with so many columns; after a header comes
// the rule.
func (w *mdWriter) row(row []string, columns int, header bool) {
	var b strings.Builder
	for i := range columns {
		cell := ""
		if i < len(row) {
			cell = strings.ReplaceAll(oneLine(row[i]), "|", "\\|")
		}
		if i >= len(row) && !header {
			break
		}
		b.WriteString("| " + cell + " ")
	}
	w.line(b.String() + "|")
	if header {
		w.line(strings.Repeat("| --- ", columns) + "|")
	}
}

// section begins a page, slide or sheet.
func (w *mdWriter) section(page int, headings ...string) {
	w.closeSection()
	w.list = false
	if w.b.Len() > 0 {
		w.b.WriteByte('\n')
	}
	w.sections = append(w.sections, chunk.Section{Start: w.b.Len(), Page: page, Headings: headings})
}

func (w *mdWriter) closeSection() {
	n := len(w.sections)
	if n == 0 {
		return
	}
	if w.sections[n-1].Start == w.b.Len() {
		w.sections = w.sections[:n-1]
		return
	}
	w.sections[n-1].End = w.b.Len()
}

// finish gives the text; an error when it had to be cut.
func (w *mdWriter) finish(path string) (chunk.Text, error) {
	w.closeSection()
	if w.full {
		return chunk.Text{}, tooMuchText(path)
	}
	return chunk.Text{Body: w.b.String(), Format: chunk.FormatMarkdown, Sections: w.sections}, nil
}

// cleanText makes text from a foreign document valid for a body.
func cleanText(s string) string {
	clean := utf8.ValidString(s)
	for i := 0; clean && i < len(s); i++ {
		switch byteClass[s[i]] {
		case controlByte:
			clean = false
		case highByte:
			clean = !(s[i] == 0xC2 && i+1 < len(s) && s[i+1] < 0xA0)
		}
	}
	if clean {
		return s
	}
	return normalise(decoded{text: []byte(s)}).body
}

// cleanBlock trims a block and the ends of its lines, and leaves no blank
// line in it.
func cleanBlock(s string) string {
	s = strings.TrimSpace(cleanText(s))
	if !strings.Contains(s, "\n") {
		return s
	}
	lines := strings.Split(s, "\n")
	kept := lines[:0]
	for _, l := range lines {
		if l = strings.TrimSpace(l); l != "" {
			kept = append(kept, l)
		}
	}
	return strings.Join(kept, "\n")
}

func oneLine(s string) string {
	return strings.Join(strings.Fields(clip(cleanText(s), cellMax)), " ")
}

// escapeBlock keeps text from being taken for a heading, a fence or a rule.
func escapeBlock(s string) string {
	if !strings.ContainsAny(s, "#`~=-") {
		return s
	}
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		if atxTitle(l) != "" || fenceOf(l) != "" || i > 0 && isUnderline(l) || l == "---" {
			lines[i] = "\\" + l
		}
	}
	return strings.Join(lines, "\n")
}
