package chunk

import "strings"

// definition is a line that opens something with a body: a function, a
// class, a key of a configuration.
type definition struct {
	indent int
	path   []string
}

// code scans source code of any language by its blank lines and indentation.
type code struct {
	*splitter
	named bool         // definitions are looked for, and make headings
	stack []definition // those that enclose the line at work, outermost first
}

// scanCode adds the stanzas of body[from:end] as units, each under the
// definitions that enclose it, or its own if none does; without named, under
// the headings of the stretch.
func scanCode(s *splitter, from, end int, named bool) {
	c := code{splitter: s, named: named}
	start := from
	for at := from; at < end; {
		stop := lineEnd(s.body, at, end)
		if blankLine(s.body[at:stop]) {
			c.stanza(start, at)
			c.relieve()
			start = min(stop+1, end)
		}
		at = stop + 1
	}
	c.stanza(start, end)
}

const nestingMax = 8 // definitions in a path, lists in lists

// stanza adds lines without a blank one between. One that begins with a
// definition, perhaps behind comments and decorators, stands under it.
func (c *code) stanza(start, end int) {
	if start >= end {
		return
	}
	whole := c.fits(start, end, c.soft())
	u := unit{cost: codeCost(c.body[start:end], true), paragraph: -1}
	before := len(c.units)
	leading := true // only comments and decorators so far
	for at := start; at < end; {
		stop := lineEnd(c.body, at, end)
		line := strings.TrimLeft(c.body[at:stop], " \t\r")
		outer := c.enclosing(c.body[at:stop], at == start)
		own := c.enter(c.body[at:stop])
		if at == start || !whole {
			u.path = outer
		}
		if leading && own != nil {
			u.path = own
			for i := before; i < len(c.units); i++ {
				c.units[i].path = own
			}
		}
		leading = leading && strings.IndexByte("/*#@[-\"'", line[0]) >= 0
		if !whole {
			c.piece(at, stop, u)
			u.cost = codeCost(c.body[min(stop+1, end):end], false)
			c.relieve()
			before = min(before, len(c.units))
		}
		at = stop + 1
	}
	if whole {
		c.add(start, end, u)
	}
}

// enclosing closes the definitions that line is not inside of and returns the
// path of what is left. A comment only counts when it comes after a blank line.
func (c *code) enclosing(line string, afterBlank bool) []string {
	indent, first := indentOf(line)
	if !continues(line[first:], afterBlank) {
		for len(c.stack) > 0 && c.stack[len(c.stack)-1].indent >= indent {
			c.stack = c.stack[:len(c.stack)-1]
		}
	}
	if n := len(c.stack); n > 0 {
		return c.stack[n-1].path
	}
	return c.stretchHeadings
}

// enter opens the definition that line begins and returns its path, or nil.
func (c *code) enter(line string) []string {
	indent, first := indentOf(line)
	if !c.named || first == len(line) || len(c.stack) >= nestingMax || !defines(line[first:]) {
		return nil
	}
	parent := c.stretchHeadings
	if n := len(c.stack); n > 0 {
		parent = c.stack[n-1].path
	}
	text := strings.TrimRight(line[first:], " \t\r{:")
	path := append(parent[:len(parent):len(parent)], clip(strings.TrimSpace(text), headingMax))
	c.stack = append(c.stack, definition{indent, path})
	return path
}

// continues reports whether a line belongs to the definition above it
// although it is not indented: brackets, labels, comments and preprocessor
// lines without a blank line before them.
func continues(text string, afterBlank bool) bool {
	switch text[0] {
	case '{', '}', ')', ']', ';':
		return true
	case '#', '/', '*':
		return !afterBlank
	}
	if strings.HasPrefix(text, "--") {
		return !afterBlank
	}
	switch firstWord(text) {
	case "end":
		return true
	case "public", "private", "protected", "signals", "slots", "case", "default":
		return strings.HasSuffix(strings.TrimRight(text, " \t\r"), ":")
	}
	return false
}

// defines reports whether a line opens a definition: by a keyword, or by
// ending in "{" or ":" without being a statement of control flow.
func defines(text string) bool {
	switch text[0] {
	case '/', '*', '#', '}', ')', ']', '-', '"', '\'', '@', '{', '[', '<', ';', '.':
		return false
	}
	rest := text
	for range 6 {
		word := firstWord(rest)
		if strings.Contains(definers, " "+word+" ") && len(word) < len(rest) {
			return true
		}
		if word == "" || !strings.Contains(modifiers, " "+word+" ") {
			break
		}
		rest = strings.TrimLeft(strings.TrimPrefix(rest[len(word):], "(crate)"), " \t")
		if rest == "" {
			return false
		}
	}
	if strings.Contains(statements, " "+firstWord(text)+" ") {
		return false
	}
	text = strings.TrimRight(text, " \t\r")
	last := text[len(text)-1]
	return last == '{' || last == ':' && !strings.Contains(text, "://")
}

// firstWord returns the letters text begins with.
func firstWord(text string) string {
	n := 0
	for n < len(text) && n < 16 && (text[n]|0x20 >= 'a' && text[n]|0x20 <= 'z' || text[n] == '_') {
		n++
	}
	return text[:n]
}

const (
	definers = " func def class fn struct enum interface trait impl type module mod namespace function sub procedure macro_rules " +
		"object record protocol extension contract defmodule defp message service union CREATE create "
	modifiers = " pub public private protected internal static final abstract async export default override virtual inline " +
		"const unsafe extern open data sealed local constexpr typedef partial readonly suspend declare "
	statements = " if for while switch else elif try catch do return with match loop case when except finally unless until select " +
		"go defer default break continue throw raise begin rescue ensure then "
)
