package extract

import (
	"fmt"
	"unicode"
	"unicode/utf8"
)

// fillQuality measures a body that was made, not copied.
func fillQuality(doc *Document, body string) {
	q := &doc.Quality
	bad := 0
	q.Chars = 0
	for _, r := range body {
		q.Chars++
		if r == utf8.RuneError || unicode.Is(unicode.Co, r) {
			bad++
		}
	}
	if q.Chars > 0 {
		q.BadShare = float64(bad) / float64(q.Chars)
	}
	if q.Note == "" && q.EmptyPages > 0 {
		q.Note = fmt.Sprintf("%d of %d pages have no text.", q.EmptyPages, q.Pages)
	}
}
