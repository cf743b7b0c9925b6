package extract

import (
	"context"
	"strings"
	"unicode/utf8"

	"ragd/internal/chunk"
)

// lineText is a text whose lines are rewritten one for one, so that line n of
// the body is line n of the file.
type lineText struct {
	lines    []string
	title    string
	format   chunk.Format
	language string
}

// rewrite changes t.lines in place and may set the rest. It must not change
// their number.
type rewrite func(t *lineText)

// readLines makes a reader of a rewrite.
func readLines(mediaType string, format chunk.Format, do rewrite) reader {
	return func(_ context.Context, src Source, ft fileType) (*Document, error) {
		if err := checkText(src.Path, src.Data); err != nil {
			return nil, err
		}
		d := decode(src.Data, "")
		n := normalise(d)
		if strings.Count(n.body, "\n") > rewriteLinesMax {
			return asItStands(mediaType, n, d), nil
		}
		t := lineText{lines: strings.Split(n.body, "\n"), format: format, language: ft.language}
		do(&t)
		doc := &Document{MediaType: mediaType, Title: t.title, Quality: n.quality(d)}
		doc.Text = chunk.Text{Format: t.format, Language: t.language, Source: n.source}
		doc.Text.Body = strings.Join(t.lines, "\n")
		if doc.Text.Body != n.body {
			doc.Text.Source = n.perLine()
			doc.Quality.Chars = utf8.RuneCountInString(doc.Text.Body)
		}
		if doc.Title == "" && t.format == chunk.FormatMarkdown {
			doc.Title = markdownTitle(doc.Text.Body)
		}
		return doc, nil
	}
}

// rewriteLinesMax is the most lines that are taken apart, in the daemon: each
// takes 32 bytes besides its text. A file of more is read as it stands.
const rewriteLinesMax = 250_000

func asItStands(mediaType string, n normalised, d decoded) *Document {
	return &Document{
		MediaType: mediaType, Quality: n.quality(d),
		Text: chunk.Text{Body: n.body, Format: chunk.FormatPlain, Source: n.source},
	}
}

// perLine is the source map with the place of every line written out.
func (n normalised) perLine() chunk.SourceMap {
	_, m := n.after(0)
	m.FirstLine = n.source.FirstLine
	return m
}
