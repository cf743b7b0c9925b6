package extract

import (
	"context"
	"encoding/xml"
	"errors"
	"io"
	"strings"

	"ragd/internal/chunk"
)

// readXML reads the kinds of XML that are documents (feeds, JATS, DocBook,
// DITA, TEI, TTML) as text with headings. Other XML is data and stays as it
// is, line by line.
func readXML(ctx context.Context, src Source, t fileType) (*Document, error) {
	plain := readText("application/xml", chunk.FormatCode)
	doc, err := plain(ctx, src, t)
	if err != nil || !isDocumentXML(doc.Text.Body) {
		return doc, err
	}
	x := xmlDocument{ctx: ctx, w: &mdWriter{}}
	if err := x.read(newXMLReader(strings.NewReader(withoutDeclaration(doc.Text.Body)))); err != nil || x.w.full || x.w.b.Len() == 0 {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return doc, nil // what cannot be followed stays as it is
	}
	text, err := x.w.finish(src.Path)
	if err != nil {
		return nil, err
	}
	doc.Text, doc.Title, doc.Meta = text, x.title, nil
	fillQuality(doc, text.Body)
	return doc, nil
}

// withoutDeclaration drops the declaration, whose charset no longer holds.
func withoutDeclaration(s string) string {
	if strings.HasPrefix(s, "<?xml") {
		if i := strings.Index(s, "?>"); i > 0 {
			return s[i+2:]
		}
	}
	return s
}

var documentRoots = map[string]bool{
	"rss": true, "feed": true, "rdf": true, "article": true, "book": true, "chapter": true, "section": true, "topic": true,
	"concept": true, "task": true, "reference": true, "tei": true, "tt": true, "html": true, "sect1": true, "refentry": true,
}

func isDocumentXML(body string) bool {
	x := newXMLReader(strings.NewReader(withoutDeclaration(body)))
	for range 100 {
		t, err := x.next()
		if err != nil {
			return false
		}
		if e, ok := t.(xml.StartElement); ok {
			return documentRoots[strings.ToLower(e.Name.Local)]
		}
	}
	return false
}

// xmlDocument writes blocks as it meets their ends.
type xmlDocument struct {
	ctx   context.Context
	w     *mdWriter
	title string
	depth int // of sections
	text  strings.Builder
	rows  [][]string
}

var (
	xmlSections = map[string]bool{"sec": true, "section": true, "sect1": true, "sect2": true, "sect3": true, "sect4": true, "chapter": true,
		"item": true, "entry": true, "topic": true, "app": true, "appendix": true, "abstract": true, "ref-list": true, "body": false}
	xmlBlocks = map[string]bool{"p": true, "para": true, "simpara": true, "shortdesc": true, "ref": true, "caption": true, "li": true, "listitem": true,
		"ab": true, "l": true, "author": true, "creator": true, "contrib": true, "pubdate": true, "published": true, "updated": true, "aff": true,
		"link": true, "category": true, "kwd": true, "subject": true, "disp-formula": true, "term": true, "cmd": true, "note": true, "label": false}
	xmlHTML    = map[string]bool{"description": true, "encoded": true, "content": true, "summary": true}
	xmlCode    = map[string]bool{"programlisting": true, "codeblock": true, "screen": true, "literallayout": true, "preformat": true, "code": false}
	xmlSkipped = map[string]bool{"style": true, "styling": true, "layout": true, "script": true, "guid": true, "generator": true, "ttl": true, "permissions": true,
		"journal-meta": true, "history": true, "article-id": true, "tex-math": true, "object-id": true, "teiheader": false, "metadata": false}
)

func (d *xmlDocument) read(x *xmlReader) error {
	for n := 0; ; n++ {
		if n&0xfff == 0 && d.ctx.Err() != nil {
			return d.ctx.Err()
		}
		t, err := x.next()
		if errors.Is(err, io.EOF) {
			d.paragraph()
			return nil
		}
		if err != nil {
			return err
		}
		if d.w.full {
			return nil
		}
		switch t := t.(type) {
		case xml.CharData:
			if d.text.Len() < outputMax {
				d.text.Write(t)
			}
		case xml.EndElement:
			d.end(strings.ToLower(t.Name.Local))
		case xml.StartElement:
			if err := d.start(x, strings.ToLower(t.Name.Local)); err != nil {
				return err
			}
		}
	}
}

// paragraph writes what has been collected.
func (d *xmlDocument) paragraph() {
	s := oneLine(d.text.String())
	d.text.Reset()
	d.w.paragraph(s)
}

func (d *xmlDocument) start(x *xmlReader, name string) error {
	switch {
	case xmlSkipped[name]:
		return x.skip()
	case xmlSections[name] && d.rows == nil:
		d.paragraph()
		d.depth++
	case name == "title" || name == "article-title" && d.title == "" || name == "head":
		d.paragraph()
		s, err := x.text(4 << 10)
		if s = oneLine(s); d.title == "" {
			d.title = clip(s, titleMax)
		}
		d.w.heading(d.depth+1, s)
		return unexpectedEnd(err)
	case xmlHTML[name]:
		d.paragraph()
		s, err := x.text(htmlMax)
		if strings.Contains(s, "<") {
			s = strings.TrimSpace(htmlToMarkdown(d.ctx, cleanText(s)).body)
			if s != "" {
				d.w.block()
				d.w.line(s)
			}
		} else {
			d.w.paragraph(s)
		}
		return unexpectedEnd(err)
	case xmlCode[name]:
		d.paragraph()
		s, err := x.text(outputMax)
		d.w.code("", s)
		return unexpectedEnd(err)
	case name == "tr" || name == "row":
		d.rows = append(d.rows, nil)
		d.text.Reset()
	case name == "table" || name == "tgroup":
		d.paragraph()
		d.rows = nil
	case xmlBlocks[name] && d.rows == nil:
		d.paragraph()
	case name == "br" || name == "break":
		d.text.WriteByte(' ')
	}
	return nil
}

func (d *xmlDocument) end(name string) {
	switch {
	case xmlSections[name] && d.rows == nil:
		d.paragraph()
		d.depth = max(d.depth-1, 0)
	case name == "td" || name == "th" || name == "entry":
		if n := len(d.rows); n > 0 && len(d.rows[n-1]) < tableColumnsMax {
			d.rows[n-1] = append(d.rows[n-1], oneLine(d.text.String()))
			d.text.Reset()
		}
	case name == "table" || name == "tgroup":
		d.w.table(d.rows)
		d.rows = nil
		d.text.Reset()
	case xmlBlocks[name] && d.rows == nil:
		d.paragraph()
	case xmlBlocks[name], name == "given-names", name == "surname", name == "name", name == "year", name == "source", name == "xref":
		d.text.WriteByte(' ')
	}
}
