package mcpserver

import (
	"strings"
	"testing"
)

func TestListingAndSearchTellTheQualityOfTheText(t *testing.T) {
	w := newWorld(t, "notes")
	w.put("notes", "fine.md", "the fox is fine")
	w.put("notes", "scan.pdf", "the fox on the cover")
	w.put("notes", "waits.md", "x")
	w.set("notes", "fine.md", func(d *fakeDoc) { d.rec.Meta.Quality = []byte(`{"chars":15,"bad_share":0,"language":"en"}`) })
	w.set("notes", "scan.pdf", func(d *fakeDoc) {
		d.rec.Meta.Quality = []byte(`{"chars":20,"bad_share":0,"pages":9,"empty_pages":7,"note":"7 of 9 pages have no text.","flag":"7 of its 9 pages have no text"}`)
	})
	_, addr := startServer(t, w, Options{})
	c := dial(t, addr)

	docs, text := ok[listDocumentsOut](c, "rag_list_documents", m{"kb": "notes"})
	if q := docs.Documents[0].Quality; q == nil || q.Language != "en" || q.Chars != 15 || q.Flag != "" {
		t.Errorf("fine.md: %+v", q)
	}
	if q := docs.Documents[1].Quality; q == nil || q.EmptyPages != 7 || q.Pages != 9 || q.Flag == "" || q.Note == "" {
		t.Errorf("scan.pdf: %+v", q)
	}
	if docs.Documents[2].Quality != nil {
		t.Errorf("a document without text has the quality %+v", docs.Documents[2].Quality)
	}
	for _, want := range []string{"; en\n", "poor: 7 of its 9 pages have no text"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}

	found, text := ok[searchOut](c, "rag_search", m{"query": "fox"})
	poor := map[string]string{}
	for _, r := range found.Results {
		poor[r.Path] = r.Poor
	}
	if poor["fine.md"] != "" || poor["scan.pdf"] != "7 of its 9 pages have no text" || !strings.Contains(text, "Poor text: 7 of its 9 pages have no text") {
		t.Errorf("search flags %v\n%s", poor, text)
	}
}
