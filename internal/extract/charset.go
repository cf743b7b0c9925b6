package extract

import (
	"bytes"
	"strings"
	"unicode/utf8"

	gogs "github.com/gogs/chardet"
	"github.com/wlynxg/chardet"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/ianaindex"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
)

const charsetUTF8 = "utf-8"

// Shares and sizes that the guesses go by.
const (
	charsetSample   = 64 << 10 // bytes the detectors look at
	sureConfidence  = 0.8      // of wlynxg/chardet, which goes to 0.99
	sureGogs        = 60       // of gogs/chardet, which goes to 100
	mostlyValidUTF8 = 0.9      // multi-byte sequences that are valid: a damaged UTF-8 file, not another charset
)

// decoded is a file's text in UTF-8, where sequences may still be invalid.
type decoded struct {
	text    []byte
	charset string // as in the IANA list, lower case; "utf-8" when nothing was converted
	sure    bool   // false = guessed
	skip    int    // bytes of the byte order mark
	raw     []byte // the file after its mark when it had to be converted; nil = text is the file
	unit    int    // bytes of a code unit in raw: 1, 2, 4
	bigEnd  bool   // of units of 2 and 4 bytes
}

// decode finds the character set: byte order mark, the pattern of NUL bytes,
// valid UTF-8, the charset the file declares (HTML, mail; may be empty), and
// then the detectors.
func decode(data []byte, declared string) decoded {
	if d, ok := decodeBOM(data); ok {
		return d
	}
	if d, ok := decodeNULPattern(data); ok {
		return d
	}
	if d, ok := decodeISO2022JP(data); ok {
		return d
	}
	if utf8.Valid(data) || damagedUTF8(data) {
		return decoded{text: data, charset: charsetUTF8, sure: true}
	}
	if declared != "" {
		if enc, name := encodingByName(declared); enc != nil && name != charsetUTF8 {
			if text, err := enc.NewDecoder().Bytes(data); err == nil {
				return decoded{text: text, charset: name, sure: true, raw: data, unit: 1}
			}
		}
	}
	return decodeGuessed(data)
}

func decodeBOM(data []byte) (decoded, bool) {
	switch {
	case bytes.HasPrefix(data, []byte("\xEF\xBB\xBF")):
		return decoded{text: data[3:], charset: charsetUTF8, sure: true, skip: 3}, true
	case bytes.HasPrefix(data, []byte("\xFF\xFE\x00\x00")) && len(data)%4 == 0:
		return decodeUTF32(data, 4, false)
	case bytes.HasPrefix(data, []byte("\x00\x00\xFE\xFF")):
		return decodeUTF32(data, 4, true)
	case bytes.HasPrefix(data, []byte("\xFF\xFE")):
		return decodeUTF16(data, 2, false, true), true
	case bytes.HasPrefix(data, []byte("\xFE\xFF")):
		return decodeUTF16(data, 2, true, true), true
	}
	return decoded{}, false
}

func decodeUTF16(data []byte, skip int, bigEnd, sure bool) decoded {
	order, name := unicode.LittleEndian, "utf-16le"
	if bigEnd {
		order, name = unicode.BigEndian, "utf-16be"
	}
	raw := data[skip:]
	text, err := unicode.UTF16(order, unicode.IgnoreBOM).NewDecoder().Bytes(raw)
	if err != nil { // an odd last byte; the text before it is good
		text, _ = unicode.UTF16(order, unicode.IgnoreBOM).NewDecoder().Bytes(raw[:len(raw)&^1])
		text = append(text, "\uFFFD"...)
	}
	return decoded{text: text, charset: name, sure: sure, skip: skip, raw: raw, unit: 2, bigEnd: bigEnd}
}

func decodeUTF32(data []byte, skip int, bigEnd bool) (decoded, bool) {
	order, name := utf32.LittleEndian, "utf-32le"
	if bigEnd {
		order, name = utf32.BigEndian, "utf-32be"
	}
	raw := data[skip:]
	text, err := utf32.UTF32(order, utf32.IgnoreBOM).NewDecoder().Bytes(raw[:len(raw)&^3])
	if err != nil {
		return decoded{}, false
	}
	return decoded{text: text, charset: name, sure: true, skip: skip, raw: raw, unit: 4, bigEnd: bigEnd}, true
}

