package extract

import (
	"strconv"
	"strings"
	"unicode"
)

const (
	runningLines   = 2   // lines at each edge of a page that may be headers or footers
	runningShare   = 0.4 // of the pages; left and right pages differ
	runningNumbers = 8   // of a line, that may count pages
)

// pageEdge is a line at the edge of pages, its numbers made alike.
type pageEdge struct {
	key string
	top bool
}

// edgeLine is where a pageEdge was seen.
type edgeLine struct {
	page int
	line *pdfLine
}

// dropRunningLines marks lines that stand at the edge of many pages, and page
// numbers. A line counts as the same when only its numbers differ and one of
// them counts the pages (a row of a table of numbers is none), unless it is
// set larger than the text: then it is a heading with a number in it. A
// header's first appearance stays: it may be the title.
func dropRunningLines(pages []pdfPage) {
	if len(pages) < 3 {
		return
	}
	seen := pageEdges(pages)
	limit := max(3, int(runningShare*float64(len(pages))))
	kept := map[string]edgeLine{}
	for e, at := range seen {
		switch {
		case isPageNumber(e.key) && len(at) >= 3:
			for _, l := range at {
				l.line.drop = true
			}
		case len(at) >= limit && (!strings.Contains(e.key, "#") || countsPages(at)):
			for _, l := range at {
				l.line.drop = true
			}
			if first, ok := kept[e.key]; !ok || at[0].page < first.page || at[0].page == first.page && e.top {
				kept[e.key] = at[0]
			}
		}
	}
	for _, l := range kept {
		l.line.drop = false
	}
}

// pageEdges gathers the lines at the edges of pages, in the order of pages.
func pageEdges(pages []pdfPage) map[pageEdge][]edgeLine {
	body := headingSizes(pages).body
	seen := map[pageEdge][]edgeLine{}
	for i := range pages {
		lines := pages[i].lines
		for k := range lines {
			top, bottom := k < runningLines, k >= len(lines)-runningLines
			if !top && !bottom {
				continue
			}
			key := runningKey(lines[k].text)
			if body > 0 && lines[k].size > body*headingRatio {
				key = strings.TrimSpace(lines[k].text)
			}
			if key != "" {
				e := pageEdge{key, top}
				seen[e] = append(seen[e], edgeLine{i, &lines[k]})
			}
		}
	}
	return seen
}

// countsPages reports whether lines that are alike but for their numbers are
// alike in these too, or have one that rises with the page, on most of them.
func countsPages(at []edgeLine) bool {
	same := map[string]int{}
	offsets := map[[2]int]int{} // place of the number in the line, and its distance to the page
	for _, l := range at {
		numbers := lineNumbers(l.line.text)
		same[strings.Join(numbers, " ")]++
		for k, s := range numbers {
			if n, err := strconv.Atoi(s); err == nil {
				offsets[[2]int{k, n - l.page}]++
			}
		}
	}
	most := 0
	for _, n := range same {
		most = max(most, n)
	}
	for _, n := range offsets {
		most = max(most, n)
	}
	return most*2 > len(at)
}

func lineNumbers(s string) []string {
	numbers := strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsDigit(r) })
	return numbers[:min(len(numbers), runningNumbers)]
}

// runningKey is a line with its numbers made alike.
func runningKey(s string) string {
	var b strings.Builder
	digit := false
	for _, r := range strings.ToLower(strings.Join(strings.Fields(s), " ")) {
		if unicode.IsDigit(r) {
			if !digit {
				b.WriteByte('#')
			}
			digit = true
			continue
		}
		digit = false
		b.WriteRune(r)
	}
	return b.String()
}

// isPageNumber knows "12", "– 12 –", "Page 3 of 9", "3-14".
func isPageNumber(key string) bool {
	for _, word := range []string{"page", "seite", "of", "von", "sur", "p."} {
		key = strings.ReplaceAll(key, word, "")
	}
	marks := strings.ReplaceAll(key, " ", "")
	if strings.Contains(strings.TrimSpace(key), "# #") || strings.Count(marks, "#") > 2 {
		return false // a row of numbers
	}
	return strings.Contains(marks, "#") && strings.Trim(marks, "#/|-–—.") == ""
}
