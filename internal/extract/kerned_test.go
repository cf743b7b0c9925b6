package extract

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

// TestWordsOfKernedPDFsStayWhole: text set letter by letter, with kerning, or
// with gaps for blanks reads as the words that are seen.
func TestWordsOfKernedPDFsStayWhole(t *testing.T) {
	if raceEnabled {
		t.Skip("the PDF engine is slow under the race detector")
	}
	t.Parallel()
	letters := func(s string) string { // each placed by itself, as some programs do, with a little space between
		widths := map[rune]float64{'g': 6.67, 'r': 4, 'e': 6.67, 'n': 6.67, ' ': 3.34, 't': 3.34, 'u': 6.67, 'l': 2.66} // of Helvetica at 12
		var b strings.Builder
		x := 72.0
		for _, r := range s {
			if r != ' ' {
				fmt.Fprintf(&b, "1 0 0 1 %.2f 600 Tm (%c) Tj ", x, r)
			}
			x += widths[r] + 0.4
		}
		return b.String()
	}
	page := "BT /F 12 Tf 72 700 Td [(Ker) -20 (ned tex) 15 (t wi) -10 (th g) 40 (aps)] TJ ET\n" +
		"BT /F 12 Tf 72 660 Td [(blue) -350 (whale) -350 (song)] TJ ET\n" +
		"BT /F 12 Tf " + letters("green turtle") + " ET\n"
	data := pages(t, false, []string{"x"})
	old := data[strings.Index(string(data), "stream\n")+7 : strings.Index(string(data), "endstream")]
	data = []byte(strings.Replace(string(data), string(old), page, 1))
	data = []byte(strings.Replace(string(data), fmt.Sprintf("/Length %d", len(strings.TrimSuffix(string(old), "\n"))), fmt.Sprintf("/Length %d", len(page)), 1))
	doc, err := inProcess(t, Options{CacheDir: t.TempDir()}).Extract(context.Background(), Source{Path: "a.pdf", Data: data})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Kerned text with gaps", "blue whale song", "green turtle"} {
		if !strings.Contains(doc.Text.Body, want) {
			t.Errorf("%q is not in %q", want, doc.Text.Body)
		}
	}
}
