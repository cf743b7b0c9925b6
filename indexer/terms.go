package indexer

import (
	"crypto/sha256"
	"path"

	"ragd/internal/analysis"
	"ragd/internal/chunk"
	"ragd/internal/store"
)

// Terms makes the index terms of chunks. It keeps buffers, so it serves one
// goroutine.
type Terms struct {
	analyzer *analysis.Analyzer
	scratch  []byte
}

// NewTerms returns a Terms.
func NewTerms() *Terms { return &Terms{analyzer: analysis.New()} }

// Chunks hashes and analyses the chunks of text. The file's name takes part
// in the title's terms, so that a document is found by it.
func (t *Terms) Chunks(docPath, title, text string, chunks []chunk.Chunk) []store.ChunkInput {
	titleTerms := t.title(docPath, title)
	out := make([]store.ChunkInput, len(chunks))
	for i, c := range chunks {
		content := c.Content(text)
		out[i] = store.ChunkInput{
			Chunk:        c,
			Hash:         sha256.Sum256([]byte(content)),
			TitleTerms:   titleTerms,
			HeadingTerms: t.ofAll(c.Headings),
			BodyTerms:    t.of(content),
		}
	}
	return out
}

// Again makes the three columns' terms of one stored chunk; the store's repair
// calls it.
func (t *Terms) Again(docPath, title string, headings []string, content string) (titleTerms, headingTerms, bodyTerms string) {
	return t.title(docPath, title), t.ofAll(headings), t.of(content)
}

func (t *Terms) title(docPath, title string) string {
	terms := t.of(title)
	if name := path.Base(docPath); name != title && baseTitle(docPath) != title {
		terms += " " + t.of(name)
	}
	return terms
}

func (t *Terms) ofAll(parts []string) string {
	t.scratch = t.scratch[:0]
	for _, p := range parts {
		t.scratch = t.analyzer.AppendTerms(t.scratch, p)
	}
	return string(t.scratch)
}

func (t *Terms) of(s string) string {
	t.scratch = t.analyzer.AppendTerms(t.scratch[:0], s)
	return string(t.scratch)
}
