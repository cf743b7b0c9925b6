package admin_test

import (
	"context"
	"testing"

	"ragd/internal/search"
	"ragd/internal/store"
)

// poorDocument is the one of the rig whose text is poor.
const poorDocument = 10

func TestQualityIsListedCountedAndFlagged(t *testing.T) {
	r := newRig(t)
	ctx := context.Background()
	r.index.docs[1][0].Meta = store.DocMeta{Quality: []byte(`{"chars":20,"bad_share":0,"pages":9,"empty_pages":7,"language":"de","flag":"7 of its 9 pages have no text"}`)}
	r.start()
	r.search.hits = []search.Hit{{KB: "notes", Path: "a.md", DocumentID: poorDocument}, {KB: "notes", Path: "fine.md", DocumentID: 99}}

	docs, err := r.client.Documents(ctx, "notes", "", 10)
	must(t, err)
	if q := docs.Documents[0].Quality; q == nil || q.Pages != 9 || q.EmptyPages != 7 || q.Language != "de" || q.Flag == "" {
		t.Errorf("listed: %+v", q)
	}
	if docs.Documents[1].Quality != nil {
		t.Errorf("a document without text: %+v", docs.Documents[1].Quality)
	}
	status, err := r.client.Status(ctx)
	must(t, err)
	if status.Poor != 1 {
		t.Errorf("status counts %d", status.Poor)
	}
	found, err := r.client.Search(ctx, "x", "", "", 5, false)
	must(t, err)
	if found.Results[0].Poor != "7 of its 9 pages have no text" || found.Results[1].Poor != "" {
		t.Errorf("flagged: %+v", found.Results)
	}
}
