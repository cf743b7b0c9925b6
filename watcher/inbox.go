package watcher

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/fsnotify/fsnotify"
)

// inbox takes the events off the backend at once, whatever the loop is busy
// with, so that the system's own queue does not overflow. It keeps one record
// a path; above maxInbox paths it gives up the records and says so.
type inbox struct {
	cookieDir string
	wake      chan struct{} // capacity 1

	mu  sync.Mutex
	now batch
}

// batch is what came in since the last look.
type batch struct {
	paths     map[string]fsnotify.Op
	order     []string
	cookie    uint64 // the newest barrier cookie seen; everything before it is in a batch
	overflows int    // times events were lost
	dead      error  // the backend ended
}

const maxInbox = 1 << 16

func newInbox(cookieDir string) *inbox {
	return &inbox{cookieDir: cookieDir, wake: make(chan struct{}, 1), now: batch{paths: map[string]fsnotify.Op{}}}
}

// collect runs until the backend's channels are closed or stop is.
func (in *inbox) collect(b backend, stop <-chan struct{}) {
	events, errs := b.Events(), b.Errors()
	for {
		select {
		case <-stop:
			return
		case ev, ok := <-events:
			if !ok {
				in.died(errors.New("the event channel was closed"))
				return
			}
			in.event(ev)
		case err, ok := <-errs:
			switch {
			case !ok:
				// The events come to their end by themselves.
				errs = nil
			case errors.Is(err, fsnotify.ErrEventOverflow):
				in.lost()
			case err != nil:
				in.died(fmt.Errorf("read events: %w", err))
				return
			}
		}
	}
}

func (in *inbox) event(ev fsnotify.Event) {
	if ev.Name == "" || ev.Op&^fsnotify.Chmod == 0 {
		return // a change of mode or times changes no content
	}
	if n, ok := in.cookieOf(ev); ok {
		in.mu.Lock()
		in.now.cookie = max(in.now.cookie, n)
		in.mu.Unlock()
		in.ring()
		return
	}
	in.mu.Lock()
	if _, known := in.now.paths[ev.Name]; !known {
		if len(in.now.order) >= maxInbox {
			in.forget()
		}
		in.now.order = append(in.now.order, ev.Name)
	}
	in.now.paths[ev.Name] |= ev.Op
	in.mu.Unlock()
	in.ring()
}

// forget is called with mu held.
func (in *inbox) forget() {
	in.now.overflows++
	in.now.order = nil
	clear(in.now.paths)
}

func (in *inbox) lost() {
	in.mu.Lock()
	in.forget()
	in.mu.Unlock()
	in.ring()
}

func (in *inbox) died(err error) {
	in.mu.Lock()
	in.now.dead = err
	in.mu.Unlock()
	in.ring()
}

func (in *inbox) ring() {
	select {
	case in.wake <- struct{}{}:
	default:
	}
}

// take empties the inbox.
func (in *inbox) take() batch {
	in.mu.Lock()
	defer in.mu.Unlock()
	b := in.now
	in.now = batch{paths: map[string]fsnotify.Op{}, cookie: b.cookie}
	return b
}

const cookiePrefix = "barrier-"

func (in *inbox) cookieOf(ev fsnotify.Event) (uint64, bool) {
	if in.cookieDir == "" || filepath.Dir(ev.Name) != in.cookieDir {
		return 0, false
	}
	num, ok := strings.CutPrefix(filepath.Base(ev.Name), cookiePrefix)
	if !ok || !ev.Has(fsnotify.Create|fsnotify.Write) {
		return 0, false
	}
	n, err := strconv.ParseUint(num, 10, 64)
	return n, err == nil
}
