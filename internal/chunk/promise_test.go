package chunk

import (
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
	"pgregory.net/rapid"
)

// broken returns what is wrong with the chunks of t, or "".
func broken(t Text, o Options, chunks []Chunk) string {
	o = o.withDefaults()
	covered := 0
	for i, c := range chunks {
		switch {
		case c.Index != i:
			return fmt.Sprintf("chunk %d has index %d", i, c.Index)
		case c.Start < 0 || c.End > len(t.Body) || c.Start >= c.End:
			return fmt.Sprintf("chunk %d is %d..%d of %d", i, c.Start, c.End, len(t.Body))
		case i > 0 && (c.Start <= chunks[i-1].Start || c.End <= chunks[i-1].End):
			return fmt.Sprintf("chunk %d (%d..%d) does not come after %d..%d", i, c.Start, c.End, chunks[i-1].Start, chunks[i-1].End)
		}
		content := c.Content(t.Body)
		if n := utf8.RuneCountInString(content); n > o.Max {
			return fmt.Sprintf("chunk %d has %d characters, more than %d", i, n, o.Max)
		}
		if !utf8.ValidString(content) {
			return fmt.Sprintf("chunk %d is not UTF-8: %q", i, content)
		}
		if strings.TrimSpace(content) == "" {
			return fmt.Sprintf("chunk %d is blank", i)
		}
		if c.Start > covered {
			if gap := t.Body[covered:c.Start]; strings.TrimSpace(gap) != "" {
				return fmt.Sprintf("%q before chunk %d is in no chunk", gap, i)
			}
		}
		covered = max(covered, c.End)
		if s, e := utf8.RuneCountInString(t.Body[:c.Start]), utf8.RuneCountInString(t.Body[:c.End]); c.CharStart != s || c.CharEnd != e {
			return fmt.Sprintf("chunk %d says characters %d..%d, is %d..%d", i, c.CharStart, c.CharEnd, s, e)
		}
	}
	if rest := t.Body[covered:]; strings.TrimSpace(rest) != "" {
		return fmt.Sprintf("%q at the end is in no chunk", rest)
	}
	return insideGrapheme(t.Body, chunks, o)
}

// insideGrapheme returns which cut is inside a grapheme that could have been
// kept whole.
func insideGrapheme(body string, chunks []Chunk, o Options) string {
	borders := map[int]bool{0: true}
	at := 0
	for g := uniseg.NewGraphemes(body); g.Next(); {
		cluster := g.Str()
		if utf8.RuneCountInString(cluster) > o.Target/8 {
			for i := range cluster {
				borders[at+i] = true
			}
		}
		at += len(cluster)
		borders[at] = true
	}
	for i, c := range chunks {
		if !borders[c.Start] || !borders[c.End] {
			return fmt.Sprintf("chunk %d (%d..%d) cuts a grapheme: …%q…", i, c.Start, c.End, body[max(0, c.Start-20):min(len(body), c.Start+20)])
		}
	}
	return ""
}

// bits are what random texts are made of.
var bits = []string{
	"word", " ", " ", " ", "\n", "\n", "\n\n", "Sentence one. ", "And two! ", "  ", "\t", "    ", "a", "b-c", "1. ", "- ", "* ", "> ",
	"# ", "## ", "### ", "===\n", "---\n", "```\n", "```go\n", "~~~\n", "| a | b |\n", "|---|---|\n", "| 1 | 2 |\n", "<div>\n", "<!-- ", "-->\n", "<pre>\n",
	"func f() {\n", "}\n", "class A:\n", "    def m(self):\n", "        return 1\n", "if x {\n",
	"漢字", "かな。", "カナ、", "한국어", "ภาษาไทย", "مرحبا", "👩‍👩‍👧‍👦", "🇩🇪", "🇫🇷🇯🇵", "é", "e\u0301", "क्षि", "\u200d", "\ufe0f", "\u0600", "각",
	"\u3000", "\u00a0", strings.Repeat("x", 40), strings.Repeat("長", 30), strings.Repeat("🇩🇪", 10),
}

