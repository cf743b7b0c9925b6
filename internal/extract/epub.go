package extract

import (
	"context"
	"encoding/xml"
	"net/url"
	"path"
	"strings"

	"ragd/internal/chunk"
	"ragd/internal/fault"
)

const chaptersMax = 5000

// readEPUB reads a book's chapters in the order of its spine.
func readEPUB(ctx context.Context, src Source, _ fileType) (*Document, error) {
	pack, err := openPackage(src)
	if err != nil {
		return nil, err
	}
	if !pack.has("META-INF/container.xml") {
		return nil, wrongType(src.Path, pack.kind())
	}
	if err := pack.checkRights(); err != nil {
		return nil, err
	}
	b := book{pack: pack, meta: map[string]string{}, items: map[string]string{}, labels: map[string]string{}}
	if err := b.load(); err != nil {
		return nil, err
	}
	w := &mdWriter{}
	for _, id := range b.spine[:min(len(b.spine), chaptersMax)] {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		name := b.items[id]
		raw, err := pack.read(name, htmlMax)
		if err != nil {
			return nil, err
		}
		if len(raw) == 0 {
			continue
		}
		chapter := htmlToMarkdown(ctx, normalise(decode(raw, declaredCharset(raw))).body)
		if chapter.body == "" {
			continue
		}
		w.section(0)
		if label := b.labels[name]; label != "" && markdownTitle(head4K(chapter.body)) == "" {
			w.heading(1, label)
		}
		w.block()
		w.line(strings.TrimRight(chapter.body, "\n"))
	}
	doc := &Document{MediaType: "application/epub+zip", Title: b.title, Meta: b.meta}
	if len(b.spine) > chaptersMax {
		doc.Quality.remark("Only the first %d chapters were read.", chaptersMax)
	}
	if doc.Text, err = w.finish(src.Path); err != nil {
		return nil, err
	}
	mergeSections(&doc.Text)
	fillQuality(doc, doc.Text.Body)
	return doc, nil
}

func head4K(s string) string { return clip(s, 4<<10) }

// mergeSections drops sections that say nothing: headings are in the text.
func mergeSections(t *chunk.Text) {
	for _, s := range t.Sections {
		if s.Page != 0 || len(s.Headings) > 0 {
			return
		}
	}
	t.Sections = nil
}

// checkRights refuses a book whose text is encrypted; fonts may be.
func (p *zipPackage) checkRights() error {
	text := false
	err := p.xmlPart("META-INF/encryption.xml", func(x *xmlReader) error {
		return x.each(func(e xml.StartElement) error {
			if e.Name.Local == "CipherReference" {
				uri := strings.ToLower(attrOf(e, "URI"))
				text = text || strings.HasSuffix(uri, "html") || strings.HasSuffix(uri, ".htm") || strings.HasSuffix(uri, ".xml")
			}
			return nil
		})
	})
	if err == nil && text {
		err = encrypted(p.path, nil)
	}
	return err
}

// book is what the package document says.
type book struct {
	pack   *zipPackage
	title  string
	meta   map[string]string
	items  map[string]string // id → part
	spine  []string          // ids
	labels map[string]string // part → label in the table of contents
}

func (b *book) load() error {
	opf := ""
	err := b.pack.xmlPart("META-INF/container.xml", func(x *xmlReader) error {
		return x.each(func(e xml.StartElement) error {
			if e.Name.Local == "rootfile" && opf == "" {
				opf = path.Clean(attrOf(e, "full-path"))
			}
			return nil
		})
	})
	if err != nil {
		return err
	}
	if !b.pack.has(opf) {
		return fault.New(fault.Permanent, "corrupt", "%s is damaged: its package document %q is missing", base(b.pack.path), clip(opf, 100))
	}
	toc := ""
	err = b.pack.xmlPart(opf, func(x *xmlReader) error {
		return x.each(func(e xml.StartElement) error {
			switch e.Name.Local {
			case "item":
				if part := resolve(path.Dir(opf), attrOf(e, "href")); len(b.items) < packageEntriesMax {
					b.items[attrOf(e, "id")] = part
					if attrOf(e, "media-type") == "application/x-dtbncx+xml" {
						toc = part
					}
				}
			case "itemref":
				if len(b.spine) <= chaptersMax {
					b.spine = append(b.spine, attrOf(e, "idref"))
				}
			case "title", "creator", "language", "publisher", "date", "description", "subject":
				return b.field(x, e.Name.Local)
			}
			return nil
		})
	})
	if err != nil || toc == "" {
		return err
	}
	return b.contents(toc)
}

func (b *book) field(x *xmlReader, name string) error {
	value, err := x.text(metaFieldMax)
	value = oneLine(stripTags(value))
	switch {
	case value == "":
	case name == "title":
		if b.title == "" {
			b.title = value
		}
	case name == "creator":
		name = "author"
		fallthrough
	default:
		if old := b.meta[name]; old != "" && len(old) < metaFieldMax {
			value = old + ", " + value
		}
		b.meta[name] = value
	}
	return unexpectedEnd(err)
}

// contents reads the labels of an NCX table of contents.
func (b *book) contents(toc string) error {
	label := ""
	return b.pack.xmlPart(toc, func(x *xmlReader) error {
		return x.each(func(e xml.StartElement) error {
			switch e.Name.Local {
			case "text":
				s, err := x.text(titleMax)
				label = oneLine(s)
				return unexpectedEnd(err)
			case "content":
				if part := resolve(path.Dir(toc), attrOf(e, "src")); b.labels[part] == "" && len(b.labels) < chaptersMax {
					b.labels[part] = label
				}
			}
			return nil
		})
	})
}

// resolve makes a part's name of a reference in a document of the book.
func resolve(dir, ref string) string {
	ref, _, _ = strings.Cut(ref, "#")
	if plain, err := url.PathUnescape(ref); err == nil {
		ref = plain
	}
	return strings.TrimPrefix(path.Join(dir, ref), "/")
}
