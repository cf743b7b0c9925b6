package wordpiece

import "unicode/utf8"

// Window is a part of a text that a model takes whole.
type Window struct {
	Start, End int // bytes of the text
	Tokens     int // without [CLS] and [SEP]
}

// span is a run of the text that is not cut: a word, or a piece of a long one.
type span struct {
	start, end int
	tokens     int
	sentence   bool // a sentence or a line ends after it
	torn       bool // the same word goes on after it, so a window must end here
}

// Windows splits text into parts of at most limit tokens that together hold
// every word, near-equal in size, cut between words and rather after a
// sentence. Neighbours share about overlap tokens (below limit/2). A text
// without words has no window. limit is at least 8.
func (t *Tokenizer) Windows(text string, limit, overlap int) []Window {
	limit = max(limit, 8)
	overlap = min(max(overlap, 0), limit/2)
	spans, total := t.spans(text, limit)
	if total == 0 {
		return nil
	}
	step := limit - overlap
	count := max(1, (total-overlap+step-1)/step)
	goal := min(limit, (total-overlap+count-1)/count+overlap+limit/16)
	var out []Window
	for from := 0; ; {
		to, tokens := cut(spans, from, goal, limit)
		out = append(out, Window{spans[from].start, spans[to-1].end, tokens})
		if to == len(spans) {
			return out
		}
		from = stepBack(spans, from, to, overlap)
	}
}

// cut returns where the window from spans[from] ends (exclusive) and its
// tokens: about goal, never above limit, after a sentence if one ends late enough.
func cut(spans []span, from, goal, limit int) (to, tokens int) {
	best, bestTokens := 0, 0
	for to = from; to < len(spans) && tokens+spans[to].tokens <= limit; to++ {
		if tokens >= goal && to > from {
			break
		}
		tokens += spans[to].tokens
		if spans[to].torn {
			return to + 1, tokens
		}
		if spans[to].sentence && tokens*4 >= goal*3 {
			best, bestTokens = to+1, tokens
		}
	}
	if to < len(spans) && best > from {
		return best, bestTokens
	}
	return to, tokens
}

// stepBack returns where the next window begins: overlap tokens before to, but after from.
func stepBack(spans []span, from, to, overlap int) int {
	next := to
	for got := 0; next-1 > from && !spans[next-1].torn && got+spans[next-1].tokens <= overlap; next-- {
		got += spans[next-1].tokens
	}
	return next
}

// spans returns the text's words with their tokens, none of more than limit.
func (t *Tokenizer) spans(text string, limit int) (out []span, total int) {
	w := words{t: t, text: text}
	last := 0
	for w.next() {
		n := len(w.pieces())
		if len(out) > 0 {
			p := &out[len(out)-1]
			p.sentence = endsSentence(text[p.start:p.end], text[last:max(last, w.start)])
			if w.start < p.end { // one source rune that made several words: not to be cut
				p.end, p.tokens, p.sentence = max(p.end, w.end), p.tokens+n, false
				total, last = total+n, p.end
				continue
			}
		}
		total += n
		last = w.end
		if n > limit {
			total += t.halve(&out, text, w.start, w.end, limit) - n
			out[len(out)-1].torn = false
			continue
		}
		out = append(out, span{start: w.start, end: w.end, tokens: n})
	}
	return out, total
}

// halve cuts one long word at runes until each part fits, and returns the
// parts' tokens. A part on its own is spelled anew, so parts are never joined.
func (t *Tokenizer) halve(out *[]span, text string, start, end, limit int) int {
	n := t.Count(text[start:end])
	mid := start + (end-start)/2
	for mid < end && !utf8.RuneStart(text[mid]) {
		mid++
	}
	if n <= limit || mid == start || mid == end {
		if n > 0 {
			*out = append(*out, span{start: start, end: end, tokens: min(n, limit), torn: true})
		}
		return min(n, limit)
	}
	return t.halve(out, text, start, mid, limit) + t.halve(out, text, mid, end, limit)
}

// endsSentence reports whether a cut between word and the next, with gap between them, is a good one.
func endsSentence(word, gap string) bool {
	for i := range len(gap) {
		if gap[i] == '\n' {
			return true
		}
	}
	switch word {
	case "。", "！", "？", "।":
		return true
	case ".", "!", "?":
		return gap != ""
	}
	return false
}
