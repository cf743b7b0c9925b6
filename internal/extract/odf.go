package extract

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"strings"

	"ragd/internal/fault"
)

const odfRepeatMax = 1000 // of a filled row or cell; empty ones are dropped

// readODF reads OpenDocument text, spreadsheets and presentations.
func readODF(ctx context.Context, src Source, _ fileType) (*Document, error) {
	pack, err := openPackage(src)
	if err != nil {
		return nil, err
	}
	if !pack.has("content.xml") {
		return nil, wrongType(src.Path, pack.kind())
	}
	if err := pack.checkManifest(); err != nil {
		return nil, err
	}
	o := odfReader{ctx: ctx, w: &mdWriter{}, path: src.Path, meta: map[string]string{}, pack: pack, lists: newODFLists()}
	if err := pack.xmlPart("styles.xml", o.lists.collect); err != nil {
		return nil, err
	}
	if err := pack.xmlPart("content.xml", o.read); err != nil {
		return nil, err
	}
	if err := pack.xmlPart("meta.xml", o.readMeta); err != nil {
		return nil, err
	}
	return o.document("application/vnd.oasis.opendocument")
}

// readFlatODF reads the same in one XML file.
func readFlatODF(ctx context.Context, src Source, _ fileType) (*Document, error) {
	if !bytes.Contains(head(src.Data, 4<<10), []byte("opendocument")) {
		return nil, wrongType(src.Path, detectType(src.Data))
	}
	o := odfReader{ctx: ctx, w: &mdWriter{}, path: src.Path, meta: map[string]string{}, lists: newODFLists()}
	if err := o.readMeta(newXMLReader(bytes.NewReader(src.Data))); err != nil {
		return nil, err
	}
	if err := o.read(newXMLReader(bytes.NewReader(src.Data))); err != nil {
		return nil, err
	}
	return o.document("application/vnd.oasis.opendocument.flat-xml")
}

func (p *zipPackage) checkManifest() error {
	locked := false
	err := p.xmlPart("META-INF/manifest.xml", func(x *xmlReader) error {
		return x.each(func(e xml.StartElement) error {
			locked = locked || e.Name.Local == "encryption-data"
			return nil
		})
	})
	if err == nil && locked {
		err = encrypted(p.path, nil)
	}
	return err
}

type odfReader struct {
	ctx   context.Context
	w     *mdWriter
	path  string
	title string
	meta  map[string]string
	slide int
	lists odfLists
	pack  *zipPackage // nil for the flat form
	notes []string    // footnotes of the block being read
	size  int
}

func (o *odfReader) document(mediaType string) (*Document, error) {
	doc := &Document{MediaType: mediaType, Title: o.title, Meta: o.meta}
	var err error
	if doc.Text, err = o.w.finish(o.path); err != nil {
		return nil, err
	}
	doc.Quality.Pages = o.slide
	doc.Quality.deep(o.w)
	mergeSections(&doc.Text)
	if doc.Title == "" {
		doc.Title = markdownTitle(doc.Text.Body)
	}
	fillQuality(doc, doc.Text.Body)
	return doc, nil
}

func (o *odfReader) readMeta(x *xmlReader) error {
	return x.each(func(e xml.StartElement) error {
		name := map[string]string{"title": "title", "creator": "author", "initial-creator": "author", "subject": "subject",
			"description": "description", "keyword": "keywords", "date": "modified", "creation-date": "created"}[e.Name.Local]
		if name == "" || !strings.Contains(e.Name.Space, "meta") && !strings.Contains(e.Name.Space, "purl.org") {
			return nil
		}
		s, err := x.text(metaFieldMax)
		if s = oneLine(s); s != "" {
			if name == "title" {
				o.title = s
			} else if o.meta[name] == "" {
				o.meta[name] = s
			}
		}
		return unexpectedEnd(err)
	})
}

// read walks the blocks of the body.
func (o *odfReader) read(x *xmlReader) error {
	inBody, style := false, ""
	for {
		t, err := x.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		e, ok := t.(xml.StartElement)
		if !ok {
			continue
		}
		if e.Name.Local == "body" {
			inBody = true
			continue
		}
		if !inBody {
			o.lists.style(e, &style)
			continue
		}
		if err := o.block(x, e, 0); err != nil {
			return unexpectedEnd(err)
		}
	}
}

