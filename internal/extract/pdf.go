package extract

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"unicode"

	"github.com/klippa-app/go-pdfium"
	pdferrors "github.com/klippa-app/go-pdfium/errors"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"

	"ragd/internal/chunk"
	"ragd/internal/fault"
)

const (
	pdfPagesMax     = 5000
	pdfPageCharsMax = 500_000
	pdfHeaderProbe  = 1024 // bytes in which "%PDF-" must begin
	pdfGarbageShare = 0.3  // of characters that say nothing: the text layer is noise
	pdfSparse       = 20   // characters; a page with fewer has no text to speak of
)

// readPDF reads the text layer page by page; pages without one go to OCR
// where that is set up.
func readPDF(ctx context.Context, src Source, t fileType) (*Document, error) {
	if !bytes.Contains(head(src.Data, pdfHeaderProbe), []byte("%PDF-")) {
		return nil, notPDF(src)
	}
	engine, err := t.env.pdf.instance(ctx, t.env.cacheDir)
	if err != nil {
		return nil, fault.New(fault.Transient, "pdf_engine", "the PDF engine did not start").Because(err)
	}
	defer engine.Close()
	opened, err := engine.OpenDocument(&requests.OpenDocument{File: &src.Data})
	if err != nil {
		return nil, pdfOpenFault(src, err)
	}
	p := pdfReader{engine: engine, doc: opened.Document, env: t.env, path: src.Path}
	doc, err := p.read(ctx)
	if err != nil {
		return nil, err
	}
	return doc, nil
}

func notPDF(src Source) error {
	if len(bytes.TrimSpace(src.Data)) == 0 {
		return fault.New(fault.Permanent, "corrupt", "%s is empty", base(src.Path))
	}
	return wrongType(src.Path, detectType(src.Data))
}

func pdfOpenFault(src Source, err error) error {
	switch {
	case errors.Is(err, pdferrors.ErrPassword), errors.Is(err, pdferrors.ErrSecurity):
		return fault.New(fault.Permanent, "encrypted", "%s is protected by a password", base(src.Path)).Because(err)
	}
	return fault.New(fault.Permanent, "corrupt", "%s cannot be read as PDF", base(src.Path)).Because(err)
}

// pdfReader reads one open document.
type pdfReader struct {
	engine pdfium.Pdfium
	doc    references.FPDF_DOCUMENT
	env    *environment
	path   string
}

func (p *pdfReader) read(ctx context.Context) (*Document, error) {
	count, err := p.engine.FPDF_GetPageCount(&requests.FPDF_GetPageCount{Document: p.doc})
	if err != nil {
		return nil, err
	}
	if count.PageCount > pdfPagesMax {
		return nil, fault.New(fault.Permanent, "too_large", "%s has %d pages, at most %d are read", base(p.path), count.PageCount, pdfPagesMax)
	}
	pages := make([]pdfPage, count.PageCount)
	total := 0
	for i := range pages {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		pages[i] = p.page(i)
		if total += pages[i].size(); total > outputMax {
			return nil, tooMuchText(p.path)
		}
	}
	doc := &Document{MediaType: "application/pdf", Meta: map[string]string{}}
	p.metadata(doc)
	doc.Quality.Pages = len(pages)
	if err := p.judge(ctx, pages, doc); err != nil {
		return nil, err
	}
	dropRunningLines(pages)
	outline := p.outline(len(pages))
	body := pdfBody(pages, outline)
	doc.Text = chunk.Text{Body: body.text.String(), Format: chunk.FormatPlain, Sections: body.sections}
	if doc.Title == "" {
		doc.Title = pdfTitle(pages)
	}
	fillQuality(doc, doc.Text.Body)
	return doc, nil
}

