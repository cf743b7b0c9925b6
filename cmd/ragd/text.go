package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// visible shows what a terminal would act on, or hide: control characters,
// bytes that are no UTF-8, and the marks that turn the direction of text.
func visible(s string) string {
	if !strings.ContainsFunc(s, hidden) && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case hidden(r):
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		default:
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	return b.String()
}

func hidden(r rune) bool {
	return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' ||
		r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069' || r == '\u200e' || r == '\u200f' || r == '\u061c'
}

// oneLine folds white space into single spaces, shows control characters, and cuts at limit characters.
func oneLine(s string, limit int) string {
	s = visible(strings.Join(strings.Fields(s), " "))
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	return strings.TrimRight(string([]rune(s)[:limit-1]), " ") + "…"
}

func bytesText(n int64) string {
	const unit = 1024
	if n < unit {
		return strconv.FormatInt(n, 10) + " B"
	}
	v := float64(n)
	for _, name := range []string{"KiB", "MiB", "GiB"} {
		v /= unit
		if v < 999.5 {
			return fmt.Sprintf("%.1f %s", v, name)
		}
	}
	return fmt.Sprintf("%.1f TiB", v/unit)
}

// countText groups digits: 12,345.
func countText(n int64) string {
	s := strconv.FormatInt(n, 10)
	start := 0
	if n < 0 {
		start = 1
	}
	for i := len(s) - 3; i > start; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func plural(n int64, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return countText(n) + " " + word + "s"
}

// durationText keeps the two largest units: 3d 4h, 5m 2s.
func durationText(d time.Duration) string {
	s := int64(d.Round(time.Second) / time.Second)
	parts := []struct {
		name string
		size int64
	}{{"d", 86400}, {"h", 3600}, {"m", 60}, {"s", 1}}
	for i, p := range parts {
		if s < p.size && p.size > 1 {
			continue
		}
		out := strconv.FormatInt(s/p.size, 10) + p.name
		if rest := s % p.size; rest > 0 && i+1 < len(parts) {
			if next := rest / parts[i+1].size; next > 0 {
				out += " " + strconv.FormatInt(next, 10) + parts[i+1].name
			}
		}
		return out
	}
	return "0s"
}

// whenText is a time in the reader's zone; empty for none.
func whenText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format("2006-01-02 15:04:05")
}
