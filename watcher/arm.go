package watcher

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"

	"ragd/kbroot"
)

// limitError ends an arming: a folder could not be watched for a reason that
// the next one would meet too.
type limitError struct {
	dir string
	err error
}

func (e *limitError) Error() string { return fmt.Sprintf("watch %s: %v", e.dir, e.err) }
func (e *limitError) Unwrap() error { return e.err }

// arm watches all folders of a root and stops watching those that are not
// wanted any more. It leaves the root in the mode that came of it. The caller
// hints the root, but where arming ended a degraded time this does.
func (l *loop) arm(ctx context.Context, r *root, now time.Time) {
	if r.pollAlways {
		if r.status.Mode != ModePolling && r.status.Mode != ModeUnavailable {
			l.setMode(r, ModePolling, "the configuration says that this folder is polled", "", now)
		}
		if r.pollAt.IsZero() {
			r.pollAt = now
		}
		return
	}
	id, fi, err := idOf(r.status.Dir)
	if err == nil && !fi.IsDir() {
		err = errors.New("it is not a folder")
	}
	if err != nil {
		l.unavailable(r, err, now)
		return
	}
	if r.present && id != r.id {
		l.unwatchRoot(r) // another folder has taken its place
	}
	r.id, r.present = id, true
	if l.backend == nil {
		l.degrade(r, l.deadReason(), l.deadAdvice(), now)
		return
	}
	was := r.status.Mode
	complete, err := l.watchRoot(ctx, r)
	var limit *limitError
	switch {
	case errors.As(err, &limit):
		l.limited(r, limit, now)
		return
	case ctx.Err() != nil:
		return
	case err != nil:
		l.setMode(r, ModeUnavailable, err.Error(), "", now)
		r.retryAt = now.Add(retryPolls * l.opt.rootInterval())
		return
	}
	if complete {
		l.sweep(r)
	}
	r.retryAt, r.pollAt, r.seen = time.Time{}, time.Time{}, nil
	l.setMode(r, ModeEvents, "", "", now)
	if was == ModeDegraded || was == ModeUnavailable {
		l.hintRoot(r.status.Name, now)
	}
}

// rearm arms a root whose rules or links changed, and hints what it came
// upon: a folder found now may be a new one whose event is still to come, and
// that event will find it watched.
func (l *loop) rearm(ctx context.Context, r *root, now time.Time) {
	l.arm(ctx, r, now)
	if len(l.fresh) > maxTrees {
		l.hintRoot(r.status.Name, now)
	} else {
		for _, d := range l.fresh {
			if !coveredBy(d, l.fresh) {
				l.hint(kbroot.ChangeTree, r.status.Name, d, true, now)
			}
		}
	}
	l.fresh = nil
	// What a link leads to may have become a document of its own, or ceased to be one.
	for doc, root := range l.table.links {
		if root == r.status.Name {
			l.hint(kbroot.ChangePath, root, doc, false, now)
		}
	}
}

func (l *loop) limited(r *root, e *limitError, now time.Time) {
	advice, _ := overLimit(e.err)
	l.degrade(r, fmt.Sprintf("not every folder can be watched: %v", e.err), advice, now)
}

// watchRoot gathers the folders of a root. complete is false where parts
// could not be read; the watches there are kept.
func (l *loop) watchRoot(ctx context.Context, r *root) (complete bool, err error) {
	l.gen++
	l.arming = true
	l.fresh = nil
	defer func() { l.arming = false }()
	l.table.dropLinks(r.status.Name)
	if err := l.ensure(r, r.status.Dir, nil); err != nil {
		return false, err
	}
	if w := l.table.byAbs[r.status.Dir]; w != nil {
		w.top = true
	}
	kbs, err := l.set.KBs()
	if err != nil {
		return false, err
	}
	complete = true
	r.kbDirs = map[string]string{}
	for _, kb := range kbs {
		if kb.Root != r.status.Name {
			continue
		}
		r.kbDirs[kb.Dir] = kb.Name
		_, err := l.watchTree(ctx, r, kb.Name, "")
		var partial *kbroot.IncompleteError
		if errors.As(err, &partial) {
			complete = false
			continue
		}
		if err != nil {
			return false, err
		}
	}
	return complete, nil
}

