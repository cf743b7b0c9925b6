package store

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ragd/internal/fault"
)

// filled makes a closed index of some documents and returns its path.
func filled(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "index.db")
	s, rep, err := Open(context.Background(), Options{Path: path, Reanalyse: reanalyse})
	if err != nil || !rep.Created || rep.Quarantined != "" {
		t.Fatal(rep, err)
	}
	kb := ensure(t, s, "notes")
	for i := range 40 {
		put(t, s, kb, doc(fmt.Sprintf("n%02d.md", i), fmt.Sprintf("Note %d", i), strings.Repeat(fmt.Sprintf("Words about thing%d and more.\n\n", i), 20)))
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func reopen(t *testing.T, path string) (*Store, OpenReport) {
	t.Helper()
	s, rep, err := Open(context.Background(), Options{Path: path, Reanalyse: reanalyse})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s, rep
}

func TestDamagedFileIsSetAsideAndAFreshIndexMade(t *testing.T) {
	for name, damage := range map[string]func(b []byte) []byte{
		"truncated to 384 bytes":  func(b []byte) []byte { return b[:384] },
		"truncated to 20 bytes":   func(b []byte) []byte { return b[:20] },
		"truncated to half":       func(b []byte) []byte { return b[:len(b)/2/4096*4096] },
		"truncated inside a page": func(b []byte) []byte { return b[:len(b)-1000] },
		"garbage everywhere":      func(b []byte) []byte { return []byte(strings.Repeat("garbage!", len(b)/8)) },
		"garbage in the schema": func(b []byte) []byte {
			copy(b[100:4096], strings.Repeat("\xff\x00garbage", 500))
			return b
		},
		"garbage in every third page": func(b []byte) []byte {
			for p := 2 * 4096; p+4096 <= len(b); p += 3 * 4096 {
				copy(b[p:p+4096], strings.Repeat("\x05garbage", 512))
			}
			return b
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filled(t)
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			b = damage(b)
			if err := os.WriteFile(path, b, 0o600); err != nil {
				t.Fatal(err)
			}
			s, rep := reopen(t, path)
			if rep.Quarantined == "" || !rep.Created {
				t.Fatalf("%+v", rep)
			}
			kept, err := os.ReadFile(rep.Quarantined)
			// SQLite may have touched the header on closing it.
			if head := min(100, len(b)); err != nil || len(kept) != len(b) || string(kept[head:]) != string(b[head:]) {
				t.Fatal("the damaged file was not kept as it was", err)
			}
			kb := ensure(t, s, "notes")
			put(t, s, kb, doc("a.md", "A", "hello"))
			same(t, found(t, s, query("hello")), "a.md")
			sound(t, s)
		})
	}
}

