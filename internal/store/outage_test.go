package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"ragd/internal/fault"
)

func TestFullDiskLosesNothingAndWorkGoesOnAfterIt(t *testing.T) {
	ctx := context.Background()
	s := open(t)
	kb := ensure(t, s, "a")
	put(t, s, kb, doc("x", "X", "there before"))
	full := func(pages int) {
		if err := s.maintenance(ctx, "limit", fmt.Sprintf("PRAGMA max_page_count = %d", pages)); err != nil {
			t.Fatal(err)
		}
	}
	g := newCorpusGen(5)
	big := g.document(2 << 20)
	plan(t, s, kb, Plan{Path: big.Path, Op: PlanIndex, Stat: big.Stat})
	jobs := claim(t, s, 1)
	full(1) // SQLite raises it to what there is already
	err := s.Commit(ctx, []Outcome{{Job: jobs[0], Indexed: big}})
	if f, ok := fault.As(err); !ok || f.Kind != fault.Unavailable || f.Code != "disk_full" {
		t.Fatal(err)
	}
	same(t, found(t, s, query("before")), "x")
	sound(t, s)
	full(1 << 30)
	if err := s.ProbeWrite(ctx); err != nil {
		t.Fatal(err)
	}
	commit(t, s, Outcome{Job: jobs[0], Indexed: big})
	if d := stateOf(t, s, kb, big.Path); d.State != StateIndexed {
		t.Fatalf("%+v", d)
	}
	sound(t, s)
	left, err := filepath.Glob(filepath.Join(filepath.Dir(s.opt.Path), ".probe-*"))
	if err != nil || len(left) > 0 {
		t.Fatal(left, err)
	}
}

func TestDamageMetWhileRunningIsTypedAndMendedAtTheNextStart(t *testing.T) {
	ctx := context.Background()
	path := filled(t)
	s, _ := reopen(t, path)
	if err := s.maintenance(ctx, "tamper", "UPDATE fts_data SET block = zeroblob(50) WHERE id > 10"); err != nil {
		t.Fatal(err)
	}
	_, err := s.Lexical(ctx, query("thing7"))
	if f, ok := fault.As(err); !ok || f.Code != "index_corrupt" {
		t.Fatal(err)
	}
	if _, err := os.Stat(s.damageMark()); err != nil {
		t.Fatal("the damage was not noted", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s, rep := reopen(t, path)
	if rep.Quarantined != "" {
		t.Fatalf("%+v", rep)
	}
	same(t, found(t, s, query("thing7"))[:1], "n07.md")
	if _, err := os.Stat(s.damageMark()); !errors.Is(err, os.ErrNotExist) {
		t.Fatal("the mark is still there", err)
	}
	sound(t, s)
}

func TestCloseWaitsForReadsUnderWay(t *testing.T) {
	s := open(t)
	kb := ensure(t, s, "a")
	put(t, s, kb, doc("x", "X", "some words"))
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for {
				res, err := s.Lexical(context.Background(), query("words"))
				if err == nil && len(res.Hits) == 1 {
					_, err = s.Chunks(context.Background(), []int64{res.Hits[0].ChunkID})
				}
				if err != nil {
					if fault.KindOf(err) != fault.Unavailable {
						t.Error(err)
					}
					return
				}
			}
		})
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	wg.Wait()
	if _, err := os.Stat(s.damageMark()); !errors.Is(err, os.ErrNotExist) {
		t.Fatal("closing counts as damage", err)
	}
}

func TestTheProbeNoticesThatTheFileIsGone(t *testing.T) {
	for name, harm := range map[string]func(path string) error{
		"deleted": os.Remove,
		"replaced": func(path string) error {
			return errors.Join(os.Remove(path), os.WriteFile(path, make([]byte, 8192), 0o600))
		},
		"truncated": func(path string) error { return os.Truncate(path, 384) },
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			put(t, s, ensure(t, s, "kb"), doc("a", "A", "some text"))
			if err := s.Probe(context.Background()); err != nil {
				t.Fatal(err)
			}
			if err := harm(s.opt.Path); err != nil {
				t.Fatal(err)
			}
			if f, ok := fault.As(s.Probe(context.Background())); !ok || f.Kind != fault.Unavailable || f.Hint == "" {
				t.Errorf("%+v", f)
			}
		})
	}
}