// judge finds out whether the text layer is worth anything. Pages that need
// it are read by OCR, or the file is refused as having no text.
func (p *pdfReader) judge(ctx context.Context, pages []pdfPage, doc *Document) error {
	chars, noise := 0, 0
	var empty []int
	for i := range pages {
		c, n := pages[i].measure()
		if c-n < pdfSparse || float64(n) > pdfGarbageShare*float64(c) {
			empty = append(empty, i)
		}
		chars, noise = chars+c, noise+n
	}
	garbled := chars > 0 && float64(noise) > pdfGarbageShare*float64(chars)
	none := garbled || chars-noise < pdfSparse && len(pages) > 0 && len(empty) == len(pages) && !anyImageless(chars, pages)
	if len(empty) > 0 && p.env.helpers && (none || len(empty) > len(pages)/10) {
		done, err := p.ocrPages(ctx, pages, empty)
		if err != nil && (none || ctx.Err() != nil) {
			return err
		}
		doc.Quality.OCR = done > 0
		doc.Quality.EmptyPages = len(empty) - done
		if done > 0 {
			return nil
		}
	}
	doc.Quality.EmptyPages = len(empty)
	if !none {
		return nil
	}
	if bad := failedPages(pages); bad > 0 {
		return fault.New(fault.Permanent, "corrupt", "%d of the %d pages of %s cannot be read", bad, len(pages), base(p.path))
	}
	if garbled {
		return fault.New(fault.Permanent, "no_text", "the text layer of %s is unreadable (%d%% of its characters mean nothing)", base(p.path), 100*noise/chars).
			WithHint("Run it through OCR, or install tesseract and allow helpers.")
	}
	return needsTesseract(p.path, len(pages))
}

func failedPages(pages []pdfPage) (n int) {
	for i := range pages {
		if pages[i].failed {
			n++
		}
	}
	return n
}

// anyImageless reports whether a document with hardly any characters still
// says something: a short one is no scan.
func anyImageless(chars int, pages []pdfPage) bool {
	return chars > 0 && len(pages) <= 2
}

// metadata fills title and meta from the information dictionary.
func (p *pdfReader) metadata(doc *Document) {
	tags := []string{"Title", "Author", "Subject", "Keywords", "CreationDate", "ModDate"}
	got, err := p.engine.GetMetaData(&requests.GetMetaData{Document: p.doc, Tags: &tags})
	if err != nil {
		return // metadata is a bonus
	}
	for _, tag := range got.Tags {
		value := strings.Join(strings.Fields(cleanLine(clip(tag.Value, metaFieldMax))), " ")
		if value == "" {
			continue
		}
		switch tag.Tag {
		case "Title":
			if isRealTitle(value) {
				doc.Title = value
			}
		case "CreationDate":
			doc.Meta["created"] = pdfDate(value)
		case "ModDate":
			doc.Meta["modified"] = pdfDate(value)
		default:
			doc.Meta[strings.ToLower(tag.Tag)] = value
		}
	}
}

// isRealTitle refuses what programs put into the title unasked.
func isRealTitle(s string) bool {
	lower := strings.ToLower(s)
	for _, junk := range []string{"untitled", "microsoft word - ", "title", "document1", "(anonymous)", "slide 1", "powerpoint presentation"} {
		if lower == strings.TrimSpace(junk) {
			return false
		}
	}
	for _, ext := range []string{".dvi", ".doc", ".docx", ".tex", ".indd", ".qxd", ".ppt", ".pptx", ".pdf"} {
		if strings.HasSuffix(lower, ext) {
			return false
		}
	}
	letters := 0
	for _, r := range s {
		if unicode.IsLetter(r) {
			letters++
		}
	}
	return letters >= 2
}

// pdfDate turns "D:20240102030405+01'00'" into "2024-01-02T03:04:05".
func pdfDate(s string) string {
	d := strings.TrimPrefix(s, "D:")
	if len(d) < 8 || !isNumber(d[:8]) {
		return s
	}
	out := d[:4] + "-" + d[4:6] + "-" + d[6:8]
	if len(d) >= 14 && isNumber(d[8:14]) {
		out += "T" + d[8:10] + ":" + d[10:12] + ":" + d[12:14]
	}
	return out
}
