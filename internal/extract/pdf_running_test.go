package extract

import (
	"fmt"
	"slices"
	"testing"
)

// pagesOf makes pages of lines as the engine gives them.
func pagesOf(n int, lines func(page int) []string) []pdfPage {
	pages := make([]pdfPage, n)
	for i := range pages {
		for _, l := range lines(i + 1) {
			pages[i].lines = append(pages[i].lines, pdfLine{text: l, size: 10})
		}
	}
	return pages
}

func dropped(pages []pdfPage) (out []string) {
	for _, p := range pages {
		for _, l := range p.lines {
			if l.drop {
				out = append(out, l.text)
			}
		}
	}
	return out
}

func TestRunningLinesAreThoseThatRepeatOrCountPages(t *testing.T) {
	t.Parallel()
	pages := pagesOf(6, func(page int) []string {
		side := "Annual Report"
		if page%2 == 0 {
			side = fmt.Sprintf("%d | Annual Report", page)
		}
		return []string{side, "Draft of 2024-03-05", fmt.Sprintf("Words %d", page*7), fmt.Sprintf("and others %d", page*3), "© 2024 ACME", fmt.Sprintf("Page %d of 6", page)}
	})
	dropRunningLines(pages)
	got := dropped(pages)
	for _, want := range []string{"4 | Annual Report", "Annual Report", "Draft of 2024-03-05", "© 2024 ACME", "Page 1 of 6", "Page 6 of 6"} {
		if !slices.Contains(got, want) {
			t.Errorf("%q stays", want)
		}
	}
	if slices.ContainsFunc(got, func(s string) bool { return s[0] == 'W' || s[0] == 'a' }) {
		t.Errorf("text is dropped: %q", got)
	}
}

func TestRowsOfNumbersAtThePagesEdgeStay(t *testing.T) {
	t.Parallel()
	pages := pagesOf(8, func(page int) []string {
		var rows []string
		for k := range 6 {
			n := page*6 + k
			rows = append(rows, fmt.Sprintf("%d %d %d.%d", 1000+n*13%997, n*n, n%17, n%10))
		}
		return append(rows, fmt.Sprintf("Sum %d", page*page*31), fmt.Sprint(page))
	})
	dropRunningLines(pages)
	if got := dropped(pages); len(got) != 8 || got[0] != "1" || got[7] != "8" {
		t.Errorf("dropped %q, want the page numbers", got)
	}
}

func TestBookmarksThatAreNotInTheTextAreHeadingsOfTheirPage(t *testing.T) {
	t.Parallel()
	pages := pagesOf(3, func(page int) []string {
		return []string{fmt.Sprintf("some words of page %d", page), "Found Title", "more words"}
	})
	body := pdfBody(pages, map[int][]pdfBookmark{
		0: {{title: "Cover"}},
		1: {{title: "Unseen Chapter"}, {title: "Found Title", level: 1}, {title: "Unseen Part", level: 1}},
	})
	var got []string
	for _, s := range body.sections {
		got = append(got, fmt.Sprintf("%d %q", s.Page, s.Headings))
	}
	want := []string{`1 ["Cover"]`, `2 ["Unseen Chapter"]`, `2 ["Unseen Chapter" "Found Title"]`, `3 ["Unseen Chapter" "Unseen Part"]`}
	if !slices.Equal(got, want) {
		t.Errorf("sections %q\nwant %q", got, want)
	}
}
