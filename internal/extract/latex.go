package extract

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const latexNesting = 40

// rewriteLaTeX takes the commands out of LaTeX: sections become headings,
// arguments that are text stay, definitions and references go. Formulas stay
// as they are. Every line end stays where it was.
func rewriteLaTeX(t *lineText) {
	source := strings.Join(t.lines, "\n")
	x := latex{work: latexNesting * (len(source) + 1000)}
	if at := strings.Index(source, "\\begin{document}"); at >= 0 {
		x.preamble(source[:at])
		x.scan(source[at+len("\\begin{document}"):], 0)
	} else {
		x.scan(source, 0)
	}
	lines := strings.Split(x.out.String(), "\n")
	for i := range t.lines {
		t.lines[i] = ""
		if i < len(lines) {
			t.lines[i] = strings.TrimRight(tidyLaTeX.Replace(lines[i]), " ")
		}
	}
	t.title = x.title
}

var tidyLaTeX = strings.NewReplacer("``", "“", "''", "”", "---", "—", "--", "–")

// latex is a scanner that writes text and, for each line end it passes, a
// line end.
type latex struct {
	out   strings.Builder
	title string
	work  int // characters that may still be looked at for the ends of arguments
	owed  int // line ends passed inside an argument, to be written after it
}

// preamble passes the lines before the document; of its commands only the
// title and the authors are text.
func (x *latex) preamble(s string) {
	for i := 0; i < len(s); {
		switch {
		case s[i] == '\n':
			x.out.WriteByte('\n')
			i++
		case s[i] == '%':
			i = lineEnd(s, i)
		case strings.HasPrefix(s[i:], "\\title"), strings.HasPrefix(s[i:], "\\author"), strings.HasPrefix(s[i:], "\\abstract"):
			name := letters(s[i+1:])
			i += 1 + len(name)
			if name == "title" || name == "author" || name == "abstract" {
				i = x.command(s, name, i, 0)
			}
		default:
			_, size := utf8.DecodeRuneInString(s[i:])
			i += size
		}
	}
}

func (x *latex) scan(s string, depth int) {
	for i := 0; i < len(s); {
		switch c := s[i]; c {
		case '\n':
			x.out.WriteByte('\n')
			for ; x.owed > 0; x.owed-- {
				x.out.WriteByte('\n')
			}
			i++
		case '%':
			i = lineEnd(s, i)
		case '~':
			x.out.WriteByte(' ')
			i++
		case '{', '}':
			i++
		case '$':
			i = x.math(s, i)
		case '&':
			x.out.WriteString(" | ")
			i++
		case '\\':
			i = x.backslash(s, i+1, depth)
		default:
			x.out.WriteByte(c)
			i++
		}
	}
}

// math copies a formula, which ends at the same mark that began it.
func (x *latex) math(s string, i int) int {
	mark := "$"
	if strings.HasPrefix(s[i:], "$$") {
		mark = "$$"
	}
	limit := min(len(s), i+len(mark)+10_000)
	end := strings.Index(s[i+len(mark):limit], mark)
	if end < 0 {
		x.out.WriteString(mark)
		return i + len(mark)
	}
	stop := i + 2*len(mark) + end
	x.out.WriteString(s[i:stop])
	return stop
}

func (x *latex) backslash(s string, i, depth int) int {
	if i >= len(s) {
		return i
	}
	if !isLetter(s[i]) {
		return x.symbol(s, i)
	}
	name := letters(s[i:])
	i += len(name)
	if i < len(s) && s[i] == '*' {
		i++
	}
	for i < len(s) && s[i] == ' ' {
		i++
	}
	return x.command(s, name, i, depth)
}

func letters(s string) string {
	n := 0
	for n < len(s) && isLetter(s[n]) {
		n++
	}
	return s[:n]
}

// latexAccents are the combining characters of accent commands.
var latexAccents = map[byte]rune{'\'': '\u0301', '`': '\u0300', '^': '\u0302', '"': '\u0308', '~': '\u0303', '=': '\u0304', '.': '\u0307', 'c': '\u0327', 'v': '\u030c', 'u': '\u0306', 'H': '\u030b', 'r': '\u030a', 'k': '\u0328'}

func (x *latex) symbol(s string, i int) int {
	c := s[i]
	switch c {
	case '%', '&', '$', '#', '_', '{', '}':
		x.out.WriteByte(c)
	case '\\':
		x.out.WriteByte(' ')
		if i+1 < len(s) && s[i+1] == '[' {
			return x.option(s, i+1)
		}
	case '\n':
		return i
	case ' ', ',', ';', ':', '/':
		x.out.WriteByte(' ')
	case '[', ']', '(', ')':
		x.out.WriteString("$")
	case '\'', '`', '^', '"', '~', '=', '.':
		return x.accent(s, i+1, latexAccents[c])
	}
	_, size := utf8.DecodeRuneInString(s[i:])
	return i + size
}

// accent writes the next letter with a mark, as one character where there is
// one.
func (x *latex) accent(s string, i int, mark rune) int {
	for i < len(s) && (s[i] == ' ' || s[i] == '{') {
		i++
	}
	if strings.HasPrefix(s[i:], "\\i") || strings.HasPrefix(s[i:], "\\j") {
		i++
	}
	r, size := utf8.DecodeRuneInString(s[i:])
	if !unicode.IsLetter(r) {
		return i
	}
	x.out.WriteString(compose(string(r) + string(mark)))
	i += size
	if i < len(s) && s[i] == '}' {
		i++
	}
	return i
}

// option passes "[…]" and keeps its line ends.
func (x *latex) option(s string, i int) int {
	if i >= len(s) || s[i] != '[' {
		return i
	}
	depth := 0
	for k := i; k < len(s) && k < i+4000; k++ {
		switch s[k] {
		case '\n':
			x.owed++
		case '{':
			depth++
		case '}':
			depth--
		case ']':
			if depth <= 0 {
				return k + 1
			}
		}
	}
	return i + 1
}

// lineEnd is the offset of the next "\n", or the end.
func lineEnd(s string, i int) int {
	if n := strings.IndexByte(s[i:], '\n'); n >= 0 {
		return i + n
	}
	return len(s)
}

// argument returns the content of "{…}" at i and where it ends; ok is false
// when there is none.
func (x *latex) argument(s string, i int) (inner string, end int, ok bool) {
	for i < len(s) && (s[i] == ' ' || s[i] == '\n') {
		i++
	}
	if i >= len(s) || s[i] != '{' {
		return "", i, false
	}
	depth := 0
	for k := i; k < len(s) && k < i+200_000 && x.work > 0; k++ {
		x.work--
		switch s[k] {
		case '\\':
			k++
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return s[i+1 : k], k + 1, true
			}
		}
	}
	return "", i + 1, false
}
