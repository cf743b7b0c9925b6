package extract

import (
	"bytes"
	"context"
	"strconv"
	"strings"
	unicodes "unicode"
	"unicode/utf16"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/encoding/unicode"
)

const (
	rtfGroupsMax = 1000 // open groups
	rtfFontsMax  = 10_000
	rtfRowsMax   = 10_000 // of a table; longer ones are cut into several
)

// readRTF reads Rich Text Format: code pages by font, \u with its fallback,
// tables, and the fields' results. Destinations that hold no text are left
// out.
func readRTF(ctx context.Context, src Source, _ fileType) (*Document, error) {
	at := bytes.Index(head(src.Data, 1024), []byte("{\\rtf"))
	if at < 0 {
		return nil, wrongType(src.Path, detectType(src.Data))
	}
	r := rtfReader{ctx: ctx, in: src.Data[at:], w: &mdWriter{}, charsets: map[int]int{}, meta: map[string]string{}, codePage: 1252}
	if err := r.run(); err != nil {
		return nil, err
	}
	doc := &Document{MediaType: "application/rtf", Title: r.meta["title"], Meta: r.meta}
	delete(r.meta, "title")
	var err error
	if doc.Text, err = r.w.finish(src.Path); err != nil {
		return nil, err
	}
	if doc.Title == "" {
		doc.Title = markdownTitle(doc.Text.Body)
	}
	fillQuality(doc, doc.Text.Body)
	return doc, nil
}

// rtfGroup is the state that a group restores at its end.
type rtfGroup struct {
	dest    rtfDest
	font    int
	skip    int // characters that stand for a \u in older programs
	star    bool
	inTable bool
	outline int // level + 1
	list    bool
	hidden  bool
}

type rtfDest uint8

const (
	rtfText rtfDest = iota
	rtfSkip
	rtfFontTable
	rtfLabel // the number or dot of a list item
	rtfInfo  // title, author … in meta under rtfReader.field
)

type rtfReader struct {
	ctx      context.Context
	in       []byte
	pos      int
	w        *mdWriter
	group    rtfGroup
	stack    []rtfGroup
	codePage int
	charsets map[int]int // font → code page
	fontNow  int         // being defined
	field    string
	meta     map[string]string

	pending []byte // bytes of the code page not yet converted
	page    int    // their code page
	high    rune   // a first half of a surrogate pair
	skipped int    // characters still to be left out after \u
	text    strings.Builder
	label   string
	info    strings.Builder
	rows    [][]string
	row     []string
}

func (r *rtfReader) run() error {
	r.group.skip = 1
	for n := 0; r.pos < len(r.in); n++ {
		if n&0xffff == 0 && r.ctx.Err() != nil {
			return r.ctx.Err()
		}
		if r.w.full {
			break
		}
		switch c := r.in[r.pos]; c {
		case '{':
			r.pos++
			r.open()
		case '}':
			r.pos++
			if r.close() {
				r.pos = len(r.in)
			}
		case '\\':
			r.control()
		case '\r', '\n':
			r.pos++
		default:
			r.pos++
			r.char(c)
		}
	}
	r.endParagraph()
	r.endTable()
	return nil
}

func (r *rtfReader) open() {
	r.flush()
	r.skipped = 0
	if len(r.stack) < rtfGroupsMax {
		r.stack = append(r.stack, r.group)
	} else {
		r.stack = append(r.stack[:rtfGroupsMax-1], r.group) // too deep: the text goes on, its styles may not
	}
	r.group.star = false
}

// close ends a group; done at the end of the document's own.
func (r *rtfReader) close() (done bool) {
	r.flush()
	r.skipped = 0
	n := len(r.stack)
	if n == 0 {
		return true
	}
	if r.group.dest == rtfInfo && r.stack[n-1].dest != rtfInfo {
		if s := oneLine(clip(r.info.String(), metaFieldMax)); s != "" && r.field != "" {
			r.meta[r.field] = s
		}
		r.info.Reset()
		r.field = ""
	}
	r.group = r.stack[n-1]
	r.stack = r.stack[:n-1]
	return n == 1
}

// control reads a control word or symbol.
func (r *rtfReader) control() {
	r.pos++
	if r.pos >= len(r.in) {
		return
	}
	c := r.in[r.pos]
	if !isLetter(c) {
		r.pos++
		r.symbol(c)
		return
	}
	start := r.pos
	for r.pos < len(r.in) && isLetter(r.in[r.pos]) && r.pos-start < 32 {
		r.pos++
	}
	word := string(r.in[start:r.pos])
	num := r.pos
	if r.pos < len(r.in) && r.in[r.pos] == '-' {
		r.pos++
	}
	for r.pos < len(r.in) && r.in[r.pos] >= '0' && r.in[r.pos] <= '9' && r.pos-num < 12 {
		r.pos++
	}
	arg, err := strconv.Atoi(string(r.in[num:r.pos]))
	if r.pos < len(r.in) && r.in[r.pos] == ' ' {
		r.pos++
	}
	if word == "bin" {
		r.pos = min(r.pos+max(arg, 0), len(r.in))
		return
	}
	if word != "u" {
		r.flush()
	}
	r.word(word, arg, err == nil)
}

