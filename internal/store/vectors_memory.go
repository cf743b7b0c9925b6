package store

import (
	"cmp"
	"math"
	"slices"
)

// blockWindows is how many windows are allocated together. Blocks are never
// copied when the set grows.
const blockWindows = 4096

// codeBlock holds the 1-bit codes of some windows, and to whom they belong.
type codeBlock struct {
	codes []uint64
	owner []uint32 // slot in codeSet.chunks
	row   []uint32 // id in vectors
	n     int
}

// codeChunk is a chunk of the set. Its windows lie one behind the other.
type codeChunk struct {
	id    int64
	doc   uint32
	kb    uint32
	first uint32 // its first window
	typ   uint16
	flags uint8
	n     uint8
}

const (
	chunkDead    = 1 << iota // not active any more
	chunkRetired             // status closed or superseded
)

// chunkMeta is what a filter asks about a chunk.
type chunkMeta struct {
	id, doc, kb int64
	typ         string
	retired     bool
}

// codeSet holds the 1-bit codes of one generation's active chunks. Who writes
// holds vectorIndex.mu; dead chunks stay until compact.
type codeSet struct {
	gen     int64
	dim     int
	words   int
	blocks  []*codeBlock
	windows int
	dead    int // windows of dead chunks
	live    int // chunks
	chunks  []codeChunk
	types   []string
	typeOf  map[string]uint16
	sorted  int              // chunks[:sorted] ascend by id
	recent  map[int64]uint32 // slots behind them
}

func newCodeSet(gen int64, dim int) *codeSet {
	return &codeSet{gen: gen, dim: dim, words: codeWords(dim), typeOf: map[string]uint16{}, recent: map[int64]uint32{}}
}

func (s *codeSet) typeID(name string) uint16 {
	if id, ok := s.typeOf[name]; ok {
		return id
	}
	if len(s.types) == math.MaxUint16 {
		return math.MaxUint16 // more types than anybody filters by
	}
	id := uint16(len(s.types))
	s.types = append(s.types, name)
	s.typeOf[name] = id
	return id
}

// add begins a chunk; its windows follow by addWindow. A chunk that is there
// already is replaced.
func (s *codeSet) add(m chunkMeta) {
	s.remove(m.id)
	c := codeChunk{id: m.id, doc: uint32(m.doc), kb: uint32(m.kb), first: uint32(s.windows), typ: s.typeID(m.typ)}
	if m.retired {
		c.flags = chunkRetired
	}
	slot := len(s.chunks)
	s.chunks = append(s.chunks, c)
	s.live++
	if s.sorted == slot && (slot == 0 || s.chunks[slot-1].id < m.id) {
		s.sorted++
		return
	}
	s.recent[m.id] = uint32(slot)
}

// addWindow adds a window to the chunk begun last.
func (s *codeSet) addWindow(vector int64, code []uint64) {
	slot := len(s.chunks) - 1
	c := &s.chunks[slot]
	if len(code) != s.words || vector > math.MaxUint32 || c.n == maxWindows {
		return
	}
	if s.windows == len(s.blocks)*blockWindows {
		s.blocks = append(s.blocks, &codeBlock{
			codes: make([]uint64, blockWindows*s.words), owner: make([]uint32, blockWindows), row: make([]uint32, blockWindows),
		})
	}
	b := s.blocks[len(s.blocks)-1]
	copy(b.codes[b.n*s.words:], code)
	b.owner[b.n], b.row[b.n] = uint32(slot), uint32(vector)
	b.n++
	c.n++
	s.windows++
}

// slot finds a live chunk.
func (s *codeSet) slot(id int64) (uint32, bool) {
	if i, ok := s.recent[id]; ok {
		return i, true
	}
	i, ok := slices.BinarySearchFunc(s.chunks[:s.sorted], id, func(c codeChunk, id int64) int { return cmp.Compare(c.id, id) })
	if !ok || s.chunks[i].flags&chunkDead != 0 {
		return 0, false
	}
	return uint32(i), true
}

func (s *codeSet) remove(id int64) {
	i, ok := s.slot(id)
	if !ok {
		return
	}
	c := &s.chunks[i]
	c.flags |= chunkDead
	s.dead += int(c.n)
	s.live--
	delete(s.recent, id)
}

// untidy says that compact would give back much, or speed up much.
func (s *codeSet) untidy() bool {
	gone := len(s.chunks) - s.live
	return (s.dead > blockWindows || gone > blockWindows) && (s.dead*4 > s.windows || gone*4 > len(s.chunks)) || len(s.recent) > 1<<16
}

// compact returns the set without its dead chunks, in order.
func (s *codeSet) compact() *codeSet {
	order := make([]uint32, 0, s.live)
	for i := range s.chunks {
		if s.chunks[i].flags&chunkDead == 0 {
			order = append(order, uint32(i))
		}
	}
	slices.SortFunc(order, func(a, b uint32) int { return cmp.Compare(s.chunks[a].id, s.chunks[b].id) })
	out := newCodeSet(s.gen, s.dim)
	out.types, out.typeOf = s.types, s.typeOf
	out.chunks = make([]codeChunk, 0, s.live)
	for _, i := range order {
		c := s.chunks[i]
		out.chunks = append(out.chunks, c)
		nc := &out.chunks[len(out.chunks)-1]
		nc.first, nc.n = uint32(out.windows), 0
		for w := range uint32(c.n) {
			row, code := s.window(c.first + w)
			out.addWindow(int64(row), code)
		}
	}
	out.live, out.sorted = len(out.chunks), len(out.chunks)
	return out
}

// window returns the vector's id and the code of a window.
func (s *codeSet) window(at uint32) (row uint32, code []uint64) {
	b, i := s.blocks[at/blockWindows], int(at%blockWindows)
	return b.row[i], b.codes[i*s.words : (i+1)*s.words]
}

// bytes is what the set holds in memory.
func (s *codeSet) bytes() int64 {
	return int64(len(s.blocks))*blockWindows*int64(s.words*8+8) + int64(cap(s.chunks))*32 + int64(len(s.recent))*32
}
