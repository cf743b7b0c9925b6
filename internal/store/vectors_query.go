package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"slices"

	"ragd/internal/fault"
)

// Serving returns the generation that searches go to; ready when it can
// answer now. It reads memory only.
func (s *Store) Serving() (generation int64, ready bool) {
	if set := s.vec.current(); set != nil {
		return set.gen, true
	}
	return 0, false
}

// ServingModel is the generation that searches go to, ID 0 when there is none
// in memory.
func (s *Store) ServingModel(ctx context.Context) (VectorGeneration, error) {
	id, ready := s.Serving()
	if !ready {
		return VectorGeneration{}, nil
	}
	g, err := s.serving(ctx)
	if g.ID != id {
		return VectorGeneration{}, err
	}
	return g, err
}

// Meaning returns the chunks nearest to a vector: the 1-bit codes in memory
// find candidates, among those that the filter lets through, and the stored
// vectors order them. The same index and query give the same answer.
func (s *Store) Meaning(ctx context.Context, q MeaningQuery) (MeaningResult, error) {
	res := MeaningResult{Also: map[int64]MeaningHit{}}
	q.Limit = min(max(q.Limit, 1), maxHits)
	best, also, err := s.candidates(&q)
	if err != nil || len(best)+len(also) == 0 {
		return res, err
	}
	hits, err := s.rescore(ctx, q.Vector, best, also)
	if err != nil {
		return res, err
	}
	for _, h := range hits {
		if h.wanted {
			res.Also[h.ChunkID] = h.MeaningHit
		}
		if h.found {
			res.Hits = append(res.Hits, h.MeaningHit)
		}
	}
	better := func(a, b MeaningHit) int {
		return cmp.Or(cmp.Compare(b.Cosine, a.Cosine), cmp.Compare(a.ChunkID, b.ChunkID))
	}
	slices.SortFunc(res.Hits, better)
	n := min(len(res.Hits), q.Limit)
	res.Hits = withRoom(res.Hits[:n], res.Hits[n:], func(h MeaningHit) int64 { return h.DocumentID })
	slices.SortFunc(res.Hits, better)
	return res, nil
}

// near is a chunk under consideration.
type near struct {
	MeaningHit
	found, wanted bool
	row           int64 // of its best window so far
}

// windowRef is a window to be rescored.
type windowRef struct {
	row        int64
	chunk, doc int64
}

// candidates scans the codes. It normalises the query's vector.
func (s *Store) candidates(q *MeaningQuery) (best, also []windowRef, err error) {
	s.vec.mu.RLock()
	defer s.vec.mu.RUnlock()
	set := s.vec.set
	if set == nil || set.gen != q.Generation {
		return nil, nil, fault.New(fault.Conflict, "model_changed", "the vectors are of another model now")
	}
	if q.Vector, err = unit(q.Vector, set.dim); err != nil {
		return nil, nil, err
	}
	filter, none := set.filter(q.Filter)
	if !none {
		code := make([]uint64, set.words)
		signs(code, q.Vector)
		n := rescoreCount(set.windows, q.Limit)
		list := set.estimate(q.Vector, set.nearestSpread(code, filter, estimateCount(set.windows), n), n)
		best = make([]windowRef, len(list))
		for i, c := range list {
			ch := set.chunk(c.slot)
			best[i] = windowRef{int64(c.row), ch.id(), int64(ch.doc)}
		}
	}
	for _, id := range q.Also {
		slot, ok := set.slot(id)
		if !ok {
			continue
		}
		c := set.chunk(slot)
		for w := range uint32(c.n) {
			row, _ := set.window(c.first + w)
			also = append(also, windowRef{int64(row), c.id(), int64(c.doc)})
		}
	}
	return best, also, nil
}

// rescore computes the cosines of windows and keeps each chunk's best.
func (s *Store) rescore(ctx context.Context, q []float32, best, also []windowRef) (map[int64]*near, error) {
	rows := make([]int64, 0, len(best)+len(also))
	for _, list := range [][]windowRef{best, also} {
		for _, w := range list {
			rows = append(rows, w.row)
		}
	}
	slices.Sort(rows)
	rows = slices.Compact(rows)
	cosines, err := s.cosines(ctx, q, rows)
	if err != nil {
		return nil, err
	}
	hits := map[int64]*near{}
	keep := func(list []windowRef, mark func(*near)) {
		for _, w := range list {
			at, _ := slices.BinarySearch(rows, w.row)
			cos := cosines[at]
			if cos < -1 {
				continue // dropped since the scan
			}
			h := hits[w.chunk]
			if h == nil {
				h = &near{MeaningHit: MeaningHit{ChunkID: w.chunk, DocumentID: w.doc, Cosine: cos}, row: w.row}
				hits[w.chunk] = h
			} else if cos > h.Cosine {
				h.Cosine, h.row = cos, w.row
			}
			mark(h)
		}
	}
	keep(best, func(h *near) { h.found = true })
	keep(also, func(h *near) { h.wanted = true })
	return hits, nil
}

// noCosine marks a vector that is not there.
const noCosine = -2

// cosines returns the cosine with each vector of rows, which are in order.
func (s *Store) cosines(ctx context.Context, q []float32, rows []int64) ([]float64, error) {
	out := make([]float64, len(rows))
	for i := range out {
		out[i] = noCosine
	}
	list, err := json.Marshal(rows)
	if err != nil {
		return nil, err
	}
	var code sql.RawBytes
	err = s.read(ctx, "read vectors", func(r *reader) error {
		return r.each(func(rs *sql.Rows) error {
			var id int64
			if err := rs.Scan(&id, &code); err != nil {
				return err
			}
			if at, ok := slices.BinarySearch(rows, id); ok {
				if dot, ok := dotPacked(q, code); ok {
					out[at] = min(max(dot, -1), 1)
				}
			}
			return nil
		}, "SELECT v.id, v.code FROM json_each(?) j CROSS JOIN vectors v ON v.id = j.value", string(list))
	})
	return out, err
}

// Places returns where in each chunk the window nearest to a vector lies, as a
// range of bytes of its content.
func (s *Store) Places(ctx context.Context, q MeaningQuery, chunks []int64) (map[int64][2]int, error) {
	out := map[int64][2]int{}
	v, err := unit(q.Vector, len(q.Vector))
	if err != nil {
		return out, err
	}
	err = s.read(ctx, "read windows", func(r *reader) error {
		for _, id := range chunks {
			var blob []byte
			err := r.row("SELECT windows FROM chunk_vectors WHERE generation = ? AND chunk_id = ?", q.Generation, id).Scan(&blob)
			if err == sql.ErrNoRows {
				continue
			}
			if err != nil {
				return err
			}
			top := -2.0
			if err := eachWindow(blob, func(w window) error {
				var code []byte
				if err := r.row("SELECT code FROM vectors WHERE id = ?", w.vector).Scan(&code); err != nil {
					return err
				}
				if dot, ok := dotPacked(v, code); ok && dot > top {
					top, out[id] = dot, [2]int{w.start, w.end}
				}
				return nil
			}); err != nil && err != sql.ErrNoRows {
				return err
			}
		}
		return nil
	})
	return out, err
}
