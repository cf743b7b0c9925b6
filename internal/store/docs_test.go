package store

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"ragd/internal/fault"
)

func TestPathsAreBytesAndComeBackAsTheyAre(t *testing.T) {
	ctx := context.Background()
	s := open(t)
	kb := ensure(t, s, "weird\xff kb")
	paths := []string{"a b.md", "a-b.md", "a_b.md", "a%b.md", "caf\xe9.md", "dir/\xff\xfe/x", "новое.md", "x\ny.md", `quote".md`, "sub", "sub/1", "sub/2", "sub-1", "sub0"}
	var docs []*Indexed
	for i, p := range paths {
		docs = append(docs, doc(p, "T", fmt.Sprintf("word%d here", i)))
	}
	put(t, s, kb, docs...)
	for i, p := range paths {
		same(t, found(t, s, query(fmt.Sprintf("word%d", i))), p)
		if d, ok, err := s.Document(ctx, kb.ID, p); err != nil || !ok || d.Path != p || d.KB != "weird\xff kb" {
			t.Fatalf("%q: %+v %v", p, d, err)
		}
	}
	list := func(sub string) (out []string) {
		if err := s.DocStates(ctx, kb.ID, sub, func(d DocState) error { out = append(out, d.Path); return nil }); err != nil {
			t.Fatal(err)
		}
		return out
	}
	all := list("")
	if len(all) != len(paths) {
		t.Fatalf("%q", all)
	}
	for i := 1; i < len(all); i++ {
		if all[i-1] >= all[i] {
			t.Fatalf("not in byte order: %q, %q", all[i-1], all[i])
		}
	}
	same(t, list("sub"), "sub", "sub/1", "sub/2")
	same(t, list("dir"), "dir/\xff\xfe/x")
	same(t, list("a"))
	remove(t, s, kb, "a_b.md")
	if len(list("")) != len(paths)-1 {
		t.Fatal("a path was taken for a pattern")
	}
	sound(t, s)
}

func TestListingGoesThroughPagesOfThousand(t *testing.T) {
	ctx := context.Background()
	s := open(t)
	kb := ensure(t, s, "a")
	var plans []Plan
	for i := range 2500 {
		plans = append(plans, index(fmt.Sprintf("d/%05d", i), 0, 1))
	}
	if n := plan(t, s, kb, plans...); n != 2500 {
		t.Fatal(n)
	}
	n := 0
	err := s.DocStates(ctx, kb.ID, "d", func(d DocState) error {
		if d.Path != fmt.Sprintf("d/%05d", n) {
			t.Fatalf("%d: %s", n, d.Path)
		}
		n++
		// A slow reader does not keep others from writing.
		if n == 500 {
			remove(t, s, kb, "d/00000")
		}
		return nil
	})
	if n != 2500 || err != nil {
		t.Fatal(n, err)
	}
	docs, total, more, err := s.Documents(ctx, kb.ID, Page{After: "d/02490", Limit: 5}, []State{StatePending})
	if err != nil || total != 2499 || !more || len(docs) != 5 || docs[0].Path != "d/02491" {
		t.Fatal(docs, total, more, err)
	}
	docs, _, more, err = s.Documents(ctx, kb.ID, Page{After: "d/02494", Limit: 5}, nil)
	if err != nil || more || len(docs) != 5 {
		t.Fatal(docs, more, err)
	}
	if docs, total, _, err = s.Documents(ctx, kb.ID, Page{}, []State{"nonsense"}); err != nil || total != 0 || docs != nil {
		t.Fatal(docs, total, err)
	}
}

func TestMetadataComesBack(t *testing.T) {
	ctx := context.Background()
	s := open(t)
	kb := ensure(t, s, "a")
	d := doc("x.md", "Title", "body text")
	d.Meta = DocMeta{
		Title: "Title", Type: "runbook", Status: "draft", Tags: []string{"a", "b"}, Canon: true, ArtifactID: "id-1",
		Created: "2024-01-01", Updated: "2024-02-01", Front: map[string]any{"n": 1.5, "list": []any{"x"}},
		FrontError: "front matter: unreadable", Meta: map[string]string{"author": "me"}, Quality: []byte(`{"score":0.5}`),
	}
	put(t, s, kb, d)
	rec, ok, err := s.Document(ctx, kb.ID, "x.md")
	if err != nil || !ok || !reflect.DeepEqual(rec.Meta, d.Meta) || rec.Format != "text" || rec.Hash != d.Hash || rec.Stat != d.Stat || rec.Chunks != 1 {
		t.Fatalf("%+v %v", rec, err)
	}
	rev, _, err := s.Revision(ctx, kb.ID, "x.md", rec.RevisionID)
	if err != nil || rev.Title != "Title" || rev.Front["n"] != 1.5 || rev.FrontError == "" || !rev.Current {
		t.Fatalf("%+v %v", rev, err)
	}
	odd := doc("odd.md", "Odd", "odd text")
	odd.Meta.Front = map[string]any{"x": math.NaN(), "m": map[any]any{1: 2}, "ok": "yes"}
	odd.Meta.Quality = []byte("no json")
	put(t, s, kb, odd)
	rec, _, err = s.Document(ctx, kb.ID, "odd.md")
	if err != nil || rec.Meta.Front["ok"] != "yes" || rec.Meta.Front["x"] != "NaN" {
		t.Fatalf("%+v %v", rec.Meta, err)
	}
}

