package extract

import (
	"strings"

	"github.com/xuri/excelize/v2"
)

const isoDate = "yyyy-mm-dd"

// Built-in formats of Excel: the system's own date, which is set to ISO, and
// one with a month by name and a year of two digits.
const (
	formatDate      = 14
	formatDateNamed = 15
)

// isoDates gives every format of a workbook that shows day, month and year the
// order of ISO 8601: "05/03/2024" is two dates, and neither is found by the
// other's. Formats of a month or a time alone stay.
func isoDates(f *excelize.File) {
	if f.Styles == nil {
		return
	}
	if f.Styles.NumFmts != nil {
		for _, n := range f.Styles.NumFmts.NumFmt {
			code := n.FormatCode
			if n.FormatCode16 != "" {
				code = n.FormatCode16
			}
			if iso, ok := isoFormat(code); ok {
				n.FormatCode, n.FormatCode16 = iso, ""
			}
		}
	}
	if f.Styles.CellXfs == nil {
		return
	}
	for i := range f.Styles.CellXfs.Xf {
		if id := f.Styles.CellXfs.Xf[i].NumFmtID; id != nil && *id == formatDateNamed {
			*id = formatDate
		}
	}
}

// isoFormat returns the format that takes the place of one of whole dates.
func isoFormat(code string) (iso string, ok bool) {
	letters := formatLetters(code)
	if strings.ContainsAny(letters, "0#?") || !strings.Contains(letters, "y") || !strings.Contains(letters, "m") || !strings.Contains(letters, "d") {
		return "", false
	}
	switch {
	case !strings.Contains(letters, "h"):
		return isoDate, true
	case strings.Contains(letters, "s"):
		return isoDate + " hh:mm:ss", true
	}
	return isoDate + " hh:mm", true
}

// formatLetters is the first section of a format without what it shows as it
// stands: quoted and escaped characters, fillers, colours and languages.
func formatLetters(code string) string {
	var b strings.Builder
	quoted, bracketed, skip := false, false, false
	for _, r := range strings.ToLower(code) {
		switch {
		case skip:
			skip = false
		case quoted:
			quoted = r != '"'
		case bracketed:
			bracketed = r != ']'
		case r == '"':
			quoted = true
		case r == '[':
			bracketed = true
		case r == '\\', r == '_', r == '*':
			skip = true
		case r == ';':
			return b.String()
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