func TestWhatIsNoIndexIsLeftAlone(t *testing.T) {
	dir := t.TempDir()
	sub := filepath.Join(dir, "folder")
	if err := os.Mkdir(sub, 0o700); err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct{ path, code string }{"a folder": {sub, "index_unreadable"}}
	if os.Getuid() != 0 {
		locked := filepath.Join(dir, "locked.db")
		if err := os.WriteFile(locked, []byte("SQLite format 3\x00"), 0); err != nil {
			t.Fatal(err)
		}
		cases["no permission"] = struct{ path, code string }{locked, "index_unreadable"}
	}
	newer := filled(t)
	alter(t, newer, "PRAGMA user_version = 999")
	cases["a newer schema"] = struct{ path, code string }{newer, "index_newer"}
	foreign := filled(t)
	alter(t, foreign, "PRAGMA application_id = 77")
	cases["another program's database"] = struct{ path, code string }{foreign, "index_foreign"}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, _, err := Open(context.Background(), Options{Path: c.path})
			f, ok := fault.As(err)
			if !ok || f.Code != c.code || f.Kind != fault.Permanent {
				t.Fatalf("%v", err)
			}
			if _, err := os.Stat(c.path); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// alter runs statements on a closed index.
func alter(t *testing.T, path string, statements ...string) {
	t.Helper()
	db, err := openWriter(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, st := range statements {
		if _, err := db.Exec(st); err != nil {
			t.Fatal(st, err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestFullTextIndexAloneDamagedIsBuiltAnew(t *testing.T) {
	for name, statements := range map[string][]string{
		"rows missing":         {"DELETE FROM fts WHERE rowid IN (SELECT id FROM chunks LIMIT 10)"},
		"rows too many":        {"INSERT INTO fts (rowid, body) VALUES (999999, 'stray')"},
		"docsize rows missing": {"DELETE FROM fts_docsize WHERE id IN (SELECT id FROM fts_docsize LIMIT 3)"},
		"segments gone":        {"DELETE FROM fts_data WHERE id > 10"},
		"segments overwritten": {"UPDATE fts_data SET block = zeroblob(100) WHERE id > 10"},
	} {
		for _, how := range []string{"at start", "by Repair"} {
			t.Run(name+" "+how, func(t *testing.T) {
				path := filled(t)
				var s *Store
				if how == "at start" {
					alter(t, path, statements...)
					var rep OpenReport
					s, rep = reopen(t, path)
					if rep.Quarantined != "" {
						t.Fatalf("%+v", rep)
					}
				} else {
					s, _ = reopen(t, path)
					if err := s.maintenance(context.Background(), "tamper", statements...); err != nil {
						t.Fatal(err)
					}
					rep, err := s.Check(context.Background(), true)
					if err != nil || len(rep.Problems) == 0 {
						t.Fatal("the damage was not found", rep, err)
					}
					rep, err = s.Repair(context.Background())
					if err != nil || len(rep.Problems) > 0 || len(rep.Repaired) == 0 {
						t.Fatal(rep, err)
					}
				}
				sound(t, s)
				for _, n := range []int{0, 17, 39} {
					if got := found(t, s, query(fmt.Sprintf("thing%d", n))); len(got) != 20 || got[0] != fmt.Sprintf("n%02d.md", n) {
						t.Fatalf("thing%d: %q", n, got)
					}
				}
			})
		}
	}
}

func TestRepairQueuesDocumentsThatHaveLostSomething(t *testing.T) {
	ctx := context.Background()
	for name, statements := range map[string][]string{
		"chunks":    {"DELETE FROM chunks WHERE id IN (SELECT id FROM chunks LIMIT 5)"},
		"texts":     {"DELETE FROM texts WHERE id = (SELECT min(id) FROM texts)"},
		"revisions": {"DELETE FROM revisions WHERE id = (SELECT min(id) FROM revisions)"},
		"contents":  {"DELETE FROM contents WHERE id = (SELECT min(id) FROM contents)"},
		"documents": {"DELETE FROM documents WHERE id = (SELECT min(id) FROM documents)"},
		"counters":  {"UPDATE kbs SET documents = 7, jobs_failed = 3"},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := reopen(t, filled(t))
			if err := s.maintenance(ctx, "tamper", statements...); err != nil {
				t.Fatal(err)
			}
			rep, err := s.Check(ctx, true)
			if err != nil || len(rep.Problems) == 0 {
				t.Fatal("the damage was not found", rep, err)
			}
			if rep, err = s.Repair(ctx); err != nil || len(rep.Problems) > 0 {
				t.Fatal(rep, err)
			}
			q, err := s.Queue(ctx, nil)
			if err != nil {
				t.Fatal(err)
			}
			st, err := s.KBStats(ctx, nil)
			if err != nil {
				t.Fatal(err)
			}
			lost := int64(1)
			if name == "counters" {
				lost = 0
			}
			if queued := lost; name != "documents" && (q.Pending != queued || st[0].Documents != 40-lost) {
				t.Fatalf("%+v %+v", q, st[0])
			}
			same(t, found(t, s, query("thing39"))[:1], "n39.md")
		})
	}
}
