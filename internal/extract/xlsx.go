package extract

import (
	"bytes"
	"context"
	"errors"
	"sort"
	"strings"

	"github.com/xuri/excelize/v2"

	"ragd/internal/fault"
)

const (
	sheetsMax     = 500
	sheetCellsMax = 30_000_000 // cells of all sheets, empty ones to the left of a value among them
	commentsMax   = 10_000
)

// readXLSX reads a workbook: a section for each sheet, with a table whose
// first row is its header. Values are as the program shows them, but for
// dates, which are written in the order of ISO 8601 whatever theirs is.
func readXLSX(ctx context.Context, src Source, _ fileType) (*Document, error) {
	pack, err := openPackage(src)
	if err != nil {
		return nil, err
	}
	if main, err := pack.mainPart("xl/workbook.xml"); err != nil || main == "" {
		if err == nil {
			err = wrongType(src.Path, pack.kind())
		}
		return nil, err
	}
	f, err := excelize.OpenReader(bytes.NewReader(src.Data), excelize.Options{
		UnzipSizeLimit: packageTotalMax, UnzipXMLSizeLimit: packageTotalMax, // equal: nothing goes to temporary files
		ShortDatePattern: "yyyy-mm-dd", LongDatePattern: "yyyy-mm-dd", LongTimePattern: "hh:mm:ss",
	})
	if err != nil {
		return nil, xlsxFault(src, err)
	}
	defer f.Close()
	isoDates(f)
	x := xlsxReader{f: f, ctx: ctx, w: &mdWriter{}, path: src.Path, cells: sheetCellsMax}
	sheets := f.GetSheetList()
	for i, sheet := range sheets {
		if i == sheetsMax {
			break
		}
		if err := x.sheet(sheet); err != nil {
			return nil, err
		}
	}
	if err := x.charts(pack); err != nil {
		return nil, err
	}
	doc := &Document{MediaType: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", Meta: map[string]string{}}
	doc.Quality.left("sheets", max(0, len(sheets)-sheetsMax), len(sheets), "there are too many")
	if doc.Text, err = x.w.finish(src.Path); err != nil {
		return nil, err
	}
	if err := pack.coreProperties(doc); err != nil {
		return nil, err
	}
	fillQuality(doc, doc.Text.Body)
	return doc, nil
}

func xlsxFault(src Source, err error) error {
	switch {
	case errors.Is(err, excelize.ErrWorkbookFileFormat):
		return wrongType(src.Path, detectType(src.Data))
	case strings.Contains(err.Error(), "unzip size exceeds"):
		return fault.New(fault.Permanent, "too_large", "%s unpacks to more than %d MiB", base(src.Path), packageTotalMax>>20).Because(err)
	}
	return fault.New(fault.Permanent, "corrupt", "%s cannot be read as a workbook", base(src.Path)).Because(err)
}

type xlsxReader struct {
	f     *excelize.File
	ctx   context.Context
	w     *mdWriter
	path  string
	cells int
}

func (x *xlsxReader) sheet(name string) error {
	rows, err := x.f.Rows(name)
	if err != nil {
		return nil // a chart sheet, or a part that is missing: the others are read
	}
	defer rows.Close()
	x.w.section(0, clip(oneLine(name), titleMax))
	var grid [][]string // the rows so far, while they are few
	filled := 0
	t := sheetTable{w: x.w}
	for n := 0; rows.Next(); n++ {
		if n&0xff == 0 && x.ctx.Err() != nil {
			return x.ctx.Err()
		}
		row, err := rows.Columns()
		if err != nil {
			return err
		}
		if x.cells -= len(row) + 1; x.cells < 0 {
			return fault.New(fault.Permanent, "too_large", "%s spans more than %d cells", base(x.path), sheetCellsMax)
		}
		if filled += len(row); filled <= regionCellsMax {
			grid = append(grid, row)
			continue
		}
		for _, early := range grid {
			t.add(early)
		}
		grid = nil
		t.add(row)
		if x.w.full {
			return tooMuchText(x.path)
		}
	}
	if grid != nil {
		x.tables(name, grid)
	}
	x.comments(name)
	return rows.Error()
}

// tables writes each table of a small sheet by itself.
func (x *xlsxReader) tables(name string, grid [][]string) {
	x.fillMerged(name, grid)
	for _, r := range findRegions(grid) {
		t := sheetTable{w: x.w}
		for _, row := range r.cut(grid) {
			t.add(row)
		}
	}
}

// fillMerged repeats the value of a merged cell in all its cells.
func (x *xlsxReader) fillMerged(name string, grid [][]string) {
	merged, err := x.f.GetMergeCells(name, true)
	if err != nil {
		return // the values are there once
	}
	left := regionCellsMax
	for _, m := range merged {
		x1, y1, err1 := excelize.CellNameToCoordinates(m.GetStartAxis())
		x2, y2, err2 := excelize.CellNameToCoordinates(m.GetEndAxis())
		if err1 != nil || err2 != nil || y1 > len(grid) || x1 > len(grid[y1-1]) {
			continue
		}
		value := grid[y1-1][x1-1]
		if len(value) > 200 || (x2-x1+1)*(y2-y1+1) > 200 {
			continue // a banner across the sheet says what it says once
		}
		for y := y1; y <= min(y2, len(grid)); y++ {
			if x2 > len(grid[y-1]) {
				grid[y-1] = append(grid[y-1], make([]string, x2-len(grid[y-1]))...)
			}
			for k := x1; k <= x2 && left > 0; k++ {
				grid[y-1][k-1] = value
				left--
			}
		}
	}
}

func (x *xlsxReader) comments(name string) {
	comments, err := x.f.GetComments(name)
	if err != nil {
		return // the cells are what counts
	}
	for _, c := range comments[:min(len(comments), commentsMax)] {
		text := c.Text
		for _, run := range c.Paragraph {
			text += run.Text
		}
		x.w.paragraph(c.Cell + ": " + text)
	}
}

// charts writes the titles and values of the workbook's charts.
func (x *xlsxReader) charts(pack *zipPackage) error {
	var parts []string
	for name := range pack.files {
		if strings.HasPrefix(name, "xl/charts/chart") && strings.HasSuffix(name, ".xml") {
			parts = append(parts, name)
		}
	}
	sort.Strings(parts)
	for i, part := range parts[:min(len(parts), sheetsMax)] {
		if i == 0 {
			x.w.section(0, "Charts")
		}
		c := chartReader{}
		if err := pack.xmlPart(part, c.read); err != nil {
			return err
		}
		for _, t := range c.titles {
			x.w.paragraph(t)
		}
		x.w.table(c.rows())
	}
	return nil
}

// sheetTable writes rows as one table. Rows of one cell before the first row
// with more are text above the table.
type sheetTable struct {
	w       *mdWriter
	columns int // of the header; 0 = none yet
}

func (t *sheetTable) add(row []string) {
	n := len(row)
	for n > 0 && strings.TrimSpace(row[n-1]) == "" {
		n--
	}
	row = row[:min(n, tableColumnsMax)]
	filled := 0
	for _, c := range row {
		if strings.TrimSpace(c) != "" {
			filled++
		}
	}
	switch {
	case filled == 0:
	case t.columns == 0 && filled == 1:
		t.w.paragraph(strings.Join(row, " "))
	case t.columns == 0:
		t.columns = len(row)
		t.w.block()
		t.w.row(row, t.columns, true)
	default:
		t.w.row(row, max(t.columns, len(row)), false)
	}
}
