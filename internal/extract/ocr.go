package extract

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/color"
	"image/draw"
	_ "image/gif"  // decoders register themselves
	_ "image/jpeg" // likewise
	"image/png"
	"io"
	"os/exec"
	"strings"
	"time"

	"github.com/klippa-app/go-pdfium/requests"
	_ "golang.org/x/image/bmp"  // likewise
	_ "golang.org/x/image/tiff" // likewise
	_ "golang.org/x/image/webp" // likewise

	"ragd/internal/chunk"
	"ragd/internal/fault"
)

const (
	ocrPixelsMax  = 50_000_000
	ocrPageLimit  = 60 * time.Second
	ocrPagesMax   = 200 // of a PDF
	ocrDPI        = 200
	ocrTextMax    = 4 << 20
	ocrSideMax    = 10_000 // pixels; what tesseract gets is scaled down to it
	ocrLanguages  = "eng"
	ocrOutputTail = 2 << 10
)

// readImage reads an image by OCR. The file is decoded here and handed on as
// PNG, so that tesseract never sees bytes that a stranger chose.
func readImage(ctx context.Context, src Source, t fileType) (*Document, error) {
	kind, err := checkImage(src)
	if err != nil {
		return nil, err
	}
	tool, ok := t.env.tesseract()
	if !ok {
		return nil, needsTesseract(src.Path, 0)
	}
	img, err := decodeImage(src)
	if err != nil {
		return nil, err
	}
	text, err := tool.read(ctx, img)
	if err != nil {
		return nil, ocrFault(ctx, src.Path, err)
	}
	text = cleanOCR(text)
	if text == "" {
		return nil, fault.New(fault.Permanent, "no_text", "no text was found in the image %s", base(src.Path))
	}
	doc := &Document{MediaType: "image/" + kind, Text: chunk.Text{Body: text, Format: chunk.FormatPlain}}
	doc.Quality.OCR = true
	doc.Quality.Note = "The text was read by OCR."
	fillQuality(doc, text)
	return doc, nil
}

// checkImage finds out what kind of image a file is, and refuses one that is
// too large to be decoded.
func checkImage(src Source) (kind string, err error) {
	config, kind, err := image.DecodeConfig(bytes.NewReader(src.Data))
	if err != nil {
		if len(bytes.TrimSpace(src.Data)) == 0 {
			return "", fault.New(fault.Permanent, "corrupt", "%s is empty", base(src.Path))
		}
		return "", wrongType(src.Path, detectType(src.Data))
	}
	if int64(config.Width)*int64(config.Height) > ocrPixelsMax {
		return "", fault.New(fault.Permanent, "too_large", "%s has %d×%d pixels, at most %d million are read", base(src.Path), config.Width, config.Height, ocrPixelsMax/1_000_000)
	}
	return kind, nil
}

func decodeImage(src Source) (image.Image, error) {
	img, _, err := image.Decode(bytes.NewReader(src.Data))
	if err != nil || img.Bounds().Empty() {
		return nil, fault.New(fault.Permanent, "corrupt", "%s is damaged", base(src.Path)).Because(err)
	}
	return img, nil
}

func needsTesseract(path string, pages int) error {
	what := "is an image"
	if pages > 0 {
		what = "holds pages that are images and no text"
	}
	return fault.New(fault.Permanent, "needs_tesseract", "%s %s; reading it needs tesseract", base(path), what).
		WithHint("Install tesseract, or run the file through OCR yourself.")
}

func ocrFault(ctx context.Context, path string, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, context.DeadlineExceeded):
		return fault.New(fault.Permanent, "timeout", "reading the image %s took longer than %v", base(path), ocrPageLimit).Because(err)
	}
	return fault.New(fault.Permanent, "ocr_failed", "tesseract could not read %s", base(path)).Because(err)
}

// ocrTool is an installed tesseract.
type ocrTool struct{ program, languages string }

// tesseract finds the program and its languages when helpers are allowed.
func (e *environment) tesseract() (ocrTool, bool) {
	if !e.helpers {
		return ocrTool{}, false
	}
	e.ocrMu.Lock()
	defer e.ocrMu.Unlock()
	program := e.look("tesseract") // each time: a worker may outlive an installation
	if program != e.ocr.program {
		e.ocr = ocrTool{program: program}
		if program != "" {
			e.ocr.languages = installedLanguages(program)
		}
	}
	return e.ocr, program != ""
}

// installedLanguages joins the installed languages, at most four, since each
// costs time; English comes first.
func installedLanguages(program string) string {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, program, "--list-langs").CombinedOutput()
	if err != nil {
		return ocrLanguages
	}
	var found []string
	for _, l := range strings.Split(string(out), "\n")[1:] {
		if l = strings.TrimSpace(l); l != "" && l != "osd" && !strings.ContainsAny(l, " /:") {
			if l == ocrLanguages {
				found = append([]string{l}, found...)
			} else {
				found = append(found, l)
			}
		}
	}
	if len(found) == 0 {
		return ocrLanguages
	}
	return strings.Join(found[:min(len(found), 4)], "+")
}