func TestOldRevisionsStayReadableAndComeBack(t *testing.T) {
	ctx := context.Background()
	s := open(t)
	kb := ensure(t, s, "a")
	first, second := doc("x", "X", "first text\n\nwith two parts"), doc("x", "X", "second text")
	put(t, s, kb, first)
	one, _, _ := s.Revision(ctx, kb.ID, "x", "")
	put(t, s, kb, second)
	two, _, _ := s.Revision(ctx, kb.ID, "x", "")
	if one.UID == two.UID {
		t.Fatal("two texts have one id")
	}
	old, ok, err := s.Revision(ctx, kb.ID, "x", one.UID)
	if err != nil || !ok || old.Current || old.Retired.IsZero() {
		t.Fatalf("%+v %v", old, err)
	}
	if text, _, err := s.ReadText(ctx, old.ID, 0, -1); err != nil || text != first.Text {
		t.Fatal(text, err)
	}
	same(t, found(t, s, query("first")))
	tot, err := s.Totals(ctx)
	if err != nil || tot.RetainedRevisions != 1 || tot.RetainedBytes != int64(len(first.Text)) || tot.DBBytes == 0 {
		t.Fatalf("%+v %v", tot, err)
	}
	put(t, s, kb, first)
	back, _, _ := s.Revision(ctx, kb.ID, "x", "")
	if back.UID != one.UID || back.ID != one.ID || !back.Current {
		t.Fatalf("%+v", back)
	}
	same(t, found(t, s, query("first")), "x")
	same(t, found(t, s, query("second")))
	revs, err := s.Revisions(ctx, kb.ID, "x")
	if err != nil || len(revs) != 2 || !revs[0].Current || revs[1].UID != two.UID {
		t.Fatalf("%+v %v", revs, err)
	}
	remove(t, s, kb, "x")
	if _, ok, _ := s.Document(ctx, kb.ID, "x"); ok {
		t.Fatal("a deleted document is listed")
	}
	if _, ok, _ := s.Revision(ctx, kb.ID, "x", ""); ok {
		t.Fatal("a deleted document has a current revision")
	}
	if _, ok, err := s.Revision(ctx, kb.ID, "x", two.UID); !ok || err != nil {
		t.Fatal("a kept revision cannot be read", err)
	}
	for _, bad := range []string{"zz", "00", strings.ToUpper(one.UID), one.UID + "00"} {
		if _, ok, err := s.Revision(ctx, kb.ID, "x", bad); ok || err != nil {
			t.Fatal(bad, ok, err)
		}
	}
	put(t, s, kb, second)
	again, _, _ := s.Revision(ctx, kb.ID, "x", "")
	if again.UID != two.UID {
		t.Fatal("the same file after deletion is another revision")
	}
	sound(t, s)
}

func TestRevisionIDsAreTheSameInAnIndexBuiltAnew(t *testing.T) {
	uid := func() string {
		s := open(t)
		ensure(t, s, fmt.Sprint("other", time.Now().UnixNano()))
		kb := ensure(t, s, "a")
		put(t, s, kb, doc("y", "Y", "before"))
		put(t, s, kb, doc("x", "X", "text"))
		r, _, _ := s.Revision(context.Background(), kb.ID, "x", "")
		return r.UID
	}
	if a, b := uid(), uid(); a != b || len(a) != 32 {
		t.Fatal(a, b)
	}
}

