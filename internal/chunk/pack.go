package chunk

import (
	"strings"
	"unicode/utf8"
)

const (
	unitsMost = 1 << 14 // units that may wait to be packed
	unitsKept = 1 << 12 // of them left waiting: more than any chunk looks ahead
)

// relieve packs most of the units that wait when there are very many, so that
// millions of tiny blocks do not all lie in memory. Scanners call it between
// blocks.
func (s *splitter) relieve() {
	if len(s.units) >= unitsMost {
		s.packUntil(len(s.units) - unitsKept)
	}
}

// pack joins the units left of a stretch to chunks.
func (s *splitter) pack() { s.packUntil(len(s.units)) }

// packUntil joins units to chunks at least until the chunk that holds unit
// limit-1. A chunk is filled up to the target; where it has to end in the
// middle of a section, the cheapest border in its second half is taken.
// Sections are joined when they are small.
func (s *splitter) packUntil(limit int) {
	s.findSectionEnds()
	i := 0
	for i < limit {
		start, charStart := s.overlapStart(i)
		j := s.fill(i, charStart)
		s.emit(i, j, start, charStart)
		i = j
	}
	s.units = s.units[:copy(s.units, s.units[i:])]
}

// findSectionEnds notes for every unit where its section ends.
func (s *splitter) findSectionEnds() {
	if cap(s.sectionEnds) < len(s.units) {
		s.sectionEnds = make([]int, len(s.units))
	}
	s.sectionEnds = s.sectionEnds[:len(s.units)]
	end := len(s.units)
	for i := len(s.units) - 1; i >= 0; i-- {
		s.sectionEnds[i] = end
		if s.units[i].heading {
			end = i
		}
	}
}

// fill returns the end of the chunk that begins with unit i.
func (s *splitter) fill(i, charStart int) int {
	head := s.units[i].prefixChars - charStart
	size := func(j int) int { return head + s.units[j-1].charEnd } // of units i..j-1
	j := i + 1
	for j < len(s.units) {
		if size(j+1) > s.opt.Max {
			break
		}
		if s.units[j].cost == costNever || s.units[j].heading && s.onlyHeadings(i, j) {
			j++
			continue
		}
		if s.units[j].heading {
			end := s.sectionEnds[j]
			if !s.joins(i, j, end, head) {
				return j
			}
			j = end
			continue
		}
		if size(j+1) > s.opt.Target {
			if end := s.sectionEnds[j]; size(end) <= min(s.opt.Target*5/4, s.opt.Max) {
				j = end
				continue
			}
			break
		}
		j++
	}
	if j == len(s.units) {
		return j
	}
	return s.cheapest(i, j, func(j int) bool { return size(j) >= s.opt.Target/2 })
}

// joins reports whether the section units[j:end] goes into the chunk that
// holds units[i:j].
func (s *splitter) joins(i, j, end, head int) bool {
	whole := head + s.units[end-1].charEnd
	if whole > s.opt.Target {
		return false
	}
	if end < len(s.units) && s.units[end].level > s.units[j].level {
		return false // it introduces what comes next
	}
	before := head + s.units[j-1].charEnd
	section := s.units[end-1].charEnd - s.units[j].charStart
	tiny := s.opt.Target / tinyShare
	return before < tiny || section < tiny
}

// tinyShare is the part of the target below which a section is joined with
// its neighbour.
const tinyShare = 3

func (s *splitter) onlyHeadings(i, j int) bool {
	for ; i < j; i++ {
		if !s.units[i].heading {
			return false
		}
	}
	return true
}

// cheapest returns the border of units i..j with the least cost, the last of
// several, looking only at those far enough for far; j itself when there is none.
func (s *splitter) cheapest(i, j int, far func(int) bool) int {
	best := j
	for k := j - 1; k > i && far(k); k-- {
		if s.units[k].cost < s.units[best].cost {
			best = k
		}
	}
	// Rather a short chunk than a heading or a header row left behind.
	if s.units[best].cost == costNever {
		for k := best - 1; k > i; k-- {
			if s.units[k].cost < costNever {
				return k
			}
		}
	}
	return best
}

// overlapStart returns where the chunk that begins with unit i really starts:
// earlier, inside the same paragraph, when that was cut.
func (s *splitter) overlapStart(i int) (start, charStart int) {
	u := s.units[i]
	if u.paragraph < 0 || s.opt.Overlap == 0 || len(s.chunks) == 0 || u.prefix != "" {
		return u.start, u.charStart
	}
	low := max(u.paragraph, s.chunks[len(s.chunks)-1].Start+1)
	// Whole sentences, if they are short enough.
	for k := i - 1; k >= 0 && s.units[k].start >= low && s.units[k].paragraph == u.paragraph; k-- {
		if u.charStart-s.units[k].charStart > s.opt.Overlap {
			break
		}
		start, charStart = s.units[k].start, s.units[k].charStart
	}
	if start > 0 {
		return start, charStart
	}
	at := back(s.body, u.start, low, s.opt.Overlap)
	if sp := strings.IndexAny(s.body[at:u.start], " \t\n"); at > low && sp >= 0 {
		at += sp
	}
	for at < u.start && isBlank(s.body[at]) {
		at++
	}
	at = forwardBorder(s.body, at, u.start)
	return at, u.charStart - utf8.RuneCountInString(s.body[at:u.start])
}

// emit appends the chunk of units[i:j].
func (s *splitter) emit(i, j, start, charStart int) {
	first, last := s.units[i], s.units[j-1]
	if strings.TrimSpace(s.body[start:last.end]) == "" {
		return
	}
	path := first.path
	for _, u := range s.units[i:j] {
		if path = u.path; !u.heading {
			break
		}
	}
	s.chunks = append(s.chunks, Chunk{
		Start: start, End: last.end, CharStart: charStart, CharEnd: last.charEnd,
		Prefix: first.prefix, Headings: path, Page: s.page,
	})
}
