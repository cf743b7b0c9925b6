package admin

import (
	"slices"
	"time"

	"ragd/internal/wire"
)

const (
	pastEvents  = 50
	pastSeconds = 120
)

// past remembers what happened of late, for those who begin to listen.
type past struct {
	recent []wire.Event // oldest first
	counts [pastSeconds]int
	last   int64 // unix second of the newest count
}

// note takes an event of a document.
func (p *past) note(ev wire.Event) {
	if ev.Document == nil || ev.Document.What == "queued" || ev.Document.What == "unchanged" {
		return
	}
	if len(p.recent) >= 2*pastEvents {
		p.recent = slices.Delete(p.recent, 0, pastEvents)
	}
	p.recent = append(p.recent, ev)
	if ev.Document.What == "indexed" {
		p.advance(ev.At.Unix())
		if sec := ev.At.Unix(); p.last-sec < pastSeconds {
			p.counts[sec%pastSeconds]++
		}
	}
}

// advance moves on to a second; a clock that was set back changes nothing.
func (p *past) advance(sec int64) {
	if sec-p.last >= pastSeconds {
		p.counts, p.last = [pastSeconds]int{}, sec
	}
	for p.last < sec {
		p.last++
		p.counts[p.last%pastSeconds] = 0
	}
}

// tell is what was noted, as of now.
func (p *past) tell(now time.Time) *wire.History {
	p.advance(now.Unix())
	h := &wire.History{Recent: slices.Clone(p.recent[max(len(p.recent)-pastEvents, 0):]), PerSecond: make([]int, pastSeconds)}
	for i := range h.PerSecond {
		h.PerSecond[i] = p.counts[(p.last+1+int64(i))%pastSeconds]
	}
	return h
}
