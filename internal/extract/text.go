package extract

import (
	"context"
	"strings"

	"ragd/internal/chunk"
)

// readText makes a reader for files that are text as they stand.
func readText(mediaType string, format chunk.Format) reader {
	return func(_ context.Context, src Source, t fileType) (*Document, error) {
		if err := checkText(src.Path, src.Data); err != nil {
			return nil, err
		}
		d := decode(src.Data, "")
		n := normalise(d)
		return &Document{
			MediaType: mediaType,
			Text:      chunk.Text{Body: n.body, Format: format, Language: t.language, Source: n.source},
			Quality:   n.quality(d),
		}, nil
	}
}

// readCode reads source code. Where parsing is allowed, what is found of its
// structure goes with it.
func readCode(ctx context.Context, src Source, t fileType) (*Document, error) {
	doc, err := readText("text/x-source", chunk.FormatCode)(ctx, src, t)
	if err != nil || t.env == nil || !t.env.parse {
		return doc, err
	}
	language := t.language
	if strings.HasSuffix(strings.ToLower(src.Path), ".tsx") {
		language = "tsx"
	}
	doc.Text.Sections = codeSections(doc.Text.Body, language)
	return doc, nil
}
