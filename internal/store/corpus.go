package store

import (
	"crypto/sha256"
	"database/sql"
	"math"
	"strings"
)

// corpus is what BM25 needs to know of the index, or of the part of it that
// the caller may know of.
type corpus struct {
	gen           uint64
	chunks, terms int64
	low, high     int64    // ids
	kbs           []int64  // all there are
	known         []string // scope terms of those that count; nil = all
	part          string   // the same, to remember by; "" = all
	k1, b         float64  // of BM25
}

func (c corpus) averageLength() float64 {
	if c.chunks == 0 {
		return 1
	}
	return max(1, float64(c.terms)/float64(c.chunks))
}

// idf is never negative: log(1 + (N − df + ½)/(df + ½)), as in Lucene.
func (c corpus) idf(df int64) float64 {
	n := float64(max(c.chunks, df))
	return math.Log(1 + (n-float64(df)+0.5)/(float64(df)+0.5))
}

// readCorpus reads the numbers of the KBs known; nil = all. What others hold
// must change neither scores nor counts, or it could be found out from them.
func (s *Store) readCorpus(r *reader, gen uint64, known []int64) (c corpus, err error) {
	c.gen, c.k1, c.b = gen, bm25K1, bm25B
	counts := idSet(known)
	err = r.each(func(rows *sql.Rows) error {
		var id, chunks, terms int64
		err := rows.Scan(&id, &chunks, &terms)
		c.kbs = append(c.kbs, id)
		if known != nil && !counts[id] {
			return err
		}
		c.known = append(c.known, kbTerm(id))
		c.chunks += chunks
		c.terms += terms
		return err
	}, "SELECT id, chunks, terms FROM kbs ORDER BY id")
	if err != nil {
		return c, err
	}
	if len(c.known) == len(c.kbs) {
		c.known = nil
	}
	if c.known == nil {
		return c, r.row("SELECT coalesce((SELECT min(id) FROM fts_docsize), 0), coalesce((SELECT max(id) FROM fts_docsize), 0)").Scan(&c.low, &c.high)
	}
	sum := sha256.Sum256([]byte(strings.Join(c.known, ","))) // however many they are, a short key
	c.part = markScope + string(sum[:]) + " "
	return c, s.partSpan(r, &c)
}

func idSet(ids []int64) map[int64]bool {
	set := make(map[int64]bool, len(ids))
	for _, id := range ids {
		set[id] = true
	}
	return set
}

// partSpan finds the first and the last id of a part of the index.
func (s *Store) partSpan(r *reader, c *corpus) error {
	if f, ok := s.dfs.get(c.gen, c.part); ok {
		c.low, c.high = f.low, f.high
		return nil
	}
	m := &match{}
	m.join("OR", len(c.known), func(i int) { m.term(c.known[i]) })
	err := r.row(`SELECT coalesce((SELECT rowid FROM fts WHERE fts MATCH ?1 ORDER BY rowid LIMIT 1), 0),
		coalesce((SELECT rowid FROM fts WHERE fts MATCH ?1 ORDER BY rowid DESC LIMIT 1), 0)`, m.b.String()).Scan(&c.low, &c.high)
	if err == nil {
		s.dfs.put(c.gen, c.part, frequency{low: c.low, high: c.high})
	}
	return err
}

// within limits what was written of an expression to the KBs that count.
func (c corpus) within(m *match) {
	if c.known == nil {
		return
	}
	m.wrap()
	m.write(" AND ")
	m.join("OR", len(c.known), func(i int) { m.term(c.known[i]) })
}

// key tells the counts of one set of KBs from those of another. No phrase has
// a scope term in it, so no two keys are the same.
func (c corpus) key(p Phrase) string { return c.part + p.name() }
