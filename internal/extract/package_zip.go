package extract

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/richardlehane/mscfb"

	"ragd/internal/fault"
)

// Limits of documents that are zip packages.
const (
	packageEntriesMax = 20_000
	packagePartMax    = 64 << 20  // unpacked bytes of one part
	packageTotalMax   = 192 << 20 // unpacked bytes of all parts that are read
)

// zipPackage is an office document or e-book: parts by name, read under a
// budget of unpacked bytes.
type zipPackage struct {
	path  string
	files map[string]*zip.File
	left  int64
}

// openPackage opens a zip. Content that is something else is named in the
// error; an OLE container with an encrypted package in it is "encrypted".
func openPackage(src Source) (*zipPackage, error) {
	if bytes.HasPrefix(src.Data, []byte("\xD0\xCF\x11\xE0")) {
		if oleHas(src.Data, "EncryptedPackage") {
			return nil, encrypted(src.Path, nil)
		}
		return nil, wrongType(src.Path, "application/x-ole-storage (an older Office format)")
	}
	if !bytes.HasPrefix(src.Data, []byte("PK")) {
		if len(bytes.TrimSpace(src.Data)) == 0 {
			return nil, fault.New(fault.Permanent, "corrupt", "%s is empty", base(src.Path))
		}
		return nil, wrongType(src.Path, detectType(src.Data))
	}
	r, err := zip.NewReader(bytes.NewReader(src.Data), int64(len(src.Data)))
	if err != nil {
		return nil, fault.New(fault.Permanent, "corrupt", "%s is damaged: its zip directory cannot be read", base(src.Path)).Because(err)
	}
	if len(r.File) > packageEntriesMax {
		return nil, fault.New(fault.Permanent, "too_large", "%s has %d parts, at most %d are read", base(src.Path), len(r.File), packageEntriesMax)
	}
	p := &zipPackage{path: src.Path, files: make(map[string]*zip.File, len(r.File)), left: packageTotalMax}
	for _, f := range r.File {
		if _, dup := p.files[f.Name]; !dup {
			p.files[strings.TrimPrefix(strings.ReplaceAll(f.Name, "\\", "/"), "/")] = f
		}
	}
	return p, nil
}

func encrypted(path string, err error) error {
	return fault.New(fault.Permanent, "encrypted", "%s is protected by a password", base(path)).Because(err)
}

func (p *zipPackage) has(name string) bool { return p.files[name] != nil }

// open returns a part under the limits; nil when there is none.
func (p *zipPackage) open(name string) (io.ReadCloser, error) {
	f := p.files[name]
	if f == nil {
		return nil, nil
	}
	if f.Flags&1 != 0 {
		return nil, encrypted(p.path, nil)
	}
	r, err := f.Open()
	if err != nil {
		return nil, fault.New(fault.Permanent, "corrupt", "%s is damaged: part %s cannot be unpacked", base(p.path), clip(name, 100)).Because(err)
	}
	return &partReader{ReadCloser: r, pack: p, left: packagePartMax}, nil
}

// partReader fails when a part unpacks to more than its limit.
type partReader struct {
	io.ReadCloser
	pack *zipPackage
	left int64
}

func (r *partReader) Read(b []byte) (int, error) {
	n, err := r.ReadCloser.Read(b)
	r.left -= int64(n)
	r.pack.left -= int64(n)
	if r.left < 0 || r.pack.left < 0 {
		return 0, fault.New(fault.Permanent, "too_large", "%s unpacks to more than %d MiB", base(r.pack.path), packagePartMax>>20)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return n, fault.New(fault.Permanent, "corrupt", "%s is damaged", base(r.pack.path)).Because(err)
	}
	return n, err
}

// read returns a part's bytes; nil when there is none.
func (p *zipPackage) read(name string, limit int64) ([]byte, error) {
	r, err := p.open(name)
	if r == nil || err != nil {
		return nil, err
	}
	defer r.Close()
	b, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(b)) > limit {
		err = fault.New(fault.Permanent, "too_large", "%s: part %s is over %d MiB", base(p.path), clip(name, 100), limit>>20)
	}
	return b, err
}

// xmlPart visits the tokens of a part; a missing part is no error.
func (p *zipPackage) xmlPart(name string, visit func(*xmlReader) error) error {
	r, err := p.open(name)
	if r == nil || err != nil {
		return err
	}
	defer r.Close()
	return visit(newXMLReader(r))
}