func randomText(t *rapid.T) Text {
	parts := rapid.SliceOfN(rapid.SampledFrom(bits), 0, 200).Draw(t, "parts")
	body := strings.Join(parts, "")
	if rapid.Bool().Draw(t, "noise") {
		body += rapid.String().Draw(t, "tail")
	}
	text := Text{Body: body, Format: rapid.SampledFrom([]Format{FormatMarkdown, FormatPlain, FormatCode, ""}).Draw(t, "format")}
	for at := 0; rapid.IntRange(0, 2).Draw(t, "more") == 0; {
		line := strings.IndexByte(body[at:], '\n')
		if line < 0 {
			break
		}
		start := at + line + 1
		text.Sections = append(text.Sections, Section{
			Start: start, End: len(body),
			Headings: rapid.SampledFrom([][]string{nil, {"A"}, {"A", "B"}}).Draw(t, "headings"),
			Page:     rapid.IntRange(0, 2).Draw(t, "page"),
			Format:   rapid.SampledFrom([]Format{"", FormatCode}).Draw(t, "of"),
		})
		at = start + rapid.IntRange(0, len(body)-start).Draw(t, "skip")
	}
	return text
}

func TestChunksCoverTheTextInOrderWithinTheCap(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := randomText(t)
		o := Options{
			Target:  rapid.IntRange(0, 300).Draw(t, "target"),
			Max:     rapid.SampledFrom([]int{0, 1, 16, 40, 100, 400}).Draw(t, "max"),
			Overlap: rapid.SampledFrom([]int{0, -1, 5, 50}).Draw(t, "overlap"),
		}
		chunks := Split(text, o)
		if why := broken(text, o, chunks); why != "" {
			t.Fatalf("%s\nformat %q\nbody %q", why, text.Format, text.Body)
		}
		noChunkCrossesASection(t, text, chunks)
	})
}

func noChunkCrossesASection(t *rapid.T, text Text, chunks []Chunk) {
	for _, s := range text.Sections {
		for _, c := range chunks {
			if c.Start < s.Start && s.Start < c.End && strings.TrimFunc(text.Body[s.Start:c.End], unicode.IsSpace) != "" {
				page, headings, format := placeOf(text, s.Start-1)
				if page != s.Page || strings.Join(headings, "/") != strings.Join(s.Headings, "/") || format != orText(s.Format, text) {
					t.Fatalf("chunk %d..%d crosses the section at %d", c.Start, c.End, s.Start)
				}
			}
		}
	}
}

func orText(f Format, t Text) Format {
	if f == "" {
		return t.Format
	}
	return f
}

// placeOf returns what the sections say of the byte at.
func placeOf(t Text, at int) (page int, headings []string, format Format) {
	format = t.Format
	for _, s := range t.Sections {
		if s.Start <= at {
			page, headings, format = s.Page, s.Headings, orText(s.Format, t)
		}
	}
	return page, headings, format
}

func FuzzSplit(f *testing.F) {
	f.Add("# A\n\ntext\n\n| a |\n|---|\n| b |\n", uint8(0), 64, 20)
	f.Add("```go\nfunc f() {\n}\n", uint8(1), 16, 16)
	f.Add(strings.Repeat("字", 200), uint8(2), 100, 50)
	f.Add("- a\n  ```\n  x\nb\n    - c\n1) d\n> e\n<pre>\n# f\n</pre>\n", uint8(1), 20, 0)
	f.Add("0|\n   -|\n0000\n00\n", uint8(1), 1, 58)
	f.Fuzz(func(t *testing.T, body string, format uint8, most, target int) {
		if len(body) > 1<<16 || most > 1<<20 || target > 1<<20 {
			return
		}
		body = strings.ToValidUTF8(strings.ReplaceAll(body, "\r", ""), "?")
		text := Text{Body: body, Format: []Format{FormatPlain, FormatMarkdown, FormatCode}[format%3]}
		o := Options{Target: target, Max: most}
		if why := broken(text, o, Split(text, o)); why != "" {
			t.Fatal(why)
		}
	})
}
