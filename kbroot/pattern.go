package kbroot

import (
	"strings"

	"ragd/internal/fault"
)

// pattern is one line of an ignore file. The meaning is git's: see
// gitignore(5); the details beyond that page are pinned by a test that asks
// git itself.
type pattern struct {
	text    string // the line as written, for the reason
	line    int    // 1-based
	negate  bool   // "!": what matches is not ignored
	dirOnly bool   // trailing "/": folders only
	base    bool   // no "/" inside: compared with the last element alone

	literal string // what must stand at the front (path patterns), or the whole
	suffix  string // for "*suffix" over the last element
	form    patternForm
	glob    *glob // for the rest behind literal, or the whole last element
}

type patternForm uint8

const (
	formLiteral patternForm = iota // equal to literal
	formSuffix                     // base only: ends with suffix
	formGlob                       // literal, then glob
)

// maxPatternBytes bounds one line; a longer one cannot match a path and is dropped.
const maxPatternBytes = 2 * maxPathBytes

// parsePattern reads one line without its line end. ok is false for comments
// and for lines that match nothing.
func parsePattern(line string, number int) (p pattern, ok bool) {
	if line == "" || line[0] == '#' {
		return p, false
	}
	line = strings.TrimSuffix(line, "\r")
	if i := strings.IndexByte(line, 0); i >= 0 {
		line = line[:i]
	}
	line = trimSpaces(line)
	if len(line) > maxPatternBytes {
		return p, false
	}
	p.text, p.line = line, number
	if strings.HasPrefix(line, "!") {
		p.negate = true
		line = line[1:]
	}
	// Whether this is "*suffix" is looked at with the slash still on.
	star := strings.HasPrefix(line, "*") && literalLen(line[1:]) == len(line)-1
	literal := literalLen(line)
	if strings.HasSuffix(line, "/") {
		p.dirOnly = true
		line = line[:len(line)-1]
	}
	if line == "" {
		return p, false
	}
	literal = min(literal, len(line))
	p.base = !strings.Contains(line, "/")
	if p.base {
		p.compileBase(line, literal, star)
	} else {
		p.compilePath(line, literal)
	}
	return p, true
}

func (p *pattern) compileBase(line string, literal int, star bool) {
	switch {
	case literal == len(line):
		p.form, p.literal = formLiteral, line
	case star:
		p.form, p.suffix = formSuffix, line[1:]
	default:
		p.form, p.glob = formGlob, compileGlob(line, false)
	}
}

func (p *pattern) compilePath(line string, literal int) {
	if line[0] == '/' {
		line = line[1:]
		literal--
	}
	if literal == len(line) {
		p.form, p.literal = formLiteral, line
		return
	}
	// The literal front is cut off before the rest is compiled, so a "**"
	// right behind it counts as standing at the beginning. That is git's way.
	p.form, p.literal, p.glob = formGlob, line[:literal], compileGlob(line[literal:], true)
}

// trimSpaces takes unescaped spaces off the end; tabs stay.
func trimSpaces(s string) string {
	end := -1 // start of the run of spaces at the end
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case ' ':
			if end < 0 {
				end = i
			}
		case '\\':
			i++
			if i == len(s) {
				return s
			}
			end = -1
		default:
			end = -1
		}
	}
	if end >= 0 {
		return s[:end]
	}
	return s
}

// literalLen is the length of the front without any special byte.
func literalLen(s string) int {
	if i := strings.IndexAny(s, `*?[\`); i >= 0 {
		return i
	}
	return len(s)
}

// matches reports whether the pattern speaks of a path. name is relative to
// the ignore file's folder, last is its last element.
func (p *pattern) matches(name, last string, isDir bool) bool {
	if p.dirOnly && !isDir {
		return false
	}
	subject := name
	if p.base {
		subject = last
	}
	switch p.form {
	case formLiteral:
		return subject == p.literal
	case formSuffix:
		return strings.HasSuffix(subject, p.suffix)
	}
	return strings.HasPrefix(subject, p.literal) && p.glob.match(subject[len(p.literal):])
}

// ignoreFile is a parsed ignore file.
type ignoreFile struct {
	name     string // path relative to the root, for the reason
	patterns []pattern
}

// maxPatterns bounds one ignore file.
const maxPatterns = 20000

func parseIgnore(name string, data string) *ignoreFile {
	f := &ignoreFile{name: name}
	data = strings.TrimPrefix(data, "\xef\xbb\xbf")
	for n := 1; data != "" && len(f.patterns) < maxPatterns; n++ {
		line, rest, _ := strings.Cut(data, "\n")
		if p, ok := parsePattern(line, n); ok {
			f.patterns = append(f.patterns, p)
		}
		data = rest
	}
	return f
}

// parseConfigured compiles Options.Exclude.
func parseConfigured(lines []string) (*ignoreFile, error) {
	if len(lines) > maxExcludes {
		return nil, fault.New(fault.Invalid, "bad_exclude", "%d exclude patterns are configured; at most %d are allowed", len(lines), maxExcludes)
	}
	f := &ignoreFile{}
	for i, l := range lines {
		if strings.ContainsAny(l, "\n\x00") || len(l) > maxPatternBytes {
			return nil, fault.New(fault.Invalid, "bad_exclude", "exclude pattern %s is not allowed: one line of at most %d bytes", clip(l), maxPatternBytes)
		}
		p, ok := parsePattern(l, i+1)
		if !ok || p.glob != nil && p.glob.never {
			return nil, fault.New(fault.Invalid, "bad_exclude", "exclude pattern %s matches nothing", clip(l)).
				WithHint("patterns have the syntax of .gitignore, one in each entry")
		}
		f.patterns = append(f.patterns, p)
	}
	return f, nil
}

// last returns the deciding pattern: the last one that matches; nil for none.
func (f *ignoreFile) last(name, elem string, isDir bool) *pattern {
	for i := len(f.patterns) - 1; i >= 0; i-- {
		if p := &f.patterns[i]; p.matches(name, elem, isDir) {
			return p
		}
	}
	return nil
}
