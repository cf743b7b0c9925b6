package extract

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"ragd/internal/chunk"
)

// normalised is a file's text in the form that chunk.Text promises, and what
// had to be replaced to get there.
type normalised struct {
	body   string
	source chunk.SourceMap
	chars  int // code points in body
	bad    int // control characters blanked, and U+FFFD
}

// Classes of bytes for the scan below.
const (
	plainByte   = iota // printable ASCII, tab
	newlineByte        // "\n"
	controlByte        // other C0 and DEL, "\r" included
	highByte           // begins or continues a multi-byte character
)

var byteClass = func() (t [256]uint8) {
	for i := range t {
		switch {
		case i == '\n':
			t[i] = newlineByte
		case i == '\t':
			t[i] = plainByte
		case i < 0x20 || i == 0x7f:
			t[i] = controlByte
		case i >= 0x80:
			t[i] = highByte
		}
	}
	return t
}()

// normalise makes LF lines of valid UTF-8 out of decoded text.
//
// Control characters are blanked, not dropped: each C0 character (and DEL)
// becomes a space and each C1 character a no-break space, which have the same
// length, so offsets inside a line stay true, a terminal escape is harmless,
// and words on both sides stay apart. An invalid byte becomes U+FFFD. "\r\n"
// is a line end; a lone "\r" is one only in a file without any "\n", because
// editors and grep count lines that way.
//
// Clean text costs three linear scans and one copy.
func normalise(d decoded) normalised {
	text := d.text
	if isClean(text) {
		n := normalised{body: string(text), chars: utf8.RuneCount(text)}
		n.bad = strings.Count(n.body, "\uFFFD")
		if d.raw != nil || d.skip != 0 {
			n.source.Bytes = d.lineBytes(n.body)
		}
		return n
	}
	return normaliseSlow(d)
}

// isClean reports whether text can be taken as it is.
func isClean(text []byte) bool {
	for i, b := range text {
		switch byteClass[b] {
		case controlByte:
			return false
		case highByte:
			if b == 0xC2 && i+1 < len(text) && text[i+1] < 0xA0 {
				return false
			}
		}
	}
	return utf8.Valid(text)
}

func normaliseSlow(d decoded) normalised {
	text := d.text
	lines := bytes.Count(text, []byte("\n")) + 1
	w := lineWriter{out: make([]byte, 0, len(text)+len(text)/16), lineBytes: make([]int64, 0, lines), lineChars: make([]int64, 0, lines)}
	w.startLine(0)
	crEndsLine := bytes.IndexByte(text, '\n') < 0
	for i := 0; i < len(text); {
		j := i
		for j < len(text) && byteClass[text[j]] == plainByte {
			j++
		}
		w.run(text[i:j])
		if i = j; i == len(text) {
			break
		}
		i += w.special(text, i, crEndsLine)
	}
	n := normalised{body: string(w.out), chars: w.chars, bad: w.bad}
	n.source.Chars = w.lineChars
	if d.raw == nil {
		for k := range w.lineBytes {
			w.lineBytes[k] += int64(d.skip)
		}
		n.source.Bytes = w.lineBytes
	} else {
		n.source.Bytes = d.lineBytes(n.body)
	}
	return n
}

// lineWriter collects normalised text and where each of its lines began.
type lineWriter struct {
	out       []byte
	chars     int   // code points written
	seen      int64 // code points read, the file's own count
	bad       int
	lineBytes []int64
	lineChars []int64
}

func (w *lineWriter) startLine(at int) {
	w.lineBytes = append(w.lineBytes, int64(at))
	w.lineChars = append(w.lineChars, w.seen)
}

func (w *lineWriter) run(b []byte) {
	w.out = append(w.out, b...)
	w.chars += len(b)
	w.seen += int64(len(b))
}

func (w *lineWriter) newline(next int) {
	w.out = append(w.out, '\n')
	w.chars++
	w.startLine(next)
}

// special handles the character at text[i] that is not plain ASCII and
// returns its length in bytes.
func (w *lineWriter) special(text []byte, i int, crEndsLine bool) int {
	b := text[i]
	if byteClass[b] == highByte {
		return w.high(text[i:])
	}
	w.seen++
	switch {
	case b == '\n':
		w.newline(i + 1)
		return 1
	case b == '\r' && i+1 < len(text) && text[i+1] == '\n':
		w.seen++
		w.newline(i + 2)
		return 2
	case b == '\r' && crEndsLine:
		w.newline(i + 1)
		return 1
	}
	if b != '\r' && b != '\f' && b != '\v' {
		w.bad++
	}
	w.out = append(w.out, ' ')
	w.chars++
	return 1
}

func (w *lineWriter) high(text []byte) int {
	r, size := utf8.DecodeRune(text)
	switch {
	case r == utf8.RuneError: // invalid, or a U+FFFD that the file or the decoder put there
		w.bad++
	case r < 0xA0: // C1
		w.bad++
		r = 0xA0
	}
	w.out = utf8.AppendRune(w.out, r)
	w.chars++
	w.seen++
	return size
}

// quality starts a document's quality note.
func (n normalised) quality(d decoded) Quality {
	q := Quality{Chars: n.chars}
	if n.chars > 0 {
		q.BadShare = float64(n.bad) / float64(n.chars)
	}
	if d.charset != "" && d.charset != charsetUTF8 {
		q.Charset, q.CharsetSure = d.charset, d.sure
		if !d.sure {
			q.Note = "The character set is a guess: " + d.charset + "."
		}
	}
	return q
}

// after cuts the first bytes of the body off, up to a line's beginning, and
// makes the source map tell where the rest stands in the file.
func (n normalised) after(cut int) (string, chunk.SourceMap) {
	head, rest := n.body[:cut], n.body[cut:]
	skipped := strings.Count(head, "\n")
	m := chunk.SourceMap{FirstLine: skipped + 1}
	if n.source.Bytes != nil {
		m.Bytes = n.source.Bytes[skipped:]
	}
	if n.source.Chars != nil {
		m.Chars = n.source.Chars[skipped:]
	}
	if m.Bytes != nil && m.Chars != nil {
		return rest, m
	}
	lines := strings.Count(rest, "\n") + 1
	bytesAt, charsAt := make([]int64, 0, lines), make([]int64, 0, lines)
	b, c := int64(cut), int64(utf8.RuneCountInString(head))
	for s := rest; ; {
		bytesAt, charsAt = append(bytesAt, b), append(charsAt, c)
		end := strings.IndexByte(s, '\n')
		if end < 0 {
			break
		}
		b += int64(end + 1)
		c += int64(utf8.RuneCountInString(s[:end+1]))
		s = s[end+1:]
	}
	if m.Bytes == nil {
		m.Bytes = bytesAt
	}
	if m.Chars == nil {
		m.Chars = charsAt
	}
	return rest, m
}
