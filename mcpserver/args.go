package mcpserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"ragd/internal/fault"
)

// argKind is the type of an argument.
type argKind uint8

const (
	argText   argKind = iota // words: no control characters but tab and line breaks
	argName                  // a file or folder name, or names: any bytes but NUL, see encodeName
	argOpaque                // content and cursors: any characters
	argInt
	argFloat
	argBool
)

// arg describes one argument of a tool. The input schema and the decoder are
// both made from it, so they cannot disagree.
type arg struct {
	name     string
	desc     string
	kind     argKind
	required bool
	empty    bool     // "" is a value; otherwise it means "not given"
	max      int      // characters of a string; 0 = maxQuery
	low      int      // argInt, argFloat: the least …
	high     int      // … and the greatest value
	clamp    bool     // out of range goes to the nearer end instead of being refused
	def      any      // what is taken when it is not given (for the schema)
	enum     []string // the only values allowed
}

const (
	maxQuery = 4096
	maxName  = 8192 // 4,096 bytes of name, escaped
)

// values are decoded arguments: string, int, float64 or bool by name. An
// argument that was not given is absent.
type values map[string]any

func (v values) str(name string) string { s, _ := v[name].(string); return s }
func (v values) flag(name string) bool  { b, _ := v[name].(bool); return b }

func (v values) num(name string, def int) int {
	if n, ok := v[name].(int); ok {
		return n
	}
	return def
}

// decodeArgs reads a tool's arguments, stopping at the first that is not as
// described. Errors are *fault.Error of kind Invalid.
func decodeArgs(tool string, args []arg, raw json.RawMessage) (values, error) {
	out := make(values, len(args))
	if len(bytes.TrimSpace(raw)) > 0 && !isNull(raw) {
		if err := decodeObject(tool, args, raw, out); err != nil {
			return nil, err
		}
	}
	for _, a := range args {
		if _, ok := out[a.name]; !ok && a.required {
			return nil, fault.New(fault.Invalid, "missing_argument", "%s needs %s: %s", tool, a.name, a.allowed()).
				WithHint("Call %s again with %s.", tool, a.name)
		}
	}
	return out, nil
}

func decodeObject(tool string, args []arg, raw json.RawMessage, out values) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return fault.New(fault.Invalid, "invalid_argument", "the arguments of %s must be an object", tool)
	}
	for dec.More() {
		t, err := dec.Token()
		key, _ := t.(string)
		if err != nil {
			return fault.New(fault.Invalid, "invalid_argument", "the arguments of %s are not valid JSON", tool)
		}
		i := slices.IndexFunc(args, func(a arg) bool { return a.name == key })
		if i < 0 {
			return unknownArg(tool, args, key)
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return fault.New(fault.Invalid, "invalid_argument", "%s is not valid JSON", key)
		}
		v, err := args[i].decode(value)
		if err != nil {
			return err
		}
		if v != nil {
			out[key] = v
		}
	}
	return nil
}

func unknownArg(tool string, args []arg, key string) error {
	names := make([]string, len(args))
	for i, a := range args {
		names[i] = a.name
	}
	takes := "no arguments"
	if len(names) > 0 {
		takes = strings.Join(names, ", ")
	}
	return fault.New(fault.Invalid, "unknown_argument", "unknown argument %q; %s takes %s", clip(key, 64), tool, takes).
		WithHint("Leave it out.")
}

// decode reads one value; nil without an error means "not given".
func (a arg) decode(raw json.RawMessage) (any, error) {
	if isNull(raw) {
		return nil, nil
	}
	switch a.kind {
	case argInt, argFloat:
		return a.decodeNumber(raw)
	case argBool:
		return a.decodeBool(raw)
	}
	s, err := a.decodeString(raw)
	if err != nil || s == "" && !a.empty {
		return nil, err
	}
	return s, nil
}

