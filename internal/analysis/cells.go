package analysis

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

const (
	stretchMax = 4096 // bytes of input handled at once
	blobMin    = 256  // bytes of base64-like text that make a blob
)

// cell is one character of a stretch after NFKC, with its folded form.
type cell struct {
	start, end int32 // bytes in the text
	class      class
	n          uint8 // bytes of folded
	folded     [4]byte
}

// stretch handles the text from i up to the next byte that ends every token
// and returns where it stopped, which is after i.
func (a *Analyzer) stretch(i int) int {
	if end := blobEnd(a.text, i); end-i > blobMin {
		a.blob(i, end)
		return end
	}
	end, ascii := stretchEnd(a.text, i)
	a.cells = a.cells[:0]
	switch s := a.text[i:end]; {
	case ascii:
		for j := range len(s) {
			a.addASCII(s[j], i+j)
		}
	case norm.NFKC.IsNormalString(s):
		for j, r := range s {
			a.addCell(r, i+j, i+j+utf8.RuneLen(r))
		}
	default:
		a.addNormalised(s, i)
	}
	a.segment()
	return end
}

// addNormalised appends the cells of s, which stands at i and is not in NFKC.
// The characters that one of the input becomes (½ is 1⁄2) all have its place;
// the iterator only moves on with the last of them.
func (a *Analyzer) addNormalised(s string, i int) {
	var it norm.Iter
	it.InitString(norm.NFKC, s)
	open := 0 // first cell of the characters whose end is not known yet
	for !it.Done() {
		from := it.Pos()
		segment := it.Next()
		to := it.Pos()
		for len(segment) > 0 {
			r, n := utf8.DecodeRune(segment)
			a.addCell(r, i+from, i+to)
			segment = segment[n:]
		}
		if to > from {
			for ; open < len(a.cells); open++ {
				a.cells[open].end = max(a.cells[open].end, int32(i+to))
			}
		}
	}
	for ; open < len(a.cells); open++ {
		a.cells[open].end = max(a.cells[open].end, int32(i+len(s)))
	}
}

// stretchEnd returns where the stretch from i ends: before the next ASCII
// byte that is a separator, or after stretchMax bytes at the most, there
// after a separator outside ASCII if one is near.
func stretchEnd(text string, i int) (end int, ascii bool) {
	ascii = true
	j := i
	for j < len(text) && asciiClass[text[j]] != clsSep {
		if text[j] >= 0x80 {
			ascii = false
		}
		if j-i >= stretchMax {
			return cutStretch(text, i, j), ascii
		}
		j++
	}
	return j, ascii
}

// cutStretch returns the end of the last separator in the second half of
// text[i:j], or else the last start of a character.
func cutStretch(text string, i, j int) int {
	for !utf8.RuneStart(text[j]) {
		j--
	}
	for k := j; k > i+stretchMax/2; {
		r, n := utf8.DecodeLastRuneInString(text[i:k])
		if classOf(r) == clsSep {
			return k
		}
		k -= n
	}
	return j
}

// blobEnd returns the end of the run of base64-like bytes from i.
func blobEnd(text string, i int) int {
	for i < len(text) && blobByte[text[i]] {
		i++
	}
	return i
}

// blob emits a long run without separators (base64, a digest, a minified
// name table): one term for the whole, and what its beginning holds.
func (a *Analyzer) blob(i, end int) {
	a.cells = a.cells[:0]
	for j := i; j < i+blobMin; j++ {
		c := a.text[j]
		if c == '+' || c == '=' {
			c = '/'
		}
		a.addASCII(c, j)
	}
	a.begin()
	a.findCuts(0, len(a.cells))
	a.term = appendHash(append(a.term[:0], '~'), hashLong(a.text[i:end]))
	if len(a.cuts) == 0 {
		a.put(a.term)
	} else {
		a.putTail(a.term)
		a.putParts()
	}
	a.end(i, end, KindIdentifier, true)
}

func (a *Analyzer) addASCII(c byte, at int) {
	cl := asciiClass[c]
	if cl == clsUpper {
		c |= 0x20
	}
	a.cells = append(a.cells, cell{start: int32(at), end: int32(at + 1), class: cl, n: 1, folded: [4]byte{c}})
}

// addCell appends a character; a mark that folding drops only widens the
// cell before it, and what stands for nothing is left out.
func (a *Analyzer) addCell(r rune, start, end int) {
	if r < 0x80 {
		a.addASCII(byte(r), start)
		a.cells[len(a.cells)-1].end = int32(end)
		return
	}
	cl := classOf(r)
	last := len(a.cells) - 1
	if cl == clsOther && last >= 0 && unicode.IsMark(r) && !a.cells[last].class.letter() {
		if prev := a.cells[last].class; prev == clsCJK || prev == clsThai {
			cl = prev // a voicing mark that does not compose
		}
	}
	if cl == clsDrop {
		if last >= 0 && a.cells[last].end <= int32(start) {
			a.cells[last].end = int32(end)
		}
		return
	}
	one, two := foldRune(r)
	if one == 0 {
		return
	}
	c := cell{start: int32(start), end: int32(end), class: cl}
	c.n = uint8(utf8.EncodeRune(c.folded[:], one))
	if two != 0 {
		c.n += uint8(copy(c.folded[c.n:], string(two)))
	}
	a.cells = append(a.cells, c)
}