func TestForcedExtractionThatGivesAnotherTextIsAnotherRevision(t *testing.T) {
	ctx := context.Background()
	s := open(t)
	kb := ensure(t, s, "a")
	first, second := doc("x", "X", "badly read"), doc("x", "X", "well read")
	second.Hash = first.Hash // the same file, a better extractor
	put(t, s, kb, first)
	one, _, _ := s.Revision(ctx, kb.ID, "x", "")
	if _, err := s.ForceKB(ctx, kb.ID); err != nil {
		t.Fatal(err)
	}
	commit(t, s, Outcome{Job: claim(t, s, 1)[0], Indexed: second})
	two, _, _ := s.Revision(ctx, kb.ID, "x", "")
	if one.UID == two.UID {
		t.Fatal("a revision's text changed")
	}
	if text, _, err := s.ReadText(ctx, one.ID, 0, -1); err != nil || text != "badly read" {
		t.Fatal(text, err)
	}
	same(t, found(t, s, query("well")), "x")
	same(t, found(t, s, query("badly")))
	c, ok, err := s.ContentFor(ctx, first.Hash, testKey)
	if err != nil || !ok || c.Text != "well read" {
		t.Fatal(c, ok, err)
	}
	sound(t, s)
}

func TestSameBytesElsewhereReuseTheContent(t *testing.T) {
	ctx := context.Background()
	s := open(t)
	kb := ensure(t, s, "a")
	text := strings.Repeat("A longer text — with ümlauts — about otters.\n\n", 3000)
	first := doc("x", "", text)
	first.Meta.Title, first.Meta.TitleFromName = "x", true
	put(t, s, kb, first)
	if _, ok, err := s.ContentFor(ctx, first.Hash, "another key"); ok || err != nil {
		t.Fatal(ok, err)
	}
	c, ok, err := s.ContentFor(ctx, first.Hash, testKey)
	if err != nil || !ok || c.Text != text || len(c.Chunks) != len(first.Chunks) || !c.Meta.TitleFromName || c.Meta.Title != "" {
		t.Fatal(ok, err)
	}
	for i := range c.Chunks {
		if !reflect.DeepEqual(c.Chunks[i], first.Chunks[i].Chunk) {
			t.Fatalf("%+v, want %+v", c.Chunks[i], first.Chunks[i].Chunk)
		}
	}
	copyOf := *first
	copyOf.Path, copyOf.ContentID, copyOf.Text = "y", c.ID, ""
	copyOf.Meta.Title = "y"
	put(t, s, kb, &copyOf)
	remove(t, s, kb, "x")
	got := found(t, s, query("otters"))
	if len(got) != 50 || got[0] != "y" {
		t.Fatal(got)
	}
	var n int
	if err := s.readers.QueryRow("SELECT count(*) FROM contents").Scan(&n); err != nil || n != 1 {
		t.Fatal(n, err)
	}
	sound(t, s)
}

func TestTextIsReadInAnySlices(t *testing.T) {
	ctx := context.Background()
	s := open(t)
	kb := ensure(t, s, "a")
	text := strings.Repeat("naïve 漢字 🙂 text ", 9000)
	runes := []rune(text)
	put(t, s, kb, doc("x", "X", text))
	rev, _, _ := s.Revision(ctx, kb.ID, "x", "")
	if rev.Chars != len(runes) {
		t.Fatal(rev.Chars)
	}
	for _, c := range []struct{ off, limit int }{{0, -1}, {0, 0}, {1, 1}, {30000, 5000}, {len(runes) - 3, 100}, {len(runes), 5}, {len(runes) + 9, 5}, {-4, 2}, {65536, 1}, {5, math.MaxInt}} {
		got, total, err := s.ReadText(ctx, rev.ID, c.off, c.limit)
		from := min(max(c.off, 0), len(runes))
		to := len(runes)
		if c.limit >= 0 && c.limit < to-from {
			to = from + c.limit
		}
		if err != nil || total != len(runes) || got != string(runes[from:to]) {
			t.Fatalf("%+v: %d characters, %v", c, len([]rune(got)), err)
		}
	}
	var b strings.Builder
	for off := 0; off < rev.Chars; off += 7777 {
		part, _, err := s.ReadText(ctx, rev.ID, off, 7777)
		if err != nil {
			t.Fatal(err)
		}
		b.WriteString(part)
	}
	if b.String() != text {
		t.Fatal("pages do not add up to the text")
	}
	if _, _, err := s.ReadText(ctx, 999, 0, 1); fault.KindOf(err) != fault.NotFound {
		t.Fatal(err)
	}
}

