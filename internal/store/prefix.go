package store

import (
	"cmp"
	"database/sql"
	"errors"
	"slices"
)

// Bounds of a prefix. FTS5 gathers the rows of all words that begin with one
// before it gives the first, which takes seconds for "com*" and cannot be
// stopped half way. So the words are counted first, and where they have very
// many rows the prefix stands for the most frequent of them.
const (
	minPrefix   = 3         // bytes; a shorter one is taken as a whole word
	prefixRows  = 50_000    // that FTS5 may gather
	prefixScan  = 1_000_000 // rows counted
	prefixTerms = 20_000    // words counted
	prefixWords = 200       // that stand for a prefix; all prefixes of an expression share maxPhrases
	prefixTries = 2000      // words looked for in a part of the index
	maxPrefixes = 8         // of an expression
)

// wordsSQL reads the table that every reading connection has over the words of
// the index.
const (
	createWordsSQL = "CREATE VIRTUAL TABLE temp.fts_words USING fts5vocab(main, fts, row)"
	wordsSQL       = "SELECT term, doc FROM temp.fts_words WHERE term >= ?1 AND term < ?2"
)

var errEnough = errors.New("store: enough rows were read") //nolint:gochecknoglobals // a constant in all but name

// prefixFrequency counts the words that begin with a phrase's last term. Where
// they are too many for FTS5, the answer names the most frequent ones. The same
// index gives the same answer.
func (s *Store) prefixFrequency(r *reader, c corpus, p Phrase) (frequency, error) {
	prefix := p.Terms[len(p.Terms)-1]
	end, ok := after(prefix)
	if !ok {
		return frequency{}, nil // no term is of such bytes
	}
	var words []wordRows
	var sum int64
	capped := false
	err := r.each(func(rows *sql.Rows) error {
		var w wordRows
		if err := rows.Scan(&w.term, &w.rows); err != nil {
			return err
		}
		words = append(words, w)
		sum += w.rows
		if capped = sum > prefixScan || len(words) == prefixTerms; capped {
			return errEnough
		}
		return nil
	}, wordsSQL, prefix, end)
	if err != nil && !errors.Is(err, errEnough) {
		return frequency{}, err
	}
	f := frequency{n: min(sum, c.chunks), estimated: len(words) > 1}
	if sum <= prefixRows && !capped {
		if c.known == nil {
			return f, nil
		}
		return countWithin(r, c, p)
	}
	slices.SortStableFunc(words, func(a, b wordRows) int { return cmp.Compare(b.rows, a.rows) })
	if c.known != nil {
		return s.spelledWithin(r, c, p, words, capped)
	}
	f.capped = capped || len(words) > prefixWords
	for _, w := range words[:min(len(words), prefixWords)] {
		f.words = append(f.words, w.term)
	}
	return f, nil
}

// wordRows is a word that begins with a prefix.
type wordRows struct {
	term string
	rows int64
}

// countWithin counts the rows of a prefix that FTS5 may gather, in the part of
// the index that counts.
func countWithin(r *reader, c corpus, p Phrase) (f frequency, err error) {
	var m match
	m.phrase(p, 0, 0)
	c.within(&m)
	err = r.row("SELECT count(*) FROM fts WHERE fts MATCH ?1", m.b.String()).Scan(&f.n)
	return f, err
}

// spelledWithin takes those of the words that the part of the index that counts
// has, the most frequent of the whole first.
func (s *Store) spelledWithin(r *reader, c corpus, p Phrase, words []wordRows, capped bool) (frequency, error) {
	f := frequency{estimated: true, words: []string{}}
	for i, w := range words {
		if i == prefixTries || len(f.words) == prefixWords {
			capped = true
			break
		}
		in, err := s.frequency(r, c, Phrase{Terms: []string{w.term}, Columns: p.Columns})
		if err != nil {
			return f, err
		}
		if in.n > 0 {
			f.n, f.words = f.n+in.n, append(f.words, w.term)
		}
	}
	if len(f.words) == 0 {
		f.words = append(f.words, words[0].term) // something must stand for the prefix
	}
	f.n, f.capped = min(f.n, c.chunks), capped
	return f, nil
}

// tame takes a prefix that is too short as a whole word.
func tame(p Phrase) Phrase {
	if p.Prefix && len(p.Terms) > 0 && len(p.Terms[len(p.Terms)-1]) < minPrefix {
		p.Prefix = false
	}
	return p
}

// fewPrefixes leaves the first maxPrefixes prefixes of a query; the rest are
// taken as whole words. The phrases must be the caller's own.
func fewPrefixes(clauses []Clause) {
	n := 0
	for i := range clauses {
		for k := range clauses[i].Any {
			p := &clauses[i].Any[k]
			if *p = tame(*p); p.Prefix {
				n++
				p.Prefix = n <= maxPrefixes
			}
		}
	}
}

func prefixesOf(clauses []Clause) (n int) {
	for _, c := range clauses {
		for _, p := range c.Any {
			if p.Prefix {
				n++
			}
		}
	}
	return n
}

// spellOut are the phrases that stand for p, at most most of them. cut says
// that there are more.
func (f frequency) spellOut(p Phrase, most int) (all []Phrase, cut bool) {
	if f.words == nil {
		return []Phrase{p}, false
	}
	words := f.words[:min(len(f.words), max(most, 1))]
	for _, w := range words {
		q := p
		q.Prefix = false
		q.Terms = append(slices.Clone(p.Terms[:len(p.Terms)-1]), w)
		all = append(all, q)
	}
	return all, f.capped || len(words) < len(f.words)
}
