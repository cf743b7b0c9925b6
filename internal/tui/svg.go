package tui

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Sizes of the drawing, in its units.
const (
	svgCell   = 8.4 // width of a cell
	svgLine   = 18  // height of a line
	svgFont   = 14
	svgMargin = 14
)

// SVG draws a frame of w×h cells, as Snapshot returns it in true colour, as a
// picture of a terminal. The same frame gives the same bytes.
func SVG(frame string, w, h int, dark bool) string {
	fg, bg := "#c0caf5", "#16161e"
	if !dark {
		fg, bg = "#1f2430", "#fbfbfd"
	}
	pw, ph := float64(w)*svgCell+2*svgMargin, h*svgLine+2*svgMargin
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%d" viewBox="0 0 %.0f %d" role="img">`+"\n", pw, ph, pw, ph)
	fmt.Fprintf(&b, `<rect width="%.0f" height="%d" rx="8" fill="%s"/>`+"\n", pw, ph, bg)
	fmt.Fprintf(&b, `<g font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace" font-size="%d" fill="%s" xml:space="preserve">`+"\n", svgFont, fg)
	for y, line := range strings.Split(strings.TrimSuffix(frame, "\n"), "\n") {
		for _, r := range runs(line) {
			r.draw(&b, y, fg, bg)
		}
	}
	b.WriteString("</g>\n</svg>\n")
	return b.String()
}

// run is a piece of a line in one style.
type run struct {
	text string
	x    int // cell at which it begins
	sgr
}

// sgr is what the styles of this program may ask of a terminal.
type sgr struct {
	fg, bg                          string // "#rrggbb"; "" = the terminal's
	bold, faint, underline, reverse bool
}

func runs(line string) (out []run) {
	var style sgr
	x := 0
	for line != "" {
		i := strings.IndexByte(line, 0x1b)
		if i < 0 {
			i = len(line)
		}
		if i > 0 {
			if n := len(out); n > 0 && out[n-1].sgr == style {
				out[n-1].text += line[:i]
			} else {
				out = append(out, run{line[:i], x, style})
			}
			x += width(line[:i])
			line = line[i:]
			continue
		}
		seq, _, n, _ := ansi.DecodeSequence(line, 0, nil)
		if params, ok := strings.CutPrefix(seq, "\x1b["); ok && strings.HasSuffix(params, "m") {
			style.apply(strings.Split(strings.TrimSuffix(params, "m"), ";"))
		}
		line = line[max(n, 1):]
	}
	return out
}

func (s *sgr) apply(params []string) {
	for i := 0; i < len(params); i++ {
		switch params[i] {
		case "", "0":
			*s = sgr{}
		case "1":
			s.bold = true
		case "2":
			s.faint = true
		case "4":
			s.underline = true
		case "7":
			s.reverse = true
		case "38", "48":
			if i+4 >= len(params) || params[i+1] != "2" {
				return
			}
			color := "#"
			for _, p := range params[i+2 : i+5] {
				v, err := strconv.ParseUint(p, 10, 8)
				if err != nil {
					return
				}
				color += fmt.Sprintf("%02x", v)
			}
			if params[i] == "38" {
				s.fg = color
			} else {
				s.bg = color
			}
			i += 4
		}
	}
}

func (r run) draw(b *strings.Builder, line int, fg, bg string) {
	cells := width(r.text)
	if cells == 0 {
		return
	}
	if r.reverse {
		r.fg, r.bg = cmp.Or(r.bg, bg), cmp.Or(r.fg, fg)
	}
	x, y, w := svgMargin+float64(r.x)*svgCell, svgMargin+line*svgLine, float64(cells)*svgCell
	if r.bg != "" {
		fmt.Fprintf(b, `<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s"/>`+"\n", x, y, w, svgLine, r.bg)
	}
	if strings.TrimSpace(r.text) == "" {
		return
	}
	// The length holds the columns whatever the font; spaces at the ends would be dropped by some viewers.
	lead := width(r.text) - width(strings.TrimLeft(r.text, " "))
	text := strings.Trim(r.text, " ")
	fmt.Fprintf(b, `<text x="%.1f" y="%d" textLength="%.1f" lengthAdjust="spacingAndGlyphs"`, x+float64(lead)*svgCell, y+svgFont-1, float64(width(text))*svgCell)
	if r.fg != "" {
		fmt.Fprintf(b, ` fill="%s"`, r.fg)
	}
	for _, a := range []struct {
		on   bool
		attr string
	}{{r.bold, ` font-weight="bold"`}, {r.faint, ` opacity="0.6"`}, {r.underline, ` text-decoration="underline"`}} {
		if a.on {
			b.WriteString(a.attr)
		}
	}
	b.WriteByte('>')
	// A strings.Builder takes everything.
	_ = xml.EscapeText(b, []byte(strings.ReplaceAll(text, " ", "\u00a0")))
	b.WriteString("</text>\n")
}
