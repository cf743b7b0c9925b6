package extract

import (
	"encoding/xml"
	"strings"
)

// sheetOrTable reads a table. One that stands at the top of a spreadsheet is
// a sheet and gets a section.
func (o *odfReader) sheetOrTable(x *xmlReader, e xml.StartElement) error {
	name := attrOf(e, "name")
	sheet := x.spreadsheet && x.depth == 4 // document, body, spreadsheet, table
	t := odfTable{o: o}
	if err := t.read(x, 0); err != nil {
		return err
	}
	if sheet {
		o.w.section(0, clip(oneLine(name), titleMax))
		for _, r := range findRegions(t.grid) {
			st := sheetTable{w: o.w}
			for _, row := range r.cut(t.grid) {
				st.add(row)
			}
		}
		return o.flush(nil)
	}
	o.w.table(t.grid)
	return o.flush(nil)
}

// odfTable unfolds repeated rows and cells.
type odfTable struct {
	o     *odfReader
	grid  [][]string
	cells int
}

func (t *odfTable) read(x *xmlReader, nesting int) error {
	if nesting > docxNestingMax {
		t.o.w.deep = true
		return x.skip()
	}
	depth := x.depth
	for x.depth >= depth {
		tok, err := x.next()
		if err != nil {
			return err
		}
		e, ok := tok.(xml.StartElement)
		if !ok {
			continue
		}
		switch e.Name.Local {
		case "table-row":
			if err := t.row(x, e, nesting); err != nil {
				return err
			}
		case "shapes", "forms", "office-forms", "named-expressions", "conditional-formats":
			if err := x.skip(); err != nil {
				return err
			}
		}
		if t.o.ctx.Err() != nil {
			return t.o.ctx.Err()
		}
	}
	return nil
}

func (t *odfTable) row(x *xmlReader, e xml.StartElement, nesting int) error {
	repeat := attrInt(e, "number-rows-repeated", 1)
	var row []string
	filled := false
	empty := 0 // cells not yet known to have something to their right
	depth := x.depth
	for x.depth >= depth {
		tok, err := x.next()
		if err != nil {
			return err
		}
		c, ok := tok.(xml.StartElement)
		if !ok || c.Name.Local != "table-cell" && c.Name.Local != "covered-table-cell" {
			continue
		}
		n := attrInt(c, "number-columns-repeated", 1)
		text, err := t.cell(x, nesting)
		if err != nil {
			return err
		}
		if strings.TrimSpace(text) == "" {
			empty += max(n, 1)
			continue
		}
		for range min(empty, tableColumnsMax-min(len(row), tableColumnsMax)) {
			row = append(row, "")
		}
		empty, filled = 0, true
		for range min(max(n, 1), odfRepeatMax) {
			if len(row) < tableColumnsMax {
				row = append(row, text)
			}
		}
	}
	if !filled {
		repeat = min(repeat, 1)
	}
	for range min(max(repeat, 1), odfRepeatMax) {
		if t.cells += len(row) + 1; t.cells > sheetCellsMax/10 {
			return errTooManyCells(t.o.path)
		}
		t.grid = append(t.grid, row)
	}
	return nil
}

// cell reads a cell's paragraphs. Tables in it become lines.
func (t *odfTable) cell(x *xmlReader, nesting int) (string, error) {
	var parts []string
	depth := x.depth
	for x.depth >= depth {
		tok, err := x.next()
		if err != nil {
			return "", err
		}
		e, ok := tok.(xml.StartElement)
		if !ok {
			continue
		}
		switch e.Name.Local {
		case "p", "h":
			s, err := t.o.inline(x, 0)
			if err != nil {
				return "", err
			}
			parts = append(parts, s)
		case "table":
			inner := odfTable{o: t.o, cells: t.cells}
			if err := inner.read(x, nesting+1); err != nil {
				return "", err
			}
			for _, r := range inner.grid {
				parts = append(parts, strings.Join(r, " "))
			}
		case "annotation":
			s, err := t.o.inline(x, 0)
			if err != nil {
				return "", err
			}
			t.o.notes = append(t.o.notes, s)
		}
	}
	return strings.Join(parts, "\n"), nil
}
