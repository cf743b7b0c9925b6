package extract

import (
	"context"

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
