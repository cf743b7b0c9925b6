package extract

import (
	"context"
	"encoding/csv"
	"errors"
	"html"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf16"

	"ragd/internal/chunk"
)

var (
	cueTime = regexp.MustCompile(`^\s*(?:\d+:)?\d{1,2}:\d{2}[.,]\d{1,3}\s*(?:-->|,)\s*(?:\d+:)?\d{1,2}:\d{2}[.,]\d{1,3}`)
	cueTag  = regexp.MustCompile(`</?[a-zA-Z][^<>\n]{0,200}>|<\d[\d:.]{3,15}>|\{\\[^}\n]{0,100}\}`)
	cueName = regexp.MustCompile(`<v(?:\.[^\s>]{1,50})?\s+([^>\n]{1,100})>`)
)

const cueMax = 16 << 10 // bytes of a line that is looked into

// rewriteSubtitles leaves the words of the cues of SRT, WebVTT and SBV.
func rewriteSubtitles(t *lineText) {
	isHead := strings.HasPrefix(t.lines[0], "WEBVTT")
	block := ""
	for i, l := range t.lines {
		s := strings.TrimSpace(l)
		switch {
		case s == "":
			isHead, block = false, ""
			continue
		case isHead:
			t.lines[i] = ""
			continue
		case strings.HasPrefix(s, "NOTE") && block == "", s == "STYLE" && block == "", s == "REGION" && block == "":
			block = s
			t.lines[i] = strings.TrimSpace(strings.TrimPrefix(s, "NOTE"))
			if s == "STYLE" || s == "REGION" {
				t.lines[i] = ""
			}
			continue
		case block == "STYLE" || block == "REGION", cueTime.MatchString(s):
			t.lines[i] = ""
			continue
		case i+1 < len(t.lines) && cueTime.MatchString(t.lines[i+1]): // the cue's name
			t.lines[i] = ""
			continue
		}
		if len(s) > cueMax {
			continue
		}
		s = cueName.ReplaceAllString(s, "$1: ")
		t.lines[i] = html.UnescapeString(cueTag.ReplaceAllString(s, ""))
	}
}

// rewriteJSON writes the escapes of strings as the characters they stand for,
// so that words in them are found. Control characters become spaces.
func rewriteJSON(t *lineText) {
	for i, l := range t.lines {
		if strings.IndexByte(l, '\\') >= 0 {
			t.lines[i] = unescapeJSON(l)
		}
	}
}

func unescapeJSON(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch s[i] {
		case 'n', 'r', 't', 'b', 'f':
			b.WriteString("  ")
		case 'u':
			r, used := jsonUnit(s[i:])
			b.WriteRune(r)
			i += used - 1
		case '/':
			b.WriteByte('/')
		default: // an escaped quote or backslash stays as it is
			b.WriteByte('\\')
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// jsonUnit reads "u00e9", and the second half of a pair after it.
func jsonUnit(s string) (rune, int) {
	if len(s) < 5 {
		return ' ', 1
	}
	v, err := strconv.ParseUint(s[1:5], 16, 16)
	if err != nil {
		return ' ', 1
	}
	r := rune(v)
	if utf16.IsSurrogate(r) && len(s) >= 11 && s[5] == '\\' && s[6] == 'u' {
		if low, err := strconv.ParseUint(s[7:11], 16, 16); err == nil {
			if pair := utf16.DecodeRune(r, rune(low)); pair != '\uFFFD' {
				return pair, 11
			}
		}
	}
	switch {
	case utf16.IsSurrogate(r):
		r = '\uFFFD'
	case r < 0x20 || r >= 0x7f && r < 0xa0:
		r = ' '
	}
	return r, 5
}

// rewritePO leaves the strings of a catalogue of translations.
func rewritePO(t *lineText) {
	for i, l := range t.lines {
		s := strings.TrimSpace(l)
		switch {
		case strings.HasPrefix(s, "msgid"), strings.HasPrefix(s, "msgstr"), strings.HasPrefix(s, "msgctxt"), strings.HasPrefix(s, "\""):
			if open, end := strings.IndexByte(s, '"'), strings.LastIndexByte(s, '"'); open >= 0 && end > open {
				t.lines[i] = unescapeJSON(s[open+1 : end])
			}
		case strings.HasPrefix(s, "#:"), strings.HasPrefix(s, "#,"), s == "#":
			t.lines[i] = ""
		}
	}
}

// rewriteCalendar joins the folded lines of calendars and cards and undoes
// their escapes. What was joined leaves an empty line.
func rewriteCalendar(t *lineText) {
	for i := 0; i < len(t.lines); {
		end := i + 1
		for end < len(t.lines) && len(t.lines[end]) > 0 && (t.lines[end][0] == ' ' || t.lines[end][0] == '\t') {
			end++
		}
		if end > i+1 {
			var b strings.Builder
			b.WriteString(t.lines[i])
			for k := i + 1; k < end; k++ {
				b.WriteString(t.lines[k][1:])
				t.lines[k] = ""
			}
			t.lines[i] = b.String()
		}
		i = end
	}
	escapes := strings.NewReplacer(`\n`, " ", `\N`, " ", `\,`, ",", `\;`, ";")
	for i, l := range t.lines {
		if strings.IndexByte(l, '\\') >= 0 {
			t.lines[i] = escapes.Replace(l)
		}
	}
}

// readTable reads values with a delimiter. The text stays as it is, so rows
// keep their lines; the names of the columns are the heading of every part.
func readTable(mediaType string, delimiters string) reader {
	plain := readText(mediaType, chunk.FormatPlain)
	return func(ctx context.Context, src Source, t fileType) (*Document, error) {
		doc, err := plain(ctx, src, t)
		if err != nil || doc.Text.Body == "" {
			return doc, err
		}
		if names := columnNames(doc.Text.Body, delimiters); names != "" {
			doc.Text.Sections = []chunk.Section{{End: len(doc.Text.Body), Headings: []string{names}}}
		}
		return doc, nil
	}
}

// columnNames returns the first row's cells, joined; empty when it is no
// header: a single cell, or numbers among its cells.
func columnNames(body, delimiters string) string {
	first := body
	if i := strings.IndexByte(first, '\n'); i >= 0 {
		first = first[:i]
	}
	first = clip(first, cellMax)
	comma := rune(delimiters[0])
	for _, d := range delimiters {
		if strings.Count(first, string(d)) > strings.Count(first, string(comma)) {
			comma = d
		}
	}
	r := csv.NewReader(strings.NewReader(first))
	r.Comma, r.LazyQuotes, r.FieldsPerRecord = comma, true, -1
	cells, err := r.Read()
	if err != nil && !errors.Is(err, io.EOF) || len(cells) < 2 || hasNumber(cells) {
		return ""
	}
	for i := range cells {
		cells[i] = oneLine(cells[i])
	}
	return clip(strings.Join(cells, ", "), titleMax)
}
