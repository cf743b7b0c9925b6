package chunk

import (
	"strings"
	"unicode/utf8"
)

// placer finds lines and places in the file for chunks that come in order.
type placer struct {
	t         Text
	line      int // 0-based line of the body that at lies on
	lineStart int
	at        int
}

func newPlacer(t Text) *placer { return &placer{t: t} }

// place fills in what of c refers to the file.
func (p *placer) place(c *Chunk) {
	first := max(p.t.Source.FirstLine, 1)
	p.moveTo(c.Start)
	c.FirstLine = first + p.line
	c.SourceStart, c.SourceCharS = p.source(c.Start, c.CharStart)
	p.moveTo(c.End)
	c.LastLine = first + p.line
	c.SourceEnd, c.SourceCharEnd = p.source(c.End, c.CharEnd)
}

// moveTo goes to a place in the body; going back is for overlaps, and short.
func (p *placer) moveTo(at int) {
	if at >= p.at {
		between := p.t.Body[p.at:at]
		if n := strings.Count(between, "\n"); n > 0 {
			p.line += n
			p.lineStart = p.at + strings.LastIndexByte(between, '\n') + 1
		}
	} else {
		p.line -= strings.Count(p.t.Body[at:p.at], "\n")
		p.lineStart = strings.LastIndexByte(p.t.Body[:at], '\n') + 1
	}
	p.at = at
}

// source returns the byte and the code point of the file for a place on the
// current line. A line of the file may be longer than that of the body (CR,
// another encoding) but a place never leaves its line.
func (p *placer) source(at, chars int) (int64, int64) {
	offset, char := int64(at), int64(chars)
	if m := p.t.Source.Bytes; p.line < len(m) {
		offset = m[p.line] + int64(at-p.lineStart)
		if p.line+1 < len(m) {
			offset = min(offset, m[p.line+1])
		}
	}
	if m := p.t.Source.Chars; p.line < len(m) {
		char = m[p.line] + int64(utf8.RuneCountInString(p.t.Body[p.lineStart:at]))
		if p.line+1 < len(m) {
			char = min(char, m[p.line+1])
		}
	}
	return offset, char
}
