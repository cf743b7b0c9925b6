package extract

import (
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

const (
	spanMax      = 20  // colspan, rowspan: the converter makes cells of them
	nestingMax   = 16  // of lists, quotes and tables: the converter prefixes every line once per level
	treeDepthMax = 400 // the converter recurses
	metaFieldMax = 1 << 10
)

// treeClamp takes out of a tree what is not content and what would cost the
// converter more than it is worth. nodes is the budget of nodes.
type treeClamp struct {
	nodes     int
	linkBytes int
	textBytes int
}

// clean edits the tree in place; false when it is beyond the limits.
func (c *treeClamp) clean(root *html.Node) bool {
	if !c.prune(root, 0, 0, false) {
		return false
	}
	c.dropTargets(root, c.linkBytes*4 > c.textBytes, 0)
	return true
}

// prune removes boilerplate below n and limits spans and nesting.
func (c *treeClamp) prune(n *html.Node, depth, nesting int, inContent bool) bool {
	if depth > treeDepthMax {
		return false
	}
	for child := n.FirstChild; child != nil; {
		next := child.NextSibling
		if c.nodes--; c.nodes < 0 {
			return false
		}
		switch child.Type {
		case html.TextNode:
			c.textBytes += len(child.Data)
		case html.CommentNode, html.DoctypeNode:
			n.RemoveChild(child)
		case html.ElementNode:
			if isBoilerplate(child, inContent) {
				n.RemoveChild(child)
				break
			}
			level := nesting
			if isNesting(child.DataAtom) {
				if level++; level > nestingMax {
					child.Data, child.DataAtom = "div", atom.Div
				}
			}
			c.limitSpans(child)
			if child.DataAtom == atom.A {
				if t := attr(child, "href"); isExternal(t) {
					c.linkBytes += len(t)
				}
			}
			content := inContent || child.DataAtom == atom.Main || child.DataAtom == atom.Article
			if !c.prune(child, depth+1, level, content) {
				return false
			}
		}
		child = next
	}
	return true
}

func isNesting(a atom.Atom) bool {
	switch a {
	case atom.Ul, atom.Ol, atom.Dl, atom.Blockquote, atom.Table:
		return true
	}
	return false
}

func (c *treeClamp) limitSpans(n *html.Node) {
	for i, a := range n.Attr {
		if a.Key != "colspan" && a.Key != "rowspan" && a.Key != "start" {
			continue
		}
		v, err := strconv.Atoi(strings.TrimSpace(a.Val))
		switch {
		case err != nil || v < 0:
			n.Attr[i].Val = "1"
		case a.Key == "start":
			n.Attr[i].Val = strconv.Itoa(min(v, 1_000_000))
		case v > spanMax:
			n.Attr[i].Val = strconv.Itoa(spanMax)
		}
	}
}

// isBoilerplate reports whether an element is no part of what a page says.
func isBoilerplate(n *html.Node, inContent bool) bool {
	switch n.DataAtom {
	case atom.Script, atom.Style, atom.Noscript, atom.Template, atom.Iframe, atom.Object, atom.Embed, atom.Canvas,
		atom.Svg, atom.Nav, atom.Button, atom.Select, atom.Input, atom.Textarea, atom.Dialog, atom.Link, atom.Meta,
		atom.Title, atom.Audio, atom.Video, atom.Map:
		return true
	case atom.Footer:
		if !inContent {
			return true
		}
	case atom.Header:
		if !inContent && !hasHeading(n, 0) {
			return true
		}
	case atom.Html, atom.Head, atom.Body, atom.Main, atom.Article:
		return false
	}
	if hasAttr(n, "hidden") || strings.EqualFold(attr(n, "aria-hidden"), "true") && n.DataAtom != atom.Span {
		return true
	}
	switch strings.ToLower(attr(n, "role")) {
	case "navigation", "search", "dialog", "alertdialog", "menu", "menubar", "contentinfo":
		return true
	}
	if style := strings.ToLower(strings.ReplaceAll(attr(n, "style"), " ", "")); strings.Contains(style, "display:none") || strings.Contains(style, "visibility:hidden") {
		return true
	}
	name := strings.ToLower(attr(n, "id") + " " + attr(n, "class"))
	return strings.Contains(name, "cookie") && containsAny(name, "banner", "consent", "notice", "bar", "popup", "modal", "overlay") ||
		containsAny(name, "onetrust", "cookiebot", "cookieconsent", "gdpr-")
}

func containsAny(s string, subs ...string) bool {
	for _, sub := range subs {
		if strings.Contains(s, sub) {
			return true
		}
	}
	return false
}

func hasHeading(n *html.Node, depth int) bool {
	if depth > treeDepthMax {
		return false
	}
	switch n.DataAtom {
	case atom.H1, atom.H2, atom.H3:
		return true
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if hasHeading(c, depth+1) {
			return true
		}
	}
	return false
}

// dropTargets takes the targets off links and images. Those that lead to
// other sites stay, unless all of them together outweigh the text.
func (c *treeClamp) dropTargets(n *html.Node, all bool, depth int) {
	for child := n.FirstChild; child != nil; {
		next := child.NextSibling
		switch child.DataAtom {
		case atom.A:
			if all || !isExternal(attr(child, "href")) || len(attr(child, "href")) > 500 {
				child.Data, child.DataAtom, child.Attr = "span", atom.Span, nil
			}
		case atom.Img:
			alt := strings.Join(strings.Fields(attr(child, "alt")), " ")
			text := &html.Node{Type: html.TextNode, Data: alt}
			n.InsertBefore(text, child)
			n.RemoveChild(child)
			child = text
		}
		c.dropTargets(child, all, depth+1)
		child = next
	}
}

func isExternal(target string) bool {
	return strings.HasPrefix(target, "http://") || strings.HasPrefix(target, "https://")
}

func attr(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

func hasAttr(n *html.Node, key string) bool {
	for _, a := range n.Attr {
		if a.Key == key {
			return true
		}
	}
	return false
}

// title returns the text of the first <title> that belongs to the page.
func (c *treeClamp) title(root *html.Node) string {
	var found string
	walkHTML(root, 0, func(n *html.Node) bool {
		if n.DataAtom == atom.Svg || n.DataAtom == atom.Body {
			return false
		}
		if n.DataAtom == atom.Title && found == "" && n.FirstChild != nil {
			found = n.FirstChild.Data
		}
		return found == ""
	})
	return clip(found, titleMax)
}

// metadata fills meta from <meta name content>.
func (c *treeClamp) metadata(root *html.Node, meta map[string]string) {
	walkHTML(root, 0, func(n *html.Node) bool {
		if n.DataAtom == atom.Body {
			return false
		}
		if n.DataAtom == atom.Meta {
			value := strings.Join(strings.Fields(clip(attr(n, "content"), metaFieldMax)), " ")
			switch name := strings.ToLower(attr(n, "name") + attr(n, "property")); name {
			case "author", "description", "keywords", "date":
				if value != "" && meta[name] == "" {
					meta[name] = value
				}
			}
		}
		return true
	})
}

// walkHTML visits nodes in order; visit says whether to go below one.
func walkHTML(n *html.Node, depth int, visit func(*html.Node) bool) {
	if depth > treeDepthMax || !visit(n) {
		return
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		walkHTML(c, depth+1, visit)
	}
}
