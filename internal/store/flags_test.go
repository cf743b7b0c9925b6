package store

import (
	"context"
	"strings"
	"testing"
)

func TestPoorTextsAreCountedAndNamed(t *testing.T) {
	ctx := context.Background()
	s := open(t)
	kb, other := ensure(t, s, "a"), ensure(t, s, "b")
	poor := func(path, word string) *Indexed {
		d := doc(path, "T", word)
		d.Meta.Quality = []byte(`{"chars":9,"flag":"7 of 9 pages have no text"}`)
		return d
	}
	fine := doc("fine.md", "T", "good")
	fine.Meta.Quality = []byte(`{"chars":9}`)
	put(t, s, kb, fine, poor("poor.pdf", "bad"))
	put(t, s, other, poor("poor.pdf", "worse"))
	count := func(kbs []int64, want int64) {
		t.Helper()
		if n, err := s.CountFlagged(ctx, kbs); err != nil || n != want {
			t.Errorf("%v: %d flagged (%v), want %d", kbs, n, err, want)
		}
	}
	count(nil, 2)
	count([]int64{kb.ID}, 1)
	count([]int64{}, 0)
	var ids []int64
	for _, p := range []string{"fine.md", "poor.pdf"} {
		d, _, err := s.Document(ctx, kb.ID, p)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, d.ID, d.ID)
	}
	why, err := s.Flagged(ctx, ids)
	if err != nil || len(why) != 1 || why[ids[2]] != "7 of 9 pages have no text" {
		t.Errorf("flagged: %v (%v)", why, err)
	}
	if why, err := s.Flagged(ctx, nil); err != nil || len(why) != 0 {
		t.Errorf("none asked for: %v (%v)", why, err)
	}

	// A better revision takes the flag away.
	put(t, s, kb, doc("poor.pdf", "T", "bad no longer"))
	count(nil, 1)

	var plan string
	if err := s.read(ctx, "plan", func(r *reader) error {
		return r.row(`EXPLAIN QUERY PLAN SELECT count(*) FROM contents c WHERE json_extract(c.meta, '$.q.flag') IS NOT NULL`).Scan(new(int), new(int), new(int), &plan)
	}); err != nil || !strings.Contains(plan, "contents_flagged") {
		t.Errorf("counting looks at every content: %q (%v)", plan, err)
	}
}
