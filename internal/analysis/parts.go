package analysis

const (
	partsMax = 32 // parts emitted of one identifier
	junkMin  = 20 // cells from which on a part with borders all over is taken as a digest or key
)

// cut is one part of an identifier: cells[from:to]. glued says that only a
// border between letters and digits parts it from the one before.
type cut struct {
	from, to int
	glued    bool
}

// findCuts fills a.cuts with the parts of the identifier cells[k:m].
func (a *Analyzer) findCuts(k, m int) {
	a.cuts = a.cuts[:0]
	for i := k; i < m; {
		if c := a.cells[i].class; c == clsGlue || c == clsUnder {
			i++
			continue
		}
		j := i
		for j < m && a.cells[j].class != clsGlue && a.cells[j].class != clsUnder {
			j++
		}
		a.cutSegment(i, j)
		i = j
		if len(a.cuts) >= partsMax {
			a.cuts = a.cuts[:partsMax]
			return
		}
	}
}

// cutSegment cuts letters and digits without signs between at camelCase
// borders, and each piece once more where letters and digits meet.
func (a *Analyzer) cutSegment(k, m int) {
	if a.junk(k, m) {
		a.cuts = append(a.cuts, cut{from: k, to: m})
		return
	}
	from := k
	for i := k + 1; i <= m; i++ {
		if i < m && !a.camelBorder(k, i, m) {
			continue
		}
		a.cutDigits(from, i)
		from = i
	}
}

// camelBorder reports whether a part begins at i: xY, XYz (before Y), 1X.
func (a *Analyzer) camelBorder(k, i, m int) bool {
	if a.cells[i].class != clsUpper {
		return false
	}
	switch a.cells[i-1].class {
	case clsLower:
		return true
	case clsDigit:
		return i+1 < m && a.cells[i+1].class == clsLower
	case clsUpper:
		// A plural or a suffix in lower case (APIs, PDFs) is no word of its own.
		return i+1 < m && a.cells[i+1].class == clsLower && !(i+2 == m && a.cells[i+1].folded[0] == 's')
	}
	return false
}

// cutDigits adds cells[from:to], in two when it is letters and then digits or
// the other way round with no further change (utf8, 10mb; not k8s).
func (a *Analyzer) cutDigits(from, to int) {
	border := 0
	for i := from + 1; i < to; i++ {
		if (a.cells[i].class == clsDigit) != (a.cells[i-1].class == clsDigit) &&
			a.cells[i].class != clsJoin && a.cells[i-1].class != clsJoin {
			if border != 0 {
				border = 0
				break
			}
			border = i
		}
	}
	glued := len(a.cuts) > 0 && a.cuts[len(a.cuts)-1].to == from && a.cells[from].class == clsDigit
	if border == 0 {
		a.cuts = append(a.cuts, cut{from, to, glued})
		return
	}
	a.cuts = append(a.cuts, cut{from, border, glued}, cut{border, to, true})
}

// junk reports whether cells[k:m] are long and change between digits and
// letters or the cases so often that they are no words: a digest, a key.
func (a *Analyzer) junk(k, m int) bool {
	if m-k < junkMin {
		return false
	}
	changes := 0
	for i := k + 1; i < m; i++ {
		if a.cells[i].class != a.cells[i-1].class && a.cells[i].class != clsJoin {
			changes++
		}
	}
	return changes*5 > 2*(m-k)
}

// putParts emits the parts found.
func (a *Analyzer) putParts() {
	for _, c := range a.cuts {
		a.putWord(a.fold(c.from, c.to))
	}
}
