package analysis

// segment goes over the cells of a stretch and emits their tokens.
func (a *Analyzer) segment() {
	for k := 0; k < len(a.cells); {
		switch c := a.cells[k]; {
		case c.class == clsCJK:
			k = a.grams(k, clsCJK, 2, KindCJK)
		case c.class == clsThai:
			k = a.grams(k, clsThai, 3, KindThai)
		case c.class == clsSymbol:
			a.begin()
			a.put(c.folded[:c.n])
			a.end(int(c.start), int(c.end), KindSymbol, false)
			k++
		case c.class.wordy():
			k = a.compound(k)
		case c.folded[0] == '.' && c.n == 1 && a.leadsName(k):
			k = a.compound(k)
		default:
			k++
		}
	}
}

// leadsName is as the function of this name, on cells.
func (a *Analyzer) leadsName(k int) bool {
	if k+1 >= len(a.cells) || !a.cells[k+1].class.letter() {
		return false
	}
	if k == 0 {
		return leadsName(a.text, int(a.cells[0].start))
	}
	switch prev := a.cells[k-1]; prev.class {
	case clsCJK, clsThai, clsSep:
		return true
	case clsGlue:
		return prev.folded[0] == ',' || prev.folded[0] == '\''
	}
	return false
}

// grams emits a run of characters of a script without spaces as all its
// sequences of n. A shorter run is one term. What is shorter than n at the
// end of a run follows the running text as terms of its own, so that a query
// of fewer than n characters, taken as a prefix, finds every place.
func (a *Analyzer) grams(k int, cl class, n int, kind Kind) int {
	m := k
	for m < len(a.cells) && a.cells[m].class == cl {
		m++
	}
	for i := k; i == k || i+n <= m; i++ {
		a.begin()
		a.put(a.fold(i, min(i+n, m)))
		a.end(int(a.cells[i].start), int(a.cells[min(i+n, m)-1].end), kind, false)
	}
	for i := max(m-n+1, k+1); i < m; i++ {
		a.begin()
		a.putTail(a.fold(i, m))
		if a.recording {
			a.terms, a.whole = append(a.terms, a.whole), ""
			a.end(int(a.cells[i].start), int(a.cells[m-1].end), kind, false)
			a.tokens[len(a.tokens)-1].tail = true
		}
	}
	return m
}

// fold returns the folded text of cells[k:m]; good until the next call.
func (a *Analyzer) fold(k, m int) []byte {
	a.term = a.term[:0]
	for i := k; i < m; i++ {
		if c := &a.cells[i]; c.class != clsJoin {
			a.term = append(a.term, c.folded[:c.n]...)
		}
	}
	return a.term
}

// compound emits the token that begins at cell k: a word, a number, or an
// identifier whole and in parts.
func (a *Analyzer) compound(k int) int {
	m, next := a.compoundEnd(k)
	from, to := a.trimUnderscores(k, m)
	if from == to {
		return next
	}
	a.findCuts(from, to)
	if len(a.cuts) == 0 {
		return next
	}
	a.begin()
	start, end := int(a.cells[from].start), int(a.cells[to-1].end)
	only := len(a.cuts) == 1 && a.cuts[0].from == from && a.cuts[0].to == to
	if !only {
		a.putTail(a.fold(from, to))
	}
	a.putParts()
	kind, glued := a.kindOf(only)
	a.end(start, end, kind, glued)
	return next
}

// trimUnderscores takes the underscores off both ends of cells[k:m], unless
// there are two or more at both (__init__).
func (a *Analyzer) trimUnderscores(k, m int) (from, to int) {
	from, to = k, m
	for from < to && a.cells[from].class == clsUnder {
		from++
	}
	for from < to && a.cells[to-1].class == clsUnder {
		to--
	}
	if from < to && from-k >= 2 && m-to >= 2 {
		return k, m
	}
	return from, to
}

func (a *Analyzer) kindOf(only bool) (kind Kind, glued bool) {
	digits := true
	glued = !only
	for i, c := range a.cuts {
		digits = digits && a.cells[c.from].class == clsDigit && a.cells[c.to-1].class == clsDigit
		if i > 0 && !c.glued {
			glued = false
		}
	}
	switch {
	case digits:
		return KindNumber, glued
	case only && onlyWord(a.cells[a.cuts[0].from:a.cuts[0].to]):
		return KindWord, glued
	}
	return KindIdentifier, glued
}

// onlyWord reports whether the cells are letters alone (an apostrophe that
// was dropped included).
func onlyWord(cells []cell) bool {
	for _, c := range cells {
		if !c.class.letter() && c.class != clsJoin {
			return false
		}
	}
	return true
}
