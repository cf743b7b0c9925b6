package config

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
)

// errNotAllowed says nothing more than the key's Allowed does.
var errNotAllowed = errors.New("")

// input is one raw value: text from the environment, a flag or a default; a
// value of its own type from TOML.
type input struct {
	text   string
	texts  []string // a flag given several times; nil otherwise
	toml   any      // nil = text
	expand func(string) (string, error)
	abs    bool // relative paths are refused: there is no telling what they are relative to
}

// String is the value as a message shows it.
func (in input) String() string {
	switch {
	case in.toml != nil:
		if s, ok := in.toml.(string); ok {
			return clip(strconv.Quote(s))
		}
		return clip(fmt.Sprint(in.toml))
	case in.texts != nil:
		return clip(strconv.Quote(strings.Join(in.texts, " ")))
	}
	return clip(strconv.Quote(in.text))
}

func clip(s string) string {
	const most = 120
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

func (in input) str() (string, error) {
	if in.toml == nil {
		if len(in.texts) > 1 {
			return "", errors.New("it is given more than once")
		}
		if len(in.texts) == 1 {
			return in.texts[0], nil
		}
		return in.text, nil
	}
	s, ok := in.toml.(string)
	if !ok {
		return "", errNotAllowed
	}
	return s, nil
}

func (in input) integer(lo, hi int64) (int64, error) {
	n, ok := in.toml.(int64)
	if !ok {
		if in.toml != nil {
			return 0, errNotAllowed
		}
		s, err := in.str()
		if err != nil {
			return 0, err
		}
		n, err = strconv.ParseInt(strings.TrimSpace(s), 10, 64)
		if err != nil {
			return 0, errNotAllowed
		}
	}
	if n < lo || n > hi {
		return 0, errNotAllowed
	}
	return n, nil
}

var byteUnits = []struct {
	suffix string
	size   int64
}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}}

// bytes reads a number with or without one of byteUnits; in TOML the former is a string.
func (in input) bytes(lo, hi int64) (int64, error) {
	s, err := in.str()
	if err != nil {
		return in.integer(lo, hi)
	}
	s = strings.TrimSpace(s)
	unit := int64(1)
	for _, u := range byteUnits {
		if rest, ok := strings.CutSuffix(s, u.suffix); ok {
			s, unit = strings.TrimSpace(rest), u.size
		}
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 || n > hi/unit || n*unit < lo {
		return 0, errNotAllowed
	}
	return n * unit, nil
}

func showBytes(n int64) string {
	for i := len(byteUnits) - 1; i >= 0; i-- {
		if u := byteUnits[i]; n%u.size == 0 && n > 0 {
			return fmt.Sprintf("%d %s", n/u.size, u.suffix)
		}
	}
	return strconv.FormatInt(n, 10)
}

func (in input) boolean() (bool, error) {
	if b, ok := in.toml.(bool); ok {
		return b, nil
	}
	if in.toml != nil {
		return false, errNotAllowed
	}
	s, err := in.str()
	if err != nil {
		return false, err
	}
	switch strings.ToLower(strings.TrimSpace(s)) {
	case "true", "1", "yes", "on":
		return true, nil
	case "false", "0", "no", "off":
		return false, nil
	}
	return false, errNotAllowed
}

// list reads an array of strings from TOML (or one string, as a list of one),
// and text split at sep from elsewhere. Empty elements are left out.
func (in input) list(sep string) ([]string, error) {
	var raw []string
	switch v := in.toml.(type) {
	case nil:
		texts := in.texts
		if texts == nil {
			texts = []string{in.text}
		}
		for _, t := range texts {
			raw = append(raw, strings.Split(t, sep)...)
		}
	case string:
		raw = []string{v}
	case []any:
		for _, e := range v {
			s, ok := e.(string)
			if !ok {
				return nil, errNotAllowed
			}
			raw = append(raw, s)
		}
	default:
		return nil, errNotAllowed
	}
	out := raw[:0]
	for _, s := range raw {
		if s = strings.TrimSpace(s); s != "" {
			out = append(out, s)
		}
	}
	return out, nil
}

func (in input) path(s string) (string, error) {
	if in.abs && !filepath.IsAbs(s) && !strings.HasPrefix(s, "~") {
		return "", errors.New("the path is relative")
	}
	return in.expand(s)
}
