package extract

import (
	"encoding/xml"
	"strings"
)

// mainPart finds the part that the package says is its document; usual is
// where it nearly always is. Empty when the package has neither.
func (p *zipPackage) mainPart(usual string) (string, error) {
	rels, err := p.relationships("")
	if err != nil {
		return "", err
	}
	for _, r := range rels {
		if r.kind == "officeDocument" && !r.external && p.has(r.target) && sameFamily(r.target, usual) {
			return r.target, nil
		}
	}
	if p.has(usual) {
		return usual, nil
	}
	return "", nil
}

// sameFamily compares the folders: word, ppt, xl.
func sameFamily(a, b string) bool {
	fa, _, _ := strings.Cut(a, "/")
	fb, _, _ := strings.Cut(b, "/")
	return fa == fb || !strings.Contains(a, "/")
}

// kind names what a package is, for an error message.
func (p *zipPackage) kind() string {
	for _, k := range []struct{ part, name string }{
		{"word/document.xml", "a Word document"}, {"ppt/presentation.xml", "a PowerPoint presentation"},
		{"xl/workbook.xml", "an Excel workbook"}, {"META-INF/container.xml", "an EPUB book"},
		{"content.xml", "an OpenDocument file"}, {"META-INF/MANIFEST.MF", "a Java archive"},
	} {
		if p.has(k.part) {
			return k.name
		}
	}
	return "a zip archive"
}

// coreProperties fills title and meta.
func (p *zipPackage) coreProperties(doc *Document) error {
	return p.xmlPart("docProps/core.xml", func(x *xmlReader) error {
		return x.each(func(e xml.StartElement) error {
			name := e.Name.Local
			switch name {
			case "title", "creator", "subject", "description", "keywords", "created", "modified":
			default:
				return nil
			}
			value, err := x.text(metaFieldMax)
			if err != nil {
				return unexpectedEnd(err)
			}
			if value = oneLine(value); value == "" {
				return nil
			}
			switch {
			case name == "title" && isRealTitle(value):
				doc.Title = value
			case name == "creator":
				doc.Meta["author"] = value
			case name != "title":
				doc.Meta[name] = value
			}
			return nil
		})
	})
}
