package analysis

// scan goes over a.text. Plain English words and numbers are handled here, a
// byte at a time; whatever has more to it goes to stretch.
func (a *Analyzer) scan() {
	text := a.text
	for i := 0; i < len(text); {
		switch asciiClass[text[i]] {
		case clsSep:
			i++
		case clsLower, clsUpper:
			i = a.scanWord(i)
		case clsDigit:
			i = a.scanNumber(i)
		case clsGlue:
			if text[i] == '.' && leadsName(text, i) {
				i = a.stretch(i)
			} else {
				i++
			}
		default:
			i = a.stretch(i)
		}
	}
}

// leadsName reports whether the dot at i begins a name such as .NET, as far
// as its neighbours' bytes tell.
func leadsName(text string, i int) bool {
	if i+1 >= len(text) || !asciiClass[text[i+1]].letter() {
		return false
	}
	if i == 0 {
		return true
	}
	switch text[i-1] {
	case ' ', '\n', '\t', '(', '[', '{', '"', '\'', '`', ',':
		return true
	}
	return false
}

// scanWord handles a word of ASCII letters, all lower case but perhaps the
// first, or all upper case, that ends plainly; anything else is a stretch.
func (a *Analyzer) scanWord(i int) int {
	text := a.text
	start := len(a.out)
	if start > 0 {
		a.out = append(a.out, ' ')
	}
	hash := uint32(2166136261)
	j := i
	upper := 0
	for j < len(text) && j-i <= termMax {
		c := text[j]
		cl := asciiClass[c]
		if cl == clsUpper {
			upper++
			c |= 0x20
		} else if cl != clsLower {
			break
		}
		a.out = append(a.out, c)
		hash = (hash ^ uint32(c)) * 16777619
		j++
	}
	n := j - i
	plainCase := upper == 0 || upper == n || upper == 1 && text[i] < 'a'
	if !plainCase || n > termMax || !endsPlainly(text, i, j) {
		a.out = a.out[:start]
		return a.stretch(i)
	}
	if n >= stemMin && n <= stemMax {
		word := a.out[len(a.out)-n:]
		stem := a.stems.find(word, mix(hash))
		a.out = append(a.out[:len(a.out)-n], stem...)
	}
	if a.recording {
		a.begin()
		a.terms = append(a.terms, recorded(a.out[start:], start > 0))
		a.end(i, j, KindWord, false)
	}
	return j
}

// scanNumber handles a run of ASCII digits that ends plainly.
func (a *Analyzer) scanNumber(i int) int {
	text := a.text
	j := i
	for j < len(text) && asciiClass[text[j]] == clsDigit && j-i <= termMax {
		j++
	}
	if j-i > termMax || !endsPlainly(text, i, j) {
		return a.stretch(i)
	}
	start := len(a.out)
	if start > 0 {
		a.out = append(a.out, ' ')
	}
	a.out = append(a.out, text[i:j]...)
	if a.recording {
		a.begin()
		a.terms = append(a.terms, text[i:j])
		a.end(i, j, KindNumber, false)
	}
	return j
}

// endsPlainly reports whether the run of letters or digits text[i:j] is a
// whole token in itself, without looking further than a few bytes. When in
// doubt it says no, and the slower rules decide the same or better.
func endsPlainly(text string, i, j int) bool {
	if j >= len(text) {
		return true
	}
	c := text[j]
	switch cl := asciiClass[c]; {
	case c >= 0x80:
		return generalPunctuation(text, j)
	case cl == clsSep:
		return true
	case cl != clsGlue:
		return false
	case c == '+' || c == '#':
		return j-i > 1 || asciiClass[text[i]] == clsDigit
	case j+1 >= len(text):
		return true
	}
	next := text[j+1]
	switch c {
	case ':':
		return next != ':'
	case ',':
		return asciiClass[next] != clsDigit && next < 0x80
	case '\'':
		return !asciiClass[next].letter()
	}
	return !asciiClass[next].wordy()
}

// generalPunctuation reports whether a common dash, quotation mark or
// ellipsis begins at j (U+2013, 2014, 2018, 201C, 201D, 2022, 2026).
func generalPunctuation(text string, j int) bool {
	if j+2 >= len(text) || text[j] != 0xE2 || text[j+1] != 0x80 {
		return false
	}
	switch text[j+2] {
	case 0x93, 0x94, 0x98, 0x9C, 0x9D, 0xA2, 0xA6:
		return true
	}
	return false
}