// block handles an element at the level of paragraphs. Elements it does not
// know are looked into.
func (o *odfReader) block(x *xmlReader, e xml.StartElement, list int) error {
	if o.ctx.Err() != nil {
		return o.ctx.Err()
	}
	if o.w.full || o.size > 2*outputMax {
		return tooMuchText(o.path)
	}
	switch e.Name.Local {
	case "h":
		s, err := o.inline(x, 0)
		o.w.heading(attrInt(e, "outline-level", 1), s)
		return o.flush(err)
	case "p":
		s, err := o.inline(x, 0)
		if list > 0 {
			o.listed(list, s)
		} else {
			o.w.paragraph(s)
		}
		return o.flush(err)
	case "list":
		o.lists.enter(e)
		err := o.blocks(x, list+1)
		o.lists.leave()
		return err
	case "list-item":
		o.lists.item(e)
	case "frame":
		if attrOf(e, "class") == "title" { // of a slide
			s, err := o.inline(x, 0)
			o.w.heading(1, s)
			return o.flush(err)
		}
	case "table":
		return o.sheetOrTable(x, e)
	case "page":
		o.slide++
		o.w.section(o.slide)
	case "notes":
		s, err := o.plain(x)
		if s != "" {
			o.w.paragraph("Notes: " + s)
		}
		return err
	case "tracked-changes", "forms", "sequence-decls", "variable-decls", "settings", "automatic-styles", "styles",
		"named-expressions", "database-ranges", "content-validations", "calculation-settings", "table-of-content-source":
		return x.skip()
	}
	return nil
}

// listed writes a paragraph of a list's item.
func (o *odfReader) listed(list int, s string) {
	if mark := o.lists.mark(); mark != "" {
		o.w.item(list-1, mark, s)
	} else {
		o.w.paragraph(s)
	}
}

// blocks reads the children of an element up to its end.
func (o *odfReader) blocks(x *xmlReader, list int) error {
	if list > 64 {
		o.w.deep = true
		return x.skip()
	}
	depth := x.depth
	for x.depth >= depth {
		t, err := x.next()
		if err != nil {
			return err
		}
		if e, ok := t.(xml.StartElement); ok {
			if err := o.block(x, e, list); err != nil {
				return err
			}
		}
	}
	return nil
}

// flush writes the footnotes that the block held.
func (o *odfReader) flush(err error) error {
	notes := o.notes
	o.notes = nil
	for _, n := range notes {
		o.w.paragraph(n)
	}
	return err
}

// inline collects the text of a paragraph, and of frames in it, up to its end.
func (o *odfReader) inline(x *xmlReader, nesting int) (string, error) {
	var b strings.Builder
	if nesting > 64 {
		o.w.deep = true
		return "", x.skip()
	}
	for open := 1; open > 0; {
		t, err := x.next()
		if err != nil {
			return b.String(), err
		}
		switch t := t.(type) {
		case xml.CharData:
			o.size += len(t)
			b.Write(t)
			if o.size > 2*outputMax {
				return "", tooMuchText(o.path)
			}
		case xml.EndElement:
			open--
			if t.Name.Local == "p" && open > 0 {
				b.WriteByte('\n')
			}
		case xml.StartElement:
			switch t.Name.Local {
			case "s":
				b.WriteString(strings.Repeat(" ", min(max(attrInt(t, "c", 1), 1), 100)))
			case "tab":
				b.WriteByte('\t')
			case "line-break":
				b.WriteByte('\n')
			case "title", "desc":
				if b.Len() > 0 {
					b.WriteByte('\n')
				}
			case "object":
				s, err := o.formula(attrOf(t, "href"))
				if err != nil {
					return b.String(), err
				}
				b.WriteString(s)
			case "note", "annotation":
				s, err := o.inline(x, nesting+1)
				if s = strings.TrimSpace(s); s != "" {
					o.notes = append(o.notes, s)
				}
				if err != nil {
					return b.String(), err
				}
				continue
			case "note-citation", "ruby-text", "creator", "date", "creator-initials", "tracked-changes", "image", "object-ole", "binary-data", "sender-firstname":
				if err := x.skip(); err != nil {
					return b.String(), err
				}
				continue
			}
			open++
		}
	}
	return b.String(), nil
}

// formula reads an embedded object that is a formula; others give nothing.
func (o *odfReader) formula(ref string) (string, error) {
	if o.pack == nil || ref == "" {
		return "", nil
	}
	var b strings.Builder
	err := o.pack.xmlPart(resolve("", ref)+"/content.xml", func(x *xmlReader) error {
		for {
			t, err := x.next()
			if err != nil {
				return nil // a damaged formula is left out
			}
			switch t := t.(type) {
			case xml.StartElement:
				if t.Name.Local == "annotation" {
					if err := x.skip(); err != nil {
						return nil
					}
				} else if x.depth == 1 && t.Name.Local != "math" {
					return nil
				}
			case xml.CharData:
				if s := strings.TrimSpace(string(t)); s != "" && b.Len() < cellMax {
					b.WriteString(s + " ")
				}
			}
		}
	})
	return strings.TrimSpace(b.String()), err
}

// plain collects the paragraphs of an element as one text.
func (o *odfReader) plain(x *xmlReader) (string, error) {
	s, err := o.inline(x, 0)
	return cleanBlock(s), err
}

// errTooManyCells says that a sheet unfolds to more than is read.
func errTooManyCells(path string) error {
	return fault.New(fault.Permanent, "too_large", "%s spans more than %d cells", base(path), sheetCellsMax)
}
