package watcher

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// A barrier goes through phases: a cookie file is made, its event comes (all
// earlier events came before it, since one inotify instance delivers in
// order), every hint that waits is sent, ChangeBarrier is sent, and the
// receiver closes its Ack.
type barrierPhase uint8

const (
	barrierNone barrierPhase = iota
	barrierCookie
	barrierFlush
	barrierAck
)

// cookieWait is how long the cookie's event may take before the barrier scans.
const cookieWait = 500 * time.Millisecond

type barrierState struct {
	waiting  []chan error // came while a barrier was under way, or just now
	sharing  []chan error // wait for the one under way
	phase    barrierPhase
	number   uint64
	cookie   string // path of the cookie file; empty: none
	deadline time.Time
	ack      chan struct{}
}

// acked is the channel to wait on for the receiver; nil in other phases.
func (b *barrierState) acked() <-chan struct{} {
	if b.phase != barrierAck {
		return nil
	}
	return b.ack
}

func (b *barrierState) finish() {
	for _, c := range b.sharing {
		c <- nil // has room for one
	}
	b.sharing, b.phase = nil, barrierNone
}

func (b *barrierState) fail(err error) {
	for _, c := range append(b.sharing, b.waiting...) {
		c <- err
	}
	b.sharing, b.waiting, b.phase = nil, nil, barrierNone
}

// barrierStep moves the barrier on where that needs no event.
func (l *loop) barrierStep(now time.Time) {
	b := &l.barrier
	if b.phase == barrierNone && len(b.waiting) > 0 {
		b.sharing, b.waiting = b.waiting, nil
		b.number++
		b.ack = make(chan struct{})
		b.phase = barrierCookie
		b.deadline = now // no cookie, no waiting
		if l.makeCookie() {
			b.deadline = now.Add(cookieWait)
		}
	}
	if b.phase == barrierCookie && !now.Before(b.deadline) {
		if b.cookie != "" {
			l.log.Warn("the event of the barrier's cookie did not come; scanning instead", "dir", l.opt.CookieDir)
			l.watchCookies()
		}
		for _, r := range l.roots {
			l.hintRoot(r.status.Name, now)
		}
		l.flushForBarrier()
	}
}

// cookieCame is called when everything up to cookie n was received.
func (l *loop) cookieCame(ctx context.Context, n uint64, now time.Time) {
	if l.barrier.phase != barrierCookie || n < l.barrier.number {
		return
	}
	if !l.lostAt.IsZero() {
		l.recover(ctx, now)
	}
	for _, r := range l.roots {
		if r.status.Mode != ModeEvents || r.pollAlways {
			l.hintRoot(r.status.Name, now)
		}
	}
	l.flushForBarrier()
}

func (l *loop) flushForBarrier() {
	l.dirty.flush()
	l.barrier.phase = barrierFlush
}

// makeCookie writes the cookie file; false where no event will come of it.
func (l *loop) makeCookie() bool {
	if l.opt.CookieDir == "" || l.backend == nil {
		return false
	}
	path := filepath.Join(l.opt.CookieDir, cookiePrefix+strconv.FormatUint(l.barrier.number, 10))
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		l.log.Warn("the barrier's cookie could not be written; scanning instead", "error", err)
		l.watchCookies()
		return false
	}
	l.barrier.cookie = path
	return true
}

func (l *loop) removeCookie() {
	if l.barrier.cookie == "" {
		return
	}
	if err := os.Remove(l.barrier.cookie); err != nil && !os.IsNotExist(err) {
		l.log.Warn("the barrier's cookie could not be removed", "error", err)
	}
	l.barrier.cookie = ""
}

// watchCookies makes the cookie folder and watches it.
func (l *loop) watchCookies() {
	if l.opt.CookieDir == "" || l.backend == nil {
		return
	}
	err := os.MkdirAll(l.opt.CookieDir, 0o700)
	if err == nil {
		_ = l.backend.Remove(l.opt.CookieDir) // a watch on a folder that was replaced, perhaps
		err = l.backend.Add(l.opt.CookieDir)
	}
	if err != nil {
		l.log.Warn("the folder of the barrier's cookies is not watched; barriers will scan", "dir", l.opt.CookieDir, "error", err)
	}
}

// cleanCookies removes what an earlier process left.
func (l *loop) cleanCookies() {
	if l.opt.CookieDir == "" {
		return
	}
	entries, err := os.ReadDir(l.opt.CookieDir)
	if err != nil {
		return // not there yet
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), cookiePrefix) {
			_ = os.Remove(filepath.Join(l.opt.CookieDir, e.Name())) // only tidiness
		}
	}
}
