package store

import (
	"cmp"
	"math/bits"
	"runtime"
	"slices"
	"sync"
)

// How many windows are looked at more closely. Both grow with the index, for
// the more codes there are, the more of them are as near as the true best.
const (
	estimateLeast = 1000 // by the estimate from the 1-bit codes
	rescoreLeast  = 200  // by the stored vectors
	rescoreMost   = 1000
)

func estimateCount(windows int) int { return estimateLeast + windows/100 }

func rescoreCount(windows, limit int) int {
	return min(max(rescoreLeast, 2*limit)+windows/2000, rescoreMost)
}

// codeFilter is a Filter over a codeSet.
type codeFilter struct {
	classes []bool          // that it lets through
	without map[uint32]bool // documents that it does not
}

// filter translates f; none: nothing can match.
func (s *codeSet) filter(f Filter) (out codeFilter, none bool) {
	out.classes, none = make([]bool, len(s.classes)), true
	for i, c := range s.classes {
		out.classes[i] = (f.KBs == nil || slices.Contains(f.KBs, c.kb)) &&
			(len(f.Types) == 0 || slices.Contains(f.Types, c.typ)) &&
			(f.IncludeRetired || c.standing != standingRetired) && (!f.Published || c.standing == standingPublished)
		none = none && !out.classes[i]
	}
	return out, none
}

func (f codeFilter) allows(c *codeChunk) bool {
	return !c.dead() && f.classes[c.class] && (len(f.without) == 0 || !f.without[c.doc])
}

// candidate is a window that may be near.
type candidate struct {
	at       uint32 // window
	slot     uint32 // chunk
	row      uint32 // vector
	distance int32  // of the codes
	estimate float32
}

// scanAlone is how many blocks are worth a goroutine of their own.
const scanAlone = 8

// nearest returns the k allowed windows whose codes differ least from q, and
// all that are as near as the last, in order. The same set gives the same answer.
func (s *codeSet) nearest(q []uint64, f codeFilter, k int) []candidate {
	parts := make([][]candidate, max(1, min(runtime.GOMAXPROCS(0), len(s.blocks)/scanAlone)))
	var wg sync.WaitGroup
	for i := range parts {
		from, to := i*len(s.blocks)/len(parts), (i+1)*len(s.blocks)/len(parts)
		if i == len(parts)-1 {
			parts[i] = s.nearestOf(from, to, q, f, k)
			continue
		}
		wg.Go(func() { parts[i] = s.nearestOf(from, to, q, f, k) })
	}
	wg.Wait()
	if len(parts) == 1 {
		return parts[0]
	}
	out := slices.Concat(parts...)
	counts := make([]int32, s.words*64+2)
	for _, c := range out {
		counts[c.distance]++
	}
	limit := tighten(counts, int32(s.words*64+1), k)
	return slices.DeleteFunc(out, func(c candidate) bool { return c.distance > limit })
}

// nearestOf is nearest among some of the blocks.
func (s *codeSet) nearestOf(from, to int, q []uint64, f codeFilter, k int) []candidate {
	limit := int32(s.words*64 + 1) // windows farther than this are not wanted
	counts := make([]int32, limit+1)
	out := make([]candidate, 0, 2*k)
	full := 2 * k
	var distances [blockSize]uint16
	slot := s.ownerOf(uint32(from * blockSize))
	for bi, b := range s.blocks[from:to] {
		distancesOf(distances[:b.n], q, b.codes)
		for i, d := range distances[:b.n] {
			d := int32(d)
			if d > limit {
				continue
			}
			at := uint32((from+bi)*blockSize + i)
			if slot = s.owner(at, slot); !f.allows(s.chunk(slot)) {
				continue
			}
			counts[d]++
			out = append(out, candidate{at: at, slot: slot, row: b.row[i], distance: d})
			if len(out) >= full {
				limit = tighten(counts, limit, k)
				out = slices.DeleteFunc(out, func(c candidate) bool { return c.distance > limit })
				full = max(2*k, 2*len(out))
			}
		}
	}
	limit = tighten(counts, limit, k)
	return slices.DeleteFunc(out, func(c candidate) bool { return c.distance > limit })
}

// tighten returns the least distance within which there are k windows.
func tighten(counts []int32, limit int32, k int) int32 {
	n := 0
	for d := range limit {
		n += int(counts[d])
		if n >= k {
			return d
		}
	}
	return limit
}

// distancesOf fills out with the distances of q from the codes of a block.
func distancesOf(out []uint16, q, codes []uint64) {
	if len(q) == 6 { // 384 dimensions
		q := [6]uint64(q)
		for i := range out {
			c := (*[6]uint64)(codes[i*6:])
			out[i] = uint16(bits.OnesCount64(q[0]^c[0]) + bits.OnesCount64(q[1]^c[1]) + bits.OnesCount64(q[2]^c[2]) +
				bits.OnesCount64(q[3]^c[3]) + bits.OnesCount64(q[4]^c[4]) + bits.OnesCount64(q[5]^c[5]))
		}
		return
	}
	for i := range out {
		out[i] = uint16(distance(q, codes[i*len(q):(i+1)*len(q)]))
	}
}

func distance(a, b []uint64) (n int32) {
	for i, x := range a {
		n += int32(bits.OnesCount64(x ^ b[i]))
	}
	return n
}

// estimate orders candidates by the product of the query itself and the signs
// of their vectors, which tells more than the distance of two codes, and keeps n.
// A document of very many windows does not fill them alone.
func (s *codeSet) estimate(q []float32, list []candidate, n int) []candidate {
	tables := signTables(q, s.words)
	for i := range list {
		_, code := s.window(list[i].at)
		var sum float32
		for w, word := range code {
			t := tables[w*8 : w*8+8]
			for b := range 8 {
				sum += t[b][byte(word>>(8*b))]
			}
		}
		list[i].estimate = sum
	}
	best := func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.estimate, a.estimate), cmp.Compare(s.chunk(a.slot).id(), s.chunk(b.slot).id()), cmp.Compare(a.at, b.at))
	}
	doc := func(c candidate) int64 { return int64(s.chunk(c.slot).doc) }
	n = min(len(list), n)
	head := atLeast(list, n)
	slices.SortFunc(list[:head], best)
	if _, over := crowded(list[:n], doc); over == 0 {
		return list[:n]
	}
	slices.SortFunc(list[head:], best)
	return withRoom(list[:n], list[n:], doc)
}

// atLeast moves the candidates whose estimates are among the n best to the
// front, with all that are as good as the last, and returns how many they are.
func atLeast(list []candidate, n int) (head int) {
	if n == len(list) {
		return n
	}
	estimates := make([]float32, len(list))
	for i, c := range list {
		estimates[i] = c.estimate
	}
	slices.Sort(estimates)
	least := estimates[len(list)-n]
	for i, c := range list {
		if c.estimate >= least {
			list[i], list[head] = list[head], c
			head++
		}
	}
	return head
}

// signTables holds, for each byte of a code, the sum of its dimensions of q
// with the signs the byte says.
func signTables(q []float32, words int) [][256]float32 {
	out := make([][256]float32, words*8)
	for t := range out {
		var base float32
		var part [8]float32
		for i := range part {
			if at := t*8 + i; at < len(q) {
				part[i] = q[at]
				base -= q[at]
			}
		}
		out[t][0] = base
		for v := 1; v < 256; v++ {
			low := bits.TrailingZeros8(uint8(v))
			out[t][v] = out[t][v&(v-1)] + 2*part[low]
		}
	}
	return out
}
