package store

// crowdRounds bounds the further scans that documents of very many windows cost.
const crowdRounds = 4

// nearestSpread is nearest, but a document of thousands of windows that are all
// as near as one another (a log, a table) does not keep every other document
// out: where a few leave less than half of n windows to the others, the n
// nearest of the others are looked for apart, and come behind.
func (s *codeSet) nearestSpread(q []uint64, f codeFilter, k, n int) []candidate {
	doc := func(c candidate) int64 { return int64(s.chunk(c.slot).doc) }
	list := s.nearest(q, f, k)
	var kept []candidate
	for range crowdRounds {
		if len(list) < k {
			break // there are no others
		}
		of, over := crowded(list, doc)
		if over == 0 {
			break
		}
		share := max(len(list)/crowdedShare, 1)
		var many []candidate
		without := make(map[uint32]bool, len(f.without))
		for d := range f.without {
			without[d] = true
		}
		for _, c := range list {
			if d := doc(c); of[d] > share {
				many = append(many, c)
				without[uint32(d)] = true
			}
		}
		if len(list)-len(many) >= n/2 {
			break
		}
		kept, k = append(kept, many...), n
		f.without = without
		list = s.nearest(q, f, n)
	}
	return append(kept, list...)
}
