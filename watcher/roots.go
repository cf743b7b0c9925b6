package watcher

import (
	"context"
	"io/fs"
	"slices"
	"time"

	"ragd/kbroot"
)

// root is a root or mount, as the loop sees it.
type root struct {
	status     RootStatus
	mounted    bool
	pollAlways bool
	id         fileID
	present    bool

	retryAt time.Time         // degraded: when watching is tried again; zero: not
	kbDirs  map[string]string // a KB's folder as the root names it → KB; for roots only

	pollAt   time.Time // zero: not polled
	pollBusy bool
	seen     map[kbroot.DocPath]uint64 // folder → fingerprint of its files, by the last poll
	pollErr  string
}

// configure takes the roots from the Set, arms them all, and has them all
// scanned. Roots that are gone are hinted once more, so that they are dropped.
func (l *loop) configure(ctx context.Context, now time.Time) {
	o := l.set.Options()
	old := l.roots
	l.roots = nil
	add := func(name, dir string, mounted, poll bool) {
		poll = poll || slices.Contains(l.opt.Poll, name)
		for _, r := range old {
			if r.status.Name == name && r.status.Dir == dir && r.mounted == mounted && r.pollAlways == poll {
				l.roots = append(l.roots, r)
				return
			}
		}
		r := &root{mounted: mounted, pollAlways: poll, kbDirs: map[string]string{}}
		r.status = RootStatus{Name: name, Dir: dir, Since: now}
		l.roots = append(l.roots, r)
	}
	for _, r := range o.Roots {
		add(r.Name, r.Dir, false, false)
	}
	for _, m := range o.Mounts {
		add(m.Name, m.Dir, true, m.Poll)
	}
	for _, r := range old {
		if !slices.Contains(l.roots, r) {
			l.unwatchRoot(r)
			l.hintRoot(r.status.Name, now)
		}
	}
	for _, r := range l.roots {
		l.arm(ctx, r, now)
		l.hintRoot(r.status.Name, now)
	}
	l.publish()
}

func (l *loop) rootNamed(name string) *root {
	for _, r := range l.roots {
		if r.status.Name == name {
			return r
		}
	}
	return nil
}

func (l *loop) setMode(r *root, m Mode, reason, advice string, now time.Time) {
	s := &r.status
	if s.Mode != m {
		s.Since = now
		switch m {
		case ModeDegraded, ModeUnavailable:
			l.log.Warn("root is not watched by events", "root", s.Name, "mode", string(m), "reason", reason, "advice", advice)
		default:
			l.log.Info("root is watched", "root", s.Name, "mode", string(m))
		}
	}
	s.Mode, s.Reason, s.Advice = m, reason, advice
}

// unavailable stops watching a root whose folder is not there.
func (l *loop) unavailable(r *root, err error, now time.Time) {
	l.unwatchRoot(r)
	r.present, r.id, r.retryAt, r.seen = false, fileID{}, time.Time{}, nil
	if !r.pollAlways {
		r.pollAt = time.Time{}
	}
	l.setMode(r, ModeUnavailable, folderError(err), "", now)
}

func folderError(err error) string {
	if pe, ok := err.(*fs.PathError); ok {
		return "the folder cannot be read: " + pe.Err.Error()
	}
	return "the folder cannot be read: " + err.Error()
}

// degrade polls a root until it can be watched again.
func (l *loop) degrade(r *root, reason, advice string, now time.Time) {
	l.setMode(r, ModeDegraded, reason, advice, now)
	if !r.retryAt.After(now) {
		r.retryAt = now.Add(retryPolls * l.opt.rootInterval())
	}
	if r.pollAt.IsZero() {
		r.pollAt = now
	}
}

// retryPolls is how many poll intervals lie between two tries to watch again.
const retryPolls = 5

// checkRoots looks whether each root's folder is still the one that is
// watched. No event tells of a folder above it that was renamed, of something
// mounted over it, or of its return.
func (l *loop) checkRoots(ctx context.Context, now time.Time) {
	for _, r := range l.roots {
		if r.pollAlways {
			continue // the poll sees to it, away from this goroutine
		}
		id, _, err := idOf(r.status.Dir)
		switch {
		case err != nil && r.present:
			l.unavailable(r, err, now)
			l.hintRoot(r.status.Name, now)
		case err == nil && (!r.present || id != r.id):
			l.arm(ctx, r, now)
			l.hintRoot(r.status.Name, now)
		}
	}
}
