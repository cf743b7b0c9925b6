package chunk

// scanPlain cuts at blank lines.
func scanPlain(s *splitter, from, end int) {
	start := from
	for at := from; at < end; {
		stop := lineEnd(s.body, at, end)
		if blankLine(s.body[at:stop]) {
			s.prose(start, at, unit{path: s.stretchHeadings, cost: costBlock})
			start = stop
			s.relieve()
		}
		at = stop + 1
	}
	s.prose(start, end, unit{path: s.stretchHeadings, cost: costBlock})
}

func blankLine(line string) bool {
	for i := range len(line) {
		if !isBlank(line[i]) {
			return false
		}
	}
	return true
}
