package chunk

import (
	"strings"
	"unicode/utf8"
)

// placer finds lines and places in the file for chunks that come in order.
type placer struct {
	t         Text
	at        int
	line      int // 0-based line of the body that at lies on
	lineStart int // byte at which it begins
	lineChars int // code points before it
}

func newPlacer(t Text) *placer { return &placer{t: t} }

// place fills in what of c refers to the file.
func (p *placer) place(c *Chunk) {
	first := max(p.t.Source.FirstLine, 1)
	p.moveTo(c.Start, c.CharStart)
	c.FirstLine = first + p.line
	c.SourceStart, c.SourceCharS = p.source(c.Start, c.CharStart)
	p.moveTo(c.End, c.CharEnd)
	c.LastLine = first + p.line
	c.SourceEnd, c.SourceCharEnd = p.source(c.End, c.CharEnd)
}

// moveTo goes to a place in the body, given as byte and code point. Going
// back is for overlaps, and short; a long line is never looked through twice.
func (p *placer) moveTo(at, chars int) {
	from, to, sign := p.at, at, 1
	if at < p.at {
		from, to, sign = at, p.at, -1
	}
	p.at = at
	lines := strings.Count(p.t.Body[from:to], "\n")
	if lines == 0 {
		return
	}
	p.line += sign * lines
	p.lineStart = strings.LastIndexByte(p.t.Body[:at], '\n') + 1
	p.lineChars = chars - utf8.RuneCountInString(p.t.Body[p.lineStart:at])
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
		char = m[p.line] + int64(chars-p.lineChars)
		if p.line+1 < len(m) {
			char = min(char, m[p.line+1])
		}
	}
	return offset, char
}
