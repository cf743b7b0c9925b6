package extract

import (
	"context"
	"encoding/xml"
	"path"
	"sort"
	"strconv"
	"strings"
)

const slidesMax = 5000

// readPPTX reads a presentation slide by slide: title, text, tables, charts'
// labels, and the notes under it. Hidden slides are read too.
func readPPTX(ctx context.Context, src Source, _ fileType) (*Document, error) {
	pack, err := openPackage(src)
	if err != nil {
		return nil, err
	}
	main, err := pack.mainPart("ppt/presentation.xml")
	if err != nil {
		return nil, err
	}
	if main == "" {
		return nil, wrongType(src.Path, pack.kind())
	}
	slides, err := pack.slideOrder(main)
	if err != nil {
		return nil, err
	}
	p := pptxReader{pack: pack, w: &mdWriter{}}
	all := len(slides)
	slides = slides[:min(all, slidesMax)]
	for i, slide := range slides {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := p.slide(i+1, slide); err != nil {
			return nil, err
		}
	}
	doc := &Document{MediaType: "application/vnd.openxmlformats-officedocument.presentationml.presentation", Meta: map[string]string{}}
	doc.Quality.Pages = len(slides)
	if all > slidesMax {
		doc.Quality.remark("Only the first %d slides were read.", slidesMax)
	}
	if doc.Text, err = p.w.finish(src.Path); err != nil {
		return nil, err
	}
	if err := pack.coreProperties(doc); err != nil {
		return nil, err
	}
	if doc.Title == "" {
		doc.Title = markdownTitle(doc.Text.Body)
	}
	fillQuality(doc, doc.Text.Body)
	return doc, nil
}

// slideOrder lists the slides as they are shown.
func (p *zipPackage) slideOrder(main string) ([]string, error) {
	rels, err := p.relationships(main)
	if err != nil {
		return nil, err
	}
	var slides []string
	err = p.xmlPart(main, func(x *xmlReader) error {
		return x.each(func(e xml.StartElement) error {
			if e.Name.Local != "sldId" || len(slides) > slidesMax {
				return nil
			}
			for _, a := range e.Attr {
				if a.Name.Local == "id" && a.Name.Space != "" && rels[a.Value].kind == "slide" {
					slides = append(slides, rels[a.Value].target)
				}
			}
			return nil
		})
	})
	if err != nil || len(slides) > 0 {
		return slides, err
	}
	for name := range p.files { // a list that cannot be followed: by number
		if strings.HasPrefix(name, "ppt/slides/slide") && strings.HasSuffix(name, ".xml") {
			slides = append(slides, name)
		}
	}
	sort.Slice(slides, func(i, j int) bool { return slideNumber(slides[i]) < slideNumber(slides[j]) })
	return slides[:min(len(slides), slidesMax+1)], nil
}

func slideNumber(name string) int {
	n, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(path.Base(name), "slide"), ".xml"))
	if err != nil {
		return 1 << 30
	}
	return n
}

type pptxReader struct {
	pack *zipPackage
	w    *mdWriter
}

func (p *pptxReader) slide(number int, part string) error {
	s := slideReader{}
	if err := p.pack.xmlPart(part, s.read); err != nil {
		return err
	}
	p.w.section(number)
	s.order()
	for _, sh := range s.shapes {
		sh.write(p.w)
	}
	rels, err := p.pack.relationships(part)
	if err != nil {
		return err
	}
	ids := make([]string, 0, len(rels))
	for id := range rels {
		ids = append(ids, id)
	}
	sort.Strings(ids)
	for _, id := range ids {
		r := rels[id]
		if r.external {
			continue
		}
		switch r.kind {
		case "chart":
			err = p.pack.xmlPart(r.target, p.chart)
		case "diagramData":
			err = p.texts(r.target, "")
		case "notesSlide":
			err = p.notes(r.target)
		case "comments":
			err = p.texts(r.target, "Comment: ")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// notes writes the speaker's notes.
func (p *pptxReader) notes(part string) error {
	s := slideReader{}
	if err := p.pack.xmlPart(part, s.read); err != nil {
		return err
	}
	for _, sh := range s.shapes {
		switch sh.holder {
		case "sldNum", "sldImg", "dt", "hdr", "ftr":
			continue
		}
		if text := sh.text(); text != "" {
			p.w.paragraph("Notes: " + text)
		}
	}
	return nil
}

// texts writes the text of each paragraph of a part.
func (p *pptxReader) texts(part, prefix string) error {
	return p.pack.xmlPart(part, func(x *xmlReader) error {
		return x.each(func(e xml.StartElement) error {
			if e.Name.Local != "p" && e.Name.Local != "text" {
				return nil
			}
			text, err := x.text(cellMax)
			if strings.TrimSpace(text) != "" {
				p.w.paragraph(prefix + text)
			}
			return unexpectedEnd(err)
		})
	})
}

// chart writes a chart's titles, and its series as a table.
func (p *pptxReader) chart(x *xmlReader) error {
	c := chartReader{}
	if err := c.read(x); err != nil {
		return err
	}
	for _, t := range c.titles {
		p.w.paragraph(t)
	}
	p.w.table(c.rows())
	return nil
}
