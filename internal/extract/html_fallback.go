package extract

import (
	"context"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// tokenizeHTML reads a page without building a tree: for pages that the
// parser or the converter cannot take. Headings and blocks survive, tables
// become lines.
func tokenizeHTML(ctx context.Context, source string) page {
	var out strings.Builder
	p := page{meta: map[string]string{}}
	z := html.NewTokenizer(strings.NewReader(source))
	z.SetMaxBuf(1 << 20)
	skip := atom.Atom(0)
	inTitle := false
	for i := 0; ; i++ {
		if i&0xfff == 0 && ctx.Err() != nil {
			break
		}
		kind := z.Next()
		if kind == html.ErrorToken {
			break
		}
		switch kind {
		case html.TextToken:
			text := string(z.Text())
			switch {
			case inTitle:
				p.title = clip(p.title+text, titleMax)
			case skip == 0:
				out.WriteString(html.UnescapeString(text))
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			name, _ := z.TagName()
			a := atom.Lookup(name)
			inTitle = a == atom.Title && kind == html.StartTagToken && p.title == ""
			if skip == 0 && kind == html.StartTagToken && isSkipped(a) {
				skip = a
			}
			if skip == 0 {
				out.WriteString(blockPrefix(a))
			}
		case html.EndTagToken:
			name, _ := z.TagName()
			a := atom.Lookup(name)
			inTitle = false
			if skip != 0 {
				if a == skip {
					skip = 0
				}
				continue
			}
			if isBlock(a) {
				out.WriteString("\n\n")
			}
		}
	}
	p.title = strings.Join(strings.Fields(html.UnescapeString(p.title)), " ")
	p.body = tidyMarkdown(out.String())
	return p
}

func isSkipped(a atom.Atom) bool {
	switch a {
	case atom.Script, atom.Style, atom.Noscript, atom.Template, atom.Svg, atom.Nav, atom.Iframe, atom.Select, atom.Button:
		return true
	}
	return false
}

func isBlock(a atom.Atom) bool {
	switch a {
	case atom.P, atom.Div, atom.Section, atom.Article, atom.Ul, atom.Ol, atom.Table, atom.Pre, atom.Blockquote, atom.Dl,
		atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		return true
	}
	return false
}

func blockPrefix(a atom.Atom) string {
	switch a {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		return "\n\n" + strings.Repeat("#", int(a.String()[1]-'0')) + " "
	case atom.Li:
		return "\n- "
	case atom.Tr, atom.Br, atom.Dt, atom.Dd:
		return "\n"
	case atom.Td, atom.Th:
		return " | "
	}
	if isBlock(a) {
		return "\n\n"
	}
	return ""
}