// relationships maps the ids of a part's relations to targets, as names in
// the package, and to types.
func (p *zipPackage) relationships(part string) (map[string]relation, error) {
	dir, file := path.Split(part)
	rels := map[string]relation{}
	err := p.xmlPart(dir+"_rels/"+file+".rels", func(x *xmlReader) error {
		return x.each(func(e xml.StartElement) error {
			if e.Name.Local == "Relationship" && len(rels) < packageEntriesMax {
				target := attrOf(e, "Target")
				external := attrOf(e, "TargetMode") == "External"
				if !external {
					if strings.HasPrefix(target, "/") {
						target = strings.TrimPrefix(path.Clean(target), "/")
					} else {
						target = path.Join(dir, target)
					}
				}
				kind := attrOf(e, "Type")
				rels[attrOf(e, "Id")] = relation{target: target, kind: kind[strings.LastIndexByte(kind, '/')+1:], external: external}
			}
			return nil
		})
	})
	return rels, err
}

type relation struct {
	target   string
	kind     string // the last element of its type: "slide", "image"
	external bool
}

// oleHas reports whether an OLE container has a stream of a name.
func oleHas(data []byte, name string) (found bool) {
	defer func() {
		if recover() != nil {
			found = false
		}
	}()
	r, err := mscfb.New(bytes.NewReader(data))
	if err != nil {
		return false
	}
	for range packageEntriesMax {
		e, err := r.Next()
		if err != nil {
			return false
		}
		if e.Name == name {
			return true
		}
	}
	return false
}

const (
	xmlDepthMax  = 1000
	xmlTokensMax = 50_000_000
)

// xmlReader reads tokens under limits of depth and number. It is lenient:
// unknown entities and unclosed elements are the producers' daily faults.
type xmlReader struct {
	*xml.Decoder
	depth, tokens int
	spreadsheet   bool // an element of that name is open: OpenDocument
}

func newXMLReader(r io.Reader) *xmlReader {
	d := xml.NewDecoder(r)
	d.Strict = false
	d.Entity = xml.HTMLEntity
	d.CharsetReader = func(label string, in io.Reader) (io.Reader, error) {
		enc, _ := encodingByName(label)
		if enc == nil {
			return in, nil
		}
		return enc.NewDecoder().Reader(in), nil
	}
	return &xmlReader{Decoder: d}
}

// next returns the next token, or io.EOF.
func (x *xmlReader) next() (xml.Token, error) {
	t, err := x.Token()
	if err != nil {
		return nil, err
	}
	x.tokens++
	switch t := t.(type) {
	case xml.StartElement:
		x.depth++
		x.spreadsheet = x.spreadsheet || t.Name.Local == "spreadsheet"
	case xml.EndElement:
		x.depth--
		x.spreadsheet = x.spreadsheet && t.Name.Local != "spreadsheet"
	}
	if x.depth > xmlDepthMax || x.tokens > xmlTokensMax {
		return nil, fault.New(fault.Permanent, "too_large", "the XML is nested deeper than %d or has more than %d parts", xmlDepthMax, xmlTokensMax)
	}
	return t, nil
}

// each visits the start of every element.
func (x *xmlReader) each(visit func(xml.StartElement) error) error {
	for {
		t, err := x.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if e, ok := t.(xml.StartElement); ok {
			if err := visit(e); err != nil {
				return err
			}
		}
	}
}

// text collects the characters up to the end of the element that has begun.
func (x *xmlReader) text(limit int) (string, error) {
	var b strings.Builder
	for depth := 1; depth > 0; {
		t, err := x.next()
		if err != nil {
			return b.String(), err
		}
		switch t := t.(type) {
		case xml.StartElement:
			depth++
		case xml.EndElement:
			depth--
		case xml.CharData:
			if room := limit - b.Len(); room > 0 {
				b.Write(t[:min(len(t), room)])
			}
		}
	}
	return clip(b.String(), limit), nil
}

// skip reads up to the end of the element that has begun, without recursion.
func (x *xmlReader) skip() error {
	for depth := 1; depth > 0; {
		t, err := x.next()
		if err != nil {
			return err
		}
		switch t.(type) {
		case xml.StartElement:
			depth++
		case xml.EndElement:
			depth--
		}
	}
	return nil
}

func attrOf(e xml.StartElement, local string) string {
	for _, a := range e.Attr {
		if a.Name.Local == local {
			return a.Value
		}
	}
	return ""
}

func attrInt(e xml.StartElement, local string, otherwise int) int {
	var n int
	if _, err := fmt.Sscan(attrOf(e, local), &n); err != nil {
		return otherwise
	}
	return n
}
