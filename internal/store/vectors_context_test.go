package store

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"ragd/internal/fault"
)

// chunkIDs returns the ids of all active chunks by path and place.
func chunkIDs(t testing.TB, s *Store) map[string]int64 {
	t.Helper()
	out := map[string]int64{}
	err := s.read(context.Background(), "list", func(r *reader) error {
		recs, err := readChunks(r, &textReader{s: s, r: r}, chunkSelect+"1 ORDER BY c.id")
		for _, c := range recs {
			out[fmt.Sprintf("%s#%d", c.Path, c.Index)] = c.ID
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func contexts(t testing.TB, s *Store, model string, ids ...int64) map[int64]string {
	t.Helper()
	got, err := s.ChunkContexts(context.Background(), model, ids)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestSentencesStayWithTheirTextThroughEditsRenamesAndCopies(t *testing.T) {
	s := open(t)
	ctx := context.Background()
	kb := ensure(t, s, "notes")
	put(t, s, kb, doc("a.md", "A", "first part\n\nsecond part"), doc("other.md", "A", "first part\n\nits own end"))
	ids := chunkIDs(t, s)
	if err := s.PutContexts(ctx, "m", map[int64]string{ids["a.md#0"]: "one", ids["a.md#1"]: "two", 1 << 40: "nobody's"}); err != nil {
		t.Fatal(err)
	}
	want := map[int64]string{ids["a.md#0"]: "one", ids["a.md#1"]: "two"}
	if got := contexts(t, s, "m", ids["a.md#0"], ids["a.md#1"], ids["other.md#0"], 1<<40); !maps.Equal(got, want) {
		t.Errorf("%v", got) // the equal chunk of another document has none
	}
	if got := contexts(t, s, "another", ids["a.md#0"]); len(got) != 0 {
		t.Errorf("another model's: %v", got)
	}

	put(t, s, kb, doc("a.md", "A", "first part\n\nsecond part, edited"))
	ids = chunkIDs(t, s)
	if got := contexts(t, s, "m", ids["a.md#0"], ids["a.md#1"]); len(got) != 1 || got[ids["a.md#0"]] != "one" {
		t.Errorf("after an edit: %v", got)
	}
	put(t, s, kb, doc("b.md", "A", "first part\n\nsecond part, edited"))
	ids = chunkIDs(t, s)
	if got := contexts(t, s, "m", ids["b.md#0"]); got[ids["b.md#0"]] != "one" {
		t.Errorf("of a copy: %v", got)
	}
	// What it has taken over is its own, also when it is edited in turn.
	put(t, s, kb, doc("b.md", "A", "first part\n\nwholly new"))
	ids = chunkIDs(t, s)
	if got := contexts(t, s, "m", ids["b.md#0"]); got[ids["b.md#0"]] != "one" {
		t.Errorf("of an edited copy: %v", got)
	}
	sound(t, s)
}

func TestEmbeddingAgainKeepsTheOldVectorsUntilThen(t *testing.T) {
	s := open(t)
	ctx := context.Background()
	kb := ensure(t, s, "notes")
	g := useModel(t, s, "m1")
	var docs []*Indexed
	for i := range 10 {
		docs = append(docs, doc(fmt.Sprintf("%d.md", i), fmt.Sprintf("T%d", i), fmt.Sprintf("the text of document %d", i)))
	}
	put(t, s, kb, docs...)
	embedAll(t, s, g)
	n, err := s.EmbedAgain(ctx, kb.ID, true)
	if err != nil || n != 10 || backlog(t, s) != 10 {
		t.Fatalf("%d wait, %v", n, err)
	}
	if n, err := s.EmbedAgain(ctx, kb.ID, true); err != nil || n != 0 {
		t.Fatalf("again: %d more, %v", n, err)
	}
	sound(t, s)
	same(t, nearest(t, s, g, firstHalf("T3", docs[3].Text), Filter{}, 1), "3.md")
	if made := embedAll(t, s, g); made != 0 {
		t.Errorf("%d vectors were made of texts that had some", made)
	}
	sound(t, s)
	same(t, nearest(t, s, g, firstHalf("T3", docs[3].Text), Filter{}, 1), "3.md")
	if st, err := s.VectorStatus(ctx); err != nil || st.Chunks != 10 || st.Windows != 20 || st.Total != 10 {
		t.Errorf("%+v %v", st, err)
	}

	// With other texts the old vectors go.
	if _, err := s.EmbedAgain(ctx, kb.ID, true); err != nil {
		t.Fatal(err)
	}
	list, err := s.PendingChunks(ctx, 20)
	if err != nil {
		t.Fatal(err)
	}
	var out []EmbeddedChunk
	for i, c := range list {
		e := EmbeddedChunk{ID: c.ID}
		if i > 0 { // the first has no words any more
			e.Windows = []WindowVector{{Hash: VectorHash{99, byte(i)}, End: 4, Vector: vectorOf("new"+c.Content, testDim)}}
		}
		out = append(out, e)
	}
	if err := s.PutVectors(ctx, g.ID, out); err != nil {
		t.Fatal(err)
	}
	sound(t, s)
	rep, err := s.CollectVectors(ctx)
	if err != nil || rep.Vectors != 20 {
		t.Errorf("%+v %v", rep, err)
	}
	if st, err := s.VectorStatus(ctx); err != nil || st.Chunks != 9 || st.Windows != 9 {
		t.Errorf("%+v %v", st, err)
	}
}

func TestVectorsOfAnEarlierModelServeWhileTheNewOneIsUnknown(t *testing.T) {
	path := filepath.Join(t.TempDir(), "index.db")
	s := open(t, func(o *Options) { o.Path = path })
	ctx := context.Background()
	kb := ensure(t, s, "notes")
	g := useModel(t, s, "m1")
	put(t, s, kb, doc("a.md", "A", "some text of a"), doc("b.md", "B", "more text of b"))
	embedAll(t, s, g)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, func(o *Options) { o.Path = path })
	if _, ready := s.Serving(); ready {
		t.Fatal("loaded before it was asked for")
	}
	if err := s.LoadVectors(ctx); err != nil {
		t.Fatal(err)
	}
	same(t, nearest(t, s, g, firstHalf("B", "more text of b"), Filter{}, 1), "b.md")
	// A chunk without vectors in the target goes on being found by those of the serving model.
	g2 := useModel(t, s, "m2")
	list, err := s.PendingChunks(ctx, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.PutVectors(ctx, g2.ID, []EmbeddedChunk{{ID: list[0].ID}}); err != nil {
		t.Fatal(err)
	}
	if got := nearest(t, s, g, "x", Filter{}, 5); len(got) != 2 {
		t.Errorf("%q", got)
	}
}

func TestSurroundingsAreBoundedAndWholeCharacters(t *testing.T) {
	s := open(t)
	ctx := context.Background()
	kb := ensure(t, s, "notes")
	var parts []string
	for i := range 300 {
		parts = append(parts, fmt.Sprintf("Abschnitt %d über Gezeiten und 日本語 %s", i, strings.Repeat("ü", 200)))
	}
	put(t, s, kb, doc("long.md", "L", strings.Join(parts, "\n\n")), doc("short.md", "S", "only this"))
	ids := chunkIDs(t, s)
	for _, at := range []int{0, 1, 150, 299} {
		got, err := s.Surroundings(ctx, ids[fmt.Sprintf("long.md#%d", at)], 4000)
		if err != nil || len(got) > 4010 || !utf8.ValidString(got) || !strings.HasPrefix(got, "Abschnitt 0 ") {
			t.Errorf("chunk %d: %d bytes, %v", at, len(got), err)
		}
		if !strings.Contains(got, fmt.Sprintf("Abschnitt %d ", at)) {
			t.Errorf("chunk %d does not stand in what surrounds it", at)
		}
	}
	if got, err := s.Surroundings(ctx, ids["short.md#0"], 4000); err != nil || strings.TrimSpace(got) != "only this" {
		t.Errorf("%q %v", got, err)
	}
	if got, err := s.Surroundings(ctx, 1<<40, 4000); err != nil || got != "" {
		t.Errorf("%q %v", got, err)
	}
}

func TestWhatOneModelCouldNotEmbedIsNoFailureOfTheNext(t *testing.T) {
	s := open(t)
	ctx := context.Background()
	kb := ensure(t, s, "notes")
	fail := func(g VectorGeneration) {
		t.Helper()
		list, err := s.PendingChunks(ctx, 10)
		if err != nil || len(list) != 1 {
			t.Fatalf("%d wait, %v", len(list), err)
		}
		err = s.PutVectors(ctx, g.ID, []EmbeddedChunk{{ID: list[0].ID, Failed: fault.New(fault.Permanent, "refused", "no")}})
		if err != nil {
			t.Fatal(err)
		}
	}
	failed := func(want int64) {
		t.Helper()
		sound(t, s)
		q, err := s.Queue(ctx, nil)
		if err != nil || q.Failed != want {
			t.Fatalf("%+v %v, want %d failed", q, err, want)
		}
	}
	g := useModel(t, s, "m1")
	put(t, s, kb, doc("a.md", "A", "a text"))
	fail(g)
	failed(1)
	g2 := useModel(t, s, "m2")
	failed(0)
	embedAll(t, s, g2)
	failed(0)
	g = useModel(t, s, "m1")
	if n := backlog(t, s); n != 1 {
		t.Errorf("%d wait after going back", n)
	}
	fail(g)
	failed(1)
	if n, err := s.EmbedAgain(ctx, kb.ID, false); err != nil || n != 1 || backlog(t, s) != 1 {
		t.Errorf("%d failed ones wait, %v", n, err)
	}
	failed(0)
	embedAll(t, s, g)
	failed(0)
}
