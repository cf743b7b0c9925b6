package search

import (
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"

	"ragd/internal/analysis"
	"ragd/internal/store"
)

// errSyntax says that a query is not FTS5 syntax.
var errSyntax = errors.New("not FTS5 syntax")

const (
	syntaxDepth  = 20
	nearDistance = 10 // of FTS5
)

// lexeme is a word, a quoted string, or one sign.
type lexeme struct {
	kind byte // 'w' word, 's' string, else the sign itself
	text string
}

// lexSyntax splits a query. What FTS5 would not take outside of quotes is an
// error, so that ordinary text with punctuation is searched as words.
func lexSyntax(s string) ([]lexeme, error) {
	var out []lexeme
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			i++
		case strings.IndexByte("():{}*+,-", c) >= 0:
			out = append(out, lexeme{kind: c})
			i++
		case c == '"':
			text, n := quotedString(s[i:])
			if n == 0 {
				return nil, errSyntax
			}
			out = append(out, lexeme{'s', text})
			i += n
		case bareByte(c):
			start := i
			for i < len(s) && bareByte(s[i]) {
				i++
			}
			out = append(out, lexeme{'w', s[start:i]})
		default:
			return nil, errSyntax
		}
	}
	return out, nil
}

func bareByte(c byte) bool {
	return c >= utf8.RuneSelf || c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// quotedString reads a string in double quotes, in which two stand for one; n
// is its length with the quotes, 0 when it does not end.
func quotedString(s string) (text string, n int) {
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		if s[i] != '"' {
			b.WriteByte(s[i])
			continue
		}
		if i+1 < len(s) && s[i+1] == '"' {
			b.WriteByte('"')
			i++
			continue
		}
		return b.String(), i + 1
	}
	return "", 0
}

// syntaxParser reads FTS5's grammar by descent: OR binds loosest, then AND,
// then NOT; operands side by side are an AND that binds tightest.
type syntaxParser struct {
	a      *analysis.Analyzer
	list   []lexeme
	at     int
	depth  int
	cols   store.Column // of the column filter around
	wanted []analysis.Clause
	not    int // how many NOTs are around
}

// parseSyntax makes an expression of a query. wanted are the clauses whose
// words may be marked in a snippet. An expression without anything to look
// up is an error, too.
func parseSyntax(a *analysis.Analyzer, s string) (e store.Expr, wanted []analysis.Clause, err error) {
	list, err := lexSyntax(s)
	if err != nil {
		return e, nil, err
	}
	p := &syntaxParser{a: a, list: list}
	got, err := p.or()
	if err != nil {
		return e, nil, err
	}
	if p.at < len(p.list) || got == nil {
		return e, nil, errSyntax
	}
	return *got, p.wanted, nil
}

func (p *syntaxParser) peek(kind byte) bool { return p.at < len(p.list) && p.list[p.at].kind == kind }

func (p *syntaxParser) take(kind byte) bool {
	if !p.peek(kind) {
		return false
	}
	p.at++
	return true
}

func (p *syntaxParser) word(w string) bool {
	return p.peek('w') && p.list[p.at].text == w
}

// operands reads what stands between the operators op; nil ones, which hold
// nothing to look up, are left out.
func (p *syntaxParser) operands(op string, next func() (*store.Expr, error)) ([]store.Expr, error) {
	var out []store.Expr
	for {
		e, err := next()
		if err != nil {
			return nil, err
		}
		if e != nil {
			out = append(out, *e)
		}
		if !p.word(op) {
			return out, nil
		}
		p.at++
	}
}

func (p *syntaxParser) or() (*store.Expr, error) {
	if p.depth++; p.depth > syntaxDepth {
		return nil, errSyntax
	}
	defer func() { p.depth-- }()
	list, err := p.operands("OR", p.and)
	return joined(list, err, func(l []store.Expr) store.Expr { return store.Expr{Or: l} })
}

func (p *syntaxParser) and() (*store.Expr, error) {
	list, err := p.operands("AND", p.notExpr)
	return joined(list, err, func(l []store.Expr) store.Expr { return store.Expr{And: l} })
}

func joined(list []store.Expr, err error, join func([]store.Expr) store.Expr) (*store.Expr, error) {
	switch {
	case err != nil || len(list) == 0:
		return nil, err
	case len(list) == 1:
		return &list[0], nil
	}
	e := join(list)
	return &e, nil
}

func (p *syntaxParser) notExpr() (*store.Expr, error) {
	left, err := p.sequence()
	for err == nil && p.word("NOT") {
		p.at++
		p.not++
		var right *store.Expr
		right, err = p.sequence()
		p.not--
		if err == nil && left != nil && right != nil {
			left = &store.Expr{Not: &store.NotExpr{Left: *left, Right: *right}}
		}
	}
	return left, err
}

