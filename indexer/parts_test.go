package indexer

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"ragd/kbroot"
)

func TestHintsOfOnePathAreOneLook(t *testing.T) {
	h := newHintSet()
	p := kbroot.DocPath{KB: "k", Path: "a.md"}
	for range 1000 {
		h.add(kbroot.Change{Kind: kbroot.ChangePath, DocPath: p})
	}
	h.add(kbroot.Change{Kind: kbroot.ChangePath, DocPath: p, Live: true})
	d := h.take()
	if len(d.paths) != 1 || !d.paths[p] {
		t.Errorf("1001 hints about one path gave %v", d.paths)
	}
	if !h.empty() {
		t.Error("taking did not empty the set")
	}
}

func TestTooManyDirtyPathsBecomeDirtyTrees(t *testing.T) {
	h := newHintSet()
	for i := range maxDirtyPaths + 1 {
		h.add(kbroot.Change{Kind: kbroot.ChangePath, DocPath: kbroot.DocPath{KB: "k", Path: fmt.Sprint(i)}})
	}
	d := h.take()
	if _, ok := d.trees[kbroot.DocPath{KB: "k"}]; !ok || len(d.paths) > maxDirtyPaths {
		t.Errorf("%d paths and trees %v are left", len(d.paths), d.trees)
	}
}

func TestBarrierWaitsForQueuedAndRunningScans(t *testing.T) {
	q := newScanQueue()
	q.add(scanItem{root: "r"})
	ack := make(chan struct{})
	q.afterAll(ack)
	if _, _, ok := q.next(time.Now()); !ok {
		t.Fatal("the queued scan is gone")
	}
	select {
	case <-ack:
		t.Fatal("acknowledged while the scan was running")
	default:
	}
	if _, _, ok := q.next(time.Now()); ok {
		t.Fatal("one scan came twice")
	}
	<-ack
}

func TestEqualScansWaitOnce(t *testing.T) {
	q := newScanQueue()
	tree := kbroot.DocPath{KB: "k"}
	q.add(scanItem{tree: tree})
	q.add(scanItem{tree: tree})
	q.add(scanItem{tree: kbroot.DocPath{KB: "k", Path: "sub"}}) // lies in the first
	q.add(scanItem{tree: kbroot.DocPath{KB: "other"}})
	n := 0
	for {
		if _, _, ok := q.next(time.Now()); !ok {
			break
		}
		n++
	}
	if n != 2 {
		t.Errorf("%d scans ran, want 2", n)
	}
}

func TestScanPutOffComesWhenDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newScanQueue()
		q.addLater(scanItem{root: "r"}, time.Now().Add(5*time.Second))
		_, wait, ok := q.next(time.Now())
		if ok || wait != 5*time.Second {
			t.Fatalf("ok %v, wait %v", ok, wait)
		}
		time.Sleep(wait)
		if it, _, ok := q.next(time.Now()); !ok || it.root != "r" {
			t.Error("the scan did not come when it was due")
		}
	})
}

func TestBackoffGrowsAndIsBounded(t *testing.T) {
	for n := 1; n < 40; n++ {
		d := backoff(n)
		if d < backoffFirst*3/4 || d > backoffMax*5/4 {
			t.Errorf("attempt %d waits %v", n, d)
		}
	}
	if backoff(3) < 12*time.Second {
		t.Error("the third wait is no longer than the first")
	}
}

func TestRateIsNotGuessedFromTheFirstSecond(t *testing.T) {
	m := newRateMeter()
	t0 := time.Unix(1_700_000_000, 0)
	m.add(t0, 500)
	if _, sure := m.perSecond(t0); sure {
		t.Error("a rate after less than a second passes for known")
	}
	for i := 1; i <= 9; i++ {
		m.add(t0.Add(time.Duration(i)*time.Second), 500)
	}
	rate, sure := m.perSecond(t0.Add(9 * time.Second))
	if !sure || rate != 500 {
		t.Errorf("rate %v, sure %v; want 500", rate, sure)
	}
	if rate, _ := m.perSecond(t0.Add(10 * time.Minute)); rate != 0 {
		t.Errorf("after ten minutes of rest the rate is %v", rate)
	}
}

func TestSlowSubscriberLosesEventsAndLearnsIt(t *testing.T) {
	b := newBroadcaster()
	s := b.subscribe()
	defer s.Close()
	for range subscriberBuffer + 7 {
		b.send(Event{})
	}
	if n := s.Lost(); n != 7 {
		t.Errorf("lost %d, want 7", n)
	}
}

func TestTitleOfUntitledDocumentIsItsName(t *testing.T) {
	for path, want := range map[string]string{
		"a/report.final.md": "report.final",
		".hidden":           ".hidden",
		"Makefile":          "Makefile",
	} {
		if got := baseTitle(path); got != want {
			t.Errorf("%q: %q, want %q", path, got, want)
		}
	}
}
