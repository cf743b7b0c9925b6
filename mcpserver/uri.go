package mcpserver

import (
	"net/url"
	"strconv"
	"strings"

	"ragd/internal/fault"
)

const (
	scheme      = "rag://"
	uriTemplate = "rag://{kb}/{+path}"
	maxURI      = 3*2*maxPathBytes + 64 // every byte of two long names percent-encoded
)

// docURI is a document's address as a resource. All bytes of names but
// letters, digits and -._~ are percent-encoded.
func docURI(kb, path string) string {
	names := strings.Split(path, "/")
	for i, n := range names {
		names[i] = escapeURI(n)
	}
	return scheme + escapeURI(kb) + "/" + strings.Join(names, "/")
}

func escapeURI(s string) string {
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("-._~", c) >= 0:
			b.WriteByte(c)
		default:
			b.WriteByte('%')
			b.WriteByte(upperHex[c>>4])
			b.WriteByte(upperHex[c&15])
		}
	}
	return b.String()
}

// parseURI is the inverse of docURI; ?offset=N asks for the text from there.
// Characters that were not encoded stand for themselves. The path is checked
// as in every tool: an encoded .. is a .. still.
func parseURI(uri string) (kb, path string, offset int, err error) {
	bad := fault.New(fault.Invalid, "bad_uri", "%q is not the address of a document", clip(uri, 100)).
		WithHint("Addresses look like rag://kb/path, with names percent-encoded; resources/list gives them.")
	if len(uri) < len(scheme) || len(uri) > maxURI || !strings.EqualFold(uri[:len(scheme)], scheme) {
		return "", "", 0, bad
	}
	rest, query, _ := strings.Cut(uri[len(scheme):], "?")
	rest, _, _ = strings.Cut(rest, "#")
	rawKB, rawPath, ok := strings.Cut(rest, "/")
	if !ok {
		return "", "", 0, bad
	}
	kb, err1 := url.PathUnescape(rawKB)
	path, err2 := url.PathUnescape(rawPath)
	if err1 != nil || err2 != nil || kb == "" {
		return "", "", 0, bad
	}
	if query != "" {
		text, found := strings.CutPrefix(query, "offset=")
		offset, err = strconv.Atoi(text)
		if !found || err != nil || offset < 0 || offset > maxOffset {
			return "", "", 0, bad
		}
	}
	path, err = docPath(encodeName(path))
	return kb, path, offset, err
}
