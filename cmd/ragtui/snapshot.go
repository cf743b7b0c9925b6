package main

import (
	"context"
	"io"

	"ragd/internal/adminclient"
	"ragd/internal/fault"
	"ragd/internal/tui"
	"ragd/internal/wire"
)

// snapshot prints one frame as text, or as a picture in true colour.
func snapshot(ctx context.Context, f flags, o tui.Options, client *adminclient.Client, out io.Writer) error {
	w, h, err := tui.ParseSize(f.snapshot)
	if err != nil {
		return err
	}
	picture := f.format == "svg"
	if picture {
		o.Color, o.Backend = tui.TrueColor, steady{client}
	} else if f.format != "text" {
		return fault.New(fault.Invalid, "bad_format", "--format is %q; allowed: text, svg", f.format)
	}
	frame, err := tui.Snapshot(ctx, o, w, h, f.offline)
	if err != nil {
		return err
	}
	if picture {
		frame = tui.SVG(frame, w, h, o.Dark)
	}
	_, err = io.WriteString(out, frame)
	return err
}

// steady is a daemon that does not tell how long a search took, so that the
// same index gives the same picture.
type steady struct{ *adminclient.Client }

func (s steady) Search(ctx context.Context, query, kb, mode string, topK int, explain bool) (wire.SearchResult, error) {
	r, err := s.Client.Search(ctx, query, kb, mode, topK, explain)
	r.TookMS = 0
	return r, err
}
