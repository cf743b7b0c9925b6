package tui

import (
	"testing"
	"time"

	"ragd/internal/wire"
)

func TestWhoHasJustComeSeesWhatHappenedBefore(t *testing.T) {
	f := richBackend()
	a := liveApp(t, f, 100, 30, nil)
	s := f.status
	perSecond := make([]int, 120)
	perSecond[119], perSecond[110] = 3, 7
	f.events <- wire.Event{Type: "hello", At: clock, Status: &s, History: &wire.History{PerSecond: perSecond, Recent: []wire.Event{
		{Type: "document", At: before(9 * time.Second), Document: &wire.DocEvent{KB: "notes", Path: "earlier.md", What: "indexed", Chunks: 2}},
		{Type: "document", At: before(9 * time.Second)}, // without its value
	}}}
	a.until("the history", func() bool { return len(a.m.sh.world.activity) == 1 })
	a.sees("notes/earlier.md")
	if n, m := a.m.sh.world.spark.at(clock.Unix()), a.m.sh.world.spark.at(clock.Unix()-9); n != 3 || m != 7 {
		t.Errorf("the sparkline has %d and %d", n, m)
	}
}
