package extract

import (
	"bytes"
	"strings"

	"github.com/gabriel-vasile/mimetype"

	"ragd/internal/fault"
)

const (
	binarySample  = 64 << 10
	controlsLimit = 30 // more than one control character in this many is not text
)

// textMagic are beginnings of formats that may look like text in their first
// bytes but are not meant to be read as such.
var textMagic = []struct{ prefix, name string }{
	{"%PDF-", "application/pdf"},
	{"{\\rtf", "application/rtf"},
	{"%!PS-Adobe", "application/postscript"},
	{"PK\x03\x04", "application/zip"},
	{"\x89PNG", "image/png"},
	{"GIF89a", "image/gif"},
	{"GIF87a", "image/gif"},
	{"\xFF\xD8\xFF", "image/jpeg"},
	{"\x1f\x8b", "application/gzip"},
	{"\x7fELF", "application/x-executable"},
	{"\xD0\xCF\x11\xE0", "application/x-ole-storage"},
	{"SQLite format 3\x00", "application/vnd.sqlite3"},
}

// textLinesMax is the most lines of a text: the place of each in the file may
// have to be kept, in the daemon, in 16 bytes.
const textLinesMax = 2_000_000

// checkText refuses content that is not text under a name that says it is,
// and text of so many lines that there can be nothing on them. UTF-16 and
// UTF-32 are text.
func checkText(path string, data []byte) error {
	if len(data) > textLinesMax && bytes.Count(data, []byte("\n")) > textLinesMax {
		return fault.New(fault.Permanent, "too_large", "%s has more than %d lines", base(path), textLinesMax)
	}
	for _, m := range textMagic {
		if bytes.HasPrefix(data, []byte(m.prefix)) {
			return wrongType(path, m.name)
		}
	}
	if _, ok := decodeBOMName(data); ok {
		return nil
	}
	sample := head(data, binarySample)
	controls := 0
	for i, b := range sample {
		switch b {
		case '\t', '\n', '\r', '\f', '\b', '\v':
		case 0x1b: // a terminal's colours are text; other uses are not
			if i+1 < len(sample) && sample[i+1] != '[' && sample[i+1] != '$' && sample[i+1] != '(' {
				controls++
			}
		default:
			if b < 0x20 {
				controls++
			}
		}
	}
	if controls == 0 {
		return nil
	}
	if bytes.IndexByte(sample, 0) >= 0 {
		if _, ok := decodeNULPattern(data); ok {
			return nil
		}
	}
	if controls*controlsLimit > len(sample) {
		if m := mimetype.Detect(sample); !underText(m) && !m.Is("application/octet-stream") {
			return wrongType(path, m.String())
		}
		return fault.New(fault.Permanent, "binary", "%s holds binary data, not text", base(path))
	}
	return nil
}

// decodeBOMName reports the charset a byte order mark names.
func decodeBOMName(data []byte) (string, bool) {
	for _, m := range []struct{ mark, name string }{
		{"\xEF\xBB\xBF", charsetUTF8}, {"\xFF\xFE", "utf-16le"}, {"\xFE\xFF", "utf-16be"}, {"\x00\x00\xFE\xFF", "utf-32be"},
	} {
		if bytes.HasPrefix(data, []byte(m.mark)) {
			return m.name, true
		}
	}
	return "", false
}

func underText(m *mimetype.MIME) bool {
	for ; m != nil; m = m.Parent() {
		if m.Is("text/plain") {
			return true
		}
	}
	return false
}

func wrongType(path, found string) error {
	name, _, _ := strings.Cut(found, ";")
	return fault.New(fault.Permanent, "wrong_type", "%s holds %s, which is not what its name says", base(path), name).
		WithHint("Give the file the extension of its content.")
}

// base is the last element of a slash-separated path.
func base(path string) string {
	return path[strings.LastIndexByte(path, '/')+1:]
}

// detectType names what content is, for an error message.
func detectType(data []byte) string { return mimetype.Detect(head(data, binarySample)).String() }
