package extract

import (
	"math"
	"sort"
	"strings"
	"unicode"
)

const (
	columnLine  = 30  // characters: two lines this long side by side are columns of prose
	columnShare = 0.1 // of the lines that stand beside others: the page is set in columns
)

// orderLines puts the lines of a form or a page of tables in the order they
// are seen: top down, and left to right in a row. Programs write such pages
// in any order. A page of prose in columns keeps the order of its content,
// which is by column.
func orderLines(lines []pdfLine) []pdfLine {
	jumps := 0
	for i, l := range lines {
		if l.size == 0 && strings.TrimSpace(l.text) != "" {
			return lines
		}
		if i > 0 && l.size > 0 && lines[i-1].size > 0 && l.y > lines[i-1].y+l.size/2 {
			jumps++
		}
	}
	if jumps == 0 || len(lines) > pdfLinesMax {
		return lines
	}
	sorted := make([]pdfLine, 0, len(lines))
	for _, l := range lines {
		if l.size > 0 {
			sorted = append(sorted, l)
		}
	}
	sort.SliceStable(sorted, func(i, j int) bool { return sorted[i].y > sorted[j].y })
	rows := rowsOf(sorted)
	if inColumns(rows, len(sorted)) {
		return lines
	}
	out := lines[:0:0]
	for _, row := range rows {
		rtl := isRightToLeft(row)
		sort.SliceStable(row, func(i, j int) bool { return row[i].x < row[j].x != rtl && row[i].x != row[j].x })
		joined := row[0]
		for _, l := range row[1:] {
			joined.text = strings.TrimRight(joined.text, " ") + " " + strings.TrimLeft(l.text, " ")
			joined.size = max(joined.size, l.size)
		}
		out = append(out, joined)
	}
	return out
}

// rowsOf groups lines, sorted by height, whose baselines are nearly the same.
func rowsOf(sorted []pdfLine) [][]pdfLine {
	var rows [][]pdfLine
	for _, l := range sorted {
		if n := len(rows); n > 0 && math.Abs(rows[n-1][0].y-l.y) < 0.3*math.Min(rows[n-1][0].size, l.size) {
			rows[n-1] = append(rows[n-1], l)
			continue
		}
		rows = append(rows, []pdfLine{l})
	}
	return rows
}

func inColumns(rows [][]pdfLine, lines int) bool {
	beside := 0
	for i, row := range rows {
		long := 0
		for _, l := range row {
			if textWidth(l.text) >= columnLine {
				long++
			}
		}
		if i > 0 && len(row) == 1 && len(rows[i-1]) == 1 { // columns whose lines do not align
			a, b := rows[i-1][0], row[0]
			if a.y-b.y < 0.7*math.Min(a.size, b.size) && textWidth(a.text) >= columnLine && textWidth(b.text) >= columnLine {
				long = 2
			}
		}
		if long >= 2 {
			beside += long
		}
	}
	return float64(beside) > columnShare*float64(lines)
}

// textWidth is the number of characters, where East Asian ones count twice.
func textWidth(s string) int {
	n := 0
	for _, r := range s {
		if n++; r >= 0x1100 && (r <= 0x11ff || r >= 0x2e80 && r <= 0xd7ff || r >= 0xf900 && r <= 0xfaff || r >= 0xff00 && r <= 0xff60) {
			n++
		}
	}
	return n
}

func isRightToLeft(row []pdfLine) bool {
	rtl, ltr := 0, 0
	for _, l := range row {
		for _, r := range l.text {
			switch {
			case unicode.In(r, unicode.Arabic, unicode.Hebrew, unicode.Syriac, unicode.Thaana):
				rtl++
			case unicode.IsLetter(r):
				ltr++
			}
		}
	}
	return rtl > ltr
}
