package chunk

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// show returns one line for each chunk: headings, lines, content.
func show(t Text, chunks []Chunk) string {
	var b strings.Builder
	for _, c := range chunks {
		fmt.Fprintf(&b, "[%s] %d-%d", strings.Join(c.Headings, " › "), c.FirstLine, c.LastLine)
		if c.Page > 0 {
			fmt.Fprintf(&b, " p%d", c.Page)
		}
		fmt.Fprintf(&b, " %q\n", c.Content(t.Body))
	}
	return b.String()
}

func TestSplitFollowsTheStructure(t *testing.T) {
	t.Parallel()
	small := Options{Target: 60, Max: 120, Overlap: -1}
	cases := []struct {
		name string
		text Text
		opt  Options
		want string
	}{
		{
			"nothing but blanks", Text{Body: " \n\n\t\n", Format: FormatMarkdown}, small, "",
		},
		{
			"headings make a path and begin chunks",
			Text{Format: FormatMarkdown, Body: "# Guide\n\n## Install\n\nRun the installer and wait until it has finished.\n\n## Use\n\nOpen the program from the menu of the desktop.\n\n# End\n\nThat is all there is to say about this program.\n"}, small,
			`[Guide › Install] 1-5 "# Guide\n\n## Install\n\nRun the installer and wait until it has finished."
[Guide › Use] 7-9 "## Use\n\nOpen the program from the menu of the desktop."
[End] 11-13 "# End\n\nThat is all there is to say about this program."
`,
		},
		{
			"a heading is cleaned of marks, the text is not",
			Text{Format: FormatMarkdown, Body: "## Use `go test` with [flags](https://x.y/z) **now** {#flags}\ntext\n"}, small,
			"[Use go test with flags now] 1-2 \"## Use `go test` with [flags](https://x.y/z) **now** {#flags}\\ntext\"\n",
		},
		{
			"headings in fences, HTML, comments and indented code are none",
			Text{Format: FormatMarkdown, Body: "# A\n\n```sh\n# no\n```\n\n<pre>\n# no\n\n# no\n</pre>\n\n    # no\n\n<!--\n# no\n-->\n"}, Options{},
			`[A] 1-17 "# A\n\n` + "```sh\\n# no\\n```" + `\n\n<pre>\n# no\n\n# no\n</pre>\n\n    # no\n\n<!--\n# no\n-->"` + "\n",
		},
		{
			"tiny sections are joined, under the path of the first",
			Text{Format: FormatMarkdown, Body: "# A\n\none\n\n# B\n\ntwo\n\n# C\n\nthree\n"}, small,
			`[A] 1-11 "# A\n\none\n\n# B\n\ntwo\n\n# C\n\nthree"` + "\n",
		},
		{
			"a long table repeats its header rows",
			Text{Format: FormatMarkdown, Body: "| key | meaning |\n|---|---|\n| alpha | the first one |\n| beta | the second one |\n| gamma | the third one |\n| delta | the fourth one |\n| epsilon | the fifth one |\n"}, small,
			`[] 1-3 "| key | meaning |\n|---|---|\n| alpha | the first one |"
[] 4-4 "| key | meaning |\n|---|---|\n| beta | the second one |"
[] 5-5 "| key | meaning |\n|---|---|\n| gamma | the third one |"
[] 6-6 "| key | meaning |\n|---|---|\n| delta | the fourth one |"
[] 7-7 "| key | meaning |\n|---|---|\n| epsilon | the fifth one |"
`,
		},
		{
			"a fence that fits is not cut",
			Text{Format: FormatMarkdown, Body: "Some words before the code, which is longer.\n\n```go\nfunc a() {\n\treturn one\n}\n\nfunc b() {\n\treturn two\n}\n```\n\nSome words after the code, which was long.\n"}, small,
			`[] 1-1 "Some words before the code, which is longer."
[] 3-11 "` + "```go\\nfunc a() {\\n\\treturn one\\n}\\n\\nfunc b() {\\n\\treturn two\\n}\\n```" + `"
[] 13-13 "Some words after the code, which was long."
`,
		},
		{
			"a fence that does not fit repeats its opening line",
			Text{Format: FormatMarkdown, Body: "```go\nfunc a() {\n\treturn one + one + one + one\n}\n\nfunc b() {\n\treturn two + two + two + two\n}\n\nfunc c() {\n\treturn three + three + three\n}\n```\n"}, small,
			`[] 1-4 "` + "```go\\nfunc a() {\\n\\treturn one + one + one + one\\n}" + `"
[] 6-8 "` + "```go\\nfunc b() {\\n\\treturn two + two + two + two\\n}" + `"
[] 10-13 "` + "```go\\nfunc c() {\\n\\treturn three + three + three\\n}\\n```" + `"
`,
		},
		{
			"code stands under its definition",
			Text{Format: FormatCode, Language: "python", Body: "import os\n\n\nclass Reader:\n    def read(self):\n        return self.file.read()\n\n    def close(self):\n        self.file.close()\n        self.file = None\n\n\n# Helps.\n@cached\ndef helper(x):\n    return x\n"}, small,
			`[] 1-1 "import os"
[class Reader] 4-6 "class Reader:\n    def read(self):\n        return self.file.read()"
[class Reader › def close(self)] 8-10 "    def close(self):\n        self.file.close()\n        self.file = None"
[def helper(x)] 13-16 "# Helps.\n@cached\ndef helper(x):\n    return x"
`,
		},
		{
			"plain text is cut at blank lines",
			Text{Format: FormatPlain, Body: "# no heading here, this is plain text.\n\nSecond paragraph, a little longer than the first.\n\nThird.\n"}, small,
			`[] 1-1 "# no heading here, this is plain text."
[] 3-5 "Second paragraph, a little longer than the first.\n\nThird."
`,
		},
		{
			"sections are kept apart, their headings come first",
			Text{Format: FormatMarkdown, Body: "one\n## Sub\ntwo\nthree\n", Sections: []Section{
				{Start: 0, End: 15, Headings: []string{"Sheet 1"}, Page: 1}, {Start: 15, End: 21, Headings: []string{"Sheet 2"}, Page: 2},
			}}, small,
			`[Sheet 1] 1-3 p1 "one\n## Sub\ntwo"
[Sheet 2] 4-4 p2 "three"
`,
		},
		{
			"a paragraph is cut between sentences",
			Text{Format: FormatPlain, Body: "This is the first sentence of it. This is the second sentence. And this is the third. The fourth is the last one."}, small,
			`[] 1-1 "This is the first sentence of it."
[] 1-1 "This is the second sentence. And this is the third."
[] 1-1 "The fourth is the last one."
`,
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			chunks := Split(c.text, c.opt)
			if got := show(c.text, chunks); got != c.want {
				t.Errorf("got\n%swant\n%s", got, c.want)
			}
			if why := broken(c.text, c.opt, chunks); why != "" {
				t.Error(why)
			}
		})
	}
}

