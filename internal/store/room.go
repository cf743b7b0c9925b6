package store

// crowdedShare is the part of a full list that one document may have when
// others would find no place in it: an eighth.
const crowdedShare = 8

// crowded counts the entries of each document, and those beyond its share.
func crowded[T any](list []T, doc func(T) int64) (of map[int64]int, over int) {
	of = map[int64]int{}
	for _, x := range list {
		of[doc(x)]++
	}
	share := max(len(list)/crowdedShare, 1)
	for _, n := range of {
		over += max(0, n-share)
	}
	return of, over
}

// withRoom returns a full list with the first entries of rest of documents
// that are not in it, in place of the last ones of documents that have more
// than their share. Both are in order of merit; what is new comes last.
func withRoom[T any](full, rest []T, doc func(T) int64) []T {
	of, over := crowded(full, doc)
	if over == 0 {
		return full
	}
	var more []T
	for _, x := range rest {
		if len(more) < over && of[doc(x)] == 0 {
			of[doc(x)]++
			more = append(more, x)
		}
	}
	share := max(len(full)/crowdedShare, 1)
	drop := make([]bool, len(full))
	for need, i := len(more), len(full)-1; need > 0; i-- {
		if d := doc(full[i]); of[d] > share {
			of[d]--
			need--
			drop[i] = true
		}
	}
	out := make([]T, 0, len(full))
	for i, x := range full {
		if !drop[i] {
			out = append(out, x)
		}
	}
	return append(out, more...)
}
