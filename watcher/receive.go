package watcher

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"ragd/kbroot"
)

// structural says that a name may lead to something else than before.
const structural = fsnotify.Create | fsnotify.Remove | fsnotify.Rename

// receive turns what came in into hints and watches.
func (l *loop) receive(ctx context.Context, now time.Time) {
	b := l.inbox.take()
	if len(b.order) > 0 {
		l.events(ctx, b, now)
	}
	if b.overflows > 0 {
		l.lost(ctx, b.overflows, now)
	}
	if b.dead != nil {
		l.died(b.dead, now)
		return
	}
	l.cookieCame(ctx, b.cookie, now)
}

// intake is the work on one batch of events.
type intake struct {
	l      *loop
	ctx    context.Context
	now    time.Time
	resync map[*root]bool  // roots whose set of watched folders is to be worked out anew
	check  bool            // a root's own folder was touched
	ended  map[string]bool // folders whose watches ended
}

// events first ends the watches of everything that was moved or removed, and
// only then looks at what is there now: a moved folder keeps its watch in the
// system, under the old name, and must lose it before it gets a new one.
func (l *loop) events(ctx context.Context, b batch, now time.Time) {
	in := &intake{l: l, ctx: ctx, now: now, resync: map[*root]bool{}, ended: map[string]bool{}}
	for _, path := range b.order {
		if b.paths[path]&structural != 0 {
			in.detach(path, b.paths[path])
		}
	}
	for _, path := range b.order {
		in.event(path, b.paths[path])
	}
	delete(in.resync, nil)
	for r := range in.resync {
		l.rearm(ctx, r, now)
	}
	if in.check {
		l.checkRoots(ctx, now)
	}
}

// detach ends the watches of a folder that is not, or not surely, the same.
func (in *intake) detach(path string, op fsnotify.Op) {
	l := in.l
	w := l.table.byAbs[path]
	if w == nil {
		return
	}
	if op&(fsnotify.Remove|fsnotify.Rename) == 0 {
		if id, _, err := idOf(path); err == nil && id == w.id {
			return // told of its making after it was found and watched
		}
	}
	if w.top {
		in.check = true
	}
	for doc := range w.docs {
		l.hint(kbroot.ChangeTree, w.root, doc, true, in.now)
	}
	for _, below := range l.table.below(path) {
		l.unwatch(below)
	}
	in.ended[path] = true
}

// changed is an event and what is at its path now.
type changed struct {
	path string
	op   fsnotify.Op
	fi   fs.FileInfo // nil: nothing, or the event is about content only
	wide bool        // what lies below the path may be meant too
}

// maxWide is how many links are looked through for one name that is gone.
// With more, only the end of a watched folder has them all looked through.
const maxWide = 1000

func (in *intake) look(path string, op fsnotify.Op) changed {
	c := changed{path: path, op: op}
	if op&structural == 0 {
		return c
	}
	if fi, err := os.Lstat(path); err == nil {
		c.fi = fi
		c.wide = !fi.Mode().IsRegular()
	} else {
		c.wide = len(in.l.table.links) <= maxWide
	}
	c.wide = c.wide || in.ended[path]
	return c
}

func (in *intake) event(path string, op fsnotify.Op) {
	l := in.l
	c := in.look(path, op)
	in.targets(c)
	dir, name := filepath.Dir(path), filepath.Base(path)
	w := l.table.byAbs[dir]
	if w == nil || path == dir {
		return
	}
	r := l.rootNamed(w.root)
	if r == nil {
		return
	}
	r.status.LastEvent = in.now
	if w.top && !r.mounted {
		in.firstLevel(r, name, c)
	}
	if len(w.docs) == 0 {
		return
	}
	if kbroot.IsIgnoreFile(name) {
		in.resync[r] = true
		for doc := range w.docs {
			l.hint(kbroot.ChangeTree, w.root, doc, true, in.now)
		}
	}
	if _, never := kbroot.BuiltinExcluded(name); never {
		return
	}
	docs := make([]kbroot.DocPath, 0, len(w.docs)) // the map may grow below
	for doc := range w.docs {
		docs = append(docs, doc)
	}
	for _, doc := range docs {
		if doc.Path != "" {
			doc.Path += "/"
		}
		doc.Path += name
		in.child(r, doc, c)
	}
}

