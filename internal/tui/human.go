package tui

import (
	"fmt"
	"strconv"
	"time"
)

// count writes a number with thousands separators: 1,204.
func count[T int | int64](n T) string {
	s := strconv.FormatInt(int64(n), 10)
	neg := ""
	if n < 0 {
		neg, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return neg + s
}

// plural writes a count with its noun: "1 file", "2 files".
func plural[T int | int64](n T, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return count(n) + " " + many
}

// size writes bytes in decimal units, as file managers do: 12.4 MB.
func size(n int64) string {
	if n < 1000 {
		return fmt.Sprintf("%d B", max(n, 0))
	}
	v := float64(n)
	for _, unit := range []string{"kB", "MB", "GB", "TB"} {
		v /= 1000
		if v < 9.95 {
			return fmt.Sprintf("%.1f %s", v, unit)
		}
		if v < 999.5 {
			return fmt.Sprintf("%.0f %s", v, unit)
		}
	}
	return fmt.Sprintf("%.0f PB", v/1000)
}

// span writes a duration with at most two units: "42 s", "3 min", "2 h 5 min", "4 d".
func span(d time.Duration) string {
	switch {
	case d < time.Second:
		return "0 s"
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 24*time.Hour:
		h, m := int(d.Hours()), int(d.Minutes())%60
		if m == 0 {
			return fmt.Sprintf("%d h", h)
		}
		return fmt.Sprintf("%d h %d min", h, m)
	}
	return fmt.Sprintf("%d d", int(d.Hours()/24))
}

// shortSpan is span in one unit without a space: 42s, 3m, 2h, 4d.
func shortSpan(d time.Duration) string {
	switch {
	case d < 0:
		return "0s"
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}

// ago says how long before now t was; "never" for the zero time.
func ago(now, t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	d := now.Sub(t)
	if d < 5*time.Second {
		return "just now"
	}
	return span(d) + " ago"
}

// local is a time in the zone of the person's clock; the daemon's values may be in another.
func (s *shared) local(t time.Time) time.Time { return t.In(s.now().Location()) }

// rate writes a speed: 4.2, 120.
func rate(v float64) string {
	if v < 9.95 {
		return fmt.Sprintf("%.1f", v)
	}
	return count(int64(v + 0.5))
}
