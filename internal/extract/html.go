package extract

import (
	"bytes"
	"context"
	"regexp"
	"strings"

	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	htmlbase "github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
	"golang.org/x/net/html"

	"ragd/internal/chunk"
	"ragd/internal/fault"
)

// Limits of HTML. The parser itself refuses trees deeper than 512.
const (
	htmlMax       = 20 << 20 // bytes of input
	htmlMetaProbe = 4 << 10  // where a declared charset is looked for
	htmlNodesMax  = 2_000_000
)

// readHTML turns a page into Markdown without its scripts, menus, banners and
// forms.
func readHTML(ctx context.Context, src Source, _ fileType) (*Document, error) {
	if len(src.Data) > htmlMax {
		return nil, fault.New(fault.Permanent, "too_large", "%s has %d MiB of HTML, at most %d MiB are read", base(src.Path), len(src.Data)>>20, htmlMax>>20)
	}
	if err := checkText(src.Path, src.Data); err != nil {
		return nil, err
	}
	d := decode(src.Data, declaredCharset(src.Data))
	n := normalise(d)
	page := htmlToMarkdown(ctx, n.body)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	doc := &Document{MediaType: "text/html", Title: page.title, Meta: page.meta, Quality: n.quality(d)}
	doc.Text = chunk.Text{Body: page.body, Format: chunk.FormatMarkdown}
	if doc.Title == "" {
		doc.Title = markdownTitle(page.body)
	}
	fillQuality(doc, page.body)
	return doc, nil
}

// page is what is worth keeping of an HTML document.
type page struct {
	title string
	meta  map[string]string
	body  string // Markdown
}

// htmlToMarkdown never fails: what the tree cannot give, the tokenizer does.
func htmlToMarkdown(ctx context.Context, source string) page {
	root, err := html.Parse(strings.NewReader(source))
	if err != nil {
		return tokenizeHTML(ctx, source)
	}
	p := page{meta: map[string]string{}}
	clamp := treeClamp{nodes: htmlNodesMax}
	p.title = strings.Join(strings.Fields(clamp.title(root)), " ")
	clamp.metadata(root, p.meta)
	if !clamp.clean(root) {
		return tokenizeHTML(ctx, source)
	}
	body, err := convertTree(ctx, root)
	if err != nil {
		return tokenizeHTML(ctx, source)
	}
	p.body = tidyMarkdown(body)
	return p
}

// convertTree renders a clamped tree. A panic of the converter is its error.
func convertTree(ctx context.Context, root *html.Node) (out string, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fault.New(fault.Internal, "converter", "the HTML converter failed: %v", p)
		}
	}()
	conv := converter.NewConverter(
		converter.WithEscapeMode(converter.EscapeModeDisabled),
		converter.WithPlugins(
			htmlbase.NewBasePlugin(),
			commonmark.NewCommonmarkPlugin(commonmark.WithHeadingStyle(commonmark.HeadingStyleATX)),
			table.NewTablePlugin(
				table.WithCellPaddingBehavior(table.CellPaddingBehaviorMinimal),
				table.WithNewlineBehavior(table.NewlineBehaviorPreserve),
				table.WithSpanCellBehavior(table.SpanBehaviorEmpty),
				table.WithHeaderPromotion(true),
				table.WithSkipEmptyRows(true),
			),
		),
	)
	b, err := conv.ConvertNode(root, converter.WithContext(ctx))
	return string(b), err
}

var blankLines = regexp.MustCompile(`\n[ \t]*(?:\n[ \t]*){2,}`)

// tidyMarkdown makes valid LF text with no more than one blank line in a row.
func tidyMarkdown(s string) string {
	n := normalise(decoded{text: []byte(s)})
	out := blankLines.ReplaceAllString(n.body, "\n\n")
	out = strings.TrimSpace(out)
	if out != "" {
		out += "\n"
	}
	return out
}

var metaCharset = regexp.MustCompile(`(?i)<(?:meta|\?xml)[^>]{0,300}?(?:charset|encoding)\s*=\s*["']?\s*([A-Za-z0-9_:.-]{2,40})`)

// declaredCharset finds the charset that a page says it has.
func declaredCharset(data []byte) string {
	if m := metaCharset.FindSubmatch(head(data, htmlMetaProbe)); m != nil {
		return string(bytes.ToLower(m[1]))
	}
	return ""
}
