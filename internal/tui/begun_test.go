package tui

import (
	"strings"
	"testing"

	"ragd/internal/wire"
)

func TestJobsThatAreClaimedButNotBegunAreShownAsWaiting(t *testing.T) {
	if n := waiting(wire.Queue{Pending: 3, Processing: 384, Begun: 2}); n != 385 {
		t.Errorf("%d wait, not 385", n)
	}
	rows := queueRows([]wire.Job{
		{State: "processing", Stage: "extract", Reason: "new"},
		{State: "processing", Reason: "modified"},
	})
	if !rows[0].busy || rows[0].what != "extract" {
		t.Errorf("begun: %+v", rows[0])
	}
	if rows[1].busy || rows[1].what != "modified" {
		t.Errorf("claimed only: %+v", rows[1])
	}
	f := richBackend()
	a := liveApp(t, f, 80, 24, nil)
	a.m.sh.world.status.Queue = wire.Queue{Processing: 384, Begun: 2}
	for _, page := range []string{"1", "2"} {
		a.goTo(page)
		if got := a.m.View(); !strings.Contains(got, "382 waiting · 2 in work") {
			t.Errorf("page %s:\n%s", page, got)
		}
	}
}
