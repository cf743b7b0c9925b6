package extract

import (
	"regexp"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
)

const (
	pdfLinesMax       = 20_000 // lines of a page whose place is looked up
	pdfAnnotationsMax = 1000   // of a page
	pdfParagraphGap   = 1.6    // line distance, in units of the page's usual one, that begins a paragraph
)

// pdfPage is one page's text in reading order.
type pdfPage struct {
	lines  []pdfLine
	extra  []string // form values and annotations
	ocr    bool
	failed bool // the engine could not read it
}

// pdfLine is a line with its place; size is 0 when that is not known.
type pdfLine struct {
	text string
	size float64 // of the font at its beginning, in points
	y    float64 // of the baseline there
	x    float64
	gap  bool // a paragraph begins here
	drop bool // running header or footer
}

func (p *pdfPage) size() int {
	n := 0
	for _, l := range p.lines {
		n += len(l.text) + 1
	}
	return n
}

// measure counts the characters that are no space, and those of them that
// mean nothing: control, private-use and replacement characters.
func (p *pdfPage) measure() (chars, noise int) {
	for _, l := range p.lines {
		for _, r := range l.text {
			if unicode.IsSpace(r) {
				continue
			}
			chars++
			if r == utf8.RuneError || unicode.Is(unicode.Co, r) || unicode.IsControl(r) || unicode.Is(unicode.Cn, r) {
				noise++
			}
		}
	}
	return chars, noise
}

// page reads a page. A page that fails is empty; it does not cost the others.
func (p *pdfReader) page(index int) (out pdfPage) {
	loaded, err := p.engine.FPDF_LoadPage(&requests.FPDF_LoadPage{Document: p.doc, Index: index})
	if err != nil {
		return pdfPage{failed: true}
	}
	page := requests.Page{ByReference: &loaded.Page}
	defer p.engine.FPDF_ClosePage(&requests.FPDF_ClosePage{Page: loaded.Page})
	text, err := p.engine.FPDFText_LoadPage(&requests.FPDFText_LoadPage{Page: page})
	if out.failed = err != nil; err == nil {
		out.lines = p.textLines(text.TextPage)
		_, _ = p.engine.FPDFText_ClosePage(&requests.FPDFText_ClosePage{TextPage: text.TextPage})
	}
	out.extra = p.annotations(page)
	return out
}

func (p *pdfReader) textLines(text references.FPDF_TEXTPAGE) []pdfLine {
	count, err := p.engine.FPDFText_CountChars(&requests.FPDFText_CountChars{TextPage: text})
	if err != nil || count.Count <= 0 {
		return nil
	}
	got, err := p.engine.FPDFText_GetText(&requests.FPDFText_GetText{TextPage: text, Count: min(count.Count, pdfPageCharsMax)})
	if err != nil {
		return nil
	}
	return p.placeLines(text, got.Text, count.Count)
}

// placeLines splits a page's text into lines and asks for the size and place
// of each line's first character. Positions in the text are those of the
// engine as long as it left nothing out; that is checked for each line.
func (p *pdfReader) placeLines(text references.FPDF_TEXTPAGE, s string, count int) []pdfLine {
	var lines []pdfLine
	at := 0 // index of the character, in the engine's count
	for len(s) > 0 {
		raw, rest, _ := strings.Cut(s, "\n")
		width := utf8.RuneCountInString(raw) + 1
		line := pdfLine{text: strings.TrimRight(raw, "\r")}
		if lead := len(line.text) - len(strings.TrimLeft(line.text, " \t")); lead < len(line.text) && at+lead < count && len(lines) < pdfLinesMax {
			first, _ := utf8.DecodeRuneInString(line.text[lead:])
			p.place(text, at+lead, first, &line)
		}
		lines = append(lines, line)
		at += width
		s = rest
	}
	return joinHyphens(markParagraphs(orderLines(lines)))
}

func (p *pdfReader) place(text references.FPDF_TEXTPAGE, index int, first rune, line *pdfLine) {
	r, err := p.engine.FPDFText_GetUnicode(&requests.FPDFText_GetUnicode{TextPage: text, Index: index})
	if err != nil || rune(r.Unicode) != first {
		return
	}
	origin, err := p.engine.FPDFText_GetCharOrigin(&requests.FPDFText_GetCharOrigin{TextPage: text, Index: index})
	if err != nil {
		return
	}
	size, err := p.engine.FPDFText_GetFontSize(&requests.FPDFText_GetFontSize{TextPage: text, Index: index})
	if err != nil {
		return
	}
	line.x, line.y, line.size = origin.X, origin.Y, size.FontSize
	if line.size <= 1.5 { // the size is in the text matrix; the box tells it
		box, err := p.engine.FPDFText_GetLooseCharBox(&requests.FPDFText_GetLooseCharBox{TextPage: text, Index: index})
		if err == nil {
			line.size = max(float64(box.Rect.Top-box.Rect.Bottom), 0)
		}
	}
}

