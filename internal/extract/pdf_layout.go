package extract

import (
	"slices"
	"strings"
	"unicode"

	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"

	"ragd/internal/chunk"
)

const (
	bookmarksMax   = 5000 // of a document
	bookmarksDepth = 8
	headingRatio   = 1.25 // font size of a heading, in units of the body's
	headingMax     = 160  // characters
)

// pdfBookmark is an entry of the outline: a heading that begins on a page.
type pdfBookmark struct {
	title string
	level int
	used  bool
}

// outline returns the bookmarks by page. A loop among them ends at the limits.
func (p *pdfReader) outline(pages int) map[int][]pdfBookmark {
	out := map[int][]pdfBookmark{}
	left := bookmarksMax
	var walk func(b references.FPDF_BOOKMARK, level int)
	walk = func(parent references.FPDF_BOOKMARK, level int) {
		var from *references.FPDF_BOOKMARK
		if level > 0 {
			from = &parent
		}
		child, err := p.engine.FPDFBookmark_GetFirstChild(&requests.FPDFBookmark_GetFirstChild{Document: p.doc, Bookmark: from})
		if err != nil || child.Bookmark == nil {
			return
		}
		for b := child.Bookmark; b != nil && left > 0; left-- {
			p.bookmark(*b, level, pages, out)
			if level+1 < bookmarksDepth {
				walk(*b, level+1)
			}
			next, err := p.engine.FPDFBookmark_GetNextSibling(&requests.FPDFBookmark_GetNextSibling{Document: p.doc, Bookmark: *b})
			if err != nil {
				return
			}
			b = next.Bookmark
		}
	}
	walk("", 0)
	return out
}

func (p *pdfReader) bookmark(b references.FPDF_BOOKMARK, level, pages int, out map[int][]pdfBookmark) {
	title, err := p.engine.FPDFBookmark_GetTitle(&requests.FPDFBookmark_GetTitle{Bookmark: b})
	if err != nil {
		return
	}
	dest, err := p.engine.FPDFBookmark_GetDest(&requests.FPDFBookmark_GetDest{Document: p.doc, Bookmark: b})
	if err != nil || dest.Dest == nil {
		return
	}
	at, err := p.engine.FPDFDest_GetDestPageIndex(&requests.FPDFDest_GetDestPageIndex{Document: p.doc, Dest: *dest.Dest})
	if err != nil || at.Index < 0 || at.Index >= pages {
		return
	}
	if t := strings.Join(strings.Fields(cleanLine(clip(title.Title, titleMax))), " "); t != "" {
		out[at.Index] = append(out[at.Index], pdfBookmark{title: t, level: level})
	}
}

// pdfText is a document's body with a section for each page and heading.
type pdfText struct {
	text     strings.Builder
	sections []chunk.Section
	path     []string // headings in force
	page     int
}

// pdfBody lays the pages out one after the other. Headings come from the
// outline where there is one, else from the sizes of fonts.
func pdfBody(pages []pdfPage, outline map[int][]pdfBookmark) *pdfText {
	b := &pdfText{}
	sizes := headingSizes(pages)
	for i := range pages {
		b.page = i + 1
		marks := outline[i]
		b.unseenBookmarks(pages[i], marks)
		b.section()
		blank := false
		for k, l := range pages[i].lines {
			if l.drop {
				continue
			}
			if strings.TrimSpace(l.text) == "" {
				blank = true
				continue
			}
			switch {
			case len(outline) > 0:
				b.matchBookmark(l.text, marks)
			default:
				if level := sizes.level(l); level >= 0 {
					b.heading(l.text, level, k > 0 && sizes.level(pages[i].lines[k-1]) == level)
				}
			}
			if (l.gap || blank) && b.text.Len() > 0 && !strings.HasSuffix(b.text.String()[max(0, b.text.Len()-2):], "\n\n") {
				b.text.WriteByte('\n')
			}
			blank = false
			b.text.WriteString(l.text)
			b.text.WriteByte('\n')
		}
		for m := range marks { // the others that are not in the text hold from the page's end
			if !marks[m].used {
				b.setPath(marks[m].title, marks[m].level)
			}
		}
		for _, e := range pages[i].extra {
			b.text.WriteString("\n" + e + "\n")
		}
		if b.text.Len() > 0 {
			b.text.WriteByte('\n')
		}
	}
	b.endSection()
	return b
}

func (b *pdfText) section() {
	b.endSection()
	b.sections = append(b.sections, chunk.Section{Start: b.text.Len(), Page: b.page, Headings: append([]string(nil), b.path...)})
}

// endSection closes the open section, or removes it when nothing is in it.
func (b *pdfText) endSection() {
	n := len(b.sections)
	if n == 0 {
		return
	}
	if b.sections[n-1].Start == b.text.Len() {
		b.sections = b.sections[:n-1]
		return
	}
	b.sections[n-1].End = b.text.Len()
}

func (b *pdfText) setPath(title string, level int) {
	b.path = append(b.path[:min(level, len(b.path)):min(level, len(b.path))], title)
}

// unseenBookmarks sets the headings that a page begins with: those before the
// first one whose title is in the text, since chapters begin on new pages.
func (b *pdfText) unseenBookmarks(page pdfPage, marks []pdfBookmark) {
	if len(marks) == 0 {
		return
	}
	var keys []string
	for _, l := range page.lines {
		if key := headingKey(l.text); key != "" && !l.drop {
			keys = append(keys, key)
		}
	}
	for m := range marks {
		title := headingKey(marks[m].title)
		if slices.ContainsFunc(keys, func(key string) bool { return isTitle(key, title) }) {
			return
		}
		marks[m].used = true
		b.setPath(marks[m].title, marks[m].level)
	}
}

// isTitle reports whether a line is a bookmark's title: all of it, its first
// line, or with a number before it. Both are headingKeys.
func isTitle(key, title string) bool {
	return title == key || len(key) > 12 && strings.HasPrefix(title, key) || len(title) > 4 && strings.HasSuffix(key, title) && len(key) < len(title)+8
}

func (b *pdfText) matchBookmark(line string, marks []pdfBookmark) {
	key := headingKey(line)
	for m := range marks {
		if marks[m].used || key == "" {
			continue
		}
		if isTitle(key, headingKey(marks[m].title)) {
			marks[m].used = true
			b.setPath(marks[m].title, marks[m].level)
			b.section()
			return
		}
	}
}

func headingKey(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, s)
}

// heading begins a section under a heading; a second line of one joins it.
func (b *pdfText) heading(text string, level int, continued bool) {
	text = strings.Join(strings.Fields(text), " ")
	if n := len(b.path); continued && n > 0 && len(b.path[n-1])+len(text) < headingMax {
		joined := b.path[n-1] + " " + text
		b.path = append(b.path[:n-1:n-1], joined)
		if k := len(b.sections); k > 0 && len(b.sections[k-1].Headings) > 0 {
			h := b.sections[k-1].Headings
			h[len(h)-1] = joined
		}
		return
	}
	b.setPath(text, level)
	b.section()
}
