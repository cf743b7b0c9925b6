package tui

import (
	"fmt"

	"ragd/internal/wire"
)

// qualityWords says how far a document's text can be trusted, the worst first.
func qualityWords(q *wire.Quality) []string {
	if q == nil {
		return nil
	}
	var words []string
	if q.Flag != "" {
		words = append(words, "poor: "+q.Flag)
	}
	if q.Note != "" {
		words = append(words, q.Note)
	}
	if q.OCR {
		words = append(words, "read by OCR")
	}
	if q.Pages > 0 {
		words = append(words, plural(int64(q.Pages), "page", "pages"))
	}
	if q.BadShare > 0 {
		words = append(words, fmt.Sprintf("%.1f %% unreadable", 100*q.BadShare))
	}
	if q.Language != "" {
		words = append(words, "language "+q.Language)
	}
	return words
}
