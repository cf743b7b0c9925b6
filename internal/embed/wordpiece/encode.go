package wordpiece

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// words walks a text word by word. The zero value with t and text set is ready.
type words struct {
	t    *Tokenizer
	text string
	pos  int

	start, end int // the word's bytes in text
	special    int32
	runes      []rune  // the word, normalised
	pending    []rune  // rest of a source rune that decomposed into several words
	mark       [2]int  // source range of pending
	buf        []rune  // scratch of fold
	bytes      []byte  // scratch of pieces
	at         []int   // byte offsets of bytes' runes
	ids        []int32 // scratch of pieces
}

// next finds the next word; false at the end of the text.
func (w *words) next() bool {
	w.runes, w.special = w.runes[:0], -1
	if len(w.pending) > 0 && w.takePending() {
		return true
	}
	for w.pos < len(w.text) {
		if w.text[w.pos] == '[' && w.takeSpecial() {
			return true
		}
		r, size := utf8.DecodeRuneInString(w.text[w.pos:])
		from := w.pos
		c := w.t.classify(r)
		if r == utf8.RuneError && size <= 1 {
			c = gone // not a rune at all
		}
		if c == gone {
			w.pos += size
			continue
		}
		if len(w.runes) > 0 && c != letter {
			return true // the word ends before this rune
		}
		w.pos += size
		if c == space {
			continue
		}
		w.buf = w.t.fold(w.buf[:0], r)
		if len(w.buf) == 0 {
			continue
		}
		if len(w.runes) == 0 {
			w.start = from
		}
		if w.add(from, c) {
			return true
		}
	}
	return len(w.runes) > 0
}

// add puts the folded rune into the word and reports whether the word is complete.
func (w *words) add(from int, c class) bool {
	if c == alone {
		w.runes = append(w.runes, w.buf...)
		w.end = w.pos
		return true
	}
	for i, r := range w.buf {
		if !isPunct(r) {
			w.push(r)
			w.end = w.pos
			continue
		}
		if len(w.runes) > 0 { // the word ends here, the punctuation is the next one
			w.pending = append(w.pending[:0], w.buf[i:]...)
			w.mark = [2]int{from, w.pos}
			return true
		}
		w.runes = append(w.runes, r)
		w.start, w.end = from, w.pos
		w.pending = append(w.pending[:0], w.buf[i+1:]...)
		w.mark = [2]int{from, w.pos}
		return true
	}
	return false
}

// takePending continues with what the last source rune left over and reports
// whether that completes a word.
func (w *words) takePending() bool {
	w.start, w.end = w.mark[0], w.mark[1]
	rest := w.pending
	for len(rest) > 0 && !isPunct(rest[0]) {
		w.push(rest[0])
		rest = rest[1:]
	}
	if len(rest) > 0 && len(w.runes) == 0 {
		w.runes = append(w.runes, rest[0])
		rest = rest[1:]
		w.pending = append(w.pending[:0], rest...)
		return true
	}
	w.pending = append(w.pending[:0], rest...)
	return len(rest) > 0
}

// push appends r in canonical order: marks that survive folding may stand in
// another order in the source. A word past the limit is unknown whatever
// follows, so no more of it is kept.
func (w *words) push(r rune) {
	if len(w.runes) > maxWordRunes {
		return
	}
	w.runes = append(w.runes, r)
	if r < 0x300 || !w.t.opt.StripAccents {
		return
	}
	c := combining(r)
	for i := len(w.runes) - 1; c > 0 && i > 0 && combining(w.runes[i-1]) > c; i-- {
		w.runes[i-1], w.runes[i] = w.runes[i], w.runes[i-1]
	}
}

func combining(r rune) uint8 {
	if r < 0x300 {
		return 0
	}
	var raw [utf8.UTFMax]byte
	n := utf8.EncodeRune(raw[:], r)
	return norm.NFD.Properties(raw[:n]).CCC()
}

// takeSpecial recognises "[SEP]" and its like, which are one token each.
func (w *words) takeSpecial() bool {
	for _, s := range w.t.special {
		if !strings.HasPrefix(w.text[w.pos:], s.text) {
			continue
		}
		if len(w.runes) > 0 {
			return true // first the word before it
		}
		w.start, w.special = w.pos, s.id
		w.pos += len(s.text)
		w.end = w.pos
		return true
	}
	return false
}

// pieces returns the ids of the current word, valid until the next call.
func (w *words) pieces() []int32 {
	w.ids = w.ids[:0]
	if w.special >= 0 {
		return append(w.ids, w.special)
	}
	if len(w.runes) > maxWordRunes {
		return append(w.ids, w.t.unknown)
	}
	w.bytes, w.at = w.bytes[:0], w.at[:0]
	for _, r := range w.runes {
		w.at = append(w.at, len(w.bytes))
		w.bytes = utf8.AppendRune(w.bytes, r)
	}
	w.at = append(w.at, len(w.bytes))
	table := w.t.ids
	for from := 0; from < len(w.runes); table = w.t.cont {
		id, to := w.longest(table, from)
		if to == from {
			return append(w.ids[:0], w.t.unknown)
		}
		w.ids = append(w.ids, id)
		from = to
	}
	return w.ids
}

// longest finds the longest entry of table at rune from; to == from if none.
func (w *words) longest(table map[string]int32, from int) (id int32, to int) {
	for to = len(w.runes); to > from; to-- {
		if w.at[to]-w.at[from] > w.t.longest {
			continue
		}
		if id, ok := table[string(w.bytes[w.at[from]:w.at[to]])]; ok {
			return id, to
		}
	}
	return 0, from
}

// Append appends the ids of text to dst, without [CLS] and [SEP].
func (t *Tokenizer) Append(dst []int32, text string) []int32 {
	w := words{t: t, text: text}
	for w.next() {
		dst = append(dst, w.pieces()...)
	}
	return dst
}

// Count returns the number of ids Append would add.
func (t *Tokenizer) Count(text string) int {
	w := words{t: t, text: text}
	n := 0
	for w.next() {
		n += len(w.pieces())
	}
	return n
}
