package tui

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"ragd/internal/wire"
)

// largeBackend has n documents in one KB and jobs in the queue.
func largeBackend(n, jobs int) *fakeBackend {
	f := richBackend()
	f.kbs[1].Documents = int64(n)
	f.docs["notes"] = nil
	for i := range n {
		status := "indexed"
		if i%997 == 0 {
			status = "failed"
		}
		f.docs["notes"] = append(f.docs["notes"], wire.Document{Path: fmt.Sprintf("section-%03d/part-%02d/document-%06d.md", i/500, i/50%10, i), Status: status, Chunks: 7, Bytes: 12_345})
	}
	f.jobs["pending"] = nil
	for i := range jobs {
		f.jobs["pending"] = append(f.jobs["pending"], wire.Job{ID: int64(i + 1), KB: "notes", Path: fmt.Sprintf("section/document-%06d.md", i), State: "pending", Reason: "new", Created: before(time.Minute)})
	}
	return f
}

func largeApp(t testing.TB, docs, jobs int) *app {
	t.Helper()
	f := largeBackend(docs, jobs)
	a := liveApp(t, f, 120, 40, nil)
	a.goTo("5")
	a.press("j", "enter")
	a.until("the listing", a.m.settled)
	a.m.View()
	return a
}

func TestAHundredThousandDocumentsAreListedSearchedAndFolded(t *testing.T) {
	const n = 100_000
	a := largeApp(t, n, 10_000)
	p := a.m.pages[pageDocuments].(*documentsPage)
	s := p.set("notes")
	if len(s.rows) != n {
		t.Fatalf("%d documents are listed", len(s.rows))
	}
	a.sees("section-000/", "500")
	a.press("j", "l", "j", "l", "j")
	a.sees("document-000000.md")
	a.press("/")
	a.typed("099999")
	a.sees("document-099999.md")
	a.press("esc", "s")
	a.sees("document-000997.md")
	a.seesNot("document-000998.md")
	a.goTo("2")
	q := a.m.pages[pageQueue].(*queuePage)
	if len(q.rows) != 10_002 {
		t.Errorf("%d jobs are listed", len(q.rows))
	}
	a.press("G")
	a.sees("document-009999.md")
}

func TestAFrameCostsWhatIsOnTheScreenAndNotWhatIsInTheList(t *testing.T) {
	cost := func(docs, jobs int, page string) float64 {
		a := largeApp(t, docs, jobs)
		a.goTo(page)
		return testing.AllocsPerRun(20, func() {
			a.m.key(keyMsg("j"))
			a.m.View()
		})
	}
	for _, page := range []string{"2", "5"} {
		small, large := cost(20_000, 300, page), cost(60_000, 9_000, page)
		if large > 2*small+100 {
			t.Errorf("page %s: a frame takes %.0f allocations with a long list, %.0f with a short one", page, large, small)
		}
	}
}

func TestChangesAreFollowedWithoutLoadingTheListAgain(t *testing.T) {
	a := largeApp(t, 5_000, 10)
	f, p := a.back, a.m.pages[pageDocuments].(*documentsPage)
	loads := len(f.note("Documents notes"))
	for _, ev := range []wire.DocEvent{
		{KB: "notes", Path: "section-000/part-00/document-000001.md", What: "deleted"},
		{KB: "notes", Path: "aaa-first.md", What: "indexed", Chunks: 3},
		{KB: "notes", Path: "section-000/part-00/document-000002.md", What: "failed", Message: "no"},
		{KB: "notes", Path: "zzz-last.md", What: "queued"},
	} {
		f.events <- wire.Event{Type: "document", At: clock, Document: &ev}
	}
	a.until("the events", func() bool { return len(a.m.sh.world.activity) == 3 && len(p.set("notes").rows) == 5_001 })
	s := p.set("notes")
	if len(s.rows) != 5_001 {
		t.Errorf("%d documents are listed", len(s.rows))
	}
	if i, ok := s.find("aaa-first.md"); !ok || i != 0 || s.rows[0].chunks != 3 {
		t.Errorf("the new document is not the first")
	}
	if i, ok := s.find("section-000/part-00/document-000002.md"); !ok || s.rows[i].status != docFailed {
		t.Errorf("the failed document is not failed")
	}
	if n := len(f.note("Documents notes")); n != loads {
		t.Errorf("the listing was loaded %d times more", n-loads)
	}
}

func TestAFloodOfEventsIsDrawnInBatches(t *testing.T) {
	f := richBackend()
	a := liveApp(t, f, 80, 24, nil)
	const n = 4_000
	for i := range n {
		f.events <- wire.Event{Type: "document", At: clock, Document: &wire.DocEvent{KB: "notes", Path: fmt.Sprintf("%d.md", i), What: "indexed"}}
	}
	updates := 0
	a.until("the flood", func() bool {
		updates++
		return a.m.sh.world.spark.at(clock.Unix()) == n
	})
	if updates > 100 {
		t.Errorf("%d updates for %d events", updates, n)
	}
	if len(a.m.sh.world.activity) > 2*maxActivity {
		t.Errorf("%d lines of activity are kept", len(a.m.sh.world.activity))
	}
}

func BenchmarkKeyToFrame(b *testing.B) {
	for _, page := range []struct {
		name string
		keys []string
	}{
		{"1", []string{"j", "k"}}, {"2", []string{"j", "ctrl+d", "G", "g"}}, {"3", []string{"j", "k"}}, {"5", []string{"j", "ctrl+d", "G", "l", "g"}}, {"6", []string{"k", "j"}},
	} {
		b.Run("page"+page.name, func(b *testing.B) {
			a := largeApp(b, 100_000, 10_000)
			a.goTo(page.name)
			var took []time.Duration
			for i := 0; b.Loop(); i++ {
				began := time.Now()
				a.m.Update(keyMsg(page.keys[i%len(page.keys)]))
				a.m.View()
				took = append(took, time.Since(began))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1000, "p95-ms")
		})
	}
	b.Run("filter", func(b *testing.B) {
		a := largeApp(b, 100_000, 10_000)
		a.press("/")
		keys := []string{"d", "o", "c", "backspace", "backspace", "backspace"}
		var took []time.Duration
		for i := 0; b.Loop(); i++ {
			began := time.Now()
			a.m.Update(keyMsg(keys[i%len(keys)]))
			a.m.View()
			took = append(took, time.Since(began))
		}
		slices.Sort(took)
		b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1000, "p95-ms")
	})
}

func TestAHundredThousandDocumentsTakeLittleMemory(t *testing.T) {
	var before, after runtime.MemStats
	s := &docSet{name: "notes"}
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range 100 {
		page := make([]wire.Document, 1000)
		for j := range page {
			page[j] = wire.Document{Path: fmt.Sprintf("section-%03d/part/document-%06d.md", i, j), Status: "indexed"}
		}
		s.take(page)
	}
	s.finish()
	runtime.GC()
	runtime.ReadMemStats(&after)
	if n := (after.HeapAlloc - before.HeapAlloc) >> 20; n > 24 {
		t.Errorf("the listing takes %d MiB", n)
	}
	runtime.KeepAlive(s)
}