// decodeNULPattern finds UTF-16 without a mark: NUL bytes on one side of the
// pairs only, and text that decodes without faults.
func decodeNULPattern(data []byte) (decoded, bool) {
	sample := head(data, charsetSample)
	if len(sample) < 4 || bytes.IndexByte(sample, 0) < 0 {
		return decoded{}, false
	}
	var zeros [2]int
	for i, b := range sample {
		if b == 0 {
			zeros[i&1]++
		}
	}
	pairs := len(sample) / 2
	bigEnd := zeros[0] > zeros[1]
	high, low := max(zeros[0], zeros[1]), min(zeros[0], zeros[1])
	if high*20 < pairs || low*20 > high { // 5 % of the pairs; hardly any on the other side
		return decodeWideCJK(data)
	}
	if high*2 < pairs && printableASCII(sample) { // a text that a few NUL bytes got into: letters have one in each pair
		return decoded{}, false
	}
	d := decodeUTF16(data, 0, bigEnd, high*2 > pairs)
	odd := 0
	for _, b := range head(d.text, charsetSample) {
		if byteClass[b] == controlByte && b != '\r' && b != '\f' {
			odd++
		}
	}
	odd += bytes.Count(head(d.text, charsetSample), []byte("\uFFFD"))
	if odd*50 > pairs {
		return decoded{}, false
	}
	return d, true
}

// printableASCII reports whether bytes are ASCII and NUL without the control
// characters that UTF-16 has in each letter of Greek, Cyrillic or Hebrew.
func printableASCII(b []byte) bool {
	for _, c := range b {
		if c >= utf8.RuneSelf || c != 0 && byteClass[c] == controlByte && c != '\r' && c != '\f' && c != 0x1b {
			return false
		}
	}
	return true
}

// decodeISO2022JP finds the seven-bit Japanese encoding, which is also valid
// ASCII, by its escape sequences.
func decodeISO2022JP(data []byte) (decoded, bool) {
	sample := head(data, charsetSample)
	if !bytes.Contains(sample, []byte("\x1b$B")) && !bytes.Contains(sample, []byte("\x1b$@")) {
		return decoded{}, false
	}
	for _, b := range sample {
		if b >= 0x80 {
			return decoded{}, false
		}
	}
	text, err := japanese.ISO2022JP.NewDecoder().Bytes(data)
	if err != nil || bytes.Contains(text, []byte("\uFFFD")) {
		return decoded{}, false
	}
	return decoded{text: text, charset: "iso-2022-jp", sure: true, raw: data, unit: 1}, true
}

