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
}

func newRateMeter() *rateMeter { return &rateMeter{} }

func (m *rateMeter) add(now time.Time, n int) {
	if n == 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.advance(now.Unix())
	if m.first == 0 {
		m.first = now.Unix()
	}
	m.slots[m.at%rateWindow] += n
}

func (m *rateMeter) advance(sec int64) {
	if sec-m.at >= rateWindow {
		m.slots = [rateWindow]int{}
		m.first = 0
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

// seconds is how long the work has gone on that perSecond is about.
func (m *rateMeter) seconds(now time.Time) int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.advance(now.Unix())
	if m.first == 0 {
		return 0
	}
	return now.Unix() - m.first
}
