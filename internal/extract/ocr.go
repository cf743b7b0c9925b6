package extract

import (
	"context"

	"ragd/internal/fault"
)

func needsTesseract(path string, pages int) error {
	what := "an image"
	if pages > 0 {
		what = "pages that are images"
	}
	return fault.New(fault.Permanent, "needs_tesseract", "%s holds %s and no text; reading it needs tesseract", base(path), what).
		WithHint("Install tesseract and allow helpers, or run the file through OCR yourself.")
}

func (p *pdfReader) ocrPages(ctx context.Context, pages []pdfPage, which []int) (int, error) {
	return 0, needsTesseract(p.path, len(pages))
}
