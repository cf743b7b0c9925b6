package config

import (
	"bytes"
	"strings"
)

// The TOML reader tells no positions, and editing a file without losing its
// comments needs them. So this file walks over TOML that is known to be valid
// and notes where each table and key begins. On invalid input it ends early;
// it never fails, and takes time linear in the input.

// block is a table header with the keys below it, up to the next header.
// The first block of a file has no header.
type block struct {
	path  []string
	array bool // [[path]]
	nth   int  // of the arrays of this path, from 0
	line  int  // of the header
	start int  // byte of the header
	end   int  // byte after the line of the last key (or of the header)
	keys  []keyLine
}

type keyLine struct {
	path []string // relative to the block
	line int
}

type scanner struct {
	data []byte
	pos  int
	line int
}

func scanBlocks(data []byte) []block {
	s := &scanner{data: data, line: 1}
	if bytes.HasPrefix(data, []byte("\ufeff")) {
		s.pos = len("\ufeff")
	}
	blocks := []block{{}}
	arrays := map[string]int{}
	for s.skipBlank() {
		cur := &blocks[len(blocks)-1]
		if s.data[s.pos] != '[' {
			line := s.line
			path, ok := s.dotted('=')
			if !ok {
				return blocks
			}
			s.skipValue()
			s.toLineEnd()
			cur.keys = append(cur.keys, keyLine{path: path, line: line})
			cur.end = s.pos
			continue
		}
		b := block{line: s.line, start: s.pos, array: bytes.HasPrefix(s.data[s.pos:], []byte("[["))}
		s.pos++
		if b.array {
			s.pos++
		}
		path, ok := s.dotted(']')
		if !ok {
			return blocks
		}
		b.path = path
		if b.array {
			name := joinPath(path)
			b.nth = arrays[name]
			arrays[name]++
		} else if n := arrays[path[0]]; n > 0 && len(path) > 1 {
			b.nth = n - 1 // a table inside the last element of an array
		}
		s.toLineEnd()
		b.end = s.pos
		blocks = append(blocks, b)
	}
	return blocks
}

func joinPath(path []string) string { return strings.Join(path, ".") }

// skipBlank moves to the next thing that is no space, newline or comment.
func (s *scanner) skipBlank() bool {
	for s.pos < len(s.data) {
		switch s.data[s.pos] {
		case '\n':
			s.line++
			s.pos++
		case ' ', '\t', '\r':
			s.pos++
		case '#':
			s.toNewline()
		default:
			return true
		}
	}
	return false
}

// toNewline stops before the newline, toLineEnd after it.
func (s *scanner) toNewline() {
	i := bytes.IndexByte(s.data[s.pos:], '\n')
	if i < 0 {
		i = len(s.data) - s.pos
	}
	s.pos += i
}

func (s *scanner) toLineEnd() {
	s.toNewline()
	if s.pos < len(s.data) {
		s.pos++
		s.line++
	}
}

// dotted reads a key such as a."b.c".d up to the end character and steps over it.
func (s *scanner) dotted(end byte) ([]string, bool) {
	var path []string
	for s.pos < len(s.data) {
		switch c := s.data[s.pos]; c {
		case ' ', '\t', '.':
			s.pos++
		case end:
			s.pos++
			return path, len(path) > 0
		case '"', '\'':
			from := s.pos + 1
			s.skipString()
			to := s.pos - 1
			if to < from {
				return nil, false
			}
			path = append(path, unquote(s.data[from:to], c))
		case '\n', '\r', '#', '=', ']', '[':
			return nil, false
		default:
			from := s.pos
			for s.pos < len(s.data) && !bytes.ContainsRune([]byte(" \t.=]\r\n#\"'"), rune(s.data[s.pos])) {
				s.pos++
			}
			path = append(path, string(s.data[from:s.pos]))
		}
	}
	return nil, false
}

// unquote resolves the escapes that matter in a key; others stay as written,
// which at worst costs a message its line number.
func unquote(b []byte, quote byte) string {
	if quote == '\'' {
		return string(b)
	}
	return strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(string(b))
}

// skipValue moves behind a value, over as many lines as it takes.
func (s *scanner) skipValue() {
	depth := 0
	for s.pos < len(s.data) {
		switch s.data[s.pos] {
		case '"', '\'':
			s.skipString()
			continue
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		case '#':
			if depth <= 0 {
				return
			}
			s.toNewline()
			continue
		case '\n':
			if depth <= 0 {
				return
			}
			s.line++
		}
		s.pos++
	}
}

// skipString moves behind a string of any of TOML's four kinds.
func (s *scanner) skipString() {
	quote := s.data[s.pos]
	triple := bytes.Repeat([]byte{quote}, 3)
	if bytes.HasPrefix(s.data[s.pos:], triple) {
		s.pos += 3
		s.skipTriple(quote, triple)
		return
	}
	for s.pos++; s.pos < len(s.data); s.pos++ {
		switch c := s.data[s.pos]; {
		case c == '\\' && quote == '"':
			s.pos++
		case c == quote:
			s.pos++
			return
		case c == '\n':
			return // not valid; the line is over
		}
	}
	s.pos = min(s.pos, len(s.data))
}

func (s *scanner) skipTriple(quote byte, triple []byte) {
	for s.pos < len(s.data) {
		c := s.data[s.pos]
		switch {
		case c == '\\' && quote == '"':
			if s.pos+1 < len(s.data) && s.data[s.pos+1] == '\n' {
				s.line++
			}
			s.pos = min(s.pos+2, len(s.data))
		case bytes.HasPrefix(s.data[s.pos:], triple):
			s.pos += 3
			for s.pos < len(s.data) && s.data[s.pos] == quote { // up to two more belong to the string
				s.pos++
			}
			return
		default:
			if c == '\n' {
				s.line++
			}
			s.pos++
		}
	}
}

// lines finds the line of each key and table of a file. Keys of arrays of
// tables are looked up with their number.
type lines struct{ blocks []block }

// of returns the line of a key, else of the nearest thing around it, else 0.
func (l lines) of(nth int, path ...string) int {
	best, bestLen := 0, 0
	consider := func(line, n int) {
		if n > bestLen {
			best, bestLen = line, n
		}
	}
	for _, b := range l.blocks {
		if !isPrefix(b.path, path) || nth >= 0 && b.nth != nth && len(b.path) > 0 {
			continue
		}
		consider(b.line, len(b.path))
		for _, k := range b.keys {
			if rest := path[len(b.path):]; isPrefix(k.path, rest) {
				consider(k.line, len(b.path)+len(k.path))
			}
		}
	}
	return best
}

func isPrefix(short, long []string) bool {
	if len(short) > len(long) {
		return false
	}
	for i, s := range short {
		if long[i] != s {
			return false
		}
	}
	return true
}
