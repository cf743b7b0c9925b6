package search

import (
	"strings"

	"ragd/internal/analysis"
)

// mark is a stretch of a chunk that matched.
type mark struct {
	start, end int // bytes
	what       int // number of the query's phrase
}

// wanted are the phrases that a query asks for, stop words apart unless it
// has nothing else.
type wanted struct {
	phrases  [][]string
	first    map[string][]int // phrases by their first term
	prefixes []int            // those of one term that stands for all that begin with it
}

func wantedOf(q analysis.Query) *wanted {
	w := &wanted{first: map[string][]int{}}
	w.collect(q, false)
	if len(w.phrases) == 0 {
		w.collect(q, true)
	}
	return w
}

func (w *wanted) collect(q analysis.Query, stop bool) {
	for _, c := range q.Clauses {
		if c.Stop && !c.Must && !stop {
			continue
		}
		for _, p := range c.Any {
			if len(p.Terms) == 0 {
				continue
			}
			n := len(w.phrases)
			w.phrases = append(w.phrases, p.Terms)
			w.first[p.Terms[0]] = append(w.first[p.Terms[0]], n)
			if p.Prefix && len(p.Terms) == 1 {
				w.prefixes = append(w.prefixes, n)
			}
		}
	}
}

// place is a term of the running text with where it stands.
type place struct {
	term       string
	start, end int
}

// find returns where the phrases are in text, in order and without overlap. A
// phrase counts only whole: of "sha 256" a lone 256 is no mark.
func (w *wanted) find(a *analysis.Analyzer, text string) []mark {
	var out []mark
	tokens := a.Tokens(text)
	running := make([]place, 0, len(tokens)+8)
	add := func(m mark) {
		if n := len(out); n > 0 && m.start < out[n-1].end {
			if m.start != out[n-1].start || m.end <= out[n-1].end {
				return
			}
			out = out[:n-1] // the longer of two that begin together
		}
		out = append(out, m)
	}
	for _, t := range tokens {
		for _, part := range t.Parts() {
			if n := len(running); n == 0 || t.End >= running[n-1].end {
				running = append(running, place{part, t.Start, t.End})
			}
		}
	}
	at := 0
	for _, t := range tokens {
		if n, ok := w.single(t); ok {
			add(mark{t.Start, t.End, n})
		}
		for at < len(running) && running[at].start < t.Start {
			at++
		}
		for i := at; i < len(running) && running[i].start == t.Start && running[i].end == t.End; i++ {
			if n, end := w.starting(running[i:]); end > 0 {
				add(mark{t.Start, end, n})
			}
		}
	}
	return out
}

// single is the phrase of one term that a token is.
func (w *wanted) single(t analysis.Token) (n int, ok bool) {
	for _, term := range t.Terms {
		for _, n := range w.first[term] {
			if len(w.phrases[n]) == 1 {
				return n, true
			}
		}
		for _, n := range w.prefixes {
			if strings.HasPrefix(term, w.phrases[n][0]) {
				return n, true
			}
		}
	}
	return 0, false
}

// starting is the longest phrase of several terms that running begins with,
// and where it ends; 0 = none.
func (w *wanted) starting(running []place) (n, end int) {
	most := 1
	for _, p := range w.first[running[0].term] {
		terms := w.phrases[p]
		if len(terms) <= most || len(terms) > len(running) {
			continue
		}
		same := true
		for i := 1; same && i < len(terms); i++ {
			same = running[i].term == terms[i]
		}
		if same {
			n, end, most = p, running[len(terms)-1].end, len(terms)
		}
	}
	return n, end
}
