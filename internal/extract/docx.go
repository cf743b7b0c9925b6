package extract

import (
	"context"
	"encoding/xml"
	"path"
	"sort"
	"strings"
)

// readDOCX reads a Word document: body, then footnotes, endnotes, comments,
// headers and footers. Tracked insertions are text, deletions are not.
func readDOCX(ctx context.Context, src Source, _ fileType) (*Document, error) {
	pack, err := openPackage(src)
	if err != nil {
		return nil, err
	}
	main, err := pack.mainPart("word/document.xml")
	if err != nil {
		return nil, err
	}
	if main == "" {
		return nil, wrongType(src.Path, pack.kind())
	}
	d := docxReader{pack: pack, ctx: ctx, w: &mdWriter{}, dir: path.Dir(main)}
	if err := d.loadStyles(); err != nil {
		return nil, err
	}
	if err := pack.xmlPart(main, d.part); err != nil {
		return nil, err
	}
	if err := d.notes(); err != nil {
		return nil, err
	}
	doc := &Document{MediaType: "application/vnd.openxmlformats-officedocument.wordprocessingml.document", Meta: map[string]string{}}
	if doc.Text, err = d.w.finish(src.Path); err != nil {
		return nil, err
	}
	doc.Quality.deep(d.w)
	if err := pack.coreProperties(doc); err != nil {
		return nil, err
	}
	if doc.Title == "" {
		doc.Title = d.title
	}
	if doc.Title == "" {
		doc.Title = markdownTitle(doc.Text.Body)
	}
	fillQuality(doc, doc.Text.Body)
	return doc, nil
}

// docxReader walks the parts of one document.
type docxReader struct {
	pack    *zipPackage
	ctx     context.Context
	w       *mdWriter
	dir     string
	title   string
	styles  map[string]docxStyle
	numbers *docxNumbering
}

// notes appends what stands beside the body.
func (d *docxReader) notes() error {
	var names []string
	for name := range d.pack.files {
		b := path.Base(name)
		if path.Dir(name) != d.dir || !strings.HasSuffix(b, ".xml") {
			continue
		}
		for _, prefix := range []string{"footnotes", "endnotes", "comments.", "header", "footer"} {
			if strings.HasPrefix(b, prefix) {
				names = append(names, name)
			}
		}
	}
	sort.Strings(names)
	seen := map[string]bool{}
	for _, name := range names {
		sub := docxReader{pack: d.pack, ctx: d.ctx, w: &mdWriter{}, dir: d.dir, styles: d.styles, numbers: d.numbers}
		if err := d.pack.xmlPart(name, sub.part); err != nil {
			return err
		}
		text := strings.TrimSpace(sub.w.b.String())
		if text == "" || seen[text] || isPageNumber(runningKey(text)) {
			continue
		}
		seen[text] = true
		d.w.block()
		d.w.line(text)
	}
	return nil
}

// docxStyle is what a paragraph style means for structure.
type docxStyle struct {
	heading int // 1..9; 0 = none
	title   bool
	code    bool
	list    string // numbering id
	level   int    // in that list
	based   string
}

// loadStyles reads heading levels from the styles part. Names of built-in
// styles are the same in every language; ids are not.
func (d *docxReader) loadStyles() error {
	d.styles = map[string]docxStyle{}
	id, s := "", docxStyle{}
	err := d.pack.xmlPart(d.dir+"/styles.xml", func(x *xmlReader) error {
		return x.each(func(e xml.StartElement) error {
			switch e.Name.Local {
			case "style":
				id, s = attrOf(e, "styleId"), docxStyle{}
			case "name":
				s = styleByName(attrOf(e, "val"), s)
			case "basedOn":
				s.based = attrOf(e, "val")
			case "outlineLvl":
				if n := attrInt(e, "val", 9); n < 9 && s.heading == 0 {
					s.heading = n + 1
				}
			case "numId":
				s.list = attrOf(e, "val")
			case "ilvl":
				s.level = min(max(attrInt(e, "val", 0), 0), 8)
			}
			if id != "" && len(d.styles) < 10_000 {
				d.styles[id] = s
			}
			return nil
		})
	})
	if err != nil {
		return err
	}
	for id, s := range d.styles {
		for range 10 {
			parent, ok := d.styles[s.based]
			if s.heading != 0 || s.title || !ok {
				break
			}
			s.heading, s.based = parent.heading, parent.based
			if s.list == "" {
				s.list, s.level = parent.list, parent.level
			}
		}
		d.styles[id] = s
	}
	d.numbers = &docxNumbering{}
	return d.numbers.load(d.pack, d.dir+"/numbering.xml")
}

func styleByName(name string, s docxStyle) docxStyle {
	name = strings.ToLower(name)
	switch {
	case name == "title":
		s.title = true
	case strings.HasPrefix(name, "heading ") && len(name) == 9 && name[8] >= '1' && name[8] <= '9':
		s.heading = int(name[8] - '0')
	case strings.Contains(name, "code") || strings.Contains(name, "preformatted") || name == "html preformatted":
		s.code = true
	}
	return s
}
