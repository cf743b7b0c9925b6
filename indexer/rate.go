package indexer

import (
	"sync"
	"time"
)

const rateWindow = 60

// rateMeter counts documents in one-second slots of the last minute.
type rateMeter struct {
	mu    sync.Mutex
	slots [rateWindow]int
	at    int64 // unix second of the newest slot
	first int64 // unix second of the first count since the last pause
	last  int64 // unix second of the last count
}

func newRateMeter() *rateMeter { return &rateMeter{} }

func (m *rateMeter) add(now time.Time, n int) {
	if n == 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.advance(now.Unix())
	if now.Unix()-m.last >= rateWindow { // whoever reads the rate moves at, so that it does not tell
		m.first = now.Unix()
	}
	m.last = m.at
	m.slots[m.at%rateWindow] += n
}

func (m *rateMeter) advance(sec int64) {
	if sec-m.at >= rateWindow {
		m.slots = [rateWindow]int{}
	} else {
		for s := m.at + 1; s <= sec; s++ {
			m.slots[s%rateWindow] = 0
		}
	}
	m.at = max(m.at, sec)
}

// perSecond is the mean of the last minute, or of the time since work began
// when that is shorter. ok is false for the first two seconds, when it would
// be a guess.
func (m *rateMeter) perSecond(now time.Time) (rate float64, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.advance(now.Unix())
	total := 0
	for _, n := range m.slots {
		total += n
	}
	if total == 0 {
		return 0, false
	}
	span := min(now.Unix()-m.first+1, rateWindow)
	if span < 3 {
		return float64(total) / float64(max(span, 1)), false
	}
	return float64(total) / float64(span), true
}

// workMeter measures how fast work goes while it goes: the time between two
// pieces of work, and pieces that other work was in the way of, are left out.
type workMeter struct {
	mu    sync.Mutex
	slots [rateWindow]workSlot // by the second in which a piece ended
}

type workSlot struct {
	at   int64 // unix second
	n    int
	took time.Duration
}

// add counts n of something that were done from one time to another.
func (m *workMeter) add(from, to time.Time, n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := &m.slots[to.Unix()%rateWindow]
	if s.at != to.Unix() {
		*s = workSlot{at: to.Unix()}
	}
	s.n += n
	s.took += to.Sub(from)
}

// perSecond is the rate of the work that ended in the last minute, and how
// long that took.
func (m *workMeter) perSecond(now time.Time) (rate float64, took time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := 0
	for _, s := range m.slots {
		if now.Unix()-s.at < rateWindow {
			n += s.n
			took += s.took
		}
	}
	if took <= 0 {
		return 0, 0
	}
	return float64(n) / took.Seconds(), took
}
