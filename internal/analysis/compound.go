package analysis

// compoundEnd returns the end m of the token that begins at cell k, and where
// to go on, which is further when an ending ('s) is left out. It turns what
// is inside the token but in no term (an apostrophe, the comma of 1,000) into
// clsJoin, and the signs of C++ and C# into letters.
func (a *Analyzer) compoundEnd(k int) (m, next int) {
	cells := a.cells
	run := k // start of the current run of letters and digits
	if cells[k].class == clsGlue {
		run = k + 1
	}
	for m = run; m < len(cells); {
		if cells[m].class.wordy() {
			m++
			continue
		}
		if cells[m].class != clsGlue || cells[m].n != 1 {
			break
		}
		n := 0 // cells that belong to the sign
		switch cells[m].folded[0] {
		case '+', '#':
			n = a.signs(run, m)
			for i := m; i < m+n; i++ {
				cells[i].class = clsLower
			}
			m += n
			if n == 0 {
				return m, m
			}
			continue
		case '\'':
			done, skip := a.apostrophe(run, m)
			if done {
				return m, m + skip
			}
			if m++; cells[m-1].class != clsJoin {
				run = m
			}
			continue
		case ',':
			if n = a.thousands(run, m); n == 0 {
				return m, m
			}
			cells[m].class = clsJoin
		case ':':
			n = 2
			if m+2 >= len(cells) || cells[m+1].folded[0] != ':' || !cells[m+2].class.wordy() {
				return m, m
			}
		case '&':
			n = 1
			if m+1 >= len(cells) || cells[m-1].class != clsUpper || cells[m+1].class != clsUpper {
				return m, m
			}
		default:
			n = 1
			if m+1 >= len(cells) || !cells[m+1].class.wordy() {
				return m, m
			}
		}
		m += n
		if cells[m-1].class != clsJoin {
			run = m
		}
	}
	return m, m
}

// signs returns how many cells at m are the signs of a name like C++ or F#:
// one letter, then "++" or "#", then no more signs and no letter.
func (a *Analyzer) signs(run, m int) int {
	cells := a.cells
	if m-run != 1 || !cells[run].class.letter() {
		return 0
	}
	sign, n := cells[m].folded[0], 1
	if sign == '+' {
		n = 2
	}
	if m+n > len(cells) || cells[m+n-1].folded[0] != sign {
		return 0
	}
	if m+n < len(cells) {
		after := cells[m+n]
		if after.class.letter() || after.folded[0] == sign || sign == '#' && after.class.wordy() {
			return 0
		}
	}
	return n
}

// thousands returns 1 when the comma at m is one of a number like 1,000,000:
// up to three digits before it (or a group joined already), then exactly three.
func (a *Analyzer) thousands(run, m int) int {
	cells := a.cells
	before := 0
	for i := m - 1; i >= run && cells[i].class == clsDigit; i-- {
		before++
	}
	first := m-before == run
	if !first && (cells[m-before-1].class != clsJoin || before != 3) || before == 0 || before > 3 {
		return 0
	}
	if m+3 >= len(cells) {
		return 0
	}
	for i := m + 1; i <= m+3; i++ {
		if cells[i].class != clsDigit {
			return 0
		}
	}
	if m+4 < len(cells) && cells[m+4].class.wordy() {
		return 0
	}
	return 1
}

// apostrophe decides about the one at m, after the run of letters that begins
// at run. It is either the end of the token, skip cells of which are left out
// (user's, l'eau), or stands inside it and is made part of no term (don't) or
// a border of parts (O'Reilly).
func (a *Analyzer) apostrophe(run, m int) (done bool, skip int) {
	cells := a.cells
	end := m + 1
	for end < len(cells) && cells[end].class.letter() {
		end++
	}
	if end == m+1 || end < len(cells) && cells[end].class.wordy() || !onlyWord(cells[run:m]) || m == run {
		return true, 1
	}
	before, after := shortText(cells[run:m]), shortText(cells[m+1:end])
	switch after {
	case "s", "ll", "re", "ve", "d", "m":
		return true, end - m
	case "t":
		if cells[m-1].folded[0] == 'n' {
			cells[m].class = clsJoin
			return false, 0
		}
	}
	switch before {
	case "c", "d", "j", "l", "m", "n", "s", "t", "qu", "jusqu", "lorsqu", "puisqu", "quoiqu",
		"dell", "nell", "all", "dall", "sull", "un":
		return true, 1
	}
	return false, 0
}

// shortText returns the folded text of a few letters, or "" if it is long.
func shortText(cells []cell) string {
	if len(cells) > 6 {
		return ""
	}
	var b [24]byte
	n := 0
	for _, c := range cells {
		n += copy(b[n:], c.folded[:c.n])
	}
	return string(b[:n])
}
