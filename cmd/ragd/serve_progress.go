package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"ragd/indexer"
)

// showProgress keeps one line on the terminal up to date while there is work,
// and prints one when it is done.
func (d *daemon) showProgress(ctx context.Context, w io.Writer) {
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	last, busy := "", false
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		st := d.indexer.Status(ctx)
		q, err := d.store.Queue(ctx, nil)
		if err != nil {
			continue
		}
		line := progressLine(st, q.Pending+q.Processing, q.Failed)
		working := st.Phase == indexer.PhaseIndexing || st.Phase == indexer.PhaseScanning || st.Phase == indexer.PhaseWarmingUp
		if line != last && (working || busy) {
			end := "\r"
			if !working {
				end = "\n"
			}
			fmt.Fprintf(w, "\r\x1b[K%s%s", line, end)
		}
		last, busy = line, working
	}
}

func progressLine(st indexer.Status, open, failed int64) string {
	switch {
	case st.Phase == indexer.PhasePaused:
		return "paused: " + st.Why
	case open == 0 && st.Phase == indexer.PhaseIdle:
		if failed > 0 {
			return fmt.Sprintf("up to date; %d files failed (ragd jobs --failed says why)", failed)
		}
		return "up to date"
	case st.RateSure && st.Rate > 0:
		return fmt.Sprintf("%s: %d to go, %.0f/s, about %s", st.Phase, open, st.Rate, (time.Duration(float64(open)/st.Rate) * time.Second).Round(time.Second))
	default:
		return fmt.Sprintf("%s: %d to go", st.Phase, open)
	}
}
