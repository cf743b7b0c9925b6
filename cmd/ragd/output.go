package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// printJSON writes v for programs.
func (a *app) printJSON(v any) error {
	enc := json.NewEncoder(a.out)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// page collects the lines of an answer and remembers the first write that failed.
type page struct {
	w   *bufio.Writer
	err error
}

func (a *app) page() *page { return &page{w: bufio.NewWriter(a.out)} }

// line writes text as it is; what came from files must have been made visible.
func (p *page) line(format string, args ...any) {
	if _, err := fmt.Fprintf(p.w, format+"\n", args...); err != nil && p.err == nil {
		p.err = err
	}
}

func (p *page) end() error {
	if err := p.w.Flush(); p.err == nil {
		p.err = err
	}
	return p.err
}

// table is text in columns. Columns whose header begins with ">" are right-aligned.
type table struct {
	head []string
	rows [][]string
}

func newTable(head ...string) *table { return &table{head: head} }

func (t *table) add(cells ...string) {
	for i := range cells {
		cells[i] = visible(cells[i])
	}
	t.rows = append(t.rows, cells)
}

// write puts the table on a page, each line behind indent. Empty columns are left out.
func (t *table) write(p *page, indent string) {
	right := make([]bool, len(t.head))
	head := make([]string, len(t.head))
	for i, h := range t.head {
		head[i], right[i] = strings.CutPrefix(h, ">")
	}
	widths := make([]int, len(head))
	for _, row := range t.rows {
		for i, c := range row {
			widths[i] = max(widths[i], cellWidth(c))
		}
	}
	for i, h := range head {
		if widths[i] > 0 {
			widths[i] = max(widths[i], cellWidth(h))
		}
	}
	for _, row := range append([][]string{head}, t.rows...) {
		var b strings.Builder
		for i, c := range row {
			if widths[i] == 0 {
				continue
			}
			gap := strings.Repeat(" ", widths[i]-cellWidth(c))
			if right[i] {
				b.WriteString(gap + c + "  ")
			} else {
				b.WriteString(c + gap + "  ")
			}
		}
		p.line("%s", strings.TrimRight(indent+b.String(), " "))
	}
}

// cellWidth is the number of terminal cells of visible text.
func cellWidth(s string) int {
	n := 0
	for _, r := range s {
		switch {
		case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		case width.LookupRune(r).Kind() == width.EastAsianWide, width.LookupRune(r).Kind() == width.EastAsianFullwidth, r >= 0x1f300 && r <= 0x1faff:
			n += 2
		default:
			n++
		}
	}
	return n
}
