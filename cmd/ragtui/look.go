package main

import (
	"os"
	"strings"

	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/term"
	"github.com/muesli/termenv"

	"ragd/internal/fault"
	"ragd/internal/tui"
)

// look is what the terminal can show.
type look struct {
	color tui.ColorLevel
	dark  bool
	utf8  bool
}

func lookOf(f flags, out *os.File) (look, error) {
	l := look{utf8: !f.ascii && utf8Locale(os.Getenv)}
	switch f.color {
	case "auto":
		l.color = autoColor(out, f.snapshot != "")
	case "none":
		l.color = tui.Plain
	case "mono":
		l.color = tui.Mono
	case "16":
		l.color = tui.Colors16
	case "256":
		l.color = tui.Colors256
	case "true":
		l.color = tui.TrueColor
	default:
		return l, fault.New(fault.Invalid, "bad_color", "--color is %q; allowed: auto, none, mono, 16, 256, true", f.color)
	}
	switch f.theme {
	case "auto":
		l.dark = l.color == tui.Plain || f.snapshot != "" || lipgloss.HasDarkBackground()
	case "dark":
		l.dark = true
	case "light":
	default:
		return l, fault.New(fault.Invalid, "bad_theme", "--theme is %q; allowed: auto, dark, light", f.theme)
	}
	return l, nil
}

// autoColor follows NO_COLOR and TERM. A snapshot is plain text unless colour is asked for.
func autoColor(out *os.File, snapshot bool) tui.ColorLevel {
	if snapshot || !term.IsTerminal(out.Fd()) || os.Getenv("TERM") == "dumb" {
		return tui.Plain
	}
	if os.Getenv("NO_COLOR") != "" {
		return tui.Mono
	}
	switch termenv.NewOutput(out).EnvColorProfile() {
	case termenv.TrueColor:
		return tui.TrueColor
	case termenv.ANSI256:
		return tui.Colors256
	case termenv.ANSI:
		return tui.Colors16
	}
	return tui.Mono
}

// utf8Locale reads the locale the way the C library does: LC_ALL, else LC_CTYPE, else LANG.
func utf8Locale(getenv func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := getenv(name); v != "" {
			v = strings.ToLower(v)
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return false
}
