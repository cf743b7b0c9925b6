package extract

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Thresholds beyond which a document's text is called poor. A page without
// text may be a picture or blank; half of them are a scan.
const (
	poorBadShare   = 0.02 // of characters that are replacements or control characters
	poorEmptyShare = 0.5  // of pages without text
	poorBadLeast   = 3    // such characters in all: one is an accident
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
	if q.EmptyPages > 0 {
		q.remark("%d of %d pages have no text.", q.EmptyPages, q.Pages)
	}
}

const noteMax = 600 // bytes of a note

// remark adds a sentence to the note.
func (q *Quality) remark(format string, args ...any) {
	s := fmt.Sprintf(format, args...)
	if strings.Contains(q.Note, s) || len(q.Note)+len(s) > noteMax {
		return
	}
	q.Note = strings.TrimSpace(q.Note + " " + s)
}

// left remarks that some of the parts of a file were not read, and why.
func (q *Quality) left(what string, unread, all int, why string) {
	if unread > 0 {
		q.remark("%d of %d %s were not read: %s.", unread, all, what, why)
	}
}

// deep remarks that a writer's source went deeper than is read.
func (q *Quality) deep(w *mdWriter) {
	if w.deep {
		q.remark("What is nested too deep in it was not read.")
	}
}

// judge completes the note once the text is final: the language, and whether
// the text is poor. Source code and data have no language of their own.
func (q *Quality) judge(body string, prose bool) {
	if q.Language == "" && prose {
		q.Language = detectLanguage(body)
	}
	switch {
	case q.BadShare >= poorBadShare && q.BadShare*float64(q.Chars) >= poorBadLeast:
		q.Flag = fmt.Sprintf("%.0f %% of its characters are unreadable", max(100*q.BadShare, 1))
	case q.Pages > 0 && float64(q.EmptyPages) >= poorEmptyShare*float64(q.Pages):
		q.Flag = fmt.Sprintf("%d of its %d pages have no text", q.EmptyPages, q.Pages)
	}
}
