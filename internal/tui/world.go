package tui

import (
	"time"

	"ragd/internal/wire"
)

const (
	maxActivity = 200
	maxLog      = 2000
	sparkSecs   = 120
)

// world is what is known of the daemon, shared by all pages. Only apply and
// the load messages change it, always inside Update.
type world struct {
	link     wire.Link
	wasLive  bool // a hello has come at least once
	status   *wire.Status
	kbs      []wire.KB
	kbsKnown bool
	activity []activity // newest last
	log      []wire.LogLine
	spark    sparkline
	changed  bool // documents changed since the KBs were loaded
}

// activity is one thing that happened to a document.
type activity struct {
	at  time.Time
	doc wire.DocEvent
}

// live says that what is shown is what the daemon says now.
func (w *world) live() bool { return w.link.State == wire.LinkLive && w.status != nil }

// queue returns the queue's counters; zero when nothing is known.
func (w *world) queue() wire.Queue {
	if w.status == nil {
		return wire.Queue{}
	}
	return w.status.Queue
}

// waiting are the jobs that no worker has begun.
func waiting(q wire.Queue) int64 { return q.Pending + max(q.Processing-q.Begun, 0) }

// busy says that numbers are moving.
func (w *world) busy() bool {
	if w.status == nil {
		return false
	}
	q := w.status.Queue
	return q.Pending+q.Processing > 0 || w.status.Embedder.Backlog > 0
}

// apply takes one event; hello reports that everything has to be loaded again.
func (w *world) apply(ev wire.Event, now time.Time) (hello bool) {
	switch {
	case ev.Type == "link" && ev.Link != nil:
		// While the client dials again, the reason it is down stays readable.
		if ev.Link.State == wire.LinkConnecting && w.link.State == wire.LinkDown {
			return false
		}
		w.link = *ev.Link
	case ev.Type == "hello" && ev.Status != nil:
		w.status, w.wasLive = ev.Status, true
		if ev.History != nil {
			w.recall(*ev.History, ev.At)
		}
		return true
	case w.status == nil:
		// Nothing is shown before the first hello, so nothing can be updated.
	case ev.Type == "queue" && ev.Queue != nil:
		w.status.Queue = *ev.Queue
	case ev.Type == "document" && ev.Document != nil:
		w.note(ev, now)
	case ev.Type == "watcher" && ev.Watcher != nil:
		w.setWatcher(*ev.Watcher)
	case ev.Type == "phase" && ev.Phase != "":
		w.status.Phase = ev.Phase
		w.changed = true
	case ev.Type == "agents":
		w.status.Agents = ev.Agents
	}
	if ev.Type == "log" && ev.Log != nil {
		w.log = appendRing(w.log, *ev.Log, maxLog)
	}
	return false
}

// recall takes over what happened before one listened.
func (w *world) recall(h wire.History, at time.Time) {
	w.activity = w.activity[:0]
	for _, past := range newest(h.Recent, maxActivity) {
		if past.Document != nil {
			w.activity = append(w.activity, activity{past.At, *past.Document})
		}
	}
	w.spark = sparkline{}
	counts := newest(h.PerSecond, sparkSecs)
	for i, n := range counts {
		second := at.Add(time.Duration(i+1-len(counts)) * time.Second)
		w.spark.advance(second.Unix())
		w.spark.counts[second.Unix()%sparkSecs] = max(n, 0)
	}
}

func (w *world) note(ev wire.Event, now time.Time) {
	at := ev.At
	if at.IsZero() {
		at = now
	}
	// That a file is looked at is in the queue's numbers; what came of it is worth a line.
	if ev.Document.What != "queued" && ev.Document.What != "unchanged" {
		w.activity = appendRing(w.activity, activity{at, *ev.Document}, maxActivity)
	}
	if ev.Document.What == "indexed" {
		w.spark.add(at)
	}
	w.changed = true
}

func (w *world) setWatcher(x wire.Watcher) {
	for i := range w.status.Watchers {
		if w.status.Watchers[i].Root == x.Root && w.status.Watchers[i].Dir == x.Dir {
			w.status.Watchers[i] = x
			return
		}
	}
	w.status.Watchers = append(w.status.Watchers, x)
}

func (w *world) kb(name string) (wire.KB, bool) {
	for _, kb := range w.kbs {
		if kb.Name == name {
			return kb, true
		}
	}
	return wire.KB{}, false
}

// appendRing appends and forgets the oldest beyond limit, moving memory only now and then.
func appendRing[T any](s []T, v T, limit int) []T {
	if len(s) >= 2*limit {
		s = append(s[:0], s[len(s)-limit:]...)
	}
	return append(s, v)
}

func newest[T any](s []T, n int) []T { return s[max(len(s)-n, 0):] }

// sparkline counts documents per second over the last two minutes.
type sparkline struct {
	counts [sparkSecs]int
	last   int64 // unix second of the newest bucket
}

func (s *sparkline) add(at time.Time) {
	sec := at.Unix()
	s.advance(sec)
	if s.last-sec < sparkSecs && sec <= s.last {
		s.counts[sec%sparkSecs]++
	}
}

func (s *sparkline) advance(sec int64) {
	if s.last == 0 || sec-s.last >= sparkSecs {
		s.counts, s.last = [sparkSecs]int{}, max(sec, s.last)
		return
	}
	for s.last < sec {
		s.last++
		s.counts[s.last%sparkSecs] = 0
	}
}

// bars returns n buckets ending now, oldest first, each the sum of the
// seconds it covers; together they cover about a minute.
func (s *sparkline) bars(now time.Time, n int) (bars []int, top int) {
	per := max((60+n-1)/n, 1)
	bars = make([]int, n)
	for i := range n {
		for j := range per {
			bars[i] += s.at(now.Unix() - int64((n-1-i)*per+j))
		}
		top = max(top, bars[i])
	}
	return bars, top
}

func (s *sparkline) at(sec int64) int {
	if sec > s.last || s.last-sec >= sparkSecs || sec < 0 {
		return 0
	}
	return s.counts[sec%sparkSecs]
}
