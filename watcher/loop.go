package watcher

import (
	"context"
	"log/slog"
	"time"

	"ragd/kbroot"
)

// loop is one Run. Everything in it belongs to the goroutine of run; the
// collector talks to it through inbox, polls and barriers through channels.
type loop struct {
	w     *Watcher
	opt   Options
	log   *slog.Logger
	set   Source
	out   chan<- kbroot.Change
	inbox *inbox
	dirty *dirtySet

	backend     backend // nil while it is dead
	stopCollect chan struct{}
	collected   chan struct{} // closed when the collector ended
	restartAt   time.Time     // when the dead backend is tried again
	restartWait time.Duration
	startedAt   time.Time
	deadErr     error // why it is dead

	roots []*root
	table *table
	gen   uint64
	// arming is set while a whole root is armed, when its folders' addresses
	// are gathered from nothing.
	arming bool
	fresh  []kbroot.DocPath // folders of KBs that the last arming came upon

	lostAt   time.Time // events were lost and the roots are to be armed again then; zero: no
	lastLost time.Time

	barrier barrierState
	polled  chan pollResult
	polling int // polls under way; each sends one result
}

// maxDirty bounds the hints that wait; see dirtySet.
const maxDirty = 8192

func newLoop(w *Watcher, out chan<- kbroot.Change) *loop {
	return &loop{
		w: w, opt: w.opt, log: w.log, set: w.opt.Set, out: out,
		inbox:  newInbox(w.opt.CookieDir),
		dirty:  newDirtySet(w.opt.Quiet, w.opt.MaxDelay, maxDirty),
		table:  newTable(),
		polled: make(chan pollResult),
	}
}

func (l *loop) run(ctx context.Context) error {
	pollCtx, cancel := context.WithCancel(ctx)
	defer func() {
		cancel()
		for ; l.polling > 0; l.polling-- {
			<-l.polled
		}
	}()
	l.cleanCookies()
	l.startBackend()
	l.configure(ctx, time.Now())
	tick := time.NewTicker(l.opt.rootInterval())
	defer tick.Stop()
	for {
		now := time.Now()
		l.barrierStep(now)
		l.startPolls(pollCtx, now)
		out, change, sent := l.pick(now)
		timer := time.NewTimer(l.wait(now))
		select {
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		case out <- change:
			sent()
		case <-l.inbox.wake:
			l.receive(ctx, time.Now())
		case <-timer.C:
			l.overdue(ctx, time.Now())
		case <-tick.C:
			l.checkRoots(ctx, time.Now())
		case <-l.w.again:
			l.configure(ctx, time.Now())
		case done := <-l.w.barriers:
			l.barrier.waiting = append(l.barrier.waiting, done)
		case <-l.barrier.acked():
			l.barrier.finish()
			l.removeCookie()
		case r := <-l.polled:
			l.polling--
			l.pollDone(r, time.Now())
		}
		timer.Stop()
		l.publish()
	}
}

// pick chooses what to send next, if anything is due; sent is to be called
// when it was.
func (l *loop) pick(now time.Time) (out chan<- kbroot.Change, c kbroot.Change, sent func()) {
	if l.barrier.phase == barrierFlush && l.dirty.flushed == 0 {
		return l.out, kbroot.Change{Kind: kbroot.ChangeBarrier, Ack: l.barrier.ack}, func() { l.barrier.phase = barrierAck }
	}
	if e, _ := l.dirty.next(now); e != nil {
		return l.out, e.change(), func() { l.dirty.drop(e) }
	}
	return nil, kbroot.Change{}, nil
}

// wait is how long nothing is to be done unless something comes in.
func (l *loop) wait(now time.Time) time.Duration {
	d := time.Hour
	sooner := func(t time.Time) {
		if !t.IsZero() {
			d = min(d, max(t.Sub(now), 0))
		}
	}
	if e, wait := l.dirty.next(now); e == nil && wait >= 0 {
		d = min(d, wait)
	}
	if l.barrier.phase == barrierCookie {
		sooner(l.barrier.deadline)
	}
	sooner(l.lostAt)
	sooner(l.restartAt)
	for _, r := range l.roots {
		if !r.pollBusy {
			sooner(r.pollAt)
		}
		sooner(r.retryAt)
	}
	return d
}

// overdue does what a timer was set for.
func (l *loop) overdue(ctx context.Context, now time.Time) {
	if !l.lostAt.IsZero() && !l.lostAt.After(now) {
		l.recover(ctx, now)
	}
	if !l.restartAt.IsZero() && !l.restartAt.After(now) {
		l.restart(ctx, now)
	}
	for _, r := range l.roots {
		if !r.retryAt.IsZero() && !r.retryAt.After(now) && l.backend != nil {
			l.arm(ctx, r, now)
		}
	}
}

// hint notes a change of a KB's path.
func (l *loop) hint(kind kbroot.ChangeKind, root string, doc kbroot.DocPath, live bool, now time.Time) {
	if doc.Path == "" && kind == kbroot.ChangePath {
		kind = kbroot.ChangeTree
	}
	l.dirty.add(key{kind: kind, root: root, doc: doc}, live, now)
}

// hintRoot notes that anything in a root may have changed. Such a hint waits
// for no quiet: it is a scan, and the sooner it begins the better.
func (l *loop) hintRoot(root string, now time.Time) {
	l.dirty.add(key{kind: kbroot.ChangeRoot, root: root}, false, now.Add(-l.opt.MaxDelay))
}

// publish makes the state visible to State.
func (l *loop) publish() {
	list := make([]RootStatus, len(l.roots))
	for i, r := range l.roots {
		list[i] = r.status
		list[i].Watches = l.table.counts[r.status.Name]
	}
	l.w.mu.Lock()
	l.w.status = list
	l.w.mu.Unlock()
}

// close ends the backend and its collector.
func (l *loop) close() {
	l.stopBackend()
	l.barrier.fail(errStopped())
	l.removeCookie()
	l.table = newTable()
	l.publish()
}