// markParagraphs sets gap where the distance to the line before is larger
// than usual, goes upwards (a new column or box), or the font changes.
func markParagraphs(lines []pdfLine) []pdfLine {
	var steps []float64
	for i := 1; i < len(lines); i++ {
		if d := lines[i-1].y - lines[i].y; lines[i].size > 0 && lines[i-1].size > 0 && d > 1 {
			steps = append(steps, d)
		}
	}
	usual := median(steps)
	for i := 1; i < len(lines); i++ {
		if lines[i].size == 0 || lines[i-1].size == 0 {
			continue
		}
		d := lines[i-1].y - lines[i].y
		lines[i].gap = usual > 0 && (d > pdfParagraphGap*usual || d < -usual) || sizeDiffers(lines[i-1].size, lines[i].size)
	}
	return lines
}

func sizeDiffers(a, b float64) bool { return a > b*1.15 || b > a*1.15 }

func median(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	sort.Float64s(v)
	return v[len(v)/2]
}

// joinHyphens rejoins words that were cut at a line's end. The engine marks
// such hyphens as U+0002, or as U+FFFE.
func joinHyphens(lines []pdfLine) []pdfLine {
	out := lines[:0]
	for _, l := range lines {
		if n := len(out); n > 0 {
			if last := out[n-1].text; strings.HasSuffix(last, "\x02") || strings.HasSuffix(last, "\ufffe") {
				_, size := utf8.DecodeLastRuneInString(last)
				word, rest, _ := strings.Cut(strings.TrimLeft(l.text, " "), " ")
				out[n-1].text = last[:len(last)-size] + word
				if rest == "" {
					continue
				}
				l.text = rest
			}
		}
		out = append(out, l)
	}
	for i := range out {
		out[i].text = cleanLine(innerHyphens.Replace(out[i].text))
		if strings.Contains(out[i].text, ". .") || strings.Contains(out[i].text, "....") {
			out[i].text = leaders.ReplaceAllString(out[i].text, " … ")
		}
	}
	return out
}

// innerHyphens are line-end hyphens whose line end the engine left out.
var innerHyphens = strings.NewReplacer("\x02\r", "", "\x02", "", "\ufffe", "")

// leaders are the dots between an entry of a table of contents and its page.
var leaders = regexp.MustCompile(`\s*(?:\.\s?){5,}\s*`)

// cleanLine makes a line valid for a body: no control characters, no trailing
// space.
func cleanLine(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' '
		case r == 2 || r == 0xFFFE:
			return '-'
		case r < 0x20 || (r >= 0x7f && r < 0xa0):
			return '\uFFFD'
		case r == 0xFFFF || r == 0xAD:
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	return strings.TrimRight(s, " ")
}

// annotations returns what people wrote on the page and into its form.
func (p *pdfReader) annotations(page requests.Page) []string {
	count, err := p.engine.FPDFPage_GetAnnotCount(&requests.FPDFPage_GetAnnotCount{Page: page})
	if err != nil || count.Count == 0 {
		return nil
	}
	var out []string
	seen := map[string]bool{}
	add := func(name, value string) {
		value = strings.Join(strings.Fields(cleanLine(clip(value, 8<<10))), " ")
		if value == "" || value == "Off" {
			return
		}
		if name = strings.Join(strings.Fields(cleanLine(clip(name, 200))), " "); name != "" {
			value = name + ": " + value
		}
		if !seen[value] {
			seen[value] = true
			out = append(out, value)
		}
	}
	for i := range min(count.Count, pdfAnnotationsMax) {
		got, err := p.engine.FPDFPage_GetAnnot(&requests.FPDFPage_GetAnnot{Page: page, Index: i})
		if err != nil {
			continue
		}
		text := func(key string) string {
			v, err := p.engine.FPDFAnnot_GetStringValue(&requests.FPDFAnnot_GetStringValue{Annotation: got.Annotation, Key: key})
			if err != nil {
				return ""
			}
			return v.Value
		}
		add("", text("Contents"))
		if value := text("V"); value != "" {
			name := text("TU")
			if name == "" {
				name = text("T")
			}
			add(name, value)
		}
		_, _ = p.engine.FPDFPage_CloseAnnot(&requests.FPDFPage_CloseAnnot{Annotation: got.Annotation})
	}
	return out
}