func TestOverlapOnlyWhereAParagraphIsCut(t *testing.T) {
	t.Parallel()
	body := strings.Repeat("A sentence of some length stands here. ", 20) + "\n\nA new paragraph, and a rather long one, too. It has two sentences.\n"
	chunks := Split(Text{Body: body, Format: FormatPlain}, Options{Target: 200, Max: 400, Overlap: 50})
	if len(chunks) < 4 {
		t.Fatalf("only %d chunks", len(chunks))
	}
	for i, c := range chunks[1:] {
		back := chunks[i].End - c.Start
		newParagraph := strings.HasPrefix(body[c.Start:], "A new")
		if newParagraph && back > 0 || !newParagraph && (back <= 0 || back > 50) {
			t.Errorf("chunk %d begins %d bytes before the end of the one before: %q", i+1, back, body[c.Start:c.End])
		}
	}
}

func TestAStrongOverlapNeverEndsThePacking(t *testing.T) {
	t.Parallel()
	body := strings.Repeat("x", 1000)
	for _, o := range []Options{{Target: 16, Max: 16, Overlap: 1000}, {Target: 1, Max: 1, Overlap: 1}} {
		text := Text{Body: body}
		if why := broken(text, o, Split(text, o)); why != "" {
			t.Errorf("%+v: %s", o, why)
		}
	}
}

func TestStanzasStandUnderTheHeadingsOfTheirSectionAlone(t *testing.T) {
	t.Parallel()
	body := "func (t *T) Go() {\n\tone()\n}\n\nfunc Next() {\n" + strings.Repeat("\tif a {\n\t\tstep()\n\t}\n\n", 400) + "}\n"
	next := strings.Index(body, "func Next")
	sections := []Section{
		{Start: 0, End: next, Headings: []string{"T", "Go"}, Format: FormatStanzas},
		{Start: next, End: len(body), Headings: []string{"Next"}, Format: FormatStanzas},
	}
	chunks := Split(Text{Body: body, Format: FormatCode, Language: "go", Sections: sections}, Options{})
	if len(chunks) < 3 || chunks[0].End > next {
		t.Fatalf("%d chunks, the first ends at %d", len(chunks), chunks[0].End)
	}
	for i, c := range chunks {
		want := []string{"Next"}
		if i == 0 {
			want = []string{"T", "Go"}
		}
		if !slices.Equal(c.Headings, want) {
			t.Errorf("chunk %d stands under %q, want %q", i, c.Headings, want)
		}
	}
}
