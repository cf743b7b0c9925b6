package tui

import (
	"strings"
	"testing"

	"ragd/internal/wire"
)

func TestTheEmbeddersLineSaysWhatItDoes(t *testing.T) {
	p := newOverview(liveApp(t, richBackend(), 120, 40, nil).m.sh).(*overview)
	for _, c := range []struct {
		e    wire.Embedder
		want string
	}{
		{wire.Embedder{State: "off"}, "off: search is by keyword"},
		{wire.Embedder{State: "ready", Model: "m", Dimension: 8}, "m (8) · nothing waits"},
		{wire.Embedder{State: "ready", Model: "new", Serving: "old", Backlog: 50, Embedded: 150, Total: 200}, "new, searches still use old · 75% · 50 chunks wait"},
		{wire.Embedder{State: "ready", Model: "m", Backlog: 50, Embedded: 150, Total: 200, Rate: 2, ETASeconds: 25}, "m · 75% · 50 chunks wait · 2.0/s · about 25 s left"},
		{wire.Embedder{State: "ready", Model: "m", Failed: 2}, "m · nothing waits · ✗ 2 documents have parts without"},
		{wire.Embedder{State: "paused", Model: "m", Reason: "the server is away", Backlog: 1}, "· paused: the server is away · m · 1 chunk waits"},
		{wire.Embedder{State: "failed", Reason: "no\x1b[2Jmodel"}, "✗ failed: no␛[2Jmodel"},
	} {
		if got, _ := p.embedder(c.e, 200); got != c.want {
			t.Errorf("%+v is said as\n%q, not\n%q", c.e, got, c.want)
		}
	}
}

func TestAPausedKBStillSaysWhatIsLeftOfIt(t *testing.T) {
	f := richBackend()
	for i := range f.kbs {
		f.kbs[i].Paused = true
	}
	a := liveApp(t, f, 120, 40, nil)
	for _, line := range strings.Split(a.m.View(), "\n") {
		if strings.Contains(line, " papers ") && !strings.Contains(line, "· paused, 12 to do, 3 failed") {
			t.Errorf("the line is %q", line)
		}
	}
}
