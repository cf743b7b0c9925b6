// Package watcher turns what the operating system tells about folders into
// kbroot.Change hints: "this path may have changed". It owns the watches, the
// debouncing, the polling of roots that cannot be watched, and the barrier
// that proves that every earlier change was told. It does not read files,
// does not decide what is a document (kbroot) and keeps no index: a hint is
// only a reason to look again.
//
// The promise: a root's folders are watched before ChangeRoot is sent for it,
// and a new folder before ChangeTree, so that what happens after the scan that
// follows is seen, and what happened before is found by it. Where events were
// or may have been lost, ChangeRoot is sent.
package watcher

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"ragd/internal/fault"
	"ragd/kbroot"
)

// Source is what the watcher needs to know of the disk; *kbroot.Set is one.
type Source interface {
	Options() kbroot.Options
	KBs() ([]kbroot.KB, error)
	Locate(abs string) (doc kbroot.DocPath, root string, ok bool)
	WatchPoints(ctx context.Context, kb, sub string, fn func(kbroot.WatchPoint) error) error
	Walk(ctx context.Context, kb, sub string, fn func(kbroot.Entry) error) error
}

// Options configure a Watcher; zero durations stand for the defaults.
type Options struct {
	Set          Source
	Quiet        time.Duration // a hint is sent this long after the last change of its path; default 100 ms
	MaxDelay     time.Duration // and at the latest this long after the first; default 2 s
	PollInterval time.Duration // between looks at roots in Poll; default 2 s. Degraded roots and every root's own folder are looked at every 2 s at the latest
	Poll         []string      // names of roots and mounts that are polled and never watched
	CookieDir    string        // a folder of the daemon's own (mode 0700) for Barrier; empty: Barrier scans
	Logger       *slog.Logger

	// newBackend is the seam for tests; nil is fsnotify.
	newBackend func() (backend, error)
}

// rootInterval is the time between looks at the roots' own folders, and at
// roots that could not be watched.
func (o Options) rootInterval() time.Duration { return min(o.PollInterval, DefaultPollInterval) }

// The defaults of Options.
const (
	DefaultQuiet        = 100 * time.Millisecond
	DefaultMaxDelay     = 2 * time.Second
	DefaultPollInterval = 2 * time.Second
)

// Mode says how changes of a root are noticed.
type Mode string

// The modes.
const (
	ModeEvents      Mode = "events"      // every folder is watched
	ModePolling     Mode = "polling"     // polled because the configuration says so
	ModeDegraded    Mode = "degraded"    // polled because not every folder could be watched
	ModeUnavailable Mode = "unavailable" // the root's folder is not there
)

// RootStatus is the state of one root or mount.
type RootStatus struct {
	Name      string
	Dir       string
	Mode      Mode
	Watches   int       // folders watched
	Reason    string    // why Mode is not ModeEvents
	Advice    string    // what a person can do about it; may be empty
	Overflows int       // times the system lost events, since the start
	LastEvent time.Time // zero: none yet
	Since     time.Time // when Mode was entered
}

// Watcher watches the roots of a Set. Make one with New, run it with Run.
type Watcher struct {
	opt      Options
	log      *slog.Logger
	barriers chan chan error
	again    chan struct{} // capacity 1: reconcile
	stopped  chan struct{} // closed when Run ends

	mu     sync.Mutex // guards status
	status []RootStatus
}

// New checks the options. It starts nothing.
func New(o Options) (*Watcher, error) {
	if o.Set == nil {
		return nil, fmt.Errorf("watcher: Options.Set is nil")
	}
	for _, d := range []*struct {
		v    *time.Duration
		def  time.Duration
		name string
	}{{&o.Quiet, DefaultQuiet, "Quiet"}, {&o.MaxDelay, DefaultMaxDelay, "MaxDelay"}, {&o.PollInterval, DefaultPollInterval, "PollInterval"}} {
		if *d.v < 0 {
			return nil, fmt.Errorf("watcher: Options.%s is negative (%v)", d.name, *d.v)
		}
		if *d.v == 0 {
			*d.v = d.def
		}
	}
	o.MaxDelay = max(o.MaxDelay, o.Quiet)
	if o.CookieDir != "" {
		if !filepath.IsAbs(o.CookieDir) {
			return nil, fmt.Errorf("watcher: Options.CookieDir %q is not absolute", o.CookieDir)
		}
		o.CookieDir = filepath.Clean(o.CookieDir)
	}
	if o.newBackend == nil {
		o.newBackend = newFSNotify
	}
	log := o.Logger
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Watcher{
		opt: o, log: log,
		barriers: make(chan chan error),
		again:    make(chan struct{}, 1),
		stopped:  make(chan struct{}),
	}, nil
}

// Run watches until ctx ends, and returns ctx's error. It sends to out and
// never closes it; a receiver that is slow makes hints merge, not queue up.
// Run must be called once.
func (w *Watcher) Run(ctx context.Context, out chan<- kbroot.Change) error {
	defer close(w.stopped)
	l := newLoop(w, out)
	defer l.close()
	return l.run(ctx)
}

// Reconcile tells that roots or mounts were configured anew: all are armed
// again and scanned.
func (w *Watcher) Reconcile() {
	select {
	case w.again <- struct{}{}:
	default: // one is waiting already and will see this change too
	}
}

// Barrier returns when hints for every change written to disk before the call
// have been sent and the receiver has closed the Ack of the ChangeBarrier
// that followed them. It does not wait for quiet delays. Callers at the same
// time share one barrier. Errors: ctx's; fault.Unavailable "watcher_stopped".
func (w *Watcher) Barrier(ctx context.Context) error {
	done := make(chan error, 1)
	select {
	case w.barriers <- done:
	case <-ctx.Done():
		return ctx.Err()
	case <-w.stopped:
		return errStopped()
	}
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	case <-w.stopped:
		return errStopped()
	}
}

func errStopped() error {
	return fault.New(fault.Unavailable, "watcher_stopped", "the watcher is not running")
}

// State returns the state of every root and mount.
func (w *Watcher) State() []RootStatus {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]RootStatus(nil), w.status...)
}
