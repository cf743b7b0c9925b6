package analysis

// Analyzer turns text into terms. It keeps buffers and a cache of stems, so
// it is not safe for concurrent use; make one for each goroutine. The zero
// value is ready to use.
type Analyzer struct {
	stems stemCache

	text  string
	out   []byte // terms of the running text
	tail  []byte // terms that follow it
	cells []cell // the stretch at work
	term  []byte // the term being put together
	cuts  []cut  // parts of the identifier at work

	// Only when recording, that is for Tokens.
	recording bool
	tokens    []Token
	terms     []string // parts of the token at work
	whole     string   // its whole form, if it has one
}

// New returns an Analyzer.
func New() *Analyzer { return &Analyzer{} }

// AppendTerms appends the index terms of text to dst, separated by single
// spaces, and returns the extended slice. No term holds a space or a control
// character of ASCII. If dst is not empty and terms follow, a space is put
// between. The terms of running text come first, in order, so that a phrase
// is a sequence of neighbouring terms; whole identifiers come after them.
func (a *Analyzer) AppendTerms(dst []byte, text string) []byte {
	a.recording = false
	a.text, a.out, a.tail = text, dst, a.tail[:0]
	a.scan()
	dst = a.out
	if len(a.tail) > 0 {
		if len(dst) > 0 {
			dst = append(dst, ' ')
		}
		dst = append(dst, a.tail...)
	}
	a.text, a.out = "", nil
	return dst
}

// Tokens returns the same terms as AppendTerms with their places in text, in
// the order of their starts.
func (a *Analyzer) Tokens(text string) []Token {
	a.recording = true
	a.text, a.out, a.tail, a.tokens = text, a.out[:0], a.tail[:0], nil
	a.scan()
	tokens := a.tokens
	a.text, a.tokens, a.out = "", nil, nil
	return tokens
}

// begin starts a token; end finishes it. Both cost nothing unless recording.
func (a *Analyzer) begin() {
	if a.recording {
		a.terms, a.whole = nil, ""
	}
}

func (a *Analyzer) end(start, end int, kind Kind, glued bool) {
	if !a.recording {
		return
	}
	t := Token{Terms: a.terms, Text: a.text[start:end], Start: start, End: end, Kind: kind, Glued: glued}
	if a.whole != "" {
		t.Terms, t.Whole = append([]string{a.whole}, a.terms...), true
	}
	t.Stop = true
	for _, term := range t.Terms {
		t.Stop = t.Stop && IsStop(term)
	}
	a.tokens = append(a.tokens, t)
}
