package main

import (
	"context"
	"time"

	"ragd/internal/extract"
	"ragd/internal/store"
)

// helperLook is how often it is looked whether a helper program was installed.
const helperLook = time.Minute

// retryWhenHelpersAppear tries files again that were parked for want of a
// helper once more helpers are installed than before.
func (d *daemon) retryWhenHelpersAppear(ctx context.Context) {
	known := len(extract.InstalledHelpers())
	if known > 0 { // one may have come while no daemon ran
		d.retryHelped(ctx)
	}
	tick := time.NewTicker(helperLook)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now := len(extract.InstalledHelpers())
		if now > known {
			d.retryHelped(ctx)
		}
		known = now
	}
}

func (d *daemon) retryHelped(ctx context.Context) {
	for _, code := range []string{"needs_tesseract", "needs_helper"} {
		n, err := d.indexer.RetryAll(ctx, store.JobFilter{State: store.JobFailed, Code: code})
		if err != nil {
			d.log.Warn("files that wait for a helper program could not be tried again", "error", err)
		} else if n > 0 {
			d.log.Info("a helper program is there; files that waited for it are tried again", "files", n)
		}
	}
}
