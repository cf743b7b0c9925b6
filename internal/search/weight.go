package search

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"ragd/internal/analysis"
	"ragd/internal/store"
)

// The weight of meaning, and what moves it: the look of the query, how much of
// it the keywords cover, and how far each leg's best document stands out from
// its tenth. A leg whose hits are all alike knows little. Chosen over eleven sets
// of questions together; around these values the figures hardly change.
const (
	weightBase       = 0.5
	weightIdentifier = 0.15 // less for a query that looks like an identifier
	weightCoverage   = 0.15 // times (½ − coverage)
	weightStands     = 0.5  // times how far the best document by meaning stands out, in cosine, less the usual
	weightLexStands  = 0.5  // less, times how far the best by keyword does, as a share, less the usual
	usualStands      = 0.15
	usualLexStands   = 0.4
	weightForeign    = 0.1 // at most, when the letters are mostly not of the model's script
	foreignShare     = 0.5
	weightLeast      = 0.05
	weightMost       = 0.95
	standsAgainst    = 10 // the document the best one is compared with
)

// weight is the weight of meaning in a hybrid search, and why.
type weight struct {
	meaning float64
	reason  string
}

// weigh chooses the weight for a query. alpha, when given, is the weight of
// keywords and settles it.
func weigh(r Request, lex store.LexicalResult, list []fused) weight {
	switch {
	case r.Mode == ModeKeyword:
		return weight{0, "keyword only"}
	case r.Mode == ModeMeaning:
		return weight{1, "meaning only"}
	case r.Mode == ModeRRF:
		return weight{0.5, "reciprocal ranks"}
	case r.Alpha != nil:
		a := min(max(*r.Alpha, 0), 1)
		return weight{1 - a, fmt.Sprintf("alpha %.2f", a)}
	}
	w := weightBase
	reasons := []string{fmt.Sprintf("base %.2f", weightBase)}
	if looksLikeIdentifier(r.Query) {
		w -= weightIdentifier
		reasons = append(reasons, fmt.Sprintf("identifier −%.2f", weightIdentifier))
	}
	c := coverage(lex)
	move := weightCoverage * (0.5 - c)
	w += move
	reasons = append(reasons, fmt.Sprintf("coverage %.2f %+.2f", c, move))
	if len(list) > 0 {
		lexical, meaning := standsOut(list)
		move := weightStands*(meaning-usualStands) - weightLexStands*(lexical-usualLexStands)
		w += move
		reasons = append(reasons, fmt.Sprintf("best stands out by %.2f in meaning, %.2f in keywords %+.2f", meaning, lexical, move))
	}
	if share := analysis.NonLatinShare(r.Query); share > foreignShare && w > weightForeign {
		w = weightForeign
		reasons = append(reasons, fmt.Sprintf("script outside the model's, at most %.2f", weightForeign))
	}
	return weight{min(max(w, weightLeast), weightMost), strings.Join(reasons, ", ")}
}

// standsOut is how far each leg's best document is from its tenth: by keyword
// as a share of the best, by meaning in cosine.
func standsOut(list []fused) (lexical, meaning float64) {
	type best struct{ raw, cosine float64 }
	docs := make(map[int64]best, len(list))
	for i := range list {
		b := docs[list[i].document]
		docs[list[i].document] = best{max(b.raw, list[i].raw), max(b.cosine, list[i].cosine)}
	}
	raws, cosines := make([]float64, 0, len(docs)), make([]float64, 0, len(docs))
	for _, b := range docs {
		raws, cosines = append(raws, b.raw), append(cosines, b.cosine)
	}
	slices.Sort(raws)
	slices.Sort(cosines)
	top, tenth := len(docs)-1, max(len(docs)-standsAgainst, 0)
	if raws[top] > 0 {
		lexical = (raws[top] - raws[tenth]) / raws[top]
	}
	return lexical, cosines[top] - cosines[tenth]
}

// looksLikeIdentifier: a name of a program, a path or a code, rather than words.
func looksLikeIdentifier(query string) bool {
	words := strings.Fields(query)
	if len(words) == 0 || len(words) > 4 {
		return false
	}
	for _, w := range words {
		if identifierWord(w) {
			return true
		}
	}
	return false
}

func identifierWord(w string) bool {
	w = strings.Trim(w, `"'?!.,;()`)
	letters, digits, inner := 0, 0, false
	var before rune
	for _, r := range w {
		switch {
		case unicode.IsDigit(r):
			digits++
		case unicode.IsLetter(r):
			letters++
			if unicode.IsUpper(r) && unicode.IsLower(before) {
				inner = true
			}
		case r == '_' || r == '/' || r == '\\' || r == ':' || r == '.' || r == '=' || r == '$' || r == '@' || r == '#':
			inner = true
		}
		before = r
	}
	return letters+digits > 1 && (inner || letters > 0 && digits > 0)
}
