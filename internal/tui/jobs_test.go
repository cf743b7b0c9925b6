package tui

import (
	"slices"
	"testing"
	"time"

	"ragd/internal/wire"
)

func TestTheQueueIsShownInTheOrderOfItsTurns(t *testing.T) {
	job := func(id int64, kb string, priority int, age, rest time.Duration) wire.Job {
		j := wire.Job{ID: id, KB: kb, Path: "x", State: "pending", Priority: priority, Modified: before(age)}
		if rest > 0 {
			j.NextTry = clock.Add(rest)
		}
		return j
	}
	rows := queueRows([]wire.Job{
		job(1, "a", 0, time.Hour, 0), job(2, "a", 0, time.Minute, 0), job(3, "b", 0, 48*time.Hour, 0),
		job(4, "a", 10, 90*time.Hour, 0), job(5, "b", 20, 99*time.Hour, 0), job(6, "b", 20, time.Second, time.Hour), job(7, "b", 0, 47*time.Hour, 0),
	})
	byTurns(rows, clock)
	got := make([]int64, len(rows))
	for i, r := range rows {
		got[i] = r.id
	}
	if want := []int64{5, 4, 2, 7, 1, 3, 6}; !slices.Equal(got, want) {
		t.Errorf("the jobs stand in the order %v, not %v", got, want)
	}
}

func TestALongQueueIsNotLoadedAgainAtEveryChange(t *testing.T) {
	f := largeBackend(10, 5_000)
	a := liveApp(t, f, 80, 24, nil)
	a.goTo("2")
	p := a.m.pages[pageQueue].(*queuePage)
	loads := len(f.note("Jobs pending"))
	if loads != 6 {
		t.Errorf("%d pages were asked for", loads)
	}
	p.longest = time.Minute
	for range 5 {
		a.handle(reloadMsg{})
		a.drain()
	}
	if n := len(f.note("Jobs pending")); n != loads || !p.waits {
		t.Errorf("%d more pages were asked for at once", n-loads)
	}
	a.handle(queueDueMsg{})
	a.until("the load that was put off", func() bool { return len(f.note("Jobs pending")) == 2*loads && p.loading == 0 })
}
