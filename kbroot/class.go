package kbroot

import "strings"

// parseClass reads the class that begins with the "[" at p[i]. It returns the
// set of bytes, the index of the closing "]", and whether the class is well
// formed: an unclosed class, or an unknown [:name:], matches nothing.
func parseClass(p string, i int) (set *[4]uint64, end int, ok bool) {
	set = new([4]uint64)
	add := func(lo, hi byte) {
		for c := int(lo); c <= int(hi); c++ {
			set[c>>6] |= 1 << (c & 63)
		}
	}
	i++
	negated := i < len(p) && (p[i] == '!' || p[i] == '^')
	if negated {
		i++
	}
	var prev byte // left end of a possible range; 0 where there is none
	for first := true; ; first = false {
		if i >= len(p) {
			return nil, 0, false
		}
		c := p[i]
		if c == ']' && !first {
			break
		}
		switch {
		case c == '\\':
			i++
			if i >= len(p) {
				return nil, 0, false
			}
			add(p[i], p[i])
			prev = p[i]
		case c == '-' && prev != 0 && i+1 < len(p) && p[i+1] != ']':
			i++
			if p[i] == '\\' {
				i++
				if i >= len(p) {
					return nil, 0, false
				}
			}
			add(prev, p[i])
			prev = 0
		case c == '[' && i+1 < len(p) && p[i+1] == ':':
			close := strings.IndexByte(p[i+2:], ']')
			if close < 0 {
				return nil, 0, false
			}
			body := p[i+2 : i+2+close]
			if !strings.HasSuffix(body, ":") { // no ":]": an ordinary "["
				add('[', '[')
				prev = '['
				break
			}
			test := posixClass(strings.TrimSuffix(body, ":"))
			if test == nil {
				return nil, 0, false
			}
			for b := 0; b < 128; b++ {
				if test(byte(b)) {
					add(byte(b), byte(b))
				}
			}
			i += 2 + close
			prev = 0
		default:
			add(c, c)
			prev = c
		}
		i++
	}
	if negated {
		for w := range set {
			set[w] = ^set[w]
		}
	}
	return set, i, true
}

// posixClass returns the test of a named class over ASCII; nil for an unknown name.
func posixClass(name string) func(byte) bool {
	in := func(lo, hi byte) func(byte) bool { return func(c byte) bool { return lo <= c && c <= hi } }
	digit, upper, lower := in('0', '9'), in('A', 'Z'), in('a', 'z')
	alpha := func(c byte) bool { return upper(c) || lower(c) }
	alnum := func(c byte) bool { return alpha(c) || digit(c) }
	print := in(0x20, 0x7e)
	switch name {
	case "alnum":
		return alnum
	case "alpha":
		return alpha
	case "blank":
		return func(c byte) bool { return c == ' ' || c == '\t' }
	case "cntrl":
		return func(c byte) bool { return c < 0x20 || c == 0x7f }
	case "digit":
		return digit
	case "graph":
		return func(c byte) bool { return print(c) && c != ' ' }
	case "lower":
		return lower
	case "print":
		return print
	case "punct":
		return func(c byte) bool { return print(c) && c != ' ' && !alnum(c) }
	case "space": // git counts no vertical tab and no form feed
		return func(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
	case "upper":
		return upper
	case "xdigit":
		return func(c byte) bool { return digit(c) || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F' }
	}
	return nil
}
