package chunk

import (
	"strings"
	"unicode/utf8"
)

// cutTable adds the table body[start:end], in groups of rows when it is long.
// Each group but the first carries the header rows as its prefix.
func (s *splitter) cutTable(start, end int, u unit) {
	if s.fits(start, end, s.soft()) {
		s.add(start, end, u)
		return
	}
	head := min(lineEnd(s.body, start, end)+1, end)
	head = min(lineEnd(s.body, head, end)+1, end)
	s.withPrefix(start, head, u, s.body[start:head], func(rest unit) {
		s.groupLines(head, end, rest, max(s.opt.Target/6, 4))
	})
}

// cutFence adds the fenced block body[start:end], which is longer than a
// chunk may be, in pieces. Each but the first carries the opening line.
func (s *splitter) cutFence(start, end int, u unit) {
	head := min(lineEnd(s.body, start, end)+1, end)
	s.withPrefix(start, head, u, s.body[start:head], func(rest unit) {
		s.stanzas(head, end, rest)
	})
}

// withPrefix adds the head of a block and then the rest of it, whose units
// carry the prefix unless it would take too much of a chunk.
func (s *splitter) withPrefix(start, head int, u unit, prefix string, rest func(unit)) {
	s.prose(start, head, u)
	u.cost, u.paragraph = costNever, -1
	if s.fits(start, head, s.opt.Max/3) && prefix != "" {
		if !strings.HasSuffix(prefix, "\n") {
			prefix += "\n"
		}
		u.prefix, u.prefixChars = prefix, utf8.RuneCountInString(prefix)
	}
	rest(u)
}

// groupLines adds whole lines in groups of at least least characters. The
// first group has u's cost, the others that of a row.
func (s *splitter) groupLines(start, end int, u unit, least int) {
	from := start
	for at := start; at < end; {
		stop := lineEnd(s.body, at, end)
		if stop-from >= least {
			s.piece(from, stop, u)
			u.cost = costSentence
			from = min(stop+1, end)
		}
		at = stop + 1
	}
	if from < end {
		s.piece(from, end, u)
	}
}

// piece adds a part of a block that was cut; if one line alone is too long it
// is cut like prose, but without overlap.
func (s *splitter) piece(start, end int, u unit) {
	u.paragraph = -1
	limit := max(s.opt.Target/2, 4)
	if s.fits(start, end, limit) {
		s.add(start, end, u)
		return
	}
	start, end = s.trim(start, end)
	for at := start; at < end; {
		stop, cost := s.sentenceEnd(at, end, limit)
		s.add(at, stop, u)
		u.cost = cost
		at = stop
	}
}

// stanzas adds lines of code: groups without a blank line where they are
// short, single lines where they are not. What they cost depends on how far
// they are indented.
func (s *splitter) stanzas(start, end int, u unit) {
	first := true
	add := func(from, to int) {
		v := u
		if !first {
			v.cost = codeCost(s.body[from:to], true)
		}
		if s.fits(from, to, min(s.soft(), s.opt.Max-u.prefixChars)) {
			v.paragraph = -1
			if s.add(from, to, v) {
				first = false
			}
			return
		}
		for at := from; at < to; {
			stop := lineEnd(s.body, at, to)
			s.piece(at, stop, v)
			s.relieve()
			first = false
			at = stop + 1
			if at < to {
				v.cost = codeCost(s.body[at:to], false)
			}
		}
	}
	from := start
	for at := start; at < end; {
		stop := lineEnd(s.body, at, end)
		if blankLine(s.body[at:stop]) {
			if at > from {
				add(from, at)
			}
			from = min(stop+1, end)
		}
		at = stop + 1
	}
	if from < end {
		add(from, end)
	}
}

// codeCost returns what a border before the code costs, by its first line.
func codeCost(code string, afterBlank bool) uint8 {
	indent, first := indentOf(code)
	if first < len(code) && strings.IndexByte("})]", code[first]) >= 0 ||
		strings.HasPrefix(code[first:], "end") || strings.HasPrefix(code[first:], "else") {
		return costNever - 1
	}
	cost := costBlock
	if !afterBlank {
		cost = costInner
	}
	if indent > 0 {
		cost += 1 + min(indent/5, 2)
	}
	return uint8(cost)
}
