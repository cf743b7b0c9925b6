package eval

import (
	"slices"
	"strings"
	"unicode"
)

// IsMarkdown tells Markdown from plain passages, where a line with a # is no
// heading.
func IsMarkdown(text string) bool {
	return strings.HasPrefix(text, "# ") || strings.HasPrefix(text, "---\n") ||
		strings.Contains(text, "\n\n## ") || strings.Contains(text, "\n```")
}

// A corpus is source code when the median document has this share of the
// characters that code is full of. Code has about .08, prose less than .01,
// manuals of software .03.
const (
	codeShare = 0.045
	codeMarks = "(){}[]=_;<>"
)

// IsCode says whether most documents of a corpus are source code. BEIR's
// layout has no file names to tell by.
func IsCode(corpus []Document) bool {
	shares := make([]float64, 0, len(corpus))
	markdown := 0
	for _, d := range corpus {
		shares = append(shares, markShare(d.Text))
		if IsMarkdown(d.Text) {
			markdown++
		}
	}
	if len(shares) == 0 || 2*markdown > len(shares) {
		return false
	}
	slices.Sort(shares)
	return shares[len(shares)/2] >= codeShare
}

func markShare(text string) float64 {
	marks, all := 0, 0
	for _, r := range text {
		if unicode.IsSpace(r) {
			continue
		}
		all++
		if strings.ContainsRune(codeMarks, r) {
			marks++
		}
	}
	if all == 0 {
		return 0
	}
	return float64(marks) / float64(all)
}
