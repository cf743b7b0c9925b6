package search

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"ragd/internal/analysis"
)

// The weight of meaning, and what moves it. The scales of the legs are made
// for one weight; few features move it, and little (decision 0300).
const (
	weightBase       = 0.5
	weightIdentifier = 0.15 // less for a query that looks like an identifier
	weightCoverage   = 0.15 // times (usualCoverage − coverage)
	usualCoverage    = 0.45
	weightForeign    = 0.05 // at most, when many letters are not of the model's script
	mostNames        = 4    // words in a query that looks like an identifier
	foreignShare     = 0.3  // of the letters: a word of Han has two, one of Latin six
)

// weight is the weight of meaning in a hybrid search, and why.
type weight struct {
	meaning float64
	reason  string
	names   bool // the query is nothing but identifiers
}

// weigh chooses the weight for a query. alpha, when given, is the weight of
// keywords and settles it. covered is the coverage of the query.
func weigh(r Request, covered float64) weight {
	switch {
	case r.Mode == ModeKeyword:
		return weight{reason: "keyword only"}
	case r.Mode == ModeMeaning:
		return weight{meaning: 1, reason: "meaning only"}
	case r.Mode == ModeRRF:
		return weight{meaning: 0.5, reason: "reciprocal ranks"}
	case r.Alpha != nil:
		a := min(max(*r.Alpha, 0), 1)
		return weight{meaning: 1 - a, reason: fmt.Sprintf("alpha %.2f", a)}
	}
	w := weightBase
	reasons := []string{fmt.Sprintf("base %.2f", weightBase)}
	if looksLikeIdentifier(r.Query) {
		w -= weightIdentifier
		reasons = append(reasons, fmt.Sprintf("identifier −%.2f", weightIdentifier))
	}
	move := weightCoverage * (usualCoverage - covered)
	w += move
	reasons = append(reasons, fmt.Sprintf("coverage %.2f %+.2f", covered, move))
	if foreign(r.Query) && w > weightForeign {
		w = weightForeign
		reasons = append(reasons, fmt.Sprintf("script outside the model's, at most %.2f", weightForeign))
	}
	names := !foreign(r.Query) && onlyIdentifiers(r.Query)
	if names {
		reasons = append(reasons, "nothing but identifiers: what holds them first")
	}
	return weight{w, strings.Join(reasons, ", "), names}
}

// foreign: the model knows next to nothing of such letters, and its cosines
// tell little.
func foreign(query string) bool { return analysis.NonLatinShare(query) > foreignShare }

// looksLikeIdentifier: a name of a program, a path or a code, rather than words.
func looksLikeIdentifier(query string) bool {
	words := strings.Fields(query)
	return len(words) <= mostNames && slices.ContainsFunc(words, identifierWord)
}

// onlyIdentifiers: who asks so looks for a thing by its name.
func onlyIdentifiers(query string) bool {
	words := strings.Fields(query)
	return len(words) > 0 && len(words) <= mostNames && !slices.ContainsFunc(words, func(w string) bool { return !identifierWord(w) })
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