func (r *rtfReader) symbol(c byte) {
	switch c {
	case '\'':
		if r.pos+2 <= len(r.in) {
			if v, err := strconv.ParseUint(string(r.in[r.pos:r.pos+2]), 16, 8); err == nil {
				r.pos += 2
				r.char(byte(v))
			}
		}
	case '*':
		r.group.star = true
	case '~':
		r.put(" ")
	case '_':
		r.put("-")
	case '\\', '{', '}':
		r.char(c)
	case '\n', '\r':
		r.flush()
		r.endParagraph()
	}
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// char takes a byte of text in the font's code page.
func (r *rtfReader) char(c byte) {
	if r.skipped > 0 {
		r.skipped--
		return
	}
	switch r.group.dest {
	case rtfSkip, rtfFontTable:
		return
	}
	page := r.codePage
	if p, ok := r.charsets[r.group.font]; ok && p != 0 {
		page = p
	}
	if page != r.page {
		r.flush()
		r.page = page
	}
	r.pending = append(r.pending, c)
}

func (r *rtfReader) flush() {
	if len(r.pending) == 0 {
		return
	}
	enc := rtfEncoding(r.page)
	s := string(r.pending)
	if enc != nil {
		if out, err := enc.NewDecoder().Bytes(r.pending); err == nil {
			s = string(out)
		}
	}
	r.pending = r.pending[:0]
	r.put(s)
}

// put writes text where the group's destination says.
func (r *rtfReader) put(s string) {
	switch {
	case r.group.dest == rtfInfo:
		if r.info.Len() < metaFieldMax {
			r.info.WriteString(s)
		}
	case r.group.dest == rtfLabel:
		r.label = clip(r.label+s, 100)
	case r.group.dest == rtfText && !r.group.hidden && r.text.Len() < outputMax:
		r.text.WriteString(s)
	}
}

func (r *rtfReader) unicode(n int) {
	r.flush()
	c := rune(uint16(n))
	if n > 0xFFFF {
		c = rune(n)
	}
	switch {
	case utf16.IsSurrogate(c) && r.high == 0:
		r.high = c
	case r.high != 0:
		r.put(string(utf16.DecodeRune(r.high, c)))
		r.high = 0
	default:
		r.put(string(c))
	}
	r.skipped = r.group.skip
}

func (r *rtfReader) endParagraph() {
	r.flush()
	s := r.text.String()
	r.text.Reset()
	switch {
	case r.group.inTable:
		if strings.TrimSpace(s) != "" {
			r.text.WriteString(s + "\n") // of the cell; it ends at \cell
		}
		return
	case len(r.rows) > 0 && strings.TrimSpace(s) != "":
		r.endTable()
	}
	switch {
	case r.group.outline > 0:
		r.w.heading(r.group.outline, s)
	case r.group.list || r.label != "":
		label := strings.TrimSpace(r.label)
		if strings.IndexFunc(label, func(c rune) bool { return unicodes.IsLetter(c) && c < 0xE000 || unicodes.IsDigit(c) }) < 0 || label == "o" {
			label = "-"
		}
		r.w.item(0, label, s)
	default:
		r.w.paragraph(s)
	}
	r.label = ""
}

func (r *rtfReader) endCell() {
	r.flush()
	if len(r.row) < tableColumnsMax {
		r.row = append(r.row, strings.TrimSpace(r.text.String()))
	}
	r.text.Reset()
}

func (r *rtfReader) endRow() {
	if len(r.row) > 0 {
		r.rows = append(r.rows, r.row)
	}
	r.row = nil
	if len(r.rows) >= rtfRowsMax {
		r.endTable()
	}
}

func (r *rtfReader) endTable() {
	rows := r.rows
	if len(r.row) > 0 {
		rows = append(rows, r.row)
	}
	r.rows, r.row = nil, nil
	r.w.table(rows)
}

// rtfEncoding finds the encoding of a Windows code page.
func rtfEncoding(page int) encoding.Encoding {
	switch page {
	case 932:
		return japanese.ShiftJIS
	case 936:
		return simplifiedchinese.GBK
	case 949, 1361:
		return korean.EUCKR
	case 950:
		return traditionalchinese.Big5
	case 65001:
		return unicode.UTF8
	case 437:
		return charmap.CodePage437
	case 850:
		return charmap.CodePage850
	case 852:
		return charmap.CodePage852
	case 866:
		return charmap.CodePage866
	case 874:
		return charmap.Windows874
	case 1250:
		return charmap.Windows1250
	case 1251:
		return charmap.Windows1251
	case 1253:
		return charmap.Windows1253
	case 1254:
		return charmap.Windows1254
	case 1255:
		return charmap.Windows1255
	case 1256:
		return charmap.Windows1256
	case 1257:
		return charmap.Windows1257
	case 1258:
		return charmap.Windows1258
	case 10000:
		return charmap.Macintosh
	}
	return charmap.Windows1252
}
