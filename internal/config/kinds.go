package config

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The constructors below give a Key its way of reading, checking and showing a
// value of one kind.

func intKey(k Key, lo, hi int, field func(*Config) *int) Key {
	k.Allowed = fmt.Sprintf("a whole number from %d to %d", lo, hi)
	k.set = func(c *Config, in input) error {
		n, err := in.integer(int64(lo), int64(hi))
		if err == nil {
			*field(c) = int(n)
		}
		return err
	}
	k.show = func(c *Config) string { return strconv.Itoa(*field(c)) }
	return k
}

// unitKey is a whole number of units; orZero also allows 0.
func unitKey(k Key, unit time.Duration, name string, orZero bool, lo, hi int64, field func(*Config) *time.Duration) Key {
	k.Allowed = fmt.Sprintf("a whole number of %s from %d to %d", name, lo, hi)
	if orZero {
		k.Allowed = "0 (off), or " + k.Allowed
	}
	k.set = func(c *Config, in input) error {
		if n, err := in.integer(0, 0); orZero && err == nil && n == 0 {
			*field(c) = 0
			return nil
		}
		n, err := in.integer(lo, hi)
		if err == nil {
			*field(c) = time.Duration(n) * unit
		}
		return err
	}
	k.show = func(c *Config) string { return strconv.FormatInt(int64(*field(c)/unit), 10) }
	return k
}

func secondsKey(k Key, orZero bool, lo, hi int64, field func(*Config) *time.Duration) Key {
	return unitKey(k, time.Second, "seconds", orZero, lo, hi, field)
}

func millisKey(k Key, lo, hi int64, field func(*Config) *time.Duration) Key {
	return unitKey(k, time.Millisecond, "milliseconds", false, lo, hi, field)
}

func daysKey(k Key, lo, hi int64, field func(*Config) *time.Duration) Key {
	return unitKey(k, day*time.Second, "days", false, lo, hi, field)
}

func bytesKey(k Key, lo, hi int64, field func(*Config) *int64) Key {
	k.Allowed = fmt.Sprintf("a number of bytes from %s to %s", showBytes(lo), showBytes(hi))
	k.set = func(c *Config, in input) error {
		n, err := in.bytes(lo, hi)
		if err == nil {
			*field(c) = n
		}
		return err
	}
	k.show = func(c *Config) string { return strconv.FormatInt(*field(c), 10) }
	return k
}

func boolKey(k Key, field func(*Config) *bool) Key {
	k.Allowed = "true or false"
	k.set = func(c *Config, in input) error {
		b, err := in.boolean()
		if err == nil {
			*field(c) = b
		}
		return err
	}
	k.show = func(c *Config) string { return strconv.FormatBool(*field(c)) }
	return k
}

// textKey is a string that check lets through; "" is always allowed and means "not given".
func textKey(k Key, check func(string) error, field func(*Config) *string) Key {
	k.set = func(c *Config, in input) error {
		s, err := in.str()
		if err != nil {
			return err
		}
		if s != "" {
			if err := check(s); err != nil {
				return err
			}
		}
		*field(c) = s
		return nil
	}
	k.show = func(c *Config) string { return *field(c) }
	return k
}

func enumKey(k Key, allowed []string, field func(*Config) *string) Key {
	k.Allowed = strings.Join(allowed, ", ")
	k.set = func(c *Config, in input) error {
		s, err := in.str()
		if err != nil {
			return err
		}
		if !slices.Contains(allowed, s) {
			return errNotAllowed
		}
		*field(c) = s
		return nil
	}
	k.show = func(c *Config) string { return *field(c) }
	return k
}

func levelKey(k Key, field func(*Config) *slog.Level) Key {
	levels := map[string]slog.Level{"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError}
	k.Allowed = "debug, info, warn, error"
	k.set = func(c *Config, in input) error {
		s, err := in.str()
		if err != nil {
			return err
		}
		level, ok := levels[strings.ToLower(s)]
		if !ok {
			return errNotAllowed
		}
		*field(c) = level
		return nil
	}
	k.show = func(c *Config) string { return strings.ToLower(field(c).String()) }
	return k
}

func urlKey(k Key, field func(*Config) *string) Key {
	k.Allowed = "an http:// or https:// address"
	return textKey(k, checkURL, field)
}

func addressKey(k Key, field func(*Config) *string) Key {
	k.Allowed = "host:port with a port from 1 to 65535"
	return textKey(k, checkAddress, field)
}

const allowedPath = "an absolute path, or one that begins with ~/"

// elsewhere is what holds for paths outside of the settings file.
const elsewhere = "; outside of the file also relative to the working folder of the start"

func pathKey(k Key, field func(*Config) *string) Key {
	k.Allowed = allowedPath + elsewhere
	k.set = func(c *Config, in input) error {
		s, err := in.str()
		if err != nil {
			return err
		}
		if s == "" {
			*field(c) = ""
			return nil
		}
		p, err := in.path(s)
		if err == nil {
			*field(c) = p
		}
		return err
	}
	k.show = func(c *Config) string { return *field(c) }
	return k
}

func pathsKey(k Key, field func(*Config) *[]string) Key {
	sep := string(filepath.ListSeparator)
	k.Allowed = "absolute paths, or such that begin with ~/; several are separated by " + strconv.Quote(sep) + " in the environment" + elsewhere
	k.set = func(c *Config, in input) error {
		list, err := in.list(sep)
		if err != nil {
			return err
		}
		out := make([]string, 0, len(list))
		for _, s := range list {
			p, err := in.path(s)
			if err != nil {
				return err
			}
			if !slices.Contains(out, p) {
				out = append(out, p)
			}
		}
		*field(c) = out
		return nil
	}
	k.show = func(c *Config) string { return strings.Join(*field(c), sep) }
	return k
}

// listKey is a list of words, separated by commas in the environment; clean checks and normalises one.
func listKey(k Key, clean func(string) (string, error), field func(*Config) *[]string) Key {
	k.set = func(c *Config, in input) error {
		list, err := in.list(",")
		if err != nil {
			return err
		}
		out := make([]string, 0, len(list))
		for _, s := range list {
			s, err := clean(s)
			if err != nil {
				return err
			}
			if !slices.Contains(out, s) {
				out = append(out, s)
			}
		}
		*field(c) = out
		return nil
	}
	k.show = func(c *Config) string { return strings.Join(*field(c), ",") }
	return k
}
