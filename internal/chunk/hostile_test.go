package chunk

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

// Texts that have made other programs hang, overflow or cut characters apart.
func hostileTexts() map[string]string {
	return map[string]string{
		"one line of 5 MB without a blank": strings.Repeat("abcdefghij", 500_000),
		"one line of 5 MB of JSON":         strings.Repeat(`{"key":"value","n":[1,2,3]},`, 180_000),
		"Chinese without a blank":          strings.Repeat("知识库的内容没有空格", 100_000),
		"Chinese with stops":               strings.Repeat("知识库的内容，没有空格。", 60_000),
		"flags without end":                strings.Repeat("🇩🇪", 100_000),
		"families without end":             strings.Repeat("👩‍👩‍👧‍👦", 40_000),
		"marks without end":                "a" + strings.Repeat("\u0301", 300_000),
		"joiners without end":              strings.Repeat("\u200d", 300_000),
		"a table of 2 MB":                  "| name | value |\n|---|---|\n" + strings.Repeat("| some name | some value |\n", 80_000),
		"a table of one row of 2 MB":       "| name | value |\n|---|---|\n|" + strings.Repeat(" cell |", 300_000) + "\n",
		"a header of 1 MB":                 strings.Repeat("| h ", 250_000) + "|\n|---|\n| a |\n",
		"a fence of 30,000 lines":          "```go\n" + strings.Repeat("\tx := f(y)\n", 30_000) + "```\n",
		"a fence that is never closed":     "```\n" + strings.Repeat("text and text\n\n", 50_000),
		"quotes in quotes":                 strings.Repeat("> ", 500_000) + "text\n",
		"lists in lists":                   strings.Repeat("- ", 500_000) + "text\n",
		"lists ever deeper":                deeper("- item\n", 1500),
		"code ever deeper":                 deeper("if x {\n", 1500),
		"brackets":                         strings.Repeat("[", 500_000) + "\n# [" + strings.Repeat("[](", 100_000),
		"blank lines":                      "a\n" + strings.Repeat("\n", 1_000_000) + "b\n" + strings.Repeat("  \n", 300_000) + "c",
		"blanks in a line":                 "a" + strings.Repeat(" ", 1_000_000) + "b",
		"a heading of 1 MB":                "# " + strings.Repeat("title ", 200_000) + "\ntext\n",
		"a paragraph of 1 MB underlined":   strings.Repeat("title\n", 200_000) + "===\n",
		"headings only":                    strings.Repeat("# a\n## b\n### c\n", 50_000),
		"items only":                       strings.Repeat("- a\n", 200_000),
		"ideographic spaces":               strings.Repeat("\u3000", 400_000),
		"replacement characters":           strings.Repeat("\uFFFD", 400_000),
	}
}

func deeper(line string, n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat("  ", i))
		b.WriteString(line)
	}
	return b.String()
}

func TestHostileTextsGiveBoundedChunks(t *testing.T) {
	t.Parallel()
	for name, body := range hostileTexts() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, format := range []Format{FormatMarkdown, FormatPlain, FormatCode} {
				chunks := Split(Text{Body: body, Format: format}, Options{})
				total, covered := 0, 0
				for i, c := range chunks {
					content := c.Content(body)
					if n := utf8.RuneCountInString(content); n > defaultMax || !utf8.ValidString(content) {
						t.Fatalf("%s: chunk %d has %d characters, valid UTF-8: %v", format, i, n, utf8.ValidString(content))
					}
					if c.Start > covered && strings.TrimSpace(body[covered:c.Start]) != "" {
						t.Fatalf("%s: text before chunk %d is lost", format, i)
					}
					covered = c.End
					total += len(content)
				}
				if strings.TrimSpace(body[covered:]) != "" {
					t.Fatalf("%s: the end of the text is lost", format)
				}
				if total > len(body)*3/2+10*defaultMax {
					t.Errorf("%s: %d bytes of text became %d of chunks", format, len(body), total)
				}
			}
		})
	}
}

func TestLongRandomTextsKeepThePromises(t *testing.T) {
	t.Parallel()
	for seed := range uint64(6) {
		random := rand.New(rand.NewPCG(seed, 1))
		var b strings.Builder
		for range 1500 {
			b.WriteString(bits[random.IntN(len(bits))])
		}
		for _, format := range []Format{FormatMarkdown, FormatPlain, FormatCode} {
			text := Text{Body: b.String(), Format: format}
			for _, o := range []Options{{}, {Target: 100, Max: 200, Overlap: 20}, {Target: 50, Max: 60, Overlap: -1}} {
				if why := broken(text, o, Split(text, o)); why != "" {
					t.Fatalf("seed %d, %s, %+v: %s", seed, format, o, why)
				}
			}
		}
	}
}
