package analysis

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// ParseQuery reads a query as typed. Words are looked up, "phrases in quotes"
// must be there, -word and -"phrase" must not. Nothing else is syntax: a
// minus only counts at the start of a word, before a letter, a dot, an
// underscore or a quote (-5 and --flag are what they are), and only when the
// query asks for something besides; a quote only counts when it has a partner.
func ParseQuery(a *Analyzer, s string) Query {
	if len(s) > queryMax {
		cut := queryMax
		for cut > 0 && !utf8.RuneStart(s[cut]) {
			cut--
		}
		s = s[:cut]
	}
	pieces := splitQuery(strings.ToValidUTF8(s, " "))
	q := build(a, pieces)
	if q.Empty() && len(q.Not) > 0 {
		for i := range pieces {
			pieces[i].negated = false
		}
		q = build(a, pieces)
	}
	return q
}

// piece is a stretch of a query between blanks or quotes.
type piece struct {
	text            string
	quoted, negated bool
}

// splitQuery finds quoted phrases and negated words; the rest stays together.
func splitQuery(s string) []piece {
	var out []piece
	plain := 0 // start of what is plain so far
	flush := func(end int) {
		if strings.TrimSpace(s[plain:end]) != "" {
			out = append(out, piece{text: s[plain:end]})
		}
	}
	for i := 0; i < len(s); {
		if i > 0 && !blankBefore(s, i) {
			i++
			continue
		}
		at := i
		negated := startsNegation(s[i:])
		if negated {
			at++
		}
		if open := quoteLen(s[at:]); open > 0 {
			if n, length := closingQuote(s[at+open:]); n >= 0 {
				flush(i)
				out = append(out, piece{text: s[at+open : at+open+n], quoted: true, negated: negated})
				i = at + open + n + length
				plain = i
				continue
			}
		}
		if negated {
			flush(i)
			end := at + strings.IndexFunc(s[at:], unicode.IsSpace)
			if end < at {
				end = len(s)
			}
			out = append(out, piece{text: s[at:end], negated: true})
			i, plain = end, end
			continue
		}
		i++
	}
	flush(len(s))
	return out
}

// blankBefore reports whether white space or a bracket ends right before i.
func blankBefore(s string, i int) bool {
	if !utf8.RuneStart(s[i]) {
		return false
	}
	r, _ := utf8.DecodeLastRuneInString(s[:i])
	return unicode.IsSpace(r) || r == '(' || quoteLen(string(r)) > 0
}

// startsNegation reports whether s begins with a minus that negates what follows.
func startsNegation(s string) bool {
	if len(s) < 2 || s[0] != '-' {
		return false
	}
	r, _ := utf8.DecodeRuneInString(s[1:])
	return unicode.IsLetter(r) || r == '_' || r == '.' || quoteLen(s[1:]) > 0
}

// quoteLen returns the length of a double quotation mark at the start of s.
func quoteLen(s string) int {
	for _, q := range [...]string{`"`, "“", "”", "„", "＂", "«", "»"} {
		if strings.HasPrefix(s, q) {
			return len(q)
		}
	}
	return 0
}

// closingQuote returns where the next quotation mark of s is and its length,
// or -1.
func closingQuote(s string) (at, length int) {
	for i := range s {
		if n := quoteLen(s[i:]); n > 0 {
			return i, n
		}
	}
	return -1, 0
}

// build makes clauses of the pieces.
func build(a *Analyzer, pieces []piece) Query {
	b := builder{seen: map[string]bool{}}
	for _, p := range pieces {
		b.mixed = b.mixed || strings.IndexFunc(p.text, notUpper) >= 0
	}
	for _, p := range pieces {
		tokens := a.Tokens(p.text)
		switch {
		case p.negated:
			b.negate(tokens)
		case p.quoted:
			b.phrase(tokens, strings.TrimSpace(p.text))
		default:
			for _, t := range tokens {
				b.token(t)
			}
		}
	}
	return b.q
}

// notUpper reports whether r is a letter that is not a capital.
func notUpper(r rune) bool { return unicode.IsLetter(r) && !unicode.IsUpper(r) }

// isAcronym reports whether a stop word is written like IT, US or WHO. The
// operators of other search engines stay stop words.
func isAcronym(text string) bool {
	return len(text) > 1 && strings.IndexFunc(text, notUpper) < 0 && text != "AND" && text != "OR" && text != "NOT"
}

// builder collects clauses, each only once.
type builder struct {
	q     Query
	seen  map[string]bool
	mixed bool // not all letters are capitals, so that capitals mean something
}

func (b *builder) add(c Clause) {
	var key strings.Builder
	for _, p := range c.Any {
		key.WriteString(strings.Join(p.Terms, " "))
		key.WriteByte('\n')
	}
	if c.Must {
		key.WriteByte('!')
	}
	if b.seen[key.String()] || len(b.q.Clauses) >= clausesMax {
		return
	}
	b.seen[key.String()] = true
	b.q.Clauses = append(b.q.Clauses, c)
}

// token adds the clauses of a plain token.
func (b *builder) token(t Token) {
	if t.tail {
		return
	}
	c := Clause{Weight: 1, Stop: t.Stop, Text: t.Text}
	if c.Stop && b.mixed && isAcronym(t.Text) {
		c.Stop = false
	}
	if !t.Whole {
		c.Any = []Phrase{phraseOf(t)}
		b.add(c)
		return
	}
	c.Any = []Phrase{{Terms: t.Terms[:1]}, {Terms: t.Parts()}}
	b.add(c)
	if t.Glued || t.Kind == KindNumber || len(t.Parts()) < 2 {
		return
	}
	for _, part := range t.Parts() {
		if len(part) > 1 && !IsStop(part) {
			b.add(Clause{Any: []Phrase{{Terms: []string{part}}}, Weight: partWeight, Text: part})
		}
	}
}

// phraseOf returns the phrase of a token that is not whole and parts. A single
// character of a script that is indexed by pairs or threes stands for all the
// terms that begin with it.
func phraseOf(t Token) Phrase {
	short := t.Kind == KindCJK && utf8.RuneCountInString(t.Terms[0]) < 2 ||
		t.Kind == KindThai && utf8.RuneCountInString(t.Terms[0]) < 3
	return Phrase{Terms: t.Terms, Prefix: short}
}

// sequence returns the phrase of all tokens one after the other.
func sequence(tokens []Token) Phrase {
	var p Phrase
	for _, t := range tokens {
		if !t.tail {
			p.Terms = append(p.Terms, t.Parts()...)
			p.Prefix = phraseOf(t).Prefix
		}
	}
	return p
}

func (b *builder) phrase(tokens []Token, text string) {
	p := sequence(tokens)
	if len(p.Terms) == 0 {
		return
	}
	c := Clause{Any: []Phrase{p}, Weight: 1, Must: true, Text: text}
	if len(tokens) == 1 && tokens[0].Whole {
		c.Any = []Phrase{{Terms: tokens[0].Terms[:1]}, p}
	}
	b.add(c)
}

func (b *builder) negate(tokens []Token) {
	if p := sequence(tokens); len(p.Terms) > 0 && len(b.q.Not) < clausesMax {
		b.q.Not = append(b.q.Not, p)
	}
}
