package store

import (
	"cmp"
	"math"
	"slices"
	"sort"
)

// blockSize is how many windows, or chunks, are allocated together. Blocks are
// never copied when the set grows.
const blockSize = 4096

// codeBlock holds the 1-bit codes of some windows. Whose they are follows from
// codeChunk.first, since a chunk's windows lie one behind the other.
type codeBlock struct {
	codes []uint64
	row   []uint32 // id in vectors
	n     int
}

// codeChunk is a chunk of the set in 16 bytes.
type codeChunk struct {
	seq   uint32 // its id without the low seqShift bits
	doc   uint32
	first uint32 // its first window
	class uint16 // index of codeSet.classes
	low   uint8  // the low bits of its id, and chunkDead
	n     uint8  // windows
}

const chunkDead = 1 << seqShift // in low: not active any more

func (c *codeChunk) id() int64 { return int64(c.seq)<<seqShift | int64(c.low&(chunkDead-1)) }

func (c *codeChunk) dead() bool { return c.low&chunkDead != 0 }

// codeClass is what a filter asks about a chunk; many chunks share one.
type codeClass struct {
	kb       int64
	typ      string
	standing standing
}

// maxTyped bounds the classes with a type of their own. Behind it chunks lose
// their type (nobody filters by that many), so that KBs have room left.
const maxTyped = 60_000

// chunkMeta is what the set keeps of a chunk.
type chunkMeta struct {
	id, doc, kb int64
	typ         string
	standing    standing
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
	size    int // chunks, dead ones among them
	chunks  [][]codeChunk
	classes []codeClass
	classOf map[codeClass]uint16
	sorted  int              // the first so many chunks ascend by id
	recent  map[int64]uint32 // slots behind them
}

func newCodeSet(gen int64, dim int) *codeSet {
	return &codeSet{gen: gen, dim: dim, words: codeWords(dim), classOf: map[codeClass]uint16{}, recent: map[int64]uint32{}}
}

func (s *codeSet) chunk(slot uint32) *codeChunk { return &s.chunks[slot/blockSize][slot%blockSize] }

// class finds or makes a class; false when there are too many.
func (s *codeSet) class(c codeClass) (uint16, bool) {
	id, ok := s.classOf[c]
	if !ok && len(s.classes) >= maxTyped && c.typ != "" {
		c.typ = ""
		id, ok = s.classOf[c]
	}
	if ok || len(s.classes) > math.MaxUint16 {
		return id, ok
	}
	id = uint16(len(s.classes))
	s.classes = append(s.classes, c)
	s.classOf[c] = id
	return id, true
}

// add begins a chunk; its windows follow by addWindow. A chunk that is there
// already is replaced. False: it does not fit in, and is found by keyword only.
func (s *codeSet) add(m chunkMeta) bool {
	s.remove(m.id)
	class, ok := s.class(codeClass{m.kb, m.typ, m.standing})
	if !ok || m.id>>seqShift > math.MaxUint32 || m.doc > math.MaxUint32 || s.windows > math.MaxUint32-maxWindows {
		return false
	}
	slot := uint32(s.size)
	if slot%blockSize == 0 {
		s.chunks = append(s.chunks, make([]codeChunk, blockSize))
	}
	*s.chunk(slot) = codeChunk{
		seq: uint32(m.id >> seqShift), low: uint8(m.id & (chunkDead - 1)), doc: uint32(m.doc), first: uint32(s.windows), class: class,
	}
	s.size++
	s.live++
	if s.sorted == int(slot) && (slot == 0 || s.chunk(slot-1).id() < m.id) {
		s.sorted++
		return true
	}
	s.recent[m.id] = slot
	return true
}

// addWindow adds a window to the chunk begun last.
func (s *codeSet) addWindow(vector int64, code []uint64) {
	c := s.chunk(uint32(s.size - 1))
	if len(code) != s.words || vector > math.MaxUint32 || c.n == maxWindows {
		return
	}
	if s.windows == len(s.blocks)*blockSize {
		s.blocks = append(s.blocks, &codeBlock{codes: make([]uint64, blockSize*s.words), row: make([]uint32, blockSize)})
	}
	b := s.blocks[len(s.blocks)-1]
	copy(b.codes[b.n*s.words:], code)
	b.row[b.n] = uint32(vector)
	b.n++
	c.n++
	s.windows++
}

// addChunk adds a chunk with its windows, as chunk_vectors has them. Malformed
// ones are left out: the chunk is found by keyword.
func (s *codeSet) addChunk(m chunkMeta, windows []byte) {
	if !s.add(m) {
		return
	}
	_ = eachWindow(windows, func(w window) error {
		s.addWindow(w.vector, w.code)
		return nil
	})
}

// slot finds a live chunk.
func (s *codeSet) slot(id int64) (uint32, bool) {
	if i, ok := s.recent[id]; ok {
		return i, true
	}
	i := sort.Search(s.sorted, func(i int) bool { return s.chunk(uint32(i)).id() >= id })
	if i == s.sorted || s.chunk(uint32(i)).id() != id || s.chunk(uint32(i)).dead() {
		return 0, false
	}
	return uint32(i), true
}

// owner returns the chunk of a window, at slot from or behind it.
func (s *codeSet) owner(at, from uint32) uint32 {
	lo, hi, step := from, from+1, uint32(1)
	for hi < uint32(s.size) && s.chunk(hi).first <= at {
		step *= 2
		lo, hi = hi, hi+step
	}
	for hi = min(hi, uint32(s.size)); hi-lo > 1; {
		if mid := lo + (hi-lo)/2; s.chunk(mid).first <= at {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// ownerOf returns the chunk of a window.
func (s *codeSet) ownerOf(at uint32) uint32 {
	return uint32(max(0, sort.Search(s.size, func(i int) bool { return s.chunk(uint32(i)).first > at })-1))
}

func (s *codeSet) remove(id int64) {
	i, ok := s.slot(id)
	if !ok {
		return
	}
	c := s.chunk(i)
	c.low |= chunkDead
	s.dead += int(c.n)
	s.live--
	delete(s.recent, id)
}

// untidy says that compact would give back much, or speed up much.
func (s *codeSet) untidy() bool {
	gone := s.size - s.live
	return (s.dead > blockSize || gone > blockSize) && (s.dead*4 > s.windows || gone*4 > s.size) || len(s.recent) > 1<<16
}

// compact returns the set without its dead chunks, in order.
func (s *codeSet) compact() *codeSet {
	order := make([]uint32, 0, s.live)
	for i := range uint32(s.size) {
		if !s.chunk(i).dead() {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(a, b uint32) int { return cmp.Compare(s.chunk(a).id(), s.chunk(b).id()) })
	out := newCodeSet(s.gen, s.dim)
	for _, i := range order {
		c := s.chunk(i)
		class := s.classes[c.class]
		if !out.add(chunkMeta{id: c.id(), doc: int64(c.doc), kb: class.kb, typ: class.typ, standing: class.standing}) {
			continue
		}
		for w := range uint32(c.n) {
			row, code := s.window(c.first + w)
			out.addWindow(int64(row), code)
		}
	}
	return out
}

// window returns the vector's id and the code of a window.
func (s *codeSet) window(at uint32) (row uint32, code []uint64) {
	b, i := s.blocks[at/blockSize], int(at%blockSize)
	return b.row[i], b.codes[i*s.words : (i+1)*s.words]
}

// bytes is what the set holds in memory.
func (s *codeSet) bytes() int64 {
	return int64(len(s.blocks))*blockSize*int64(s.words*8+4) + int64(len(s.chunks))*blockSize*16 + int64(len(s.recent))*40
}
