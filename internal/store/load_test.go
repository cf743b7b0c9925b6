package store

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ragd/internal/fault"
)

// While one writes without a pause, reads of every kind are answered and
// never see half a change.
func TestReadsGoOnWhileWritesDo(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := open(t)
	kb := ensure(t, s, "a")
	put(t, s, kb, doc("fixed", "F", "fixed point\n\nof two chunks"))
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		g := newCorpusGen(1)
		for n := 0; ; n++ {
			select {
			case <-stop:
				return
			default:
			}
			var docs []*Indexed
			for range 10 {
				docs = append(docs, g.document(8<<10))
			}
			if err := tryPut(s, kb, docs...); err != nil {
				t.Error(err)
				return
			}
			if err := tryPut(s, kb, doc("fixed", "F", fmt.Sprintf("fixed point %d\n\nof two chunks", n%7))); err != nil {
				t.Error(err)
				return
			}
		}
	})
	var slowest atomic.Int64
	for range 3 {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				start := time.Now()
				if _, err := s.KBStats(ctx, nil); err != nil {
					t.Error(err)
				}
				if d := int64(time.Since(start)); d > slowest.Load() {
					slowest.Store(d)
				}
				res, err := s.Lexical(ctx, query("fixed"))
				if err != nil || len(res.Hits) != 1 {
					t.Errorf("%d hits, %v", len(res.Hits), err)
					return
				}
				if d, ok, err := s.Document(ctx, kb.ID, "fixed"); err != nil || !ok || d.Chunks != 2 {
					t.Error(d, err)
				}
			}
		})
	}
	time.Sleep(1500 * time.Millisecond)
	close(stop)
	wg.Wait()
	t.Logf("slowest status: %v", time.Duration(slowest.Load()))
	sound(t, s)
}

func TestManyWritersTakeTurns(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := open(t)
	var kbs []KBInfo
	for i := range 4 {
		kbs = append(kbs, ensure(t, s, fmt.Sprintf("kb%d", i)))
	}
	var wg sync.WaitGroup
	for i, kb := range kbs {
		wg.Go(func() {
			for n := range 20 {
				path := fmt.Sprintf("d%d", n%5)
				if _, err := s.ApplyPlans(ctx, kb.ID, []Plan{index(path, 0, int64(n))}); err != nil {
					t.Error(err)
				}
				jobs, err := s.Claim(ctx, 2)
				if err != nil {
					t.Error(err)
				}
				for _, j := range jobs {
					if err := s.Commit(ctx, []Outcome{{Job: j, Indexed: doc(j.Path, "T", fmt.Sprintf("words %d of %s", n, j.KBName))}}); err != nil {
						t.Error(err)
					}
				}
				if n%7 == i {
					if _, err := s.ApplyPlans(ctx, kb.ID, []Plan{{Path: path, Op: PlanDelete}}); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
	sound(t, s)
}

func TestCancelledReadsAndWritesEndAtOnce(t *testing.T) {
	s := open(t)
	kb := ensure(t, s, "a")
	put(t, s, kb, doc("x", "X", "words"))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := s.Lexical(ctx, query("words")); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if _, err := s.ApplyPlans(ctx, kb.ID, []Plan{index("y", 0, 1)}); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	same(t, found(t, s, query("words")), "x")
	sound(t, s)
}

func TestClosedStoreSaysSo(t *testing.T) {
	s := open(t)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.KBs(context.Background()); fault.KindOf(err) != fault.Unavailable {
		t.Fatal(err)
	}
	if err := s.ProbeWrite(context.Background()); fault.KindOf(err) != fault.Unavailable {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// A large KB goes in batches: searches are answered meanwhile, and the space
// comes back.
func TestLargeKBIsDeletedInBatchesAndGivesItsSpaceBack(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := open(t)
	keep, drop := ensure(t, s, "keep"), ensure(t, s, "drop")
	put(t, s, keep, doc("x", "X", "survivor"))
	load(t, s, drop, 6000, 12<<10)
	if err := s.Maintain(ctx); err != nil {
		t.Fatal(err)
	}
	before := sizeOf(s.opt.Path)
	done := make(chan error, 1)
	start := time.Now()
	go func() {
		_, err := s.DeleteKB(ctx, drop.ID, false)
		done <- err
	}()
	answered := 0
	for running := true; running; {
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			running = false
		default:
			same(t, found(t, s, query("survivor")), "x")
			answered++
		}
	}
	t.Logf("6,000 chunks deleted in %v, %d searches meanwhile", time.Since(start), answered)
	if answered < 2 {
		t.Fatal("no search was answered meanwhile")
	}
	if err := s.Maintain(ctx); err != nil {
		t.Fatal(err)
	}
	if after := sizeOf(s.opt.Path); after > before/5 {
		t.Fatalf("the file has %d bytes of %d", after, before)
	}
	if kbs, err := s.KBs(ctx); err != nil || len(kbs) != 1 {
		t.Fatal(kbs, err)
	}
	sound(t, s)
}

func TestDeleteKBGoesOnWhereItStopped(t *testing.T) {
	t.Parallel()
	s := open(t)
	kb := ensure(t, s, "a")
	load(t, s, kb, 3000, 4<<10)
	ctx, cancel := context.WithCancel(context.Background())
	s.opt.Hook = func(point string) error {
		if point == "COMMIT" {
			cancel()
		}
		return nil
	}
	if _, err := s.DeleteKB(ctx, kb.ID, true); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	s.opt.Hook = nil
	sound(t, s)
	if _, err := s.DeleteKB(context.Background(), kb.ID, true); err != nil {
		t.Fatal(err)
	}
	st, err := s.KBStats(context.Background(), nil)
	if err != nil || len(st) != 1 || st[0].Chunks != 0 || st[0].Documents != 0 {
		t.Fatal(st, err)
	}
	sound(t, s)
}