func TestPartsComeAndGoWithTheirDocument(t *testing.T) {
	ctx := context.Background()
	s := open(t)
	kb := ensure(t, s, "a")
	mail := doc("m.eml", "Mail", "covering letter")
	mail.Parts = []Indexed{*doc("m.eml › one.pdf", "One", "walrus"), *doc("m.eml › two.pdf", "Two", "seal"), *doc("m.eml › two.pdf", "Two", "again the name")}
	put(t, s, kb, mail)
	same(t, found(t, s, query("walrus")), "m.eml › one.pdf")
	same(t, found(t, s, query("again")))
	if _, ok, err := s.ContentFor(ctx, mail.Hash, testKey); ok || err != nil {
		t.Fatal("a copy of the mail would lose its parts", err)
	}
	n := 0
	if err := s.DocStates(ctx, kb.ID, "", func(DocState) error { n++; return nil }); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	if docs, total, _, err := s.Documents(ctx, kb.ID, Page{}, nil); len(docs) != 3 || total != 3 || err != nil {
		t.Fatal(docs, total, err)
	}
	smaller := doc("m.eml", "Mail", "covering letter, shorter")
	smaller.Parts = mail.Parts[1:2]
	put(t, s, kb, smaller)
	same(t, found(t, s, query("walrus")))
	same(t, found(t, s, query("seal")), "m.eml › two.pdf")
	remove(t, s, kb, "m.eml")
	same(t, found(t, s, query("seal")))
	sound(t, s)
}

func TestRetentionDropsWhatIsTooOldOrTooMany(t *testing.T) {
	ctx := context.Background()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	s := open(t, func(o *Options) {
		o.Now = func() time.Time { return now }
		o.Retention = Retention{Revisions: 2, DeletedKept: 24 * time.Hour}
	})
	kb := ensure(t, s, "a")
	for i := range 5 {
		now = now.Add(time.Minute)
		put(t, s, kb, doc("x", "X", fmt.Sprintf("version number%d", i)))
	}
	put(t, s, kb, doc("gone", "G", "to be deleted"), doc("kept", "K", "version number1"))
	rep, err := s.Prune(ctx)
	if err != nil || rep.Revisions != 2 || rep.Documents != 0 {
		t.Fatal(rep, err)
	}
	revs, _ := s.Revisions(ctx, kb.ID, "x")
	if len(revs) != 3 {
		t.Fatalf("%+v", revs)
	}
	remove(t, s, kb, "gone")
	if rep, err = s.Prune(ctx); err != nil || rep.Documents != 0 {
		t.Fatal(rep, err)
	}
	now = now.Add(25 * time.Hour)
	if rep, err = s.Prune(ctx); err != nil || rep.Documents != 1 || rep.Contents != 1 {
		t.Fatal(rep, err)
	}
	same(t, found(t, s, query("number4")), "x")
	same(t, found(t, s, query("number1")), "kept")
	sound(t, s)
}

func TestEnsureKBUpdatesWhatIsKnown(t *testing.T) {
	ctx := context.Background()
	s := open(t)
	a, err := s.EnsureKB(ctx, "n", "r", "/d", false)
	if err != nil {
		t.Fatal(err)
	}
	b, err := s.EnsureKB(ctx, "n", "r2", "/d2\xff", true)
	if err != nil || b.ID != a.ID || b.Dir != "/d2\xff" {
		t.Fatal(b, err)
	}
	all, err := s.KBs(ctx)
	if err != nil || len(all) != 1 || all[0] != b {
		t.Fatal(all, err)
	}
	if _, err := s.ApplyPlans(ctx, 77, []Plan{{Path: "x"}}); fault.KindOf(err) != fault.NotFound {
		t.Fatal(err)
	}
}

func TestExcludedDocumentsAreListedWithTheirReason(t *testing.T) {
	ctx := context.Background()
	s := open(t)
	kb := ensure(t, s, "a")
	put(t, s, kb, doc("x", "X", "secret words"))
	plan(t, s, kb, Plan{Path: "x", Op: PlanExclude, Code: "ignored", Why: "line 3 of .ragignore", Stat: Stat{Size: 5}})
	same(t, found(t, s, query("secret")))
	docs, total, _, err := s.Documents(ctx, kb.ID, Page{}, []State{StateExcluded})
	if err != nil || total != 1 || docs[0].Reason != "line 3 of .ragignore" || docs[0].State != StateExcluded || docs[0].RevisionID != "" {
		t.Fatalf("%+v %v", docs, err)
	}
	st, _ := s.KBStats(ctx, []int64{kb.ID})
	if st[0].Excluded != 1 || st[0].Documents != 0 || st[0].Bytes != 0 {
		t.Fatalf("%+v", st)
	}
	put(t, s, kb, doc("x", "X", "secret words"))
	same(t, found(t, s, query("secret")), "x")
	sound(t, s)
}
