package indexer

import (
	"encoding/json"
	"path"
	"strings"

	"ragd/internal/extract"
	"ragd/internal/store"
	"ragd/kbroot"
)

// metaOf gathers a document's metadata; the title is empty when neither the
// front matter nor the text has one.
func metaOf(doc *extract.Document) store.DocMeta {
	m := store.DocMeta{
		Title:      doc.Front.Title,
		Type:       doc.Front.Type,
		Status:     doc.Front.Status,
		Tags:       doc.Front.Tags,
		Canon:      doc.Front.Canon,
		ArtifactID: doc.Front.ArtifactID,
		Created:    doc.Front.Created,
		Updated:    doc.Front.Updated,
		Front:      doc.Front.Fields,
		Meta:       doc.Meta,
	}
	if m.Title == "" {
		m.Title = doc.Title
	}
	if m.Type == "" {
		m.Type = "note"
	}
	if m.Status == "" {
		m.Status = "published"
	}
	if doc.Front.Unreadable != "" {
		m.FrontError = "front matter: unreadable, " + doc.Front.Unreadable
	}
	if q, err := json.Marshal(doc.Quality); err == nil {
		m.Quality = q
	}
	return m
}

// baseTitle is the title of a document that names none: its file's name
// without the extension.
func baseTitle(p string) string {
	base := path.Base(p)
	if ext := path.Ext(base); ext != "" && ext != base {
		base = strings.TrimSuffix(base, ext)
	}
	return kbroot.DisplayPath(base)
}
