// Package extract turns a file's bytes into normalised text with structure
// and metadata. It owns the registry of formats, their versions and their
// limits, and the capped child process in which risky formats run. It does
// not decide what to index (that is kbroot and indexer), does not cut text
// (chunk) and writes nothing.
package extract

import (
	"context"
	"time"

	"ragd/internal/chunk"
)

// Source is one file handed to an extractor. Data is the whole file, already
// within the size cap, and is hashed by the caller from these same bytes.
type Source struct {
	Path    string // relative to its KB; the name decides the format
	ModTime time.Time
	Data    []byte
}

// Document is what came out of a file.
type Document struct {
	MediaType string
	Title     string // from metadata or the first heading; empty = none found, the caller falls back to the file's name
	Text      chunk.Text
	Front     FrontMatter
	Meta      map[string]string // author, date, subject …; bounded
	Quality   Quality
	Parts     []Part // sub-documents: attachments, mails of an mbox
}

// FrontMatter is the block of metadata before a Markdown body.
type FrontMatter struct {
	Raw        string // without the fences; empty = none
	Fields     map[string]any
	Unreadable string // why Fields is empty although Raw is not: "line 3: …"
	Title      string
	Type       string
	Status     string
	Tags       []string
	Canon      bool
	ArtifactID string
	Created    string // as written
	Updated    string // as written
}

// Part is a document inside a document; its path is the parent's, " › " and Name.
type Part struct {
	Name     string
	Document *Document
}

// Quality is a note about how far the text can be trusted.
type Quality struct {
	Chars       int     `json:"chars"`
	BadShare    float64 `json:"bad_share"` // replacement and control characters / characters
	EmptyPages  int     `json:"empty_pages,omitempty"`
	Pages       int     `json:"pages,omitempty"`
	Language    string  `json:"language,omitempty"`     // ISO 639-1; empty = unsure, or not prose
	Charset     string  `json:"charset,omitempty"`      // when it was not UTF-8
	CharsetSure bool    `json:"charset_sure,omitempty"` // false = guessed
	OCR         bool    `json:"ocr,omitempty"`
	Note        string  `json:"note,omitempty"` // sentences for a person: what is guessed, what was not read
	Flag        string  `json:"flag,omitempty"` // why the text is poor; empty = it is not
}

// Format is one entry of the registry.
type Format struct {
	Name    string // "markdown", "pdf"
	Version int    // raised when the same bytes would come out otherwise
	Worker  bool   // runs in the child process
}

// Extractor finds the format of a file and extracts it.
type Extractor interface {
	// Lookup decides by name alone, without content. ok is false for a type
	// that is not supported; reason then says why in words for a person.
	Lookup(path string) (f Format, reason string, ok bool)
	// Extract reads a whole file. Its errors are *fault.Error: Permanent with
	// a code such as "encrypted", "corrupt", "wrong_type", "binary",
	// "too_large", "timeout", "no_text", "needs_tesseract"; Transient for what
	// may pass; context errors as they are. It never panics.
	Extract(ctx context.Context, src Source) (*Document, error)
}