// read runs tesseract on an image, from pipe to pipe.
func (o ocrTool) read(ctx context.Context, img image.Image) (string, error) {
	var in bytes.Buffer
	if err := png.Encode(&in, flatten(img)); err != nil {
		return "", err
	}
	limited, cancel := context.WithTimeout(ctx, ocrPageLimit)
	defer cancel()
	cmd := exec.CommandContext(limited, o.program, "stdin", "stdout", "-l", o.languages, "--psm", "3")
	cmd.Stdin = &in
	var out, errs bytes.Buffer
	cmd.Stdout = &limitedWriter{w: &out, left: ocrTextMax}
	cmd.Stderr = &limitedWriter{w: &errs, left: ocrOutputTail}
	cmd.WaitDelay = time.Second
	if err := cmd.Run(); err != nil {
		if limited.Err() != nil {
			return "", limited.Err()
		}
		return "", errors.New(err.Error() + ": " + strings.ToValidUTF8(errs.String(), "�"))
	}
	return out.String(), nil
}

// flatten puts an image on white, in grey, no larger than tesseract takes.
func flatten(img image.Image) image.Image {
	b := img.Bounds()
	step := max(1, (max(b.Dx(), b.Dy())+ocrSideMax-1)/ocrSideMax)
	grey := image.NewGray(image.Rect(0, 0, max(1, b.Dx()/step), max(1, b.Dy()/step)))
	if step == 1 {
		draw.Draw(grey, grey.Bounds(), image.NewUniform(color.White), image.Point{}, draw.Src)
		draw.Draw(grey, grey.Bounds(), img, b.Min, draw.Over)
		return grey
	}
	for y := range grey.Bounds().Dy() {
		for x := range grey.Bounds().Dx() {
			grey.Set(x, y, img.At(b.Min.X+x*step, b.Min.Y+y*step))
		}
	}
	return grey
}

// limitedWriter takes everything and keeps the first bytes.
type limitedWriter struct {
	w    io.Writer
	left int
}

func (l *limitedWriter) Write(b []byte) (int, error) {
	n := min(len(b), l.left)
	l.left -= n
	if n > 0 {
		if _, err := l.w.Write(b[:n]); err != nil {
			return 0, err
		}
	}
	return len(b), nil
}

// cleanOCR leaves lines with letters or digits in them.
func cleanOCR(s string) string {
	var b strings.Builder
	blank := false
	for line := range strings.Lines(cleanText(s)) {
		line = strings.TrimSpace(line)
		if headingKey(line) == "" {
			blank = b.Len() > 0
			continue
		}
		if blank {
			b.WriteByte('\n')
		}
		blank = false
		b.WriteString(line + "\n")
	}
	return b.String()
}

// ocrPages reads pages without text; done is the number that gave some.
func (p *pdfReader) ocrPages(ctx context.Context, pages []pdfPage, which []int) (done int, err error) {
	tool, ok := p.env.tesseract()
	if !ok {
		return 0, needsTesseract(p.path, len(pages))
	}
	for _, i := range which[:min(len(which), ocrPagesMax)] {
		if err := ctx.Err(); err != nil {
			return done, err
		}
		img, release, err := p.render(i)
		if err != nil {
			continue // the other pages are read
		}
		text, err := tool.read(ctx, img)
		release()
		if err != nil {
			return done, ocrFault(ctx, p.path, err)
		}
		if text = cleanOCR(text); text == "" {
			continue
		}
		pages[i].lines, pages[i].ocr = nil, true
		for line := range strings.Lines(text) {
			pages[i].lines = append(pages[i].lines, pdfLine{text: strings.TrimRight(line, "\n")})
		}
		done++
	}
	if done == 0 {
		return 0, fault.New(fault.Permanent, "no_text", "no text was found on the pages of %s, by OCR neither", base(p.path))
	}
	return done, nil
}

func (p *pdfReader) render(index int) (image.Image, func(), error) {
	page := requests.Page{ByIndex: &requests.PageByIndex{Document: p.doc, Index: index}}
	size, err := p.engine.GetPageSize(&requests.GetPageSize{Page: page})
	if err != nil {
		return nil, nil, err
	}
	dpi := ocrDPI
	for dpi > 36 && size.Width/72*float64(dpi)*size.Height/72*float64(dpi) > ocrPixelsMax/4 {
		dpi -= 36
	}
	if size.Width/72*float64(dpi)*size.Height/72*float64(dpi) > ocrPixelsMax/4 {
		return nil, nil, errors.New("the page is too large to be rendered")
	}
	got, err := p.engine.RenderPageInDPI(&requests.RenderPageInDPI{Page: page, DPI: dpi})
	if err != nil {
		return nil, nil, err
	}
	return got.Result.Image, got.Cleanup, nil
}
