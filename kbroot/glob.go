package kbroot

import "strings"

// glob is a compiled wildcard pattern with the meaning git gives it: "*" and
// "?" stop at "/", "**" between slashes does not, "[...]" is a class of
// bytes, "\" takes the next byte literally. Matching keeps the set of token
// positions reached so far, so its time is bounded by pattern × text; there
// is no backtracking to blow up.
type glob struct {
	tokens []token
	tail   string // literal bytes every match ends with
	never  bool   // malformed: matches nothing
}

type tokenKind uint8

const (
	tokByte  tokenKind = iota // one given byte
	tokAny                    // one byte but "/"
	tokClass                  // one byte of a class, but "/"
	tokStar                   // any run without "/"
	tokDeep                   // any run
	tokSkip                   // takes nothing; the tokDeep and the "/" behind it may be left out
)

type token struct {
	kind  tokenKind
	b     byte
	class *[4]uint64
}

// compileGlob compiles a pattern. pathname says that "/" is special; without
// it (patterns over a single name) a "*" takes everything.
func compileGlob(p string, pathname bool) *glob {
	g := &glob{}
	for i := 0; i < len(p); i++ {
		switch c := p[i]; c {
		case '\\':
			i++
			if i == len(p) {
				return &glob{never: true}
			}
			g.tokens = append(g.tokens, token{kind: tokByte, b: p[i]})
		case '?':
			g.tokens = append(g.tokens, token{kind: tokAny})
		case '*':
			start := i
			for i+1 < len(p) && p[i+1] == '*' {
				i++
			}
			g.tokens = append(g.tokens, stars(p, start, i+1, pathname)...)
		case '[':
			class, end, ok := parseClass(p, i)
			if !ok {
				return &glob{never: true}
			}
			g.tokens = append(g.tokens, token{kind: tokClass, class: class})
			i = end
		default:
			g.tokens = append(g.tokens, token{kind: tokByte, b: c})
		}
	}
	g.setTail()
	return g
}

// stars compiles the run of stars p[start:end].
func stars(p string, start, end int, pathname bool) []token {
	if !pathname {
		return []token{{kind: tokDeep}}
	}
	rest := p[end:]
	if end-start > 1 && (start == 0 || p[start-1] == '/') {
		switch {
		case rest == "" || strings.HasPrefix(rest, `\/`):
			return []token{{kind: tokDeep}}
		case rest[0] == '/':
			return []token{{kind: tokSkip}, {kind: tokDeep}}
		}
	}
	return []token{{kind: tokStar}}
}

func (g *glob) setTail() {
	n := len(g.tokens)
	i := n
	for i > 0 && g.tokens[i-1].kind == tokByte {
		i--
	}
	if i > 1 && g.tokens[i-2].kind == tokSkip { // the "/" may be left out
		i++
	}
	tail := make([]byte, 0, n-i)
	for ; i < n; i++ {
		tail = append(tail, g.tokens[i].b)
	}
	g.tail = string(tail)
}

// match reports whether the whole text matches.
func (g *glob) match(text string) bool {
	if g.never || !strings.HasSuffix(text, g.tail) {
		return false
	}
	n := len(g.tokens)
	if n > 63 {
		return g.matchLong(text)
	}
	cur := g.closure(1)
	for i := 0; i < len(text) && cur != 0; i++ {
		c := text[i]
		var next uint64
		for k := 0; k < n; k++ {
			if cur&(1<<k) == 0 {
				continue
			}
			switch t := &g.tokens[k]; {
			case t.runs(c):
				next |= 1 << k
			case t.takes(c):
				next |= 1 << (k + 1)
			}
		}
		cur = g.closure(next)
	}
	return cur&(1<<n) != 0
}

// closure adds the positions reached without taking a byte.
func (g *glob) closure(set uint64) uint64 {
	for k := range g.tokens {
		if set&(1<<k) == 0 {
			continue
		}
		switch g.tokens[k].kind {
		case tokStar, tokDeep:
			set |= 1 << (k + 1)
		case tokSkip:
			set |= 1<<(k+1) | 1<<(k+3)
		}
	}
	return set
}

// matchLong is match for patterns of more tokens than a word has bits.
func (g *glob) matchLong(text string) bool {
	n := len(g.tokens)
	cur, next := make([]bool, n+1), make([]bool, n+1)
	closure := func(set []bool) {
		for k := range g.tokens {
			if !set[k] {
				continue
			}
			switch g.tokens[k].kind {
			case tokStar, tokDeep:
				set[k+1] = true
			case tokSkip:
				set[k+1], set[k+3] = true, true
			}
		}
	}
	cur[0] = true
	closure(cur)
	for i := 0; i < len(text); i++ {
		clear(next)
		for k := range g.tokens {
			if !cur[k] {
				continue
			}
			switch t := &g.tokens[k]; {
			case t.runs(text[i]):
				next[k] = true
			case t.takes(text[i]):
				next[k+1] = true
			}
		}
		closure(next)
		cur, next = next, cur
	}
	return cur[n]
}

// runs reports whether a run token stays where it is over c.
func (t *token) runs(c byte) bool {
	switch t.kind {
	case tokStar:
		return c != '/'
	case tokDeep:
		return true
	}
	return false
}

// takes reports whether a single-byte token takes c.
func (t *token) takes(c byte) bool {
	switch t.kind {
	case tokByte:
		return t.b == c
	case tokAny:
		return c != '/'
	case tokClass:
		return c != '/' && t.class[c>>6]&(1<<(c&63)) != 0
	}
	return false
}
