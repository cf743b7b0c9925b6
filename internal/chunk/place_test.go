package chunk

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// normalised does to a file what an extractor does, the slow and plain way.
func normalised(file string, frontMatter int) Text {
	body := strings.TrimPrefix(file, "\uFEFF")
	at, chars := int64(len(file)-len(body)), int64(0)
	t := Text{Format: FormatMarkdown}
	var out []string
	lines := strings.SplitAfter(body, "\n")
	for i, line := range lines {
		if i >= frontMatter {
			t.Source.Bytes = append(t.Source.Bytes, at)
			t.Source.Chars = append(t.Source.Chars, chars)
			out = append(out, strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r"))
		}
		at += int64(len(line))
		chars += int64(utf8.RuneCountInString(line))
	}
	t.Source.FirstLine = frontMatter + 1
	t.Body = strings.Join(out, "\n")
	return t
}

func TestPlacesAreThoseOfTheFile(t *testing.T) {
	t.Parallel()
	text := "# Überschrift\n\nErste Zeile mit Ä und 漢字 und 🎉.\nZweite Zeile.\n\n## Zwei\n\n" + strings.Repeat("Ein Satz, der länger ist. ", 30) + "\nEnde.\n"
	crlf := strings.ReplaceAll(text, "\n", "\r\n")
	cases := []struct {
		name  string
		file  string
		front int // lines
	}{
		{"LF", text, 0},
		{"CRLF", crlf, 0},
		{"BOM", "\uFEFF" + text, 0},
		{"BOM and CRLF", "\uFEFF" + crlf, 0},
		{"front matter", "---\ntitle: Ä\n---\n" + text, 3},
		{"BOM, CRLF and front matter", "\uFEFF---\r\ntitle: Ä\r\n---\r\n" + crlf, 3},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			in := normalised(c.file, c.front)
			chunks := Split(in, Options{Target: 120, Max: 300, Overlap: 30})
			if len(chunks) < 5 {
				t.Fatalf("only %d chunks", len(chunks))
			}
			for i, k := range chunks {
				want := in.Body[k.Start:k.End]
				got := strings.ReplaceAll(c.file[k.SourceStart:k.SourceEnd], "\r\n", "\n")
				if got != want {
					t.Errorf("chunk %d: bytes %d..%d of the file are %q, not %q", i, k.SourceStart, k.SourceEnd, got, want)
				}
				runes := []rune(strings.TrimPrefix(c.file, "\uFEFF"))
				if got := strings.ReplaceAll(string(runes[k.SourceCharS:k.SourceCharEnd]), "\r\n", "\n"); got != want {
					t.Errorf("chunk %d: characters %d..%d of the file are %q, not %q", i, k.SourceCharS, k.SourceCharEnd, got, want)
				}
				lines := strings.Split(strings.TrimPrefix(c.file, "\uFEFF"), "\n")
				first, last, _ := strings.Cut(want, "\n")
				if j := strings.LastIndexByte(last, '\n'); j >= 0 {
					last = last[j+1:]
				}
				if !strings.Contains(lines[k.FirstLine-1], first) || !strings.Contains(lines[k.LastLine-1], last) {
					t.Errorf("chunk %d says lines %d-%d for %q", i, k.FirstLine, k.LastLine, want)
				}
			}
		})
	}
}

func TestPlacesWithoutAMapAreThoseOfTheBody(t *testing.T) {
	t.Parallel()
	text := Text{Body: "ä\n\n" + strings.Repeat("ein Wort ", 40), Format: FormatPlain}
	for _, c := range Split(text, Options{Target: 50, Max: 90}) {
		if c.SourceStart != int64(c.Start) || c.SourceEnd != int64(c.End) || c.SourceCharS != int64(c.CharStart) || c.SourceCharEnd != int64(c.CharEnd) {
			t.Errorf("%+v", c)
		}
	}
}