// damagedUTF8 reports whether invalid data is UTF-8 all the same: nearly all
// its multi-byte sequences are valid, which in other charsets is rare.
func damagedUTF8(data []byte) bool {
	valid, invalid := 0, 0
	for i := 0; i < len(data); {
		if data[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size == 1 {
			invalid++
		} else {
			valid++
		}
		i += size
	}
	return valid > 0 && float64(valid) >= mostlyValidUTF8*float64(valid+invalid)
}

// decodeGuessed asks the detectors; its last resort is Windows-1252, which
// loses nothing of ASCII.
func decodeGuessed(data []byte) decoded {
	sample := highLines(data, charsetSample)
	name, sure := guessCharset(sample)
	enc, canonical := encodingByName(name)
	if !sure {
		if c, ok := guessCJK(sample); ok {
			enc, canonical = c.enc, c.name
		}
	}
	if enc == nil || canonical == charsetUTF8 {
		enc, canonical, sure = charmap.Windows1252, "windows-1252", false
	}
	text, err := enc.NewDecoder().Bytes(data)
	if err != nil {
		enc, canonical, sure = charmap.Windows1252, "windows-1252", false
		text, _ = enc.NewDecoder().Bytes(data) // a single-byte decoder maps every byte
	}
	return decoded{text: text, charset: canonical, sure: sure, raw: data, unit: 1}
}

// guessCharset asks wlynxg/chardet, and gogs/chardet where that is unsure or
// says Latin-1, which it says of everything Western.
func guessCharset(sample []byte) (name string, sure bool) {
	r := safeDetect(sample)
	name, sure = r.Charset, r.Confidence >= sureConfidence
	switch lower := strings.ToLower(name); {
	case strings.HasSuffix(lower, "cyrillic") && strings.Contains(lower, "mac") && !macCapitals(sample):
		return "windows-1251", sure
	case sure && !strings.Contains(lower, "8859-1") && !strings.Contains(lower, "1252") && lower != "ascii":
		return name, sure
	}
	best, err := gogs.NewTextDetector().DetectBest(sample)
	if err != nil {
		return "windows-1252", false
	}
	name, sure = best.Charset, best.Confidence >= sureGogs
	if name == "ISO-8859-1" { // the superset that browsers read it as
		name = "windows-1252"
	}
	return name, sure
}

// macCapitals tells Mac Cyrillic from Windows-1251, which share the small
// letters: by where the capitals are.
func macCapitals(sample []byte) bool {
	mac, windows := 0, 0
	for _, b := range sample {
		switch {
		case b >= 0x80 && b < 0xA0:
			mac++
		case b >= 0xC0 && b < 0xE0:
			windows++
		}
	}
	return mac > windows
}

// safeDetect keeps a fault of the detector from costing more than the guess.
func safeDetect(sample []byte) (r chardet.Result) {
	defer func() {
		if recover() != nil {
			r = chardet.Result{}
		}
	}()
	return chardet.Detect(sample)
}

// encodingByName finds an encoding by any of its usual names and returns the
// canonical one; nil when the name is unknown.
func encodingByName(name string) (encoding.Encoding, string) {
	name = strings.ToLower(strings.TrimSpace(name))
	switch name {
	case "gb2312", "gbk", "hz-gb-2312":
		name = "gb18030" // the superset
	case "cp949", "uhc":
		name = "euc-kr"
	case "cp932", "ms932", "shift-jis", "sjis":
		name = "shift_jis"
	case "big5-hkscs":
		name = "big5"
	case "maccyrillic", "mac-cyrillic":
		name = "x-mac-cyrillic"
	case "macroman", "mac-roman":
		name = "macintosh"
	}
	if enc, err := htmlindex.Get(name); err == nil {
		if canonical, err := htmlindex.Name(enc); err == nil {
			return enc, canonical
		}
		return enc, name
	}
	if enc, err := ianaindex.IANA.Encoding(name); err == nil && enc != nil {
		return enc, name
	}
	return nil, ""
}

// highLines gathers lines with bytes above ASCII, since only they tell one
// charset from another.
func highLines(data []byte, limit int) []byte {
	if len(data) <= limit {
		return data
	}
	out := make([]byte, 0, limit)
	for i := 0; i < len(data) && len(out) < limit; {
		end := bytes.IndexByte(data[i:], '\n')
		if end < 0 || end > 4096 {
			end = min(4096, len(data)-i) - 1
		}
		line := data[i : i+end+1]
		for _, b := range line {
			if b >= 0x80 {
				out = append(out, line[:min(len(line), limit-len(out))]...)
				break
			}
		}
		i += end + 1
	}
	return out
}

// lineBytes finds where in the file each line of body begins. Converted text
// is matched by counting line ends in the raw code units.
func (d decoded) lineBytes(body string) []int64 {
	lines := strings.Count(body, "\n") + 1
	at := make([]int64, 1, lines)
	at[0] = int64(d.skip)
	if d.raw == nil {
		for i := 0; i < len(body); i++ {
			j := strings.IndexByte(body[i:], '\n')
			if j < 0 {
				break
			}
			i += j
			at = append(at, int64(d.skip+i+1))
		}
		return at
	}
	at = d.rawLines(at, lines, '\n')
	if len(at) == 1 && lines > 1 {
		at = d.rawLines(at, lines, '\r')
	}
	for len(at) < lines { // an encoding whose line ends are not where they seem
		at = append(at, int64(d.skip+len(d.raw)))
	}
	return at
}

func (d decoded) rawLines(at []int64, lines int, end byte) []int64 {
	for i := 0; i+d.unit <= len(d.raw) && len(at) < lines; i += d.unit {
		u := d.raw[i : i+d.unit]
		low := 0
		if d.bigEnd {
			low = d.unit - 1
		}
		if u[low] != end {
			continue
		}
		others := byte(0)
		for k, b := range u {
			if k != low {
				others |= b
			}
		}
		if others == 0 {
			at = append(at, int64(d.skip+i+d.unit))
		}
	}
	return at
}

func head(b []byte, n int) []byte {
	if len(b) > n {
		return b[:n]
	}
	return b
}
