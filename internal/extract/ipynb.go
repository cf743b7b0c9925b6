package extract

import (
	"context"
	"encoding/json"
	"regexp"
	"strings"

	"ragd/internal/fault"
)

const (
	notebookCellsMax  = 20_000
	notebookOutputMax = 20 << 10 // bytes of one output
)

// notebook is what is read of a Jupyter notebook; "worksheets" are of the
// third format.
type notebook struct {
	Cells      []notebookCell `json:"cells"`
	Worksheets []struct {
		Cells []notebookCell `json:"cells"`
	} `json:"worksheets"`
	Metadata struct {
		Title    string `json:"title"`
		Language struct {
			Name string `json:"name"`
		} `json:"language_info"`
		Kernel struct {
			Language string `json:"language"`
		} `json:"kernelspec"`
	} `json:"metadata"`
}

type notebookCell struct {
	Kind    string           `json:"cell_type"`
	Source  textLines        `json:"source"`
	Input   textLines        `json:"input"`
	Level   int              `json:"level"`
	Outputs []notebookOutput `json:"outputs"`
}

type notebookOutput struct {
	Text textLines                  `json:"text"`
	Data map[string]json.RawMessage `json:"data"`
	Name string                     `json:"ename"`
	Err  string                     `json:"evalue"`
}

// textLines is a string or a list of strings; other values are empty.
type textLines string

func (t *textLines) UnmarshalJSON(b []byte) error {
	var s string
	if json.Unmarshal(b, &s) == nil {
		*t = textLines(s)
		return nil
	}
	var list []string
	if json.Unmarshal(b, &list) == nil {
		*t = textLines(strings.Join(list, ""))
	}
	return nil
}

var dataURI = regexp.MustCompile(`data:[\w/+.-]+;base64,[A-Za-z0-9+/=\s]{64,}`)

// readNotebook reads cells with their code and the outputs that are text.
// Pictures in it are left out.
func readNotebook(ctx context.Context, src Source, _ fileType) (*Document, error) {
	d := decode(src.Data, "")
	var n notebook
	if err := json.Unmarshal(d.text, &n); err != nil {
		return nil, fault.New(fault.Permanent, "corrupt", "%s is not a notebook: its JSON cannot be read", base(src.Path)).Because(err)
	}
	cells := n.Cells
	for _, w := range n.Worksheets {
		cells = append(cells, w.Cells...)
	}
	language := n.Metadata.Language.Name
	if language == "" {
		language = n.Metadata.Kernel.Language
	}
	if language = strings.ToLower(oneLine(language)); strings.ContainsAny(language, " `") {
		language = ""
	}
	w := &mdWriter{}
	for _, c := range cells[:min(len(cells), notebookCellsMax)] {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		c.write(w, language)
	}
	doc := &Document{MediaType: "application/x-ipynb+json", Title: oneLine(n.Metadata.Title)}
	doc.Quality.left("cells", max(0, len(cells)-notebookCellsMax), len(cells), "there are too many")
	var err error
	if doc.Text, err = w.finish(src.Path); err != nil {
		return nil, err
	}
	if doc.Title == "" {
		doc.Title = markdownTitle(doc.Text.Body)
	}
	fillQuality(doc, doc.Text.Body)
	return doc, nil
}

func (c notebookCell) write(w *mdWriter, language string) {
	source := dataURI.ReplaceAllString(string(c.Source+c.Input), "")
	switch c.Kind {
	case "markdown":
		if s := strings.TrimSpace(cleanText(source)); s != "" {
			w.block()
			w.line(s)
		}
	case "heading":
		w.heading(c.Level, source)
	case "code":
		w.code(language, source)
		for _, o := range c.Outputs {
			o.write(w)
		}
	default:
		w.paragraph(source)
	}
}

func (o notebookOutput) write(w *mdWriter) {
	text := string(o.Text)
	for _, kind := range []string{"text/markdown", "text/plain"} {
		if raw, ok := o.Data[kind]; ok && text == "" {
			var t textLines
			_ = t.UnmarshalJSON(raw) // never fails
			text = string(t)
		}
	}
	if o.Name != "" {
		text = o.Name + ": " + o.Err
	}
	w.code("", clip(dataURI.ReplaceAllString(text, ""), notebookOutputMax))
}
