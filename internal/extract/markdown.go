package extract

import (
	"context"
	"strings"

	"ragd/internal/chunk"
)

const (
	titleSearch = 64 << 10 // bytes of the body in which a first heading is looked for
	titleMax    = 300      // bytes
)

// readMarkdown splits the front matter off and leaves the rest as it is.
func readMarkdown(_ context.Context, src Source, _ fileType) (*Document, error) {
	if err := checkText(src.Path, src.Data); err != nil {
		return nil, err
	}
	d := decode(src.Data, "")
	n := normalise(d)
	front, cut := splitFrontMatter(n.body)
	doc := &Document{MediaType: "text/markdown", Front: front, Quality: n.quality(d)}
	doc.Text = chunk.Text{Body: n.body, Format: chunk.FormatMarkdown, Source: n.source}
	if cut > 0 {
		doc.Text.Body, doc.Text.Source = n.after(cut)
	}
	doc.Title = front.Title
	if doc.Title == "" {
		doc.Title = markdownTitle(doc.Text.Body)
	}
	return doc, nil
}

// markdownTitle returns the text of the first heading: "# Title", a line
// underlined by "===" or "---", or <h1>.
func markdownTitle(body string) string {
	if len(body) > titleSearch {
		body = body[:titleSearch]
	}
	fence, previous := "", ""
	for line := range strings.Lines(body) {
		line = strings.TrimRight(line, " \t\n")
		trimmed := strings.TrimLeft(line, " ")
		if len(line)-len(trimmed) > 3 || strings.HasPrefix(line, "\t") {
			previous = ""
			continue
		}
		if fence != "" {
			if strings.HasPrefix(trimmed, fence) && strings.Trim(trimmed, fence[:1]) == "" {
				fence = ""
			}
			continue
		}
		if f := fenceOf(trimmed); f != "" {
			fence, previous = f, ""
			continue
		}
		if title := atxTitle(trimmed); title != "" {
			return title
		}
		if previous != "" && isUnderline(trimmed) {
			return cleanTitle(previous)
		}
		if lower := strings.ToLower(head300(trimmed)); strings.HasPrefix(lower, "<h1") {
			if title := cleanTitle(stripTags(trimmed)); title != "" {
				return title
			}
		}
		previous = trimmed
		if strings.HasPrefix(trimmed, ">") || strings.HasPrefix(trimmed, "|") || strings.HasPrefix(trimmed, "- ") || strings.HasPrefix(trimmed, "* ") {
			previous = ""
		}
	}
	return ""
}

func fenceOf(line string) string {
	for _, c := range []string{"`", "~"} {
		n := len(line) - len(strings.TrimLeft(line, c))
		if n >= 3 && !(c == "`" && strings.Contains(line[n:], "`")) {
			return strings.Repeat(c, n)
		}
	}
	return ""
}

// atxTitle returns the text of "## Title ##", or "".
func atxTitle(line string) string {
	rest := strings.TrimLeft(line, "#")
	level := len(line) - len(rest)
	if level == 0 || level > 6 || rest == "" || (rest[0] != ' ' && rest[0] != '\t') {
		return ""
	}
	rest = strings.TrimSpace(rest)
	if closed := strings.TrimRight(rest, "#"); closed != rest && (closed == "" || strings.HasSuffix(closed, " ")) {
		rest = closed
	}
	return cleanTitle(rest)
}

func isUnderline(line string) bool {
	return line != "" && (strings.Trim(line, "=") == "" || (len(line) >= 2 && strings.Trim(line, "-") == ""))
}

// cleanTitle takes the Markdown marks and runs of space out of a heading.
func cleanTitle(s string) string {
	if i := strings.Index(s, " {#"); i > 0 && strings.HasSuffix(s, "}") {
		s = s[:i]
	}
	s = unlink(s)
	s = strings.NewReplacer("**", "", "__", "", "`", "").Replace(s)
	s = strings.Join(strings.Fields(s), " ")
	return clip(s, titleMax)
}

// unlink replaces "[text](target)" and "![alt](target)" by the text.
func unlink(s string) string {
	for range 16 {
		open := strings.IndexByte(s, '[')
		if open < 0 {
			break
		}
		mid := strings.Index(s[open:], "](")
		if mid < 0 {
			break
		}
		end := strings.IndexByte(s[open+mid:], ')')
		if end < 0 {
			break
		}
		before := strings.TrimSuffix(s[:open], "!")
		s = before + s[open+1:open+mid] + s[open+mid+end+1:]
	}
	return s
}

func stripTags(s string) string {
	var b strings.Builder
	depth := 0
	for _, r := range s {
		switch {
		case r == '<':
			depth++
		case r == '>' && depth > 0:
			depth--
		case depth == 0:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// clip shortens s to at most n bytes on a character border.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "")
}

func head300(s string) string {
	if len(s) > titleMax {
		return s[:titleMax]
	}
	return s
}
