package store

import (
	"context"
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"ragd/internal/chunk"
)

func TestMain(m *testing.M) {
	if crashChild() {
		return
	}
	goleak.VerifyTestMain(m)
}

// open makes a store in a folder of its own.
func open(t testing.TB, change ...func(*Options)) *Store {
	t.Helper()
	o := Options{Path: filepath.Join(t.TempDir(), "index.db"), Reanalyse: reanalyse}
	for _, c := range change {
		c(&o)
	}
	s, _, err := Open(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func ensure(t testing.TB, s *Store, name string) KBInfo {
	t.Helper()
	kb, err := s.EnsureKB(context.Background(), name, "root", "/root/"+name, false)
	if err != nil {
		t.Fatal(err)
	}
	return kb
}

// terms is the analysis of these tests: lower case words.
func terms(s string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return !(r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r > 127)
	}), " ")
}

func reanalyse(_, title string, headings []string, content string) (string, string, string) {
	return terms(title), terms(strings.Join(headings, " ")), terms(content)
}

const testKey = "text/1 chunk/1 analysis/1"

// doc makes an Indexed whose chunks are the paragraphs of text.
func doc(path, title, text string) *Indexed {
	in := &Indexed{
		Path: path, Hash: sha256.Sum256([]byte(title + "\x00" + text)), Key: testKey, Text: text, Format: "text", MediaType: "text/plain",
		Stat: Stat{Size: int64(len(text)), MTimeNS: int64(len(text))*7 + 1, CTimeNS: 2, Inode: 3},
		Meta: DocMeta{Title: title, Type: "note", Status: "published"},
	}
	at, chars, line := 0, 0, 1
	for i, p := range strings.SplitAfter(text, "\n\n") {
		if p == "" {
			continue
		}
		n, lines := len([]rune(p)), strings.Count(p, "\n")
		c := chunk.Chunk{
			Index: i, Start: at, End: at + len(p), CharStart: chars, CharEnd: chars + n,
			SourceStart: int64(at), SourceEnd: int64(at + len(p)), SourceCharS: int64(chars), SourceCharEnd: int64(chars + n),
			FirstLine: line, LastLine: line + max(lines-1, 0),
			Headings: []string{"Part", fmt.Sprintf("Section %d", i)},
		}
		at, chars, line = at+len(p), chars+n, line+lines
		ci := ChunkInput{Chunk: c, Hash: sha256.Sum256([]byte(p))}
		ci.TitleTerms, ci.HeadingTerms, ci.BodyTerms = reanalyse(path, title, c.Headings, p)
		in.Chunks = append(in.Chunks, ci)
	}
	return in
}

// put indexes documents the way the indexer does: plan, claim, commit.
func put(t testing.TB, s *Store, kb KBInfo, docs ...*Indexed) {
	t.Helper()
	if err := tryPut(s, kb, docs...); err != nil {
		t.Fatal(err)
	}
}

func tryPut(s *Store, kb KBInfo, docs ...*Indexed) error {
	ctx := context.Background()
	byPath := map[string]*Indexed{}
	var plans []Plan
	for _, d := range docs {
		byPath[d.Path] = d
		plans = append(plans, Plan{Path: d.Path, Op: PlanIndex, Reason: ReasonNew, Stat: d.Stat})
	}
	if _, err := s.ApplyPlans(ctx, kb.ID, plans); err != nil {
		return err
	}
	jobs, err := s.Claim(ctx, len(docs))
	if err != nil {
		return err
	}
	var outcomes []Outcome
	for _, j := range jobs {
		if d := byPath[j.Path]; d != nil && j.KB == kb.ID {
			outcomes = append(outcomes, Outcome{Job: j, Indexed: d})
		} else {
			outcomes = append(outcomes, Outcome{Job: j, Released: true})
		}
	}
	return s.Commit(ctx, outcomes)
}

func remove(t testing.TB, s *Store, kb KBInfo, paths ...string) {
	t.Helper()
	var plans []Plan
	for _, p := range paths {
		plans = append(plans, Plan{Path: p, Op: PlanDelete})
	}
	if _, err := s.ApplyPlans(context.Background(), kb.ID, plans); err != nil {
		t.Fatal(err)
	}
}

// query makes a clause of each word.
func query(words string) LexicalQuery {
	q := LexicalQuery{Limit: 50}
	for w := range strings.FieldsSeq(words) {
		q.Clauses = append(q.Clauses, Clause{Any: []Phrase{{Terms: []string{w}}}})
	}
	return q
}

// found returns the paths of the hits, best first.
func found(t testing.TB, s *Store, q LexicalQuery) []string {
	t.Helper()
	res, err := s.Lexical(context.Background(), q)
	if err != nil {
		t.Fatal(err)
	}
	ids := make([]int64, len(res.Hits))
	for i, h := range res.Hits {
		ids[i] = h.ChunkID
	}
	recs, err := s.Chunks(context.Background(), ids)
	if err != nil {
		t.Fatal(err)
	}
	if len(recs) != len(ids) {
		t.Fatalf("%d hits, %d chunks", len(ids), len(recs))
	}
	out := []string{}
	for i, r := range recs {
		if r.ID != ids[i] || r.DocumentID != res.Hits[i].DocumentID {
			t.Fatalf("chunk %d of document %d for hit %+v", r.ID, r.DocumentID, res.Hits[i])
		}
		out = append(out, r.Path)
	}
	return out
}

func same(t testing.TB, got []string, want ...string) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Fatalf("got %q, want %q", got, want)
	}
}

// sound checks the invariants.
func sound(t testing.TB, s *Store) {
	t.Helper()
	rep, err := s.Check(context.Background(), true)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range rep.Problems {
		t.Errorf("%s: %s", p.Code, p.Detail)
	}
}

func TestIndexedTextIsFoundAndReadBack(t *testing.T) {
	s := open(t)
	kb := ensure(t, s, "notes")
	text := "The quick brown fox.\n\nÜber das Wasser — two.\n\nA third part about wombats."
	put(t, s, kb, doc("a.md", "Animals", text), doc("b.md", "Other", "Nothing of note."))
	same(t, found(t, s, query("wombats")), "a.md")
	same(t, found(t, s, query("animals")), "a.md", "a.md", "a.md")
	same(t, found(t, s, query("absent")))
	ctx := context.Background()
	res, err := s.Lexical(ctx, query("wasser"))
	if err != nil || len(res.Hits) != 1 {
		t.Fatal(res, err)
	}
	recs, err := s.Chunks(ctx, []int64{res.Hits[0].ChunkID, 12345})
	if err != nil || len(recs) != 1 {
		t.Fatal(recs, err)
	}
	r := recs[0]
	if r.Content != "Über das Wasser — two.\n\n" || r.Index != 1 || r.FirstLine != 3 || r.KB != "notes" ||
		r.Title != "Animals" || len(r.Headings) != 2 || r.CharStart != 22 {
		t.Fatalf("%+v", r)
	}
	rev, ok, err := s.Revision(ctx, kb.ID, "a.md", "")
	if err != nil || !ok || !rev.Current || rev.UID != r.RevisionID {
		t.Fatal(rev, ok, err)
	}
	got, total, err := s.ReadText(ctx, rev.ID, 22, 4)
	if err != nil || got != "Über" || total != len([]rune(text)) {
		t.Fatal(got, total, err)
	}
	st, err := s.KBStats(ctx, nil)
	if err != nil || st[0].Documents != 2 || st[0].Chunks != 4 || st[0].Pending != 0 || st[0].LastIndexed.IsZero() {
		t.Fatalf("%+v %v", st, err)
	}
}
