package mcpserver

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

const upperHex = "0123456789ABCDEF"

// encodeName makes a JSON-safe string of a file or folder name of any bytes;
// decodeName is its inverse. See the package comment.
func encodeName(name string) string {
	if utf8.ValidString(name) && !strings.ContainsRune(name, utf8.RuneError) {
		return name
	}
	var b strings.Builder
	for i := 0; i < len(name); {
		r, n := utf8.DecodeRuneInString(name[i:])
		if r != utf8.RuneError {
			b.WriteString(name[i : i+n])
			i += n
			continue
		}
		for range n { // 1 for an invalid byte, 3 for a genuine U+FFFD
			b.WriteRune(utf8.RuneError)
			b.WriteByte(upperHex[name[i]>>4])
			b.WriteByte(upperHex[name[i]&15])
			i++
		}
	}
	return b.String()
}

// decodeName turns a name from an argument back into bytes. A U+FFFD that is
// not followed by two upper-case hex digits stands for itself.
func decodeName(s string) string {
	if !strings.ContainsRune(s, utf8.RuneError) {
		return s
	}
	const mark = "\uFFFD"
	var b strings.Builder
	for {
		i := strings.Index(s, mark)
		if i < 0 {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(s[:i])
		s = s[i+len(mark):]
		if len(s) >= 2 {
			hi, lo := strings.IndexByte(upperHex, s[0]), strings.IndexByte(upperHex, s[1])
			if hi >= 0 && lo >= 0 {
				b.WriteByte(byte(hi<<4 | lo))
				s = s[2:]
				continue
			}
		}
		b.WriteString(mark)
	}
}

// showName makes a name fit for one line of a text block: control characters,
// line breaks and characters that reorder text become visible escapes.
func showName(name string) string { return visible(encodeName(name), false) }

// showText does the same for running text, where line breaks and tabs stay.
func showText(s string) string { return visible(s, true) }

func visible(s string, breaks bool) string {
	if strings.IndexFunc(s, func(r rune) bool { return hidden(r, breaks) }) < 0 && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD"):
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case !hidden(r, breaks):
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

func hidden(r rune, breaks bool) bool {
	switch r {
	case '\n', '\t':
		return !breaks
	case '\u2028', '\u2029':
		return true
	case '\u202a', '\u202b', '\u202c', '\u202d', '\u202e', '\u2066', '\u2067', '\u2068', '\u2069':
		return true // bidirectional overrides: text would be shown in another order than it is in
	}
	return unicode.IsControl(r)
}
