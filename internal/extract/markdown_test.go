package extract

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func TestFrontMatterFields(t *testing.T) {
	t.Parallel()
	doc := mustExtract(t, "a.md", []byte(`---
title: "A: title"
type: decision
status: canon
tags: [one, two, 3, one]
artifact_id: a-17
created: 2024-01-02
updated: 2024-01-02T03:04:05Z
nested: {a: [1, 2.5, true, null]}
---
# Heading

Body.
`))
	f := doc.Front
	if doc.Title != "A: title" || f.Type != "decision" || f.Status != "canon" || !f.Canon || f.ArtifactID != "a-17" {
		t.Errorf("%+v", f)
	}
	if f.Created != "2024-01-02" || f.Updated != "2024-01-02T03:04:05Z" || f.Fields["created"] != "2024-01-02" {
		t.Errorf("dates not as written: %q %q", f.Created, f.Updated)
	}
	if want := []string{"one", "two", "3"}; !reflect.DeepEqual(f.Tags, want) {
		t.Errorf("tags %v", f.Tags)
	}
	if want := map[string]any{"a": []any{1, 2.5, true, nil}}; !reflect.DeepEqual(f.Fields["nested"], want) {
		t.Errorf("nested %#v", f.Fields["nested"])
	}
	if doc.Text.Body != "# Heading\n\nBody.\n" || doc.Text.Source.FirstLine != 11 {
		t.Errorf("body %q from line %d", doc.Text.Body, doc.Text.Source.FirstLine)
	}
}

func TestFrontMatterVariants(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, text string
		title      string
		tags       []string
		body       string
		firstLine  int
		unreadable string // part of it
	}{
		{name: "none", text: "# T\nx", title: "T", body: "# T\nx"},
		{name: "tags as a string", text: "---\ntags: a, b ,, c\n---\nx", tags: []string{"a", "b", "c"}, body: "x", firstLine: 4},
		{name: "dots close it", text: "---\ntitle: T\n...\nx", title: "T", body: "x", firstLine: 4},
		{name: "byte order mark", text: "\xef\xbb\xbf---\ntitle: T\n---\nx", title: "T", body: "x", firstLine: 4},
		{name: "CRLF", text: "---\r\ntitle: T\r\n---\r\nx\r\n", title: "T", body: "x\n", firstLine: 4},
		{name: "spaces after fences", text: "---  \ntitle: T\n--- \nx", title: "T", body: "x", firstLine: 4},
		{name: "key in capitals", text: "---\nTitle: T\n---\nx", title: "T", body: "x", firstLine: 4},
		{name: "empty block", text: "---\n---\n# H\n", title: "H", body: "# H\n", firstLine: 3},
		{name: "only a comment", text: "---\n# nothing\n---\nx", body: "x", firstLine: 4},
		{name: "nothing after it", text: "---\ntitle: T\n---", title: "T", body: "", firstLine: 3},
		{name: "not closed", text: "---\ntitle: T\n\nx", body: "---\ntitle: T\n\nx", unreadable: "line 1"},
		{name: "bad YAML", text: "---\ntitle: A: B\nfoo: [1\n---\nx", title: "A: B", body: "x", firstLine: 5, unreadable: "line 2"},
		{name: "tab indent", text: "---\na: 1\nb:\n\t- x\n---\nx", body: "x", firstLine: 6, unreadable: "line 4"},
		{name: "rules around prose", text: "---\nSome prose here.\n---\nmore", body: "---\nSome prose here.\n---\nmore", title: "Some prose here."},
		{name: "a rule and prose", text: "---\nSome prose here.\n\nmore", body: "---\nSome prose here.\n\nmore"},
		{name: "a list", text: "---\n- a\n- b\n---\nx", body: "---\n- a\n- b\n---\nx"},
		{name: "not at the top", text: "\n---\ntitle: T\n---\nx", body: "\n---\ntitle: T\n---\nx", title: "title: T"},
		{name: "custom tags", text: "---\ntitle: !!python/name:foo T\n---\nx", title: "T", body: "x", firstLine: 4},
		{name: "numbers as title", text: "---\ntitle: 2024\n---\nx", title: "2024", body: "x", firstLine: 4},
		{name: "title that is a list", text: "---\ntitle: [a]\n---\n# H", title: "H", body: "# H", firstLine: 4},
		{name: "duplicate keys", text: "---\na: 1\na: 2\n---\nx", body: "x", firstLine: 5},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			doc := mustExtract(t, "a.md", []byte(c.text))
			if doc.Text.Body != c.body {
				t.Errorf("body %q, want %q", doc.Text.Body, c.body)
			}
			if doc.Text.Source.FirstLine != c.firstLine {
				t.Errorf("first line %d, want %d", doc.Text.Source.FirstLine, c.firstLine)
			}
			if doc.Title != c.title {
				t.Errorf("title %q, want %q", doc.Title, c.title)
			}
			if !reflect.DeepEqual(doc.Front.Tags, c.tags) {
				t.Errorf("tags %q", doc.Front.Tags)
			}
			if (doc.Front.Unreadable != "") != (c.unreadable != "") || !strings.Contains(doc.Front.Unreadable, c.unreadable) {
				t.Errorf("unreadable %q, want %q", doc.Front.Unreadable, c.unreadable)
			}
			if c.unreadable != "" && len(doc.Front.Fields) > 0 {
				t.Errorf("fields %v", doc.Front.Fields)
			}
			at := 0
			if m := doc.Text.Source.Bytes; m != nil {
				at = int(m[0])
			}
			first, _, _ := strings.Cut(doc.Text.Body, "\n")
			if !strings.HasPrefix(c.text[at:], first) {
				t.Errorf("body said to begin at %d, where %q stands", at, c.text[at:])
			}
		})
	}
}

