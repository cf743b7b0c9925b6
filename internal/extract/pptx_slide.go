package extract

import (
	"encoding/xml"
	"errors"
	"io"
	"sort"
	"strings"
)

// shape is one box of a slide.
type shape struct {
	holder     string // of a placeholder: "title", "body", "sldNum" …
	paragraphs []slideParagraph
	rows       [][]string
	alt        string
}

type slideParagraph struct {
	text   string
	level  int
	bullet bool
}

func (s *shape) text() string {
	var lines []string
	for _, p := range s.paragraphs {
		if t := strings.TrimSpace(p.text); t != "" {
			lines = append(lines, t)
		}
	}
	return strings.Join(lines, "\n")
}

func (s *shape) write(w *mdWriter) {
	switch s.holder {
	case "title", "ctrTitle":
		w.heading(1, s.text())
		return
	case "sldNum", "dt", "ftr":
		return
	}
	w.table(s.rows)
	for _, p := range s.paragraphs {
		if p.bullet || p.level > 0 {
			w.item(p.level, "-", p.text)
		} else {
			w.paragraph(p.text)
		}
	}
	if s.alt != "" && len(s.paragraphs) == 0 && s.rows == nil {
		w.paragraph(s.alt)
	}
}

// slideReader collects the shapes of a slide.
type slideReader struct {
	shapes []*shape
	size   int
}

// order puts the title first; the rest stays in the order it was made in.
func (s *slideReader) order() {
	isTitle := func(sh *shape) bool { return sh.holder == "title" || sh.holder == "ctrTitle" }
	sort.SliceStable(s.shapes, func(i, j int) bool { return isTitle(s.shapes[i]) && !isTitle(s.shapes[j]) })
}

func (s *slideReader) read(x *xmlReader) error {
	for {
		t, err := x.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		e, ok := t.(xml.StartElement)
		if !ok {
			continue
		}
		switch e.Name.Local {
		case "sp", "pic", "graphicFrame", "cxnSp":
			sh := &shape{}
			if err := s.shape(x, sh, e.Name.Local == "pic"); err != nil {
				return unexpectedEnd(err)
			}
			s.shapes = append(s.shapes, sh)
		case "Fallback":
			if err := x.skip(); err != nil {
				return unexpectedEnd(err)
			}
		}
		if s.size > outputMax {
			return tooMuchText("the presentation")
		}
	}
}

func (s *slideReader) shape(x *xmlReader, sh *shape, picture bool) error {
	for open := 1; open > 0; {
		t, err := x.next()
		if err != nil {
			return err
		}
		switch t := t.(type) {
		case xml.EndElement:
			open--
		case xml.StartElement:
			open++
			switch t.Name.Local {
			case "ph":
				sh.holder = attrOf(t, "type")
			case "cNvPr":
				if d := attrOf(t, "descr"); picture && sh.alt == "" {
					sh.alt = clip(d, 2<<10)
				}
			case "tr":
				sh.rows = append(sh.rows, nil)
			case "tc":
				cell, err := s.cell(x)
				if err != nil {
					return err
				}
				if n := len(sh.rows); n > 0 {
					sh.rows[n-1] = append(sh.rows[n-1], cell)
				}
				open--
			case "p":
				p, err := s.paragraph(x)
				if err != nil {
					return err
				}
				sh.paragraphs = append(sh.paragraphs, p)
				open--
			}
		}
	}
	return nil
}

func (s *slideReader) cell(x *xmlReader) (string, error) {
	var parts []string
	for open := 1; open > 0; {
		t, err := x.next()
		if err != nil {
			return "", err
		}
		switch t := t.(type) {
		case xml.EndElement:
			open--
		case xml.StartElement:
			if t.Name.Local == "p" {
				p, err := s.paragraph(x)
				if err != nil {
					return "", err
				}
				parts = append(parts, p.text)
			} else {
				open++
			}
		}
	}
	return strings.Join(parts, "\n"), nil
}

func (s *slideReader) paragraph(x *xmlReader) (slideParagraph, error) {
	var p slideParagraph
	var b strings.Builder
	for open := 1; open > 0; {
		t, err := x.next()
		if err != nil {
			return p, err
		}
		switch t := t.(type) {
		case xml.EndElement:
			open--
		case xml.StartElement:
			switch t.Name.Local {
			case "t":
				text, err := x.text(outputMax)
				if err != nil {
					return p, err
				}
				s.size += len(text)
				b.WriteString(text)
				continue
			case "oMath":
				text, err := mathText(x, 0)
				if err != nil {
					return p, err
				}
				b.WriteString(text)
				continue
			case "br":
				b.WriteByte('\n')
			case "pPr":
				p.level = min(max(attrInt(t, "lvl", 0), 0), 8)
			case "buChar", "buAutoNum":
				p.bullet = true
			}
			open++
		}
	}
	p.text = b.String()
	return p, nil
}

// chartReader collects the labels and values that a chart carries with it.
type chartReader struct {
	titles     []string
	categories []string
	series     []chartSeries
}

type chartSeries struct {
	name   string
	values []string
}

func (c *chartReader) read(x *xmlReader) error {
	where := ""
	err := x.each(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "title":
			text, err := x.text(titleMax)
			if text = oneLine(text); text != "" {
				c.titles = append(c.titles, text)
			}
			return unexpectedEnd(err)
		case "ser":
			c.series = append(c.series, chartSeries{})
			where = ""
		case "tx", "cat", "val", "xVal", "yVal":
			where = e.Name.Local
		case "v":
			text, err := x.text(1 << 10)
			c.value(where, oneLine(text))
			return unexpectedEnd(err)
		}
		return nil
	})
	return err
}

func (c *chartReader) value(where, text string) {
	n := len(c.series)
	if n == 0 || len(c.categories) > 10_000 || len(c.series[n-1].values) > 10_000 {
		return
	}
	switch where {
	case "tx":
		c.series[n-1].name = text
	case "cat", "xVal":
		if n == 1 {
			c.categories = append(c.categories, text)
		}
	case "val", "yVal":
		c.series[n-1].values = append(c.series[n-1].values, text)
	}
}

func (c *chartReader) rows() [][]string {
	if len(c.series) == 0 {
		return nil
	}
	header := []string{""}
	longest := len(c.categories)
	for _, s := range c.series[:min(len(c.series), tableColumnsMax)] {
		header = append(header, s.name)
		longest = max(longest, len(s.values))
	}
	rows := [][]string{header}
	for i := range longest {
		row := make([]string, 1, len(header))
		if i < len(c.categories) {
			row[0] = c.categories[i]
		}
		for _, s := range c.series[:len(header)-1] {
			v := ""
			if i < len(s.values) {
				v = s.values[i]
			}
			row = append(row, v)
		}
		rows = append(rows, row)
	}
	return rows
}