// watchTree watches the folders of one tree; each is watched before it is
// listed. added counts the new watches.
func (l *loop) watchTree(ctx context.Context, r *root, kb, sub string) (added int, err error) {
	before := l.table.counts[r.status.Name]
	err = l.set.WatchPoints(ctx, kb, sub, func(p kbroot.WatchPoint) error {
		doc := p.DocPath
		if p.Link {
			l.table.links[doc] = r.status.Name
		}
		if !p.File {
			return l.ensure(r, p.Abs, &doc)
		}
		if l.table.files[p.Abs] == nil {
			l.table.files[p.Abs] = map[kbroot.DocPath]string{}
		}
		l.table.files[p.Abs][doc] = r.status.Name
		return l.ensure(r, existingAbove(p.Abs, r.status.Dir), nil)
	})
	return l.table.counts[r.status.Name] - before, err
}

// existingAbove is the nearest folder above a path that exists, down from the
// root's own.
func existingAbove(path, top string) string {
	for {
		path = filepath.Dir(path)
		if len(path) <= len(top) {
			return top
		}
		if fi, err := os.Stat(path); err == nil && fi.IsDir() {
			return path
		}
	}
}

// ensure watches one folder, if it is not watched yet, and notes that it is
// the folder doc of a KB (nil: it is watched for other reasons).
func (l *loop) ensure(r *root, abs string, doc *kbroot.DocPath) error {
	id, fi, err := idOf(abs)
	if err != nil || !fi.IsDir() {
		return nil // gone again; the event of that is on its way
	}
	w := l.table.byAbs[abs]
	if w != nil && w.id != id {
		l.unwatch(w)
		w = nil
	}
	if w == nil {
		if w = l.sameFolder(id, abs); w == nil {
			if err := l.backend.Add(abs); err != nil {
				return l.addFailed(abs, err)
			}
			w = &watch{abs: abs, root: r.status.Name, id: id}
			l.table.insert(w)
		}
	}
	if l.arming && w.gen != l.gen {
		w.was, w.docs = w.docs, nil // they are gathered anew
	}
	w.gen = l.gen
	if doc != nil {
		if _, had := w.was[*doc]; l.arming && !had {
			l.fresh = append(l.fresh, *doc)
		}
		if w.docs == nil {
			w.docs = map[kbroot.DocPath]struct{}{}
		}
		w.docs[*doc] = struct{}{}
	}
	return nil
}

// sameFolder finds the watch of the same folder under another name. If that
// name still leads to it (the same thing mounted twice), the system would
// only replace one watch by the other, so they share it. If not, the folder
// was moved and its old watches go before the new one comes.
func (l *loop) sameFolder(id fileID, abs string) *watch {
	other, ok := l.table.byID[id]
	if !ok || other == abs {
		return nil
	}
	if now, _, err := idOf(other); err == nil && now == id {
		return l.table.byAbs[other]
	}
	for _, w := range l.table.below(other) {
		l.unwatch(w)
	}
	return nil
}

func (l *loop) addFailed(abs string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, fs.ErrPermission):
		l.log.Warn("folder cannot be watched; only scans see what changes in it", "dir", abs, "error", err)
		return nil
	}
	return &limitError{abs, err}
}

// sweep stops the watches of a root that the last arming did not want.
func (l *loop) sweep(r *root) {
	for _, w := range l.table.byAbs {
		if w.root == r.status.Name && w.gen != l.gen {
			l.unwatch(w)
		}
	}
}

func (l *loop) unwatchRoot(r *root) {
	for _, w := range l.table.byAbs {
		if w.root == r.status.Name {
			l.unwatch(w)
		}
	}
	l.table.dropLinks(r.status.Name)
}

func (l *loop) unwatch(w *watch) {
	l.table.delete(w)
	if l.backend == nil {
		return
	}
	err := l.backend.Remove(w.abs)
	if err != nil && !errors.Is(err, fsnotify.ErrNonExistentWatch) && !errors.Is(err, os.ErrInvalid) {
		l.log.Debug("watch was gone already", "dir", w.abs, "error", err)
	}
}
