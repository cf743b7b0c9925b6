package watcher

import (
	"context"
	"fmt"
	"time"
)

const (
	lostPause   = time.Second            // between two armings after lost events
	restartMin  = 100 * time.Millisecond // first wait before a dead backend is made anew
	restartMax  = 30 * time.Second
	restartFine = time.Minute // a backend that lived so long starts over at restartMin
)

// lost notes that events were dropped. New folders may be among them, so all
// roots are armed again and scanned; not more often than every lostPause,
// since the storm that caused it may go on.
func (l *loop) lost(ctx context.Context, times int, now time.Time) {
	for _, r := range l.roots {
		if r.status.Mode == ModeEvents {
			r.status.Overflows += times
			l.log.Warn("the system dropped events; the root is scanned", "root", r.status.Name, "times", r.status.Overflows)
		}
	}
	if !l.lostAt.IsZero() {
		return
	}
	l.lostAt = now
	if next := l.lastLost.Add(lostPause); now.Before(next) {
		l.lostAt = next
		return
	}
	l.recover(ctx, now)
}

func (l *loop) recover(ctx context.Context, now time.Time) {
	l.lostAt = time.Time{}
	for _, r := range l.roots {
		if r.pollAlways || r.status.Mode == ModeUnavailable {
			continue
		}
		l.arm(ctx, r, now)
		l.hintRoot(r.status.Name, now)
	}
	l.lastLost = time.Now()
}

// startBackend makes the notification instance and its collector. If that
// fails it is tried again later; until then the roots are polled.
func (l *loop) startBackend() {
	b, err := l.opt.newBackend()
	now := time.Now()
	if err != nil {
		l.restartLater(fmt.Errorf("start: %w", err), now)
		return
	}
	l.backend, l.deadErr, l.restartAt, l.startedAt = b, nil, time.Time{}, now
	l.inbox = newInbox(l.opt.CookieDir)
	l.stopCollect, l.collected = make(chan struct{}), make(chan struct{})
	go func(in *inbox, stop, done chan struct{}) {
		defer close(done)
		in.collect(b, stop)
	}(l.inbox, l.stopCollect, l.collected)
	l.watchCookies()
}

func (l *loop) restartLater(err error, now time.Time) {
	l.deadErr = err
	if now.Sub(l.startedAt) > restartFine {
		l.restartWait = 0
	}
	l.restartWait = min(max(2*l.restartWait, restartMin), restartMax)
	l.restartAt = now.Add(l.restartWait)
}

func (l *loop) stopBackend() {
	if l.backend == nil {
		return
	}
	close(l.stopCollect)
	if err := l.backend.Close(); err != nil {
		l.log.Debug("closing the watcher of the system failed", "error", err)
	}
	<-l.collected
	l.backend = nil
}

// died ends a backend that failed: all watches are gone with it.
func (l *loop) died(err error, now time.Time) {
	l.log.Warn("the watcher of the system ended; roots are polled until it is back", "error", err)
	l.stopBackend()
	l.table = newTable()
	l.restartLater(err, now)
	for _, r := range l.roots {
		if !r.pollAlways && r.present {
			l.degrade(r, l.deadReason(), l.deadAdvice(), now)
		}
	}
}

// restart tries to make the backend anew and arms everything.
func (l *loop) restart(ctx context.Context, now time.Time) {
	l.startBackend()
	if l.backend == nil {
		return
	}
	for _, r := range l.roots {
		l.arm(ctx, r, now)
		l.hintRoot(r.status.Name, now)
	}
}

func (l *loop) deadReason() string {
	return fmt.Sprintf("the system's notification of changes does not work: %v", l.deadErr)
}

func (l *loop) deadAdvice() string {
	advice, _ := overLimit(l.deadErr)
	return advice
}
