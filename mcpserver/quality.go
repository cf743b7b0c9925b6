package mcpserver

import (
	"context"
	"encoding/json"
	"strings"

	"ragd/internal/search"
	"ragd/internal/store"
	"ragd/internal/wire"
)

// qualityOf is the note on a document's text; nil when it has none yet.
func qualityOf(d store.DocRecord) *wire.Quality {
	var q wire.Quality
	if len(d.Meta.Quality) == 0 || json.Unmarshal(d.Meta.Quality, &q) != nil {
		return nil
	}
	q.Note, q.Flag = clip(q.Note, 300), clip(q.Flag, 100)
	return &q
}

func qualitySchema() schema {
	s := object([]string{"chars"}, map[string]schema{
		"chars": integer("Characters of text."), "bad_share": number("Share of them that could not be read, 0 to 1."),
		"pages": integer("Pages."), "empty_pages": integer("Pages without text."),
		"language": text("ISO 639-1; left out when unsure."), "charset": text("Character set, when it is not UTF-8."),
		"ocr": boolean("The text was read from pictures."), "note": text("What is guessed, and what of the file was not read."),
		"flag": text("The text is poor, and why."),
	})
	s["description"] = "How far the text can be trusted."
	return s
}

// qualityChars is about what a note takes of a reply.
func qualityChars(q *wire.Quality) int {
	if q == nil {
		return 0
	}
	return 40 + len(q.Note) + len(q.Flag)
}

// qualityText is what a person needs of it: "; de; poor: 7 of 9 pages have no text".
func qualityText(q *wire.Quality) string {
	if q == nil {
		return ""
	}
	var parts []string
	if q.Language != "" {
		parts = append(parts, q.Language)
	}
	if q.OCR {
		parts = append(parts, "read by OCR")
	}
	if q.Flag != "" {
		parts = append(parts, "poor: "+visible(q.Flag, false))
	}
	if q.Note != "" {
		parts = append(parts, "note: "+visible(q.Note, false))
	}
	if len(parts) == 0 {
		return ""
	}
	return "; " + strings.Join(parts, "; ")
}

// poor says of which hits' documents the text is poor.
func (c *call) poor(ctx context.Context, hits []search.Hit) (map[int64]string, error) {
	ids := make([]int64, len(hits))
	for i, h := range hits {
		ids[i] = h.DocumentID
	}
	return c.deps.Store.Flagged(ctx, ids)
}
