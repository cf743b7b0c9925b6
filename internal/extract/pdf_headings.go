package extract

import (
	"math"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"
)

// fontSizes are the sizes that headings are set in, the largest first.
type fontSizes struct {
	body  float64
	sizes []float64 // rounded
}

// headingSizes finds the size that most text is set in and the few larger
// ones. When many lines are large, size says nothing and there are none.
func headingSizes(pages []pdfPage) fontSizes {
	weight, lines := map[float64]int{}, map[float64]int{}
	total, all := 0, 0
	for _, p := range pages {
		for _, l := range p.lines {
			if l.size > 0 && !l.drop {
				r := roundSize(l.size)
				n := utf8.RuneCountInString(l.text)
				weight[r] += n
				lines[r]++
				total += n
				all++
			}
		}
	}
	var s fontSizes
	best := 0
	for size, n := range weight {
		if n > best || n == best && size < s.body {
			best, s.body = n, size
		}
	}
	large := 0
	for size := range weight {
		if size >= s.body*headingRatio {
			s.sizes = append(s.sizes, size)
			large += lines[size]
		}
	}
	if s.body == 0 || large*3 > all || best*3 < total {
		return fontSizes{body: s.body}
	}
	sort.Sort(sort.Reverse(sort.Float64Slice(s.sizes)))
	if len(s.sizes) > 4 {
		s.sizes = s.sizes[:4]
	}
	return s
}

func roundSize(f float64) float64 { return math.Round(f*2) / 2 }

// level returns the depth of a heading line, from 0, or -1.
func (s fontSizes) level(l pdfLine) int {
	if l.drop || l.size == 0 || len(s.sizes) == 0 || utf8.RuneCountInString(l.text) > headingMax || !hasWord(l.text) {
		return -1
	}
	r := roundSize(l.size)
	for i, size := range s.sizes {
		if r == size {
			return i
		}
	}
	return -1
}

func hasWord(s string) bool {
	run := 0
	for _, r := range s {
		if unicode.IsLetter(r) {
			if run++; run >= 2 || r > 0x2E80 {
				return true
			}
		} else {
			run = 0
		}
	}
	return false
}

// pdfTitle takes the largest lines of the first page when they are clearly
// larger than the rest.
func pdfTitle(pages []pdfPage) string {
	if len(pages) == 0 {
		return ""
	}
	sizes := headingSizes(pages)
	best := -1
	for _, l := range pages[0].lines {
		if level := sizes.level(l); level >= 0 && (best < 0 || level < best) {
			best = level
		}
	}
	if best < 0 {
		return ""
	}
	var title []string
	for _, l := range pages[0].lines {
		if sizes.level(l) == best {
			title = append(title, strings.TrimSpace(l.text))
		} else if len(title) > 0 {
			break
		}
	}
	return clip(strings.Join(title, " "), titleMax)
}
