package extract

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/xuri/excelize/v2"
)

func TestDatesOfWorkbooksAreISO(t *testing.T) {
	t.Parallel()
	f := excelize.NewFile()
	defer f.Close()
	at := time.Date(2024, 3, 5, 13, 30, 15, 0, time.UTC)
	var want []string
	for _, c := range []struct {
		code    string
		builtIn int
		value   any
		want    string
	}{
		{code: "dd/mm/yyyy", value: at, want: "2024-03-05"},
		{code: `d". "mmmm\ yyyy`, value: at, want: "2024-03-05"},
		{code: "[$-409]m/d/yy h:mm AM/PM;@", value: at, want: "2024-03-05 13:30"},
		{code: "dd.mm.yy hh:mm:ss", value: at, want: "2024-03-05 13:30:15"},
		{code: "mmm yyyy", value: at, want: "Mar 2024"},
		{code: `0.00" days, my"`, value: 7.5, want: "7.50 days, my"},
		{builtIn: 14, value: at, want: "2024-03-05"},
		{builtIn: 15, value: at, want: "2024-03-05"},
		{builtIn: 10, value: 0.25, want: "25.00%"},
	} {
		style := &excelize.Style{NumFmt: c.builtIn}
		if c.code != "" {
			style.CustomNumFmt = &c.code
		}
		id, err := f.NewStyle(style)
		if err != nil {
			t.Fatal(err)
		}
		cell, err := excelize.CoordinatesToCellName(len(want)+1, 2)
		if err == nil {
			err = f.SetCellValue("Sheet1", cell, c.value)
		}
		if err == nil {
			err = f.SetCellStyle("Sheet1", cell, cell, id)
		}
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, c.want)
	}
	var b bytes.Buffer
	if err := f.Write(&b); err != nil {
		t.Fatal(err)
	}
	doc, err := inProcess(t, Options{}).Extract(context.Background(), Source{Path: "a.xlsx", Data: b.Bytes()})
	if err != nil {
		t.Fatal(err)
	}
	if row := "| " + strings.Join(want, " | ") + " |"; !strings.Contains(doc.Text.Body, row) {
		t.Errorf("no\n%s\nin\n%s", row, doc.Text.Body)
	}
}