// sequence reads operands side by side.
func (p *syntaxParser) sequence() (*store.Expr, error) {
	var list []store.Expr
	for n := 0; ; n++ {
		if p.at == len(p.list) || p.peek(')') || p.word("OR") || p.word("AND") || p.word("NOT") {
			if n == 0 {
				return nil, errSyntax // an operator lacks its operand
			}
			return joined(list, nil, func(l []store.Expr) store.Expr { return store.Expr{And: l} })
		}
		e, err := p.primary()
		if err != nil {
			return nil, err
		}
		if e != nil {
			list = append(list, *e)
		}
	}
}

func (p *syntaxParser) primary() (*store.Expr, error) {
	around := p.cols
	defer func() { p.cols = around }()
	if cols, ok, err := p.columns(); err != nil {
		return nil, err
	} else if ok {
		if around != 0 {
			if cols &= around; cols == 0 {
				return nil, errSyntax
			}
		}
		p.cols = cols
	}
	switch {
	case p.take('('):
		e, err := p.or()
		if err == nil && !p.take(')') {
			err = errSyntax
		}
		return e, err
	case p.word("NEAR") && p.at+1 < len(p.list) && p.list[p.at+1].kind == '(':
		p.at += 2
		return p.near()
	}
	return p.phrase()
}

// columns reads a column filter: name : … or {name name} : …, with - before
// it for all others.
func (p *syntaxParser) columns() (cols store.Column, ok bool, err error) {
	start := p.at
	others := p.take('-')
	switch {
	case p.take('{'):
		for p.peek('w') {
			cols |= columnOf(p.list[p.at].text)
			if columnOf(p.list[p.at].text) == 0 {
				return 0, false, errSyntax
			}
			p.at++
		}
		if !p.take('}') || !p.take(':') {
			return 0, false, errSyntax
		}
	case p.peek('w') && p.at+1 < len(p.list) && p.list[p.at+1].kind == ':':
		cols = columnOf(p.list[p.at].text)
		p.at += 2
	case others:
		return 0, false, errSyntax
	default:
		p.at = start
		return 0, false, nil
	}
	if others {
		cols = (store.ColTitle | store.ColHeadings | store.ColBody) &^ cols
	}
	if cols == 0 {
		return 0, false, errSyntax
	}
	return cols, true, nil
}

func columnOf(name string) store.Column {
	switch strings.ToLower(name) {
	case "title":
		return store.ColTitle
	case "headings", "heading":
		return store.ColHeadings
	case "body":
		return store.ColBody
	}
	return 0
}

// near reads what follows "NEAR(".
func (p *syntaxParser) near() (*store.Expr, error) {
	if p.cols != 0 {
		return nil, errSyntax // the index cannot do both
	}
	near := store.NearExpr{Distance: nearDistance}
	for p.peek('w') || p.peek('s') {
		alternatives, err := p.terms()
		if err != nil {
			return nil, err
		}
		if len(alternatives) > 0 {
			near.Phrases = append(near.Phrases, alternatives[len(alternatives)-1])
		}
	}
	if p.take(',') {
		if !p.peek('w') {
			return nil, errSyntax
		}
		n, err := strconv.Atoi(p.list[p.at].text)
		if err != nil || n < 0 || n > 1000 {
			return nil, errSyntax
		}
		near.Distance = n
		p.at++
	}
	if !p.take(')') {
		return nil, errSyntax
	}
	switch len(near.Phrases) {
	case 0:
		return nil, nil
	case 1:
		return &store.Expr{Phrase: &near.Phrases[0]}, nil
	}
	return &store.Expr{Near: &near}, nil
}

func (p *syntaxParser) phrase() (*store.Expr, error) {
	alternatives, err := p.terms()
	if err != nil || len(alternatives) == 0 {
		return nil, err
	}
	list := make([]store.Expr, len(alternatives))
	for i := range alternatives {
		alternatives[i].Columns = p.cols
		list[i] = store.Expr{Phrase: &alternatives[i]}
	}
	return joined(list, nil, func(l []store.Expr) store.Expr { return store.Expr{Or: l} })
}

// terms reads a phrase, a + b is one, and passes it through the analysis: the
// ways it may stand in the index, the one by consecutive words last. None:
// there is nothing in it to look up.
func (p *syntaxParser) terms() ([]store.Phrase, error) {
	text, prefix, quoted := "", false, false
	for {
		if !p.peek('w') && !p.peek('s') {
			return nil, errSyntax
		}
		quoted = quoted || p.peek('s')
		text += " " + strings.ReplaceAll(p.list[p.at].text, `"`, " ")
		p.at++
		if p.take('*') {
			prefix = true
			break
		}
		if !p.take('+') {
			break
		}
		quoted = true
	}
	q := analysis.ParseQuery(p.a, `"`+strings.TrimSpace(text)+`"`)
	if len(q.Clauses) == 0 {
		return nil, nil
	}
	if prefix {
		for i := range q.Clauses[0].Any {
			q.Clauses[0].Any[i].Prefix = true
		}
	}
	any := phrasesOf(q.Clauses[0].Any)
	if p.not == 0 {
		p.wanted = append(p.wanted, q.Clauses[0])
	}
	return any, nil
}
