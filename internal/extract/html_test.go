package extract

import (
	"context"
	"strings"
	"testing"
	"time"
)

func TestHTMLKeepsStructureAndDropsTheRest(t *testing.T) {
	t.Parallel()
	doc := mustExtract(t, "a.html", []byte(`<!doctype html><html><head><title>The  Title</title><meta name="author" content="Ann"><style>.x{}</style></head>
<body><header><a href="/">Logo</a></header><nav><ul><li>Menu entry</li></ul></nav>
<div class="cookie-banner">We use cookies</div><script>var secret=1</script>
<main><h1>Heading one</h1><p>First <b>paragraph</b> with <a href="https://example.org/x">a link</a> and snake_case_name.</p>
<h2>Part</h2><ul><li>alpha</li><li>beta</li></ul>
<table><tr><th>Name</th><th>Age</th></tr><tr><td>Bo</td><td>7</td></tr></table>
<pre><code class="language-go">func main() {
	x := 1
}</code></pre></main><footer>Imprint</footer></body></html>`))
	if doc.Title != "The Title" || doc.Meta["author"] != "Ann" {
		t.Errorf("title %q, meta %v", doc.Title, doc.Meta)
	}
	for _, want := range []string{"# Heading one\n", "## Part\n", "- alpha", "| Name | Age |", "| Bo", "```go\nfunc main() {\n\tx := 1\n}\n```", "snake_case_name", "**paragraph**"} {
		if !strings.Contains(doc.Text.Body, want) {
			t.Errorf("no %q in\n%s", want, doc.Text.Body)
		}
	}
	for _, gone := range []string{"Menu entry", "cookies", "secret", "Imprint", "Logo", ".x{}"} {
		if strings.Contains(doc.Text.Body, gone) {
			t.Errorf("%q is still in\n%s", gone, doc.Text.Body)
		}
	}
}

func TestHTMLCharset(t *testing.T) {
	t.Parallel()
	for name, data := range map[string]string{
		"declared Latin-1":         "<meta charset=iso-8859-1><p>caf\xe9</p>",
		"declared wrong, UTF-8":    "<meta charset=iso-8859-1><p>café</p>",
		"http-equiv":               `<meta http-equiv="Content-Type" content="text/html; charset=windows-1252"><p>caf` + "\xe9</p>",
		"entity":                   "<p>caf&eacute;</p>",
		"XML declaration":          `<?xml version="1.0" encoding="ISO-8859-15"?><p>caf` + "\xe9</p>",
		"declared unknown charset": "<meta charset=klingon><p>caf\xe9</p>",
	} {
		if doc := mustExtract(t, "a.html", []byte(data)); strings.TrimSpace(doc.Text.Body) != "café" {
			t.Errorf("%s: %q", name, doc.Text.Body)
		}
	}
}

func TestHTMLBombsEnd(t *testing.T) {
	t.Parallel()
	deep := func(tag string, n int) string {
		return strings.Repeat("<"+tag+">", n) + "word" + strings.Repeat("</"+tag+">", n)
	}
	bombs := map[string]string{
		"giant colspan":        "<table><tr><td colspan=1000000>word</td></tr></table>",
		"giant rowspan":        "<table><tr><td rowspan=99999999 colspan=99999>word</td></tr><tr><td>b</td></tr></table>",
		"many spans":           "<table>" + strings.Repeat("<tr><td colspan=1000 rowspan=1000>word</td></tr>", 400) + "</table>",
		"deep div":             deep("div", 100000),
		"deep quote":           deep("blockquote", 300),
		"deep list":            deep("ul><li", 200),
		"deep table":           deep("table><tr><td", 120),
		"deep b":               deep("b", 20000),
		"formatting elements":  strings.Repeat("<b><i><a>", 5000) + "word",
		"unclosed attributes":  "<p>word</p>" + strings.Repeat("<a b=\"", 50000),
		"many attributes":      "<p " + strings.Repeat("a=b ", 100000) + ">word</p>",
		"giant list start":     "<ol start=999999999999999999999><li>word</li></ol>",
		"nothing but openings": "word" + strings.Repeat("<", 500000),
		"comment":              "word<!--" + strings.Repeat("-", 500000),
		"one long word":        strings.Repeat("word", 500000),
		"wide table":           "<table>" + strings.Repeat("<tr>"+strings.Repeat("<td>word</td>", 500)+"</tr>", 40) + "</table>",
		"list of lists":        strings.Repeat("<ul><li>word</li>", 400),
		"entities":             strings.Repeat("&amp;word&#x41;", 50000),
		"select":               strings.Repeat("<select><option>", 2000) + "</select>word",
		"frameset":             "<frameset>" + strings.Repeat("<frame>", 10000) + "<noframes>word",
		"templates":            "word" + strings.Repeat("<template>", 400),
		"pre of newlines":      "<pre>word" + strings.Repeat("\n", 300000) + "</pre>",
	}
	for name, bomb := range bombs {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			doc := mustExtract(t, "a.html", []byte(bomb))
			if len(doc.Text.Body) > 40*len(bomb)+(1<<16) {
				t.Errorf("%d bytes came out of %d", len(doc.Text.Body), len(bomb))
			}
			if !strings.Contains(doc.Text.Body, "word") && name != "frameset" {
				t.Errorf("the text is lost: %q", clip(doc.Text.Body, 100))
			}
			t.Logf("%v, %d → %d bytes", time.Since(start).Round(time.Millisecond), len(bomb), len(doc.Text.Body))
		})
	}
}

func FuzzHTML(f *testing.F) {
	f.Add([]byte("<table><tr><td colspan=3>x<ul><li>y</table>"))
	f.Add([]byte("<title>t</title><h1>x</h1><pre>a\r\nb</pre>"))
	f.Add([]byte("<svg><math><annotation-xml><p>x"))
	r, err := New(Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		doc, err := r.Extract(context.Background(), Source{Path: "a.html", Data: data})
		if err == nil {
			checkDocument(t, doc)
		}
	})
}
