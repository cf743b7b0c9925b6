package kbroot

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"ragd/internal/fault"
)

const (
	maxPathBytes = 4096
	maxNameBytes = 255
)

const (
	kbNameRule = "a name is 1 to 255 bytes, without / and without NUL, and not . or .."
	pathRule   = "a path is relative to its knowledge base, has / between elements, no empty, . or .. element and no NUL, at most 4096 bytes and 255 bytes per element"
)

// ValidKBName checks a name as far as every KB on disk has it: 1 to 255
// bytes, no "/", no NUL, not "." or "..". CreateKB asks for more.
func ValidKBName(name string) error {
	if name == "" || name == "." || name == ".." || len(name) > maxNameBytes || strings.ContainsAny(name, "/\x00") {
		return fault.New(fault.Invalid, "bad_kb_name", "knowledge base name %s is not allowed: %s", clip(name), kbNameRule)
	}
	return nil
}

// CleanPath checks a document path and takes "./" off its front. Everything
// that could leave the KB's folder is refused with one code, "bad_path",
// whether or not it exists.
func CleanPath(path string) (string, error) {
	p := path
	for strings.HasPrefix(p, "./") {
		p = p[2:]
	}
	if p == "" || len(p) > maxPathBytes || strings.ContainsRune(p, 0) {
		return "", badPath(path)
	}
	for rest := p; ; {
		elem, tail, more := strings.Cut(rest, "/")
		if elem == "" || elem == "." || elem == ".." || len(elem) > maxNameBytes {
			return "", badPath(path)
		}
		if !more {
			return p, nil
		}
		rest = tail
	}
}

func badPath(path string) error {
	return fault.New(fault.Invalid, "bad_path", "path %s is not allowed: %s", clip(path), pathRule)
}

// clip quotes a value for a message and shortens a long one.
func clip(s string) string {
	const most = 80
	if len(s) > most {
		return fmt.Sprintf("%+q…", s[:most])
	}
	return fmt.Sprintf("%q", s)
}

// DisplayPath is the path for people: NFC, with bytes that are not UTF-8 and
// control characters written as \xHH. It is not an address: two paths may
// look the same.
func DisplayPath(path string) string {
	if utf8.ValidString(path) && !strings.ContainsFunc(path, isControl) {
		return norm.NFC.String(path)
	}
	var b strings.Builder
	start := 0
	flush := func(end int) { b.WriteString(norm.NFC.String(path[start:end])) }
	for i := 0; i < len(path); {
		r, n := utf8.DecodeRuneInString(path[i:])
		if (r == utf8.RuneError && n == 1) || isControl(r) {
			flush(i)
			for _, c := range []byte(path[i : i+n]) {
				fmt.Fprintf(&b, `\x%02x`, c)
			}
			start = i + n
		}
		i += n
	}
	flush(len(path))
	return b.String()
}

func isControl(r rune) bool { return unicode.IsControl(r) }
