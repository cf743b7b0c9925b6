package extract

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
)

const docxNestingMax = 32 // tables in tables, boxes in boxes

// docxParagraph is the paragraph being read.
type docxParagraph struct {
	text   strings.Builder
	style  string
	list   string
	level  int
	outlin int // outline level + 1 set on the paragraph itself
	boxes  []string
}

// part reads a part of the document into the writer.
func (d *docxReader) part(x *xmlReader) error {
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
		if d.ctx.Err() != nil {
			return d.ctx.Err()
		}
		if d.w.full {
			return tooMuchText(d.pack.path)
		}
		switch e.Name.Local {
		case "p":
			p, err := d.paragraph(x, 0)
			if err != nil {
				return err
			}
			d.write(p)
		case "tbl":
			rows, err := d.table(x, 0)
			if err != nil {
				return err
			}
			d.w.table(rows)
		case "sectPr", "del", "moveFrom":
			if err := x.skip(); err != nil {
				return err
			}
		case "footnote", "endnote":
			if k := attrOf(e, "type"); k == "separator" || k == "continuationSeparator" {
				if err := x.skip(); err != nil {
					return err
				}
			}
		}
	}
}

// write puts a paragraph where its style says.
func (d *docxReader) write(p *docxParagraph) {
	s := d.styles[p.style]
	text := p.text.String()
	level := s.heading
	if p.outlin > 0 {
		level = p.outlin
	}
	list, depth := p.list, p.level
	if list == "" {
		list, depth = s.list, s.level
	}
	label := ""
	if list != "" && list != "0" && strings.TrimSpace(text) != "" {
		label, _ = d.numbers.next(list, depth)
	}
	switch {
	case s.title:
		if d.title == "" {
			d.title = oneLine(text)
		}
		d.w.heading(1, text)
	case level > 0:
		if label != "" && label != "-" {
			text = label + " " + text
		}
		d.w.heading(level, text)
	case s.code:
		d.w.code("", text)
	case label != "":
		d.w.item(depth, label, text)
	default:
		d.w.paragraph(text)
	}
	for _, b := range p.boxes {
		d.w.paragraph(b)
	}
}

// paragraph reads up to the end of the paragraph that has begun. depth counts
// text boxes and tables around it.
func (d *docxReader) paragraph(x *xmlReader, depth int) (*docxParagraph, error) {
	p := &docxParagraph{}
	if depth > docxNestingMax {
		d.w.deep = true
		return p, x.skip()
	}
	for open := 1; open > 0; {
		t, err := x.next()
		if err != nil {
			return p, unexpectedEnd(err)
		}
		switch t := t.(type) {
		case xml.EndElement:
			open--
		case xml.StartElement:
			done, err := d.inline(x, t, p, depth)
			if err != nil {
				return p, unexpectedEnd(err)
			}
			if !done {
				open++
			}
		}
	}
	return p, nil
}

