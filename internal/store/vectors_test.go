package store

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ragd/internal/fault"
)

// vectorOf gives equal texts equal vectors and others nearly random ones.
func vectorOf(text string, dim int) []float32 {
	sum := sha256.Sum256([]byte(text))
	r := rand.New(rand.NewChaCha8(sum))
	v := make([]float32, dim)
	for i := range v {
		v[i] = float32(r.NormFloat64())
	}
	return v
}

const testDim = 96

func useModel(t testing.TB, s *Store, key string) VectorGeneration {
	t.Helper()
	g, err := s.UseModel(context.Background(), VectorModel{Key: key, Name: key, Dim: testDim})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// embedAll embeds what waits and returns how many vectors had to be made.
// A chunk's windows are its halves.
func embedAll(t testing.TB, s *Store, g VectorGeneration) (made int) {
	t.Helper()
	ctx := context.Background()
	for {
		list, err := s.PendingChunks(ctx, 7)
		if err != nil {
			t.Fatal(err)
		}
		if len(list) == 0 {
			break
		}
		var out []EmbeddedChunk
		seen := map[VectorHash]bool{}
		for _, c := range list {
			e := EmbeddedChunk{ID: c.ID}
			half := len(c.Content) / 2
			for _, w := range [][2]int{{0, half}, {half, len(c.Content)}} {
				text := c.Title + "\n" + c.Content[w[0]:w[1]]
				sum := sha256.Sum256([]byte(text))
				h := VectorHash(sum[:16])
				known, err := s.KnownVectors(ctx, g.ID, []VectorHash{h})
				if err != nil {
					t.Fatal(err)
				}
				wv := WindowVector{Hash: h, Start: w[0], End: w[1]}
				if !known[h] && !seen[h] {
					seen[h] = true
					wv.Vector = vectorOf(g.Key+text, testDim)
					made++
				}
				e.Windows = append(e.Windows, wv)
			}
			out = append(out, e)
		}
		if err := s.PutVectors(ctx, g.ID, out); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := s.Flip(ctx); err != nil {
		t.Fatal(err)
	}
	return made
}

// nearest returns the paths of the chunks nearest to a text's vector.
func nearest(t testing.TB, s *Store, g VectorGeneration, text string, f Filter, limit int) []string {
	t.Helper()
	ctx := context.Background()
	res, err := s.Meaning(ctx, MeaningQuery{Generation: g.ID, Vector: vectorOf(g.Key+text, testDim), Filter: f, Limit: limit})
	if err != nil {
		t.Fatal(err)
	}
	var ids []int64
	for _, h := range res.Hits {
		ids = append(ids, h.ChunkID)
	}
	recs, err := s.Chunks(ctx, ids)
	if err != nil {
		t.Fatal(err)
	}
	out := []string{}
	for _, r := range recs {
		out = append(out, r.Path)
	}
	return out
}

// firstHalf is the text embedded for the first half of a one-chunk document.
func firstHalf(title, text string) string { return title + "\n" + text[:len(text)/2] }

func backlog(t testing.TB, s *Store) int64 {
	t.Helper()
	var n int64
	err := s.read(context.Background(), "count", func(r *reader) error { return r.row("SELECT count(*) FROM vector_pending").Scan(&n) })
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestEmbeddedTextIsFoundByItsVectorAndGoesWithItsDocument(t *testing.T) {
	s := open(t)
	kb := ensure(t, s, "notes")
	g := useModel(t, s, "m1")
	var docs []*Indexed
	for i := range 40 {
		docs = append(docs, doc(fmt.Sprintf("%d.md", i), fmt.Sprintf("Title %d", i), fmt.Sprintf("body number %d of the documents", i)))
	}
	put(t, s, kb, docs...)
	sound(t, s)
	if n := backlog(t, s); n != 40 {
		t.Fatalf("%d chunks wait, want 40", n)
	}
	if made := embedAll(t, s, g); made != 80 {
		t.Fatalf("%d vectors were made, want 80", made)
	}
	sound(t, s)
	want := firstHalf("Title 7", "body number 7 of the documents")
	same(t, nearest(t, s, g, want, Filter{}, 1), "7.md")
	remove(t, s, kb, "7.md")
	if got := nearest(t, s, g, want, Filter{}, 5); len(got) != 5 || got[0] == "7.md" {
		t.Fatalf("after the deletion: %q", got)
	}
	sound(t, s)
	// It comes back with the same bytes: nothing is embedded.
	put(t, s, kb, docs[7])
	if made := embedAll(t, s, g); made != 0 {
		t.Fatalf("%d vectors were made for a text that was known", made)
	}
	same(t, nearest(t, s, g, want, Filter{}, 1), "7.md")
	sound(t, s)
}

func TestRenameAndTouchEmbedNothing(t *testing.T) {
	s := open(t)
	kb := ensure(t, s, "notes")
	g := useModel(t, s, "m1")
	put(t, s, kb, doc("a.md", "A", "one text\n\nand another"))
	embedAll(t, s, g)
	for i := range 10 {
		d := doc("a.md", "A", "one text\n\nand another")
		d.Stat.MTimeNS += int64(i)
		put(t, s, kb, d)
		if n := backlog(t, s); n != 0 {
			t.Fatalf("touch %d: %d chunks wait", i, n)
		}
	}
	remove(t, s, kb, "a.md")
	put(t, s, kb, doc("b.md", "A", "one text\n\nand another"))
	if made := embedAll(t, s, g); made != 0 {
		t.Fatalf("%d vectors were made after a rename", made)
	}
	same(t, nearest(t, s, g, "A\none t", Filter{}, 1), "b.md")
	sound(t, s)
}

func TestFiltersApplyInsideTheScan(t *testing.T) {
	s := open(t)
	big, small := ensure(t, s, "big"), ensure(t, s, "small")
	g := useModel(t, s, "m1")
	var docs []*Indexed
	for i := range 20_000 {
		docs = append(docs, doc(fmt.Sprintf("%d.md", i), "Same", strings.Repeat("the same words again ", 2)+fmt.Sprint(i)))
	}
	put(t, s, big, docs...)
	old := doc("old.md", "Other", "something else entirely here")
	old.Meta.Status = "superseded"
	decision := doc("decision.md", "Third", "what was decided at last")
	decision.Meta.Type = "decision"
	draft := doc("draft.md", "Fourth", "what is to be written yet")
	draft.Meta.Status, draft.Meta.Type = "draft", "plan"
	put(t, s, small, old, decision, draft)
	embedAll(t, s, g)
	query := firstHalf("Same", docs[0].Text)
	same(t, nearest(t, s, g, query, Filter{KBs: []int64{small.ID}, Published: true}, 10), "decision.md")
	same(t, nearest(t, s, g, query, Filter{Types: []string{"plan"}}, 10), "draft.md")
	same(t, nearest(t, s, g, query, Filter{Types: []string{"plan"}, Published: true}, 10))
	same(t, nearest(t, s, g, query, Filter{KBs: []int64{}}, 10))
	same(t, nearest(t, s, g, query, Filter{Types: []string{"decision"}}, 10), "decision.md")
	same(t, nearest(t, s, g, query, Filter{Types: []string{"unheard"}}, 10))
	if got := nearest(t, s, g, query, Filter{KBs: []int64{small.ID}, IncludeRetired: true}, 10); len(got) != 3 {
		t.Fatalf("with retired ones: %q", got)
	}
}

func TestALongDocumentDoesNotFillTheNearestAlone(t *testing.T) {
	s := open(t)
	kb := ensure(t, s, "kb")
	g := useModel(t, s, "m1")
	var b strings.Builder
	for i := range 800 {
		fmt.Fprintf(&b, "part %d of the long one\n\n", i)
	}
	docs := []*Indexed{doc("long.md", "L", b.String())}
	for i := range 20 {
		docs = append(docs, doc(fmt.Sprintf("%02d.md", i), "S", fmt.Sprintf("a short one %d", i)))
	}
	put(t, s, kb, docs...)
	embedAll(t, s, g)
	for _, limit := range []int{40, 300} {
		seen := map[string]bool{}
		list := nearest(t, s, g, "anything", Filter{}, limit)
		for _, path := range list {
			seen[path] = true
		}
		if len(seen) != 21 || len(list) != limit {
			t.Errorf("limit %d: %d hits of %d documents of 21", limit, len(list), len(seen))
		}
	}
}

func TestTheBacklogOfSomeKBsIsTheirs(t *testing.T) {
	s := open(t)
	a, b := ensure(t, s, "a"), ensure(t, s, "b")
	g := useModel(t, s, "m1")
	put(t, s, a, doc("1.md", "A", "one\n\ntwo\n\nthree"))
	put(t, s, b, doc("1.md", "A", "four"))
	for _, c := range []struct {
		kbs  []int64
		want int64
	}{{nil, 4}, {[]int64{a.ID}, 3}, {[]int64{b.ID}, 1}, {[]int64{a.ID, b.ID}, 4}, {[]int64{}, 0}, {[]int64{99}, 0}} {
		if n, err := s.BacklogOf(context.Background(), c.kbs); err != nil || n != c.want {
			t.Errorf("%v: %d chunks wait, want %d (%v)", c.kbs, n, c.want, err)
		}
	}
	embedAll(t, s, g)
	if n, err := s.BacklogOf(context.Background(), []int64{a.ID}); err != nil || n != 0 {
		t.Error(n, err)
	}
}

func TestBadVectorsAreRefusedWhole(t *testing.T) {
	s := open(t)
	kb := ensure(t, s, "notes")
	g := useModel(t, s, "m1")
	put(t, s, kb, doc("a.md", "A", "some text"), doc("b.md", "B", "more text"))
	list, err := s.PendingChunks(context.Background(), 10)
	if err != nil || len(list) != 2 {
		t.Fatal(list, err)
	}
	nan := vectorOf("x", testDim)
	nan[3] = float32(math.NaN())
	inf := vectorOf("x", testDim)
	inf[3] = float32(math.Inf(1))
	for name, v := range map[string][]float32{
		"zero": make([]float32, testDim), "NaN": nan, "infinite": inf, "empty": {},
		"short": vectorOf("x", testDim-1), "long": vectorOf("x", testDim+1),
	} {
		t.Run(name, func(t *testing.T) {
			err := s.PutVectors(context.Background(), g.ID, []EmbeddedChunk{
				{ID: list[0].ID, Windows: []WindowVector{{Hash: VectorHash{1}, End: 4, Vector: vectorOf("good", testDim)}}},
				{ID: list[1].ID, Windows: []WindowVector{{Hash: VectorHash{2}, End: 4, Vector: v}}},
			})
			if fault.KindOf(err) != fault.Permanent {
				t.Fatalf("error %v", err)
			}
			if n := backlog(t, s); n != 2 {
				t.Fatalf("%d chunks wait, want 2", n)
			}
			sound(t, s)
		})
	}
}

func TestVectorsOfAnyLengthOrderByCosine(t *testing.T) {
	s := open(t)
	kb := ensure(t, s, "notes")
	g := useModel(t, s, "m1")
	put(t, s, kb, doc("a.md", "A", "some text"), doc("b.md", "B", "more text"))
	list, _ := s.PendingChunks(context.Background(), 10)
	q := vectorOf("query", testDim)
	near, far := vectorOf("noise", testDim), vectorOf("noise", testDim)
	for i := range near {
		near[i] = (near[i]*0.2 + q[i]) * 0.01
		far[i] = (far[i] + q[i]) * 700
	}
	for i, v := range [][]float32{far, near} {
		err := s.PutVectors(context.Background(), g.ID, []EmbeddedChunk{{ID: list[i].ID, Windows: []WindowVector{{Hash: VectorHash{byte(i)}, End: 4, Vector: v}}}})
		if err != nil {
			t.Fatal(err)
		}
	}
	res, err := s.Meaning(context.Background(), MeaningQuery{Generation: g.ID, Vector: q, Limit: 2, Also: []int64{list[0].ID, 999}})
	if err != nil || len(res.Hits) != 2 || res.Hits[0].ChunkID != list[1].ID || res.Hits[0].Cosine > 1 || res.Hits[0].Cosine < 0.95 {
		t.Fatalf("%+v %v", res, err)
	}
	if len(res.Also) != 1 || math.Abs(res.Also[list[0].ID].Cosine-res.Hits[1].Cosine) > 1e-9 {
		t.Fatalf("%+v", res.Also)
	}
}

func TestTheOldModelServesUntilTheNewOneIsComplete(t *testing.T) {
	path := filepath.Join(t.TempDir(), "index.db")
	s := open(t, func(o *Options) { o.Path = path })
	kb := ensure(t, s, "notes")
	m1 := useModel(t, s, "m1")
	put(t, s, kb, doc("a.md", "A", "some text here"), doc("b.md", "B", "more text there"))
	embedAll(t, s, m1)
	m2 := useModel(t, s, "m2")
	if m2.Serving || !m2.Target || backlog(t, s) != 2 {
		t.Fatalf("%+v, %d wait", m2, backlog(t, s))
	}
	sound(t, s)
	if id, ready := s.Serving(); id != m1.ID || !ready {
		t.Fatal(id, ready)
	}
	same(t, nearest(t, s, m1, firstHalf("A", "some text here"), Filter{}, 1), "a.md")
	if _, flipped, err := s.Flip(context.Background()); flipped || err != nil {
		t.Fatal(flipped, err)
	}
	if made := embedAll(t, s, m2); made != 4 {
		t.Fatalf("made %d", made)
	}
	if id, _ := s.Serving(); id != m2.ID {
		t.Fatalf("generation %d serves, want %d", id, m2.ID)
	}
	same(t, nearest(t, s, m2, firstHalf("B", "more text there"), Filter{}, 1), "b.md")
	if _, err := s.Meaning(context.Background(), MeaningQuery{Generation: m1.ID, Vector: vectorOf("x", testDim)}); fault.KindOf(err) != fault.Conflict {
		t.Fatalf("a query of the old model: %v", err)
	}
	// Back again: everything is there.
	back := useModel(t, s, "m1")
	if back.ID != m1.ID || !back.Serving || backlog(t, s) != 0 {
		t.Fatalf("%+v, %d wait", back, backlog(t, s))
	}
	same(t, nearest(t, s, m1, firstHalf("A", "some text here"), Filter{}, 1), "a.md")
	// A third model pushes the oldest out.
	embedAll(t, s, useModel(t, s, "m3"))
	rep, err := s.CollectVectors(context.Background())
	if err != nil || rep.Generations != 1 {
		t.Fatalf("%+v %v", rep, err)
	}
	sound(t, s)
	gens, err := s.Generations(context.Background())
	if err != nil || len(gens) != 2 {
		t.Fatalf("%+v %v", gens, err)
	}
	_, err = s.UseModel(context.Background(), VectorModel{Key: "m3", Name: "m3", Dim: testDim * 2})
	if fault.KindOf(err) != fault.Conflict {
		t.Fatalf("another dimension under the same key: %v", err)
	}
}

func TestCodesAreTheSameAfterARestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "index.db")
	s, _, err := Open(context.Background(), Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	kb := ensure(t, s, "notes")
	g := useModel(t, s, "m1")
	var docs []*Indexed
	for i := range 30 {
		docs = append(docs, doc(fmt.Sprintf("%02d.md", i), "T", fmt.Sprintf("text %d\n\nand its second part %d", i, i)))
	}
	put(t, s, kb, docs...)
	embedAll(t, s, g)
	remove(t, s, kb, "03.md", "04.md")
	put(t, s, kb, docs[4])
	embedAll(t, s, g)
	want := nearest(t, s, g, "anything", Filter{}, 50)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, func(o *Options) { o.Path = path })
	if _, ready := s.Serving(); ready {
		t.Fatal("codes are in memory before anybody asked for a model")
	}
	g = useModel(t, s, "m1")
	same(t, nearest(t, s, g, "anything", Filter{}, 50), want...)
	sound(t, s)
}

func TestDroppedTextsGiveTheirVectorsBack(t *testing.T) {
	s := open(t, func(o *Options) { o.Retention = Retention{Revisions: 0, DeletedKept: 0} })
	kb, other := ensure(t, s, "notes"), ensure(t, s, "other")
	g := useModel(t, s, "m1")
	put(t, s, kb, doc("a.md", "A", "shared text of both"), doc("b.md", "B", "only here it is"))
	put(t, s, other, doc("a.md", "A", "shared text of both"))
	if made := embedAll(t, s, g); made != 4 {
		t.Fatalf("%d vectors were made for two different texts", made)
	}
	ctx := context.Background()
	if _, err := s.DeleteKB(ctx, kb.ID, false); err != nil {
		t.Fatal(err)
	}
	rep, err := s.CollectVectors(ctx)
	if err != nil || rep.Vectors != 2 {
		t.Fatalf("%+v %v", rep, err)
	}
	sound(t, s)
	same(t, nearest(t, s, g, firstHalf("A", "shared text of both"), Filter{}, 5), "a.md")
	if _, err := s.DeleteKB(ctx, other.ID, false); err != nil {
		t.Fatal(err)
	}
	if rep, err = s.CollectVectors(ctx); err != nil || rep.Vectors != 2 {
		t.Fatalf("%+v %v", rep, err)
	}
	sound(t, s)
	st, err := s.VectorStatus(ctx)
	if err != nil || st.Chunks != 0 || st.Windows != 0 {
		t.Fatalf("%+v %v", st, err)
	}
}

func TestAFailedTextParksAndIsRetried(t *testing.T) {
	s := open(t)
	kb := ensure(t, s, "notes")
	g := useModel(t, s, "m1")
	put(t, s, kb, doc("a.md", "A", "some text here"))
	ctx := context.Background()
	list, _ := s.PendingChunks(ctx, 1)
	bad := fault.New(fault.Permanent, "too_odd", "the server refuses this text")
	if err := s.PutVectors(ctx, g.ID, []EmbeddedChunk{{ID: list[0].ID, Failed: bad}}); err != nil {
		t.Fatal(err)
	}
	sound(t, s)
	jobs, _, err := s.Jobs(ctx, JobFilter{State: JobFailed})
	if err != nil || len(jobs) != 1 || jobs[0].Stage != "embed" || jobs[0].Code != "too_odd" || jobs[0].Path != "a.md" {
		t.Fatalf("%+v %v", jobs, err)
	}
	st, err := s.VectorStatus(ctx)
	if err != nil || st.Failed != 1 || st.Backlog != 0 {
		t.Fatalf("%+v %v", st, err)
	}
	same(t, found(t, s, query("some")), "a.md")
	if err := s.RetryJob(ctx, jobs[0].ID); err != nil {
		t.Fatal(err)
	}
	sound(t, s)
	if backlog(t, s) != 1 {
		t.Fatal("the chunk does not wait again")
	}
	if made := embedAll(t, s, g); made != 2 {
		t.Fatal(made)
	}
	// Failing again and then being edited: the record goes with the text.
	put(t, s, kb, doc("a.md", "A", "other text there"))
	list, _ = s.PendingChunks(ctx, 1)
	if err := s.PutVectors(ctx, g.ID, []EmbeddedChunk{{ID: list[0].ID, Failed: bad}}); err != nil {
		t.Fatal(err)
	}
	put(t, s, kb, doc("a.md", "A", "a third text"))
	if q, err := s.Queue(ctx, nil); err != nil || q.Failed != 0 {
		t.Fatalf("%+v %v", q, err)
	}
	sound(t, s)
}

func TestAStatementThatFailsLeavesVectorsWhole(t *testing.T) {
	boom := errors.New("boom")
	for n := 1; n < 60; n++ {
		count, armed := 0, false
		s := open(t, func(o *Options) {
			o.Hook = func(string) error {
				if armed {
					if count++; count == n {
						return boom
					}
				}
				return nil
			}
		})
		kb := ensure(t, s, "notes")
		g := useModel(t, s, "m1")
		put(t, s, kb, doc("a.md", "A", "some text here\n\nand there"), doc("b.md", "B", "more text there"))
		list, err := s.PendingChunks(context.Background(), 10)
		if err != nil {
			t.Fatal(err)
		}
		var out []EmbeddedChunk
		for i, c := range list {
			out = append(out, EmbeddedChunk{ID: c.ID, Windows: []WindowVector{{Hash: VectorHash{byte(i)}, End: 3, Vector: vectorOf(c.Content, testDim)}}})
		}
		armed = true
		err = s.PutVectors(context.Background(), g.ID, out)
		if err == nil {
			err = tryPut(s, kb, doc("a.md", "A", "edited"))
		}
		hit := count >= n
		armed = false
		sound(t, s)
		st, e := s.VectorStatus(context.Background())
		if e != nil {
			t.Fatal(e)
		}
		fresh := newCodeSet(0, testDim)
		if g, e := s.serving(context.Background()); e == nil {
			fresh, e = s.loadVectors(context.Background(), g)
			if e != nil {
				t.Fatal(e)
			}
		}
		if int64(fresh.live) != st.Chunks || int64(fresh.windows) != st.Windows {
			t.Fatalf("statement %d failed (%v): %d chunks and %d windows in memory, %d and %d on disk", n, err, st.Chunks, st.Windows, fresh.live, fresh.windows)
		}
		if !hit {
			return // it has been every statement's turn
		}
	}
}

func TestALimitBeyondReasonIsClamped(t *testing.T) {
	s := open(t)
	kb := ensure(t, s, "notes")
	g := useModel(t, s, "m1")
	const n = 2500
	parts := make([]string, n)
	for i := range parts {
		parts[i] = fmt.Sprintf("part %d", i)
	}
	put(t, s, kb, doc("a.md", "A", strings.Join(parts, "\n\n")))
	ctx := context.Background()
	list, err := s.PendingChunks(ctx, n)
	if err != nil || len(list) != n {
		t.Fatalf("%d wait, %v", len(list), err)
	}
	out := make([]EmbeddedChunk, n)
	for i, c := range list {
		out[i] = EmbeddedChunk{ID: c.ID, Windows: []WindowVector{{Hash: VectorHash{byte(i), byte(i >> 8)}, End: 1, Vector: vectorOf(c.Content, testDim)}}}
	}
	if err := s.PutVectors(ctx, g.ID, out); err != nil {
		t.Fatal(err)
	}
	for _, limit := range []int{5000, 1 << 30, maxHits, 0, -7} {
		res, err := s.Meaning(ctx, MeaningQuery{Generation: g.ID, Vector: vectorOf("part 7\n\n", testDim), Limit: limit})
		if err != nil || len(res.Hits) != min(max(limit, 1), maxHits) || res.Hits[0].Cosine < 0.99 {
			t.Errorf("limit %d: %d hits, %v", limit, len(res.Hits), err)
		}
	}
}

func TestAThousandDocumentsWithLongNamesGoWithoutAnError(t *testing.T) {
	s := open(t, func(o *Options) { o.Retention = Retention{DeletedKept: time.Nanosecond} })
	kb := ensure(t, s, "notes")
	g := useModel(t, s, "m1")
	const n = 1000
	docs, paths := make([]*Indexed, n), make([]string, n)
	for i := range docs {
		paths[i] = fmt.Sprintf("%s/%04d.md", strings.Repeat("a folder with quite a long name/", 12), i)
		docs[i] = doc(paths[i], strings.Repeat("a long title ", 40), fmt.Sprintf("text of number %d", i))
		docs[i].Meta.Tags = []string{strings.Repeat("tag", 300)}
	}
	put(t, s, kb, docs...)
	made := embedAll(t, s, g)
	remove(t, s, kb, paths...)
	ctx := context.Background()
	if _, err := s.Prune(ctx); err != nil {
		t.Fatal(err)
	}
	rep, err := s.CollectVectors(ctx)
	if err != nil || rep.Vectors != int64(made) {
		t.Errorf("%+v %v", rep, err)
	}
	sound(t, s)
	if st, err := s.VectorStatus(ctx); err != nil || st.Chunks != 0 || st.Windows != 0 || st.Backlog != 0 {
		t.Errorf("%+v %v", st, err)
	}
}
