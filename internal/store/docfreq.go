package store

import "sync"

// How a phrase's document frequency is found: counted when small, else
// estimated from the density at four places. The same index gives the same
// estimate.
const (
	dfExact  = 400 // counted up to here
	dfSample = 150 // rows looked at in each further window
	dfMost   = 4096
)

// dfCache remembers frequencies for one generation of the index. When it is
// full the older half goes, so that what is asked for often stays.
type dfCache struct {
	mu       sync.Mutex
	gen      uint64
	df, past map[string]frequency
}

type frequency struct {
	n         int64
	low, high int64 // of a part of the index: its ids
	estimated bool
	words     []string // of a prefix: the words that stand for it; nil = FTS5 may look for them
	capped    bool     // there are more words than that
}

func (c *dfCache) get(gen uint64, key string) (frequency, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gen != gen {
		return frequency{}, false
	}
	f, ok := c.df[key]
	if !ok {
		if f, ok = c.past[key]; ok {
			c.set(key, f)
		}
	}
	return f, ok
}

func (c *dfCache) put(gen uint64, key string, f frequency) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gen > gen {
		return
	}
	if c.gen < gen || c.df == nil {
		c.gen, c.df, c.past = gen, map[string]frequency{}, nil
	}
	c.set(key, f)
}

func (c *dfCache) set(key string, f frequency) {
	if len(c.df) >= dfMost/2 {
		c.df, c.past = map[string]frequency{}, c.df
	}
	c.df[key] = f
}

const countSQL = `SELECT count(*), coalesce(max(rowid), 0) FROM
	(SELECT rowid FROM fts WHERE fts MATCH ?1 AND rowid >= ?2 ORDER BY rowid LIMIT ?3)`

// frequency returns how many of the corpus's chunks a phrase is in.
func (s *Store) frequency(r *reader, c corpus, p Phrase) (frequency, error) {
	p = tame(p)
	key := c.key(p)
	if f, ok := s.dfs.get(c.gen, key); ok {
		return f, nil
	}
	if p.Prefix {
		f, err := s.prefixFrequency(r, c, p)
		if err == nil {
			s.dfs.put(c.gen, key, f)
		}
		return f, err
	}
	var m match
	m.phrase(p, 0, 0)
	c.within(&m)
	expr := m.b.String()
	var n, last int64
	if err := r.row(countSQL, expr, c.low, dfExact).Scan(&n, &last); err != nil {
		return frequency{}, err
	}
	f := frequency{n: n}
	if n == dfExact {
		span := float64(c.high - c.low + 1)
		density := float64(n) / float64(last-c.low+1)
		const windows = int64(4)
		for i := int64(1); i < windows; i++ {
			from := c.low + int64(span)*i/4
			var got, last int64
			if err := r.row(countSQL, expr, from, dfSample).Scan(&got, &last); err != nil {
				return f, err
			}
			if got < dfSample {
				last = c.high
			}
			density += float64(got) / float64(max(last-from+1, 1))
		}
		f.n = min(max(int64(density/float64(windows)*span), dfExact), c.chunks)
		f.estimated = true
	}
	s.dfs.put(c.gen, key, f)
	return f, nil
}
