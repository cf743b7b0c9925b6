package mcpserver

import (
	"fmt"
	"strconv"
	"time"
)

// count renders a number with its noun: "1 document", "3 documents".
func count(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.FormatInt(n, 10) + " " + noun + "s"
}

// size renders bytes for people, in powers of 1000.
func size(n int64) string {
	const unit = 1000
	if n < unit {
		return strconv.FormatInt(n, 10) + " B"
	}
	f, i := float64(n)/unit, 0
	for f >= unit && i < 4 {
		f /= unit
		i++
	}
	return fmt.Sprintf("%.1f %cB", f, "kMGTP"[i])
}

// stamp renders a time, nil for none.
func stamp(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	s := t.UTC().Format(time.RFC3339)
	return &s
}

func itoa(n int) string { return strconv.Itoa(n) }

func unixNano(ns int64) time.Time { return time.Unix(0, ns) }
