package config

import (
	"errors"
	"net"
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The checks of single values. Their errors add to what Allowed says.

func checkPattern(s string) (string, error) {
	if !printable(s) {
		return "", errors.New("a pattern holds control characters")
	}
	return s, nil
}

func cleanExtension(s string) (string, error) {
	s = strings.ToLower(strings.TrimPrefix(s, "."))
	if s == "" || len(s) > 32 {
		return "", errNotAllowed
	}
	for _, r := range s {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-+_", r) {
			return "", errNotAllowed
		}
	}
	return s, nil
}

func checkURL(s string) error {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return errNotAllowed
	}
	if u.User != nil {
		return errors.New("it holds a password; put that in the key's setting")
	}
	return nil
}

func checkAddress(s string) error {
	host, port, err := net.SplitHostPort(s)
	if err != nil || host == "" {
		return errNotAllowed
	}
	if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
		return errNotAllowed
	}
	return nil
}

func checkAPIKey(s string) error {
	if len(s) < 16 {
		return errors.New("it is shorter than 16 characters")
	}
	return checkHeaderText(s)
}

func checkHeaderText(s string) error {
	if len(s) > 4096 {
		return errors.New("it is longer than 4096 characters")
	}
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' {
			return errors.New("it holds other characters")
		}
	}
	return nil
}

func checkName(s string) error {
	if utf8.RuneCountInString(s) > 200 || !printable(s) {
		return errNotAllowed
	}
	return nil
}

// checkKBName says whether s can be the name of a mount or root.
func checkKBName(s string) error {
	switch {
	case s == "" || len(s) > 255 || !printable(s):
		return errors.New("it is empty, longer than 255 bytes, or holds control characters")
	case strings.ContainsAny(s, "/,"):
		return errors.New("it holds a slash or a comma")
	case strings.HasPrefix(s, ".") || strings.TrimSpace(s) != s:
		return errors.New("it begins with a dot, or begins or ends with a space")
	}
	return nil
}

const allowedKBName = "1 to 255 bytes without slash, comma and control characters, not beginning with a dot"

func printable(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) })
}
