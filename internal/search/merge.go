package search

import (
	"cmp"
	"slices"
)

// What makes neighbouring chunks one hit.
const (
	mergeMost  = 3    // chunks in one hit: beyond that its lines say little
	mergeShare = 0.25 // of the better one's sum, half of its score; less is no match of its own
)

// chunkOrder is what chunks of one revision are counted by: neighbours are
// one apart.
func chunkOrder(chunk int64) int64 { return chunk >> 5 }

// merge makes one hit of neighbouring chunks of a document that both match.
// list is in order of base, and stays so; a hit stands where its best chunk did.
func merge(list []fused) []fused {
	own := make(map[int64][]int, len(list)) // the hits of a document
	gone := make([]bool, len(list))
	alone := make([]int64, len(list)) // one array for all that stay single
	for i := range list {
		f := &list[i]
		alone[i] = f.chunk
		f.chunks = alone[i : i+1 : i+1]
		at := i
		for {
			near := beside(list, own[f.document], at)
			if near < 0 {
				break
			}
			if at != i { // two hits meet: the later one goes into the better one
				own[f.document] = slices.DeleteFunc(own[f.document], func(k int) bool { return k == max(at, near) })
			}
			better := min(at, near)
			list[better].absorb(&list[max(at, near)])
			gone[max(at, near)] = true
			at = better
		}
		if at == i {
			own[f.document] = append(own[f.document], i)
		}
	}
	kept := 0
	for i := range list {
		if !gone[i] {
			list[kept] = list[i]
			kept++
		}
	}
	return list[:kept]
}

// beside returns which of a document's hits lies next to the one at i and
// matches about as well, or -1.
func beside(list []fused, hits []int, at int) int {
	f := &list[at]
	first, last := chunkOrder(f.chunks[0]), chunkOrder(f.chunks[len(f.chunks)-1])
	for _, k := range hits {
		g := &list[k]
		if k == at || len(f.chunks)+len(g.chunks) > mergeMost {
			continue
		}
		touches := chunkOrder(g.chunks[0]) == last+1 || chunkOrder(g.chunks[len(g.chunks)-1]) == first-1
		if touches && min(f.base, g.base) >= mergeShare*max(f.base, g.base) {
			return k
		}
	}
	return -1
}

// absorb takes in the chunks of a neighbour.
func (f *fused) absorb(g *fused) {
	f.chunks = append(f.chunks, g.chunks...)
	slices.SortFunc(f.chunks, func(a, b int64) int { return cmp.Compare(chunkOrder(a), chunkOrder(b)) })
}
