package chunk

import (
	"fmt"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
	"pgregory.net/rapid"
)

// headingsOf returns "level text" of the top-level headings as this package finds them.
func headingsOf(body string) (found []string) {
	s := splitter{body: body, opt: Options{}.withDefaults()}
	scanMarkdown(&s, 0, len(body))
	for _, u := range s.units {
		if u.heading {
			found = append(found, fmt.Sprint(u.level, " line ", strings.Count(body[:u.start], "\n")))
		}
	}
	return found
}

// commonMarkHeadings returns the same as a whole CommonMark parser finds them.
func commonMarkHeadings(body string) (found []string) {
	md := goldmark.New(goldmark.WithExtensions(extension.Table))
	root := md.Parser().Parse(text.NewReader([]byte(body)))
	for n := root.FirstChild(); n != nil; n = n.NextSibling() {
		if h, ok := n.(*ast.Heading); ok && h.Lines().Len() > 0 {
			found = append(found, fmt.Sprint(h.Level, " line ", strings.Count(body[:h.Lines().At(0).Start], "\n")))
		}
	}
	return found
}

var markdownLines = []string{
	"", "", "", "text", "more text, with `code`", "# One", "## Two ##", "### Three", "    # indented", "#hashtag", "Title\n===", "Sub\n---", "---", "***",
	"- item", "  continued", "  - nested", "* other", "1. first", "2. second", "   deeper", "> quote", "lazy",
	"```", "```go", "~~~", "x := 1 # no heading", "\n| a | b |\n|---|---|\n| 1 | 2 |\n",
	"<div>", "</div>", "<!-- open", "-->", "<pre>", "</pre>", "a <b>inline</b>", "\ttabbed",
}

func TestHeadingsAreThoseOfCommonMark(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		body := strings.Join(rapid.SliceOfN(rapid.SampledFrom(markdownLines), 1, 12).Draw(t, "lines"), "\n") + "\n"
		if mine, theirs := headingsOf(body), commonMarkHeadings(body); fmt.Sprint(mine) != fmt.Sprint(theirs) {
			t.Fatalf("found %q, CommonMark has %q in\n%s", mine, theirs, body)
		}
	})
}
