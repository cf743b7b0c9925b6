package store

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"testing"
	"time"
)

func listed(t testing.TB, s *Store, kb KBInfo, prefix string, deprecated bool, limit int) ([]string, int64) {
	t.Helper()
	entries, total, err := s.ListChunks(context.Background(), kb.ID, prefix, deprecated, limit)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, fmt.Sprintf("%s %d/%d", e.Path, e.Active, e.Chunks))
	}
	return out, total
}

func TestAPrefixIsLiteralAndCaseSensitive(t *testing.T) {
	s := open(t)
	kb, other := ensure(t, s, "notes"), ensure(t, s, "other")
	put(t, s, kb, doc("a%b/x.md", "X", "one"), doc("aXb/y.md", "Y", "two"), doc("a_b.md", "Z", "three\n\nfour"),
		doc("A.md", "A", "five"), doc("caf\xe9/n.md", "N", "six"), doc("\xff\xff", "F", "seven"), doc("empty.md", "E", ""))
	put(t, s, other, doc("a%b/x.md", "X", "one"))
	for _, c := range []struct {
		prefix string
		want   []string
	}{
		{"", []string{"A.md 1/1", "a%b/x.md 1/1", "aXb/y.md 1/1", "a_b.md 2/2", "caf\xe9/n.md 1/1", "\xff\xff 1/1"}},
		{"a%", []string{"a%b/x.md 1/1"}},
		{"a_", []string{"a_b.md 2/2"}},
		{"a", []string{"a%b/x.md 1/1", "aXb/y.md 1/1", "a_b.md 2/2"}},
		{"A", []string{"A.md 1/1"}},
		{"caf\xe9", []string{"caf\xe9/n.md 1/1"}},
		{"\xff", []string{"\xff\xff 1/1"}},
		{"nothing", nil},
	} {
		got, total := listed(t, s, kb, c.prefix, false, 100)
		same(t, got, c.want...)
		if total != int64(len(c.want)) {
			t.Errorf("%q: total %d", c.prefix, total)
		}
	}
	got, total := listed(t, s, kb, "", false, 2)
	same(t, got, "A.md 1/1", "a%b/x.md 1/1")
	if total != 6 {
		t.Error(total)
	}
	if got, total := listed(t, s, kb, "", false, 0); got != nil || total != 6 {
		t.Error(got, total)
	}
}

func TestRetainedChunksAreCountedOnlyWhenAskedFor(t *testing.T) {
	s := open(t, func(o *Options) { o.Retention = Retention{Revisions: 10, DeletedKept: 24 * time.Hour} })
	kb := ensure(t, s, "notes")
	put(t, s, kb, doc("a.md", "A", "one\n\ntwo"), doc("gone.md", "G", "three"))
	put(t, s, kb, doc("a.md", "A", "one\n\ntwo\n\nthree"))
	remove(t, s, kb, "gone.md")
	got, total := listed(t, s, kb, "", false, 100)
	same(t, got, "a.md 3/5")
	if total != 1 {
		t.Error(total)
	}
	got, total = listed(t, s, kb, "", true, 100)
	same(t, got, "a.md 3/5", "gone.md 0/1")
	if total != 2 {
		t.Error(total)
	}
}

func TestTheHashFollowsTheTextAlone(t *testing.T) {
	s := open(t)
	kb := ensure(t, s, "notes")
	hash := func() [32]byte {
		entries, _, err := s.ListChunks(context.Background(), kb.ID, "a.md", false, 1)
		if err != nil || len(entries) != 1 || entries[0].LastSynced.IsZero() {
			t.Fatal(entries, err)
		}
		return entries[0].Hash
	}
	put(t, s, kb, doc("a.md", "A", "one\n\ntwo"))
	first := hash()
	h1, h2 := sha256.Sum256([]byte("one\n\n")), sha256.Sum256([]byte("two"))
	if want := sha256.Sum256(append(h1[:], h2[:]...)); first != want {
		t.Errorf("%x, want %x", first, want)
	}
	put(t, s, kb, doc("a.md", "A", "one\n\ntwo!"))
	if hash() == first {
		t.Error("one more character, same hash")
	}
	put(t, s, kb, doc("a.md", "A", "one\n\ntwo"))
	if hash() != first {
		t.Error("the same text again, another hash")
	}
}