// targets hints the links that lead to a path.
func (in *intake) targets(c changed) {
	l := in.l
	for doc, root := range l.table.files[c.path] {
		l.hint(kbroot.ChangePath, root, doc, true, in.now)
		if c.op&structural != 0 {
			in.resync[l.rootNamed(root)] = true
		}
	}
	if !c.wide {
		return
	}
	for target, docs := range l.table.files {
		if !strings.HasPrefix(target, c.path+"/") {
			continue
		}
		for doc, root := range docs {
			l.hint(kbroot.ChangePath, root, doc, true, in.now)
			in.resync[l.rootNamed(root)] = true
		}
	}
}

// child handles a change of one name in a watched folder of a KB.
func (in *intake) child(r *root, doc kbroot.DocPath, c changed) {
	l := in.l
	kind := kbroot.ChangePath
	if c.op&structural != 0 && l.table.linkAt(doc, c.wide) {
		in.resync[r] = true
	}
	if c.fi != nil && c.op.Has(fsnotify.Create) {
		switch c.fi.Mode().Type() {
		case fs.ModeDir:
			known := l.table.has(c.path, doc)
			if added := in.watch(r, doc); known && added == 0 && r.status.Mode == ModeEvents {
				return // it was found, watched and hinted before this event came
			}
			kind = kbroot.ChangeTree
		case fs.ModeSymlink:
			in.watch(r, doc)
		}
	}
	l.hint(kind, r.status.Name, doc, true, in.now)
}

// watch watches a new tree.
func (in *intake) watch(r *root, doc kbroot.DocPath) (added int) {
	added, err := in.l.watchTree(in.ctx, r, doc.KB, doc.Path)
	var limit *limitError
	if errors.As(err, &limit) {
		in.l.limited(r, limit, in.now)
	}
	return added
}

// firstLevel handles a change directly in a root's own folder, where the
// names are KBs.
func (in *intake) firstLevel(r *root, name string, c changed) {
	l, path := in.l, c.path
	if kbroot.IsIgnoreFile(name) {
		in.resync[r] = true
		l.hintRoot(r.status.Name, in.now)
		return
	}
	if c.op&structural == 0 || strings.HasPrefix(name, ".") {
		return
	}
	if kb, ok := r.kbDirs[path]; ok && c.op&(fsnotify.Remove|fsnotify.Rename) != 0 {
		delete(r.kbDirs, path)
		in.resync[r] = true // a KB that is a link is watched elsewhere
		l.hint(kbroot.ChangeTree, r.status.Name, kbroot.DocPath{KB: kb}, true, in.now)
		in.others(r)
	}
	if c.fi == nil || !c.fi.IsDir() && c.fi.Mode()&fs.ModeSymlink == 0 {
		return
	}
	doc, _, ok := l.set.Locate(path)
	if !ok || doc.KB == "" {
		return
	}
	if known := r.kbDirs[path] == doc.KB && l.table.has(path, kbroot.DocPath{KB: doc.KB}); known {
		if in.watch(r, kbroot.DocPath{KB: doc.KB}) == 0 && r.status.Mode == ModeEvents {
			return
		}
	} else {
		r.kbDirs[path] = doc.KB
		in.watch(r, kbroot.DocPath{KB: doc.KB})
		in.others(r)
	}
	l.hint(kbroot.ChangeTree, r.status.Name, kbroot.DocPath{KB: doc.KB}, true, in.now)
}

// others has the other roots looked at: a KB's name depends on the names in
// the roots before its own.
func (in *intake) others(r *root) {
	for _, o := range in.l.roots {
		if o != r && !o.mounted {
			in.resync[o] = true
			in.l.hintRoot(o.status.Name, in.now)
		}
	}
}