func (a arg) decodeString(raw json.RawMessage) (string, error) {
	if raw[0] != '"' {
		return "", a.wrongType(raw)
	}
	if !utf8.Valid(raw) || loneSurrogate(raw) {
		return "", fault.New(fault.Invalid, "invalid_argument", "%s is not valid Unicode text", a.name)
	}
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		return "", a.wrongType(raw)
	}
	if n := utf8.RuneCountInString(s); n > a.bound() {
		return "", fault.New(fault.Invalid, "too_long", "%s is %d characters long; at most %d are allowed", a.name, n, a.bound()).
			WithHint("Shorten %s.", a.name)
	}
	if i := a.badAt(s); i >= 0 {
		r, _ := utf8.DecodeRuneInString(s[i:])
		return "", fault.New(fault.Invalid, "invalid_argument", "%s has the control character U+%04X in it, which is not allowed", a.name, r).
			WithHint("Take it out.")
	}
	if a.kind == argText {
		s = strings.TrimSpace(s)
	}
	if len(a.enum) > 0 && s != "" && !slices.Contains(a.enum, s) {
		return "", fault.New(fault.Invalid, "invalid_argument", "%s is %q; it must be one of %s", a.name, clip(s, 64), strings.Join(a.enum, ", "))
	}
	return s, nil
}

func (a arg) bound() int {
	switch {
	case a.max > 0:
		return a.max
	case a.kind == argName:
		return maxName
	}
	return maxQuery
}

// badAt is where a character is that may not be in s, or -1.
func (a arg) badAt(s string) int {
	switch a.kind {
	case argText:
		return strings.IndexFunc(s, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t' })
	case argName:
		return strings.IndexByte(s, 0)
	}
	return -1
}

func (a arg) decodeNumber(raw json.RawMessage) (any, error) {
	text := string(raw)
	if raw[0] == '"' {
		if json.Unmarshal(raw, &text) != nil {
			return nil, a.wrongType(raw)
		}
		if text == "" {
			return nil, nil
		}
	}
	f, err := strconv.ParseFloat(text, 64)
	number := json.Valid([]byte(text)) && err == nil && !math.IsInf(f, 0)
	if !number || a.kind == argInt && f != math.Trunc(f) {
		return nil, a.wrongType(raw)
	}
	if f < float64(a.low) || f > float64(a.high) {
		if !a.clamp {
			return nil, fault.New(fault.Invalid, "out_of_range", "%s is %s; it must be %d to %d", a.name, clip(text, 32), a.low, a.high)
		}
		f = min(max(f, float64(a.low)), float64(a.high))
	}
	if a.kind == argFloat {
		return f, nil
	}
	return int(f), nil
}

func (a arg) decodeBool(raw json.RawMessage) (any, error) {
	switch strings.Trim(string(raw), `"`) {
	case "true":
		return true, nil
	case "false":
		return false, nil
	case "":
		return nil, nil
	}
	return nil, a.wrongType(raw)
}

func (a arg) wrongType(raw json.RawMessage) error {
	return fault.New(fault.Invalid, "invalid_argument", "%s is %s; it must be %s", a.name, sketch(raw), a.allowed())
}

// allowed says in words what the argument may be.
func (a arg) allowed() string {
	switch {
	case a.kind == argInt:
		return fmt.Sprintf("a whole number, %d to %d", a.low, a.high)
	case a.kind == argFloat:
		return fmt.Sprintf("a number, %d to %d", a.low, a.high)
	case a.kind == argBool:
		return "true or false"
	case len(a.enum) > 0:
		return "one of " + strings.Join(a.enum, ", ")
	case a.empty:
		return fmt.Sprintf("a string of at most %d characters", a.bound())
	}
	return fmt.Sprintf("a string of 1 to %d characters", a.bound())
}

// sketch names a JSON value shortly, for an error message.
func sketch(raw json.RawMessage) string {
	switch raw[0] {
	case '{':
		return "an object"
	case '[':
		return "a list"
	}
	return visible(clip(strings.ToValidUTF8(string(raw), "�"), 40), false)
}

// loneSurrogate reports whether a JSON string literal escapes half of a
// surrogate pair, which stands for no character.
func loneSurrogate(lit []byte) bool {
	for i := 0; i+1 < len(lit); i++ {
		if lit[i] != '\\' {
			continue
		}
		i++
		if lit[i] != 'u' {
			continue
		}
		hi, ok := hex4(lit[i+1:])
		i += 4
		if !ok || hi < 0xD800 || hi > 0xDFFF {
			continue
		}
		if hi > 0xDBFF || i+2 >= len(lit) || lit[i+1] != '\\' || lit[i+2] != 'u' {
			return true
		}
		lo, ok := hex4(lit[i+3:])
		if !ok || lo < 0xDC00 || lo > 0xDFFF {
			return true
		}
		i += 6
	}
	return false
}

func hex4(b []byte) (uint64, bool) {
	if len(b) < 4 {
		return 0, false
	}
	n, err := strconv.ParseUint(string(b[:4]), 16, 32)
	return n, err == nil
}
