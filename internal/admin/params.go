package admin

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"ragd/internal/fault"
)

const maxQuery = 4096 // characters

func invalid(name, value, allowed string) *fault.Error {
	if len(value) > 100 {
		value = strings.ToValidUTF8(value[:100], "") + "…"
	}
	return fault.New(fault.Invalid, "bad_parameter", "%s is %q; allowed: %s", name, value, allowed)
}

// checkParams refuses unknown, repeated and broken query parameters by name.
func checkParams(r *http.Request, allowed []string) error {
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return fault.New(fault.Invalid, "bad_parameter", "the query string is broken: %v", err)
	}
	names := make([]string, 0, len(values))
	for name := range values {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if !slices.Contains(allowed, name) {
			list := "none"
			if len(allowed) > 0 {
				list = strings.Join(allowed, ", ")
			}
			return fault.New(fault.Invalid, "bad_parameter", "unknown parameter %.100q; allowed: %s", name, list)
		}
		if len(values[name]) > 1 {
			return fault.New(fault.Invalid, "bad_parameter", "parameter %s is given %d times; allowed: once", name, len(values[name]))
		}
	}
	return nil
}

func (c *call) str(name string) string { return c.URL.Query().Get(name) }

// text is a string parameter of at most limit characters.
func (c *call) text(name string, limit int) (string, error) {
	v := c.str(name)
	if !utf8.ValidString(v) {
		return "", invalid(name, strings.ToValidUTF8(v, "�"), "valid UTF-8")
	}
	if utf8.RuneCountInString(v) > limit {
		return "", invalid(name, v, "at most "+strconv.Itoa(limit)+" characters")
	}
	return v, nil
}

// number is an integer parameter; absent or empty is def.
func (c *call) number(name string, def, lo, hi int64) (int64, error) {
	v := c.str(name)
	if v == "" {
		return def, nil
	}
	n, err := strconv.ParseInt(v, 10, 64)
	if err != nil || n < lo || n > hi {
		return 0, invalid(name, v, "a whole number from "+strconv.FormatInt(lo, 10)+" to "+strconv.FormatInt(hi, 10))
	}
	return n, nil
}

func (c *call) boolean(name string) (bool, error) {
	switch v := c.str(name); v {
	case "", "false", "0":
		return false, nil
	case "true", "1":
		return true, nil
	default:
		return false, invalid(name, v, "true or false")
	}
}

// oneOf is a word out of a list; absent or empty is "".
func (c *call) oneOf(name string, allowed ...string) (string, error) {
	v := c.str(name)
	if v == "" || slices.Contains(allowed, v) {
		return v, nil
	}
	return "", invalid(name, v, strings.Join(allowed, ", "))
}

func (c *call) jobID() (int64, error) {
	n, err := strconv.ParseInt(c.id, 10, 64)
	if err != nil || n < 1 {
		return 0, invalid("the job's id", c.id, "a whole number from 1")
	}
	return n, nil
}