func TestFrontMatterBombsEndAndKeepTheBody(t *testing.T) {
	t.Parallel()
	var laughs strings.Builder
	laughs.WriteString("a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n")
	for i := 1; i < 12; i++ {
		fmt.Fprintf(&laughs, "a%d: &a%d [", i, i)
		for range 10 {
			fmt.Fprintf(&laughs, "*a%d,", i-1)
		}
		laughs.WriteString("]\n")
	}
	bombs := map[string]string{
		"billion laughs":  laughs.String(),
		"deep flow":       "a: " + strings.Repeat("[", 20000),
		"deep closed":     "a: " + strings.Repeat("[", 10000) + strings.Repeat("]", 10000),
		"deep mapping":    "a: " + strings.Repeat("{a: ", 5000),
		"self alias":      "a: &a [*a]",
		"many keys":       strings.Repeat("k: v\n", 12000),
		"merge bomb":      "a: &a {<<: *a}\n",
		"long plain":      "a: " + strings.Repeat("x", 60000),
		"many anchors":    strings.Repeat("- &a x\n", 8000),
		"comments":        "a: 1\n" + strings.Repeat("# c\n", 15000),
		"quotes":          "a: \"" + strings.Repeat("\\u0041", 9000) + "\"",
		"tag directives":  strings.Repeat("%TAG ! x\n", 6000),
		"question marks":  "a: 1\n" + strings.Repeat("? ", 30000),
		"over the limit":  "a: 1\n" + strings.Repeat("b: 2\n", 200000),
		"dashes unclosed": "a:\n" + strings.Repeat("- ", 30000),
	}
	for name, bomb := range bombs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			doc := mustExtract(t, "a.md", []byte("---\n"+bomb+"\n---\nbody word\n"))
			if !strings.Contains(doc.Text.Body, "body word") {
				t.Error("body lost")
			}
		})
	}
}

func TestMarkdownTitle(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ body, title string }{
		"atx":            {"text\n\n## Second *level* ##\n", "Second *level*"},
		"setext":         {"Title here\n======\n", "Title here"},
		"in a fence":     {"```\n# not this\n```\n# this\n", "this"},
		"tilde fence":    {"~~~~\n# not\n~~~\n# not\n~~~~\n# this\n", "this"},
		"indented code":  {"    # not\n\n# this", "this"},
		"hash word":      {"#tag\n# this", "this"},
		"link":           {"# See [the docs](http://x) and ![i](y.png)", "See the docs and i"},
		"html":           {"<h1 align=\"center\">My <b>app</b></h1>\n", "My app"},
		"anchor":         {"# Title {#id}\n", "Title"},
		"none":           {"just text\n- list\n---\n", ""},
		"empty heading":  {"#\n# \n# x", "x"},
		"code in title":  {"# `ragd` serves", "ragd serves"},
		"issue number":   {"# fixes #12", "fixes #12"},
		"very long line": {"# " + strings.Repeat("ä", 5000), strings.Repeat("ä", 150)},
	} {
		if got := markdownTitle(c.body); got != c.title {
			t.Errorf("%s: %q, want %q", name, got, c.title)
		}
	}
}

func FuzzMarkdown(f *testing.F) {
	f.Add([]byte("---\ntitle: x\n---\n# y\n"))
	f.Add([]byte("---\r\na: &a [*a]\r\n...\r\nbody"))
	f.Add([]byte("\xef\xbb\xbf---\n? - :\n---\n"))
	f.Add([]byte("---\n{a: !!binary x, <<: [*b]}\n---\n"))
	r, err := New(Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		doc, err := r.Extract(context.Background(), Source{Path: "a.md", Data: data})
		if err == nil {
			checkDocument(t, doc)
		}
	})
}