// unexpectedEnd makes the end of input inside an element an error of its own.
func unexpectedEnd(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// inline handles an element inside a paragraph; done says that its end has
// been read.
func (d *docxReader) inline(x *xmlReader, e xml.StartElement, p *docxParagraph, depth int) (done bool, err error) {
	switch e.Name.Local {
	case "t":
		s, err := x.text(outputMax)
		if p.text.Len()+len(s) > outputMax {
			return true, tooMuchText(d.pack.path)
		}
		p.text.WriteString(s)
		return true, err
	case "tab":
		if p.text.Len() > 0 {
			p.text.WriteByte('\t')
		}
	case "br", "cr":
		p.text.WriteByte('\n')
	case "noBreakHyphen":
		p.text.WriteByte('-')
	case "sym":
		p.text.WriteByte(' ')
	case "pStyle":
		p.style = attrOf(e, "val")
	case "numId":
		p.list = attrOf(e, "val")
	case "ilvl":
		p.level = min(max(attrInt(e, "val", 0), 0), 8)
	case "outlineLvl":
		if n := attrInt(e, "val", 9); n >= 0 && n < 9 {
			p.outlin = n + 1
		}
	case "del", "moveFrom", "instrText", "delText", "rPrChange", "pPrChange", "Fallback", "delInstrText":
		return true, x.skip()
	case "oMath":
		s, err := mathText(x, 0)
		p.text.WriteString(s)
		return true, err
	case "docPr":
		if alt := attrOf(e, "descr"); alt != "" {
			p.boxes = append(p.boxes, alt)
		}
	case "txbxContent":
		s, err := d.box(x, depth+1)
		if s != "" {
			p.boxes = append(p.boxes, s)
		}
		return true, err
	}
	return false, nil
}

// box reads the blocks of a text box as one text.
func (d *docxReader) box(x *xmlReader, depth int) (string, error) {
	var parts []string
	for open := 1; open > 0; {
		t, err := x.next()
		if err != nil {
			return "", unexpectedEnd(err)
		}
		switch t := t.(type) {
		case xml.EndElement:
			open--
		case xml.StartElement:
			switch t.Name.Local {
			case "p":
				p, err := d.paragraph(x, depth)
				if err != nil {
					return "", err
				}
				parts = append(append(parts, p.text.String()), p.boxes...)
			case "tbl":
				rows, err := d.table(x, depth)
				if err != nil {
					return "", err
				}
				for _, r := range rows {
					parts = append(parts, strings.Join(r, " | "))
				}
			case "del", "moveFrom":
				if err := x.skip(); err != nil {
					return "", err
				}
			default:
				open++
			}
		}
	}
	return strings.TrimSpace(strings.Join(parts, "\n")), nil
}

// table reads the rows of the table that has begun. A table inside a cell
// becomes lines of the cell.
func (d *docxReader) table(x *xmlReader, depth int) ([][]string, error) {
	var rows [][]string
	if depth > docxNestingMax {
		d.w.deep = true
		return nil, x.skip()
	}
	size := 0
	for open := 1; open > 0; {
		t, err := x.next()
		if err != nil {
			return rows, unexpectedEnd(err)
		}
		switch t := t.(type) {
		case xml.EndElement:
			open--
		case xml.StartElement:
			switch t.Name.Local {
			case "tr":
				rows = append(rows, nil)
				open++
			case "tc":
				c, err := d.cell(x, depth+1)
				if err != nil {
					return rows, err
				}
				rows = c.appendTo(rows)
				if size += len(c.text); size > outputMax {
					return nil, tooMuchText(d.pack.path)
				}
			case "gridBefore":
				if n := len(rows); n > 0 {
					rows[n-1] = append(rows[n-1], make([]string, min(max(attrInt(t, "val", 0), 0), spanMax))...)
				}
				open++
			case "del":
				if err := x.skip(); err != nil {
					return rows, err
				}
			default:
				open++
			}
		}
	}
	return rows, nil
}

// docxCell is a table's cell; below says that it continues the one above.
type docxCell struct {
	text  string
	span  int
	below bool
}

// appendTo puts the cell in the last row. A cell that continues the one above
// repeats its text, so that each row is whole.
func (c docxCell) appendTo(rows [][]string) [][]string {
	n := len(rows)
	if n == 0 {
		return rows
	}
	column := len(rows[n-1])
	if c.below && strings.TrimSpace(c.text) == "" && n > 1 && column < len(rows[n-2]) {
		c.text = clip(rows[n-2][column], 1<<10)
	}
	rows[n-1] = append(rows[n-1], c.text)
	for range min(c.span, spanMax) - 1 {
		rows[n-1] = append(rows[n-1], "")
	}
	return rows
}

func (d *docxReader) cell(x *xmlReader, depth int) (docxCell, error) {
	c := docxCell{span: 1}
	var parts []string
	for open := 1; open > 0; {
		t, err := x.next()
		if err != nil {
			return c, unexpectedEnd(err)
		}
		switch t := t.(type) {
		case xml.EndElement:
			open--
		case xml.StartElement:
			switch t.Name.Local {
			case "gridSpan":
				c.span = attrInt(t, "val", 1)
				open++
			case "vMerge":
				c.below = attrOf(t, "val") != "restart"
				open++
			case "p":
				p, err := d.paragraph(x, depth)
				if err != nil {
					return c, err
				}
				parts = append(append(parts, p.text.String()), p.boxes...)
			case "tbl":
				rows, err := d.table(x, depth)
				if err != nil {
					return c, err
				}
				for _, r := range rows {
					parts = append(parts, strings.Join(r, " "))
				}
			default:
				open++
			}
		}
	}
	c.text = strings.Join(parts, "\n")
	return c, nil
}
