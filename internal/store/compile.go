package store

import (
	"strconv"
	"strings"

	"ragd/internal/store/ftsrank"
)

// Bounds of an expression.
const (
	maxClauses = ftsrank.MaxClauses
	maxPhrases = 400 // counted once; retrieval may name each twice; KBs do not count
	maxTerms   = 64  // of a phrase
	maxTerm    = 1024
)

// match builds a MATCH expression and the weights of its phrases side by
// side, since the ranking function knows phrases by their number only. All
// terms go in quoted; nothing of a user's text is ever syntax.
type match struct {
	b         strings.Builder
	phrases   []ftsrank.Phrase
	published bool // no term says so: the documents are looked at
}

func (m *match) write(s string) { m.b.WriteString(s) }

// term adds one quoted term that is not scored.
func (m *match) term(t string) {
	m.quoted([]string{t})
	m.phrases = append(m.phrases, ftsrank.Phrase{})
}

func (m *match) quoted(terms []string) {
	m.b.WriteByte('"')
	for i, t := range terms {
		if i > 0 {
			m.b.WriteByte(' ')
		}
		m.b.WriteString(strings.ReplaceAll(t, `"`, `""`))
	}
	m.b.WriteByte('"')
}

// phrase adds a phrase, which must be usable, with its weight.
func (m *match) phrase(p Phrase, weight float64, clause int) {
	p = tame(p)
	if cols := p.Columns & (ColTitle | ColHeadings | ColBody); cols != 0 && cols != ColTitle|ColHeadings|ColBody {
		m.b.WriteByte('{')
		for i, name := range []string{"title", "headings", "body"} {
			if cols&(1<<i) != 0 {
				m.b.WriteByte(' ')
				m.b.WriteString(name)
			}
		}
		m.b.WriteString(" } : ")
	}
	m.quoted(p.Terms)
	if p.Prefix {
		m.b.WriteString(" *")
	}
	m.phrases = append(m.phrases, ftsrank.Phrase{Weight: weight, Clause: clause})
}

// scored are the phrases that the ranking function must know of: those behind
// the last with a weight, such as a scope's, need not be counted out to it.
func (m *match) scored() []ftsrank.Phrase {
	n := len(m.phrases)
	for n > 0 && m.phrases[n-1].Weight == 0 {
		n--
	}
	return m.phrases[:n]
}

// join writes n operands with an operator between them, in brackets.
func (m *match) join(op string, n int, operand func(i int)) {
	m.b.WriteByte('(')
	for i := range n {
		if i > 0 {
			m.b.WriteByte(' ')
			m.b.WriteString(op)
			m.b.WriteByte(' ')
		}
		operand(i)
	}
	m.b.WriteByte(')')
}

// scoped writes inner within the filter, and without what not matches.
func (m *match) scoped(f scope, not []Phrase, inner func()) {
	m.published = f.published
	m.b.WriteByte('(')
	inner()
	m.b.WriteByte(')')
	for _, any := range [][]string{f.kbs, f.types} {
		if len(any) > 0 {
			m.write(" AND ")
			m.join("OR", len(any), func(i int) { m.term(any[i]) })
		}
	}
	if f.liveOnly {
		// NOT binds tighter than AND, so all that is before it goes in brackets.
		m.wrap()
		m.write(" NOT ")
		m.term(retiredTerm)
	}
	if len(not) > 0 {
		m.wrap()
		m.write(" NOT ")
		m.join("OR", len(not), func(i int) { m.phrase(not[i], 0, 0) })
	}
}

// wrap puts all that was written so far in brackets.
func (m *match) wrap() {
	s := m.b.String()
	m.b.Reset()
	m.b.WriteByte('(')
	m.b.WriteString(s)
	m.b.WriteByte(')')
}

// scope is a Filter as terms of the scope column.
type scope struct {
	kbs, types []string
	liveOnly   bool
	published  bool
	none       bool // nothing can match
}

// scopeOf translates a filter; known are all KBs there are. A filter that
// names all of them limits nothing. However many it names, all are searched.
func scopeOf(f Filter, known []int64) scope {
	s := scope{liveOnly: !f.IncludeRetired, published: f.Published}
	if f.KBs != nil {
		want := idSet(f.KBs)
		for _, id := range known {
			if want[id] {
				s.kbs = append(s.kbs, kbTerm(id))
			}
		}
		s.none = len(s.kbs) == 0
		if len(s.kbs) == len(known) {
			s.kbs = nil
		}
	}
	seen := map[string]bool{}
	for _, typ := range f.Types {
		if t := typeTerm(typ); !seen[t] {
			seen[t] = true
			s.types = append(s.types, t)
		}
	}
	s.none = s.none || len(f.Types) > maxPhrases
	return s
}

// usable says whether a phrase can be asked for. Terms come from the analysis
// and hold no blanks or control characters; what does is no term, and could
// match only by being read as something else.
func usable(p Phrase) bool {
	if len(p.Terms) == 0 || len(p.Terms) > maxTerms {
		return false
	}
	for _, t := range p.Terms {
		if t == "" || len(t) > maxTerm || strings.HasPrefix(t, markScope) || strings.HasPrefix(t, markTitle) {
			return false
		}
		for i := range len(t) {
			if t[i] <= ' ' || t[i] == 0x7f {
				return false
			}
		}
	}
	return true
}

// words is how a phrase is shown.
func (p Phrase) words() string {
	s := strings.Join(p.Terms, " ")
	if p.Prefix {
		s += "*"
	}
	return s
}

// name tells it from all others.
func (p Phrase) name() string {
	s := p.words()
	if p.Columns != 0 {
		s = strconv.Itoa(int(p.Columns)) + ":" + s
	}
	return s
}
