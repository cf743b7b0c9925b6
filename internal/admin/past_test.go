package admin

import (
	"fmt"
	"testing"
	"time"

	"ragd/internal/wire"
)

func TestPastIsBoundedAndCountedBySecond(t *testing.T) {
	var p past
	start := time.Unix(1_800_000_000, 0)
	for i := range 500 {
		for _, what := range []string{"indexed", "queued", "unchanged"} {
			p.note(wire.Event{Type: "document", At: start.Add(time.Duration(i) * time.Second / 2), Document: &wire.DocEvent{Path: fmt.Sprint(i), What: what}})
		}
	}
	h := p.tell(start.Add(251 * time.Second))
	if len(h.Recent) != pastEvents || h.Recent[0].Document.Path != "450" || h.Recent[pastEvents-1].Document.Path != "499" {
		t.Errorf("remembered are %d events from %v", len(h.Recent), h.Recent[0].Document)
	}
	if n := len(h.PerSecond); n != pastSeconds || h.PerSecond[n-1] != 0 || h.PerSecond[n-2] != 0 || h.PerSecond[n-3] != 2 || h.PerSecond[0] != 2 {
		t.Errorf("the seconds are %v", h.PerSecond)
	}
	p.note(wire.Event{At: start.Add(-time.Hour), Document: &wire.DocEvent{What: "indexed"}}) // the clock was set back
	if n := len(p.tell(start.Add(time.Hour)).PerSecond); n != pastSeconds {
		t.Errorf("%d seconds", n)
	}
}
