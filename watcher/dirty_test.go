package watcher

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"ragd/kbroot"
)

func pathKey(kb, path string) key {
	return key{kind: kbroot.ChangePath, root: "r", doc: kbroot.DocPath{KB: kb, Path: path}}
}

// drainDue sends everything that becomes due, as the loop would, until the
// set is empty; it returns when each key was sent, relative to start.
func drainDue(s *dirtySet, start time.Time) map[key]time.Duration {
	sent := map[key]time.Duration{}
	for {
		e, wait := s.next(time.Now())
		if e != nil {
			s.drop(e)
			sent[e.key] = time.Since(start)
			continue
		}
		if wait < 0 {
			return sent
		}
		time.Sleep(wait)
	}
}

func TestHintIsSentAfterTheQuietDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newDirtySet(100*time.Millisecond, 2*time.Second, 100)
		start := time.Now()
		s.add(pathKey("k", "a"), true, time.Now())
		time.Sleep(60 * time.Millisecond)
		s.add(pathKey("k", "a"), true, time.Now())
		s.add(pathKey("k", "b"), true, time.Now())
		sent := drainDue(s, start)
		if len(sent) != 2 || sent[pathKey("k", "a")] != 160*time.Millisecond || sent[pathKey("k", "b")] != 160*time.Millisecond {
			t.Errorf("sent %v", sent)
		}
	})
}

func TestConstantWritesAreSentWithinTheMaxDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newDirtySet(100*time.Millisecond, 2*time.Second, 100)
		var times []time.Duration
		start := time.Now()
		for time.Since(start) < 60*time.Second {
			s.add(pathKey("k", "log"), true, time.Now())
			for step := 0; step < 10; step++ {
				time.Sleep(5 * time.Millisecond)
				if e, _ := s.next(time.Now()); e != nil {
					s.drop(e)
					times = append(times, time.Since(start))
				}
			}
		}
		last := time.Duration(0)
		for _, at := range times {
			if at-last > 2*time.Second+60*time.Millisecond {
				t.Errorf("nothing was sent between %v and %v", last, at)
			}
			last = at
		}
		if len(times) < 28 || len(times) > 31 {
			t.Errorf("%d hints in a minute of constant writes", len(times))
		}
	})
}

func TestFlushSendsAllThatWaitsAndNothingLater(t *testing.T) {
	s := newDirtySet(time.Second, time.Minute, 100)
	now := time.Now()
	s.add(pathKey("k", "a"), true, now)
	s.add(pathKey("k", "b"), true, now)
	s.flush()
	s.add(pathKey("k", "c"), true, now)
	s.add(pathKey("k", "a"), true, now) // does not push a flushed hint back
	for range 2 {
		e, _ := s.next(now)
		if e == nil || e.doc.Path == "c" {
			t.Fatalf("next is %+v", e)
		}
		s.drop(e)
	}
	if s.flushed != 0 {
		t.Errorf("%d flushed hints are left", s.flushed)
	}
	if e, wait := s.next(now); e != nil || wait != time.Second {
		t.Errorf("c is due: %+v, wait %v", e, wait)
	}
}

func TestManyPathsCollapseAndNoneIsForgotten(t *testing.T) {
	for name, kbs := range map[string]int{"one KB": 1, "few KBs": 8, "many KBs": 400} {
		t.Run(name, func(t *testing.T) {
			const limit = 512
			s := newDirtySet(time.Second, time.Minute, limit)
			now := time.Now()
			rnd := rand.New(rand.NewPCG(1, 2))
			var all []key
			for i := range 20000 {
				k := pathKey(fmt.Sprintf("k%d", rnd.IntN(kbs)), fmt.Sprintf("f%d", i))
				all = append(all, k)
				s.add(k, true, now)
				if i == 5000 {
					s.flush()
				}
				if len(s.entries) > limit+1 || len(s.entries) != len(s.queue) {
					t.Fatalf("%d entries, %d queued", len(s.entries), len(s.queue))
				}
			}
			flushed := 0
			for _, e := range s.entries {
				if e.flush {
					flushed++
				}
			}
			if flushed != s.flushed || flushed == 0 {
				t.Errorf("%d entries are flushed, counted %d", flushed, s.flushed)
			}
			for _, k := range all {
				if s.entries[k] == nil && s.entries[wholeKB(k)] == nil && s.entries[key{kind: kbroot.ChangeRoot, root: "r"}] == nil {
					t.Fatalf("%v is forgotten", k)
				}
			}
		})
	}
}