func TestDocumentsAreFoundByPatternTypeAndStatus(t *testing.T) {
	s := open(t)
	kb := ensure(t, s, "notes")
	typed := func(path, typ, status string) *Indexed {
		d := doc(path, "T", "text of "+path)
		d.Meta.Type, d.Meta.Status = typ, status
		d.Meta.Tags = []string{"x"}
		return d
	}
	put(t, s, kb, typed("a/b/deep.md", "note", "published"), typed("a/plan.md", "adr", "closed"), typed("B[1].md", "note", "published"), typed("z.txt", "odd type", "published"))
	put(t, s, ensure(t, s, "other"), typed("a/other.md", "adr", "closed"))
	remove(t, s, kb, "z.txt")
	for _, c := range []struct {
		f    DocFilter
		want []string
	}{
		{DocFilter{}, []string{"B[1].md", "a/b/deep.md", "a/plan.md"}},
		{DocFilter{Glob: "*.md"}, []string{"B[1].md", "a/b/deep.md", "a/plan.md"}},
		{DocFilter{Glob: "a/*"}, []string{"a/b/deep.md", "a/plan.md"}},
		{DocFilter{Glob: "[AB]*"}, []string{"B[1].md"}},
		{DocFilter{Glob: "b*"}, nil},
		{DocFilter{Glob: "a/plan.md"}, []string{"a/plan.md"}},
		{DocFilter{Glob: "*"}, []string{"B[1].md", "a/b/deep.md", "a/plan.md"}},
		{DocFilter{Glob: "["}, nil},
		{DocFilter{Type: "adr"}, []string{"a/plan.md"}},
		{DocFilter{Type: "note", Status: "published"}, []string{"B[1].md", "a/b/deep.md"}},
		{DocFilter{Status: "nonsense"}, nil},
	} {
		docs, err := s.FindDocs(context.Background(), kb.ID, c.f, 10)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, d := range docs {
			got = append(got, d.Path)
			if len(d.Meta.Tags) != 1 {
				t.Errorf("%+v", d)
			}
		}
		same(t, got, c.want...)
	}
}

// manyDocs fills a KB with n documents of one chunk without indexing text.
func manyDocs(t testing.TB, s *Store, kb KBInfo, n int) {
	t.Helper()
	meta, err := metaJSON(DocMeta{Type: "note", Status: "published", Tags: []string{"x"}, ArtifactID: "id"})
	if err != nil {
		t.Fatal(err)
	}
	err = s.write(context.Background(), "fill", func(w *wtx) error {
		hash := make([]byte, 32)
		content, err := w.insert(`INSERT INTO contents (hash, hash_head, skey_id, variant, digest, format, media_type, meta, chars, bytes, parts)
			VALUES (?, 0, 0, 0, ?, 'md', 'text/markdown', ?, 1, 1, 0)`, hash, hash, string(meta))
		if err != nil {
			return err
		}
		for i := range n {
			path := fmt.Sprintf("area-%03d/topic-%02d/a document with a name %06d.md", i%200, i%17, i)
			id, err := w.insert(`INSERT INTO documents (kb_id, path, state, size, mtime_ns, ctime_ns, inode, hash, skey_id, type, status, chunks, chunks_hash, bytes, indexed_ms)
				VALUES (?, ?, 1, 1000, 1700000000000000000, 1700000000000000000, ?, ?, 1, 'note', 'published', 1, ?, 1000, ?)`, kb.ID, path, i, hash, hash, w.now)
			if err != nil {
				return err
			}
			rev, err := w.insert(`INSERT INTO revisions (uid, document_id, content_id, title, first_seq, chunks, terms, created_ms) VALUES (?, ?, ?, 'A title', ?, 1, 10, ?)`,
				hash[:16], id, content, i+1, w.now)
			if err != nil {
				return err
			}
			if err := w.run("UPDATE documents SET revision_id = ? WHERE id = ?", rev, id); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestListingsAreFastAmongManyDocuments holds the shape of the queries, with
// room for slow machines; the figure for this many is 50 ms.
func TestListingsAreFastAmongManyDocuments(t *testing.T) {
	if testing.Short() {
		t.Skip("fills 100,000 documents")
	}
	s := open(t)
	kb := ensure(t, s, "notes")
	manyDocs(t, s, kb, 100_000)
	ctx := context.Background()
	chunks := func(prefix string, deprecated bool, limit int) func() error {
		return func() error {
			entries, total, err := s.ListChunks(ctx, kb.ID, prefix, deprecated, limit)
			if err == nil && (len(entries) == 0 || total == 0) {
				return fmt.Errorf("%d of %d entries", len(entries), total)
			}
			return err
		}
	}
	find := func(f DocFilter) func() error {
		return func() error { _, err := s.FindDocs(ctx, kb.ID, f, 501); return err }
	}
	for name, run := range map[string]func() error{
		"list_chunks all":             chunks("", false, 1000),
		"list_chunks prefix":          chunks("area-007/", false, 100),
		"list_chunks deprecated":      chunks("", true, 100),
		"find_docs list":              find(DocFilter{}),
		"find_docs glob of all":       find(DocFilter{Glob: "*.md"}),
		"find_docs glob of none":      find(DocFilter{Glob: "*no such*"}),
		"find_docs type of none":      find(DocFilter{Type: "adr"}),
		"find_docs status of none":    find(DocFilter{Status: "closed"}),
		"find_docs type and none glo": find(DocFilter{Glob: "*9[a-z]*", Type: "note"}),
	} {
		var took []time.Duration
		for range 7 {
			start := time.Now()
			if err := run(); err != nil {
				t.Fatal(name, err)
			}
			took = append(took, time.Since(start))
		}
		slices.Sort(took)
		t.Logf("%-30s median %v, worst %v", name, took[3], took[6])
		if took[3] > 500*time.Millisecond {
			t.Errorf("%s took %v", name, took[3])
		}
	}
}
