package extract

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
)

const (
	cjkPairs = 6   // two-byte characters; fewer say nothing
	cjkShare = 0.9 // of them that must be common ones
)

// cjkCharset is a character set of two bytes for each character: where its
// pairs may stand, and which of them make up nearly all of real text.
type cjkCharset struct {
	name   string
	enc    encoding.Encoding
	lead   func(b byte) bool
	single func(b byte) bool // high bytes that stand alone
	common func(lead, trail byte) bool
}

func between(b, low, high byte) bool { return b >= low && b <= high }

// cjkCharsets are tried where the detectors are unsure, as they are of short
// texts. Each wants other lead bytes, so at most one fits.
var cjkCharsets = []cjkCharset{
	{"shift_jis", japanese.ShiftJIS,
		func(b byte) bool { return between(b, 0x81, 0x9F) || between(b, 0xE0, 0xFC) },
		func(b byte) bool { return between(b, 0xA1, 0xDF) },
		func(l, _ byte) bool { return between(l, 0x81, 0x83) || between(l, 0x88, 0x97) }},
	{"euc-jp", japanese.EUCJP,
		func(b byte) bool { return between(b, 0xA1, 0xFE) }, nil,
		func(l, t byte) bool { return (l == 0xA4 || l == 0xA5 || l == 0xA1) && t >= 0xA1 }},
	{"euc-kr", korean.EUCKR,
		func(b byte) bool { return between(b, 0x81, 0xFE) }, nil,
		func(l, t byte) bool { return between(l, 0xB0, 0xC8) && t >= 0xA1 }},
	{"gb18030", simplifiedchinese.GB18030,
		func(b byte) bool { return between(b, 0x81, 0xFE) }, nil,
		func(l, t byte) bool { return (between(l, 0xB0, 0xD7) || l == 0xA1 || l == 0xA3) && t >= 0xA1 }},
}

// guessCJK finds a charset of two bytes that fits, best share first; ok is
// false for text that is not of one.
func guessCJK(data []byte) (c cjkCharset, ok bool) {
	best := cjkShare
	for _, candidate := range cjkCharsets {
		if share := candidate.fits(data); share > best {
			best, c, ok = share, candidate, true
		}
	}
	return c, ok
}

// fits is the share of common pairs among all; 0 when data is not of the
// charset at all.
func (c cjkCharset) fits(data []byte) float64 {
	pairs, common := 0, 0
	for i := 0; i < len(data); i++ {
		b := data[i]
		switch {
		case b < 0x80 || c.single != nil && c.single(b):
		case !c.lead(b) || i+1 == len(data) || data[i+1] < 0x40 || data[i+1] == 0x7F || data[i+1] == 0xFF:
			return 0
		default:
			pairs++
			if c.common(b, data[i+1]) {
				common++
			}
			i++
		}
	}
	if pairs < cjkPairs {
		return 0
	}
	return float64(common) / float64(pairs)
}

// decodeWideCJK finds UTF-16 without a mark in Chinese, Japanese or Korean,
// whose only NUL bytes are those of line ends and blanks: text that is no
// UTF-8, and in one of the two orders nearly all of those scripts.
func decodeWideCJK(data []byte) (decoded, bool) {
	sample := head(data, charsetSample)
	sample = sample[:len(sample)&^1]
	if len(data)%2 != 0 || utf8.Valid(sample) {
		return decoded{}, false
	}
	little, big := wideCJK(sample, false), wideCJK(sample, true)
	if little == big {
		return decoded{}, false
	}
	return decodeUTF16(data, 0, big, false), true
}

// wideCJK reports whether bytes read as UTF-16 are text of those scripts.
func wideCJK(sample []byte, bigEnd bool) bool {
	of, ascii, others := 0, 0, 0
	for i := 0; i+1 < len(sample); i += 2 {
		r := rune(sample[i]) | rune(sample[i+1])<<8
		if bigEnd {
			r = rune(sample[i+1]) | rune(sample[i])<<8
		}
		switch {
		case r == '\t', r == '\n', r == '\r', r >= ' ' && r < 0x7f:
			ascii++
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul), r >= 0x3000 && r < 0x3040, r >= 0xFF00 && r < 0xFFF0:
			of++
		default:
			others++
		}
	}
	return ascii > 0 && of > 3*ascii && others*50 <= of
}
