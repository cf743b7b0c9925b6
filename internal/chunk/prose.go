package chunk

import (
	"unicode/utf8"
)

// prose adds body[start:end] as one unit, or as sentences when it is long.
func (s *splitter) prose(start, end int, u unit) {
	if end-start == 0 {
		return
	}
	u.paragraph = -1
	if s.fits(start, end, s.soft()) {
		s.add(start, end, u)
		return
	}
	s.sentences(start, end, u)
}

// sentences adds body[start:end] in pieces of up to a third of the target.
func (s *splitter) sentences(start, end int, u unit) {
	start, end = s.trim(start, end)
	limit := max(s.opt.Target/3, 4)
	paragraph := -1
	for at := start; at < end; {
		stop, cost := s.sentenceEnd(at, end, limit)
		u.paragraph = paragraph
		if s.add(at, stop, u) {
			paragraph = start
		}
		u.cost = cost
		at = stop
	}
}

// sentenceEnd returns where the piece of body[at:end] ends that begins at at,
// and what a border there costs. In order of preference: after a sentence
// that ends a line, after a sentence, after a line, after a blank or CJK
// punctuation, else at a grapheme's border. Only the second half of the
// limit is looked at.
func (s *splitter) sentenceEnd(at, end, limit int) (stop int, cost uint8) {
	high := ahead(s.body, at, end, limit)
	if high == end {
		return end, costSentence
	}
	low := at + (high-at)/2
	bestRank, best := 0, 0
	for i := high; i > low && bestRank < 4; {
		r, size := utf8.DecodeLastRuneInString(s.body[low:i])
		if rank := s.borderRank(r, i, end); rank > bestRank {
			bestRank, best = rank, i
		}
		i -= size
	}
	if bestRank == 0 {
		return s.hardEnd(at, high), costHard
	}
	if b := backBorder(s.body, best, at); b != best {
		return s.hardEnd(at, high), costHard
	}
	return best, [...]uint8{0, costHard, costLine, costSentence, costSentence}[bestRank]
}

// borderRank says how good a border is at i, after the character r: 4 a
// sentence ends with a line, 3 a sentence, 2 a line, 1 a blank or a comma of
// CJK, 0 none.
func (s *splitter) borderRank(r rune, i, end int) int {
	switch r {
	case '\n':
		if i >= 2 && endsSentence(s.body[:i-1]) {
			return 4
		}
		return 2
	case ' ', '\t':
		if i >= 2 && endsSentence(s.body[:i-1]) {
			return 3
		}
		return 1
	case '。', '！', '？', '．', '｡', '।', '॥', '۔', '։', '።':
		return 3
	case '、', '，', '；', '：', '\u3000', '\u00A0', '၊', '။', '។':
		return 1
	}
	return 0
}

// endsSentence reports whether s ends with a full stop or the like, perhaps
// behind it a quotation mark or bracket.
func endsSentence(s string) bool {
	for i := len(s) - 1; i >= 0 && i >= len(s)-3; i-- {
		switch s[i] {
		case '.', '!', '?', ';':
			return true
		case '"', '\'', ')', ']', '*', '_', '`':
			continue
		}
		break
	}
	return false
}

// hardEnd returns a grapheme's border at or shortly before high.
func (s *splitter) hardEnd(at, high int) int {
	if b := backBorder(s.body, high, at); b > at {
		return b
	}
	return high
}
