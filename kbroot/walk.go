package kbroot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
)

// Walk calls fn for every file below the folder sub ("" for all) of a KB,
// those with an Excluded* verdict included, ordered by the bytes of the whole
// path. Ignored folders are not entered. A KB or folder that does not exist
// has no files. Errors: fault.Unavailable "root_unavailable" where the root
// cannot be read or was replaced meanwhile; *IncompleteError where parts could
// not be read; fn's own error ends the walk and is returned.
func (s *Set) Walk(ctx context.Context, kb, sub string, fn func(Entry) error) error {
	return s.state.Load().walk(ctx, kb, sub, &walker{ctx: ctx, file: fn})
}

// Dirs calls fn with the path of every folder Walk enters below sub, itself
// included ("" is the KB's own), each before it is listed.
func (s *Set) Dirs(ctx context.Context, kb, sub string, fn func(rel string) error) error {
	return s.WatchPoints(ctx, kb, sub, func(p WatchPoint) error {
		if p.File {
			return nil
		}
		return fn(p.Path)
	})
}

// WatchPoint is a place on disk whose changes show in a KB.
type WatchPoint struct {
	DocPath        // the folder or file as the KB addresses it
	Abs     string // where it really is, links below the root resolved
	File    bool   // DocPath is a link that leads over or to Abs, which may be anything or nothing yet; else a folder
	Link    bool   // DocPath itself is a link
}

// WatchPoints calls fn for every folder Walk enters, before it is listed, and
// for every other place inside the root that a link in the KB leads to.
func (s *Set) WatchPoints(ctx context.Context, kb, sub string, fn func(WatchPoint) error) error {
	return s.state.Load().walk(ctx, kb, sub, &walker{ctx: ctx, point: fn})
}

// walker is one walk. Exactly one of file and point is set.
type walker struct {
	ctx   context.Context
	kb    string
	file  func(Entry) error
	point func(WatchPoint) error
	subs  []string
	cause error
	count int
}

func (st *state) walk(ctx context.Context, kb, sub string, w *walker) error {
	if sub != "" {
		var err error
		if sub, err = CleanPath(sub); err != nil {
			return err
		}
	}
	p, ok, err := st.find(kb)
	if err != nil || !ok {
		return err
	}
	s, err := st.open(p.top)
	if err != nil {
		return err
	}
	defer s.close()
	s.trace = w.point != nil
	w.kb = kb
	if err := s.walk(p, sub, w); err != nil {
		return err
	}
	if err := s.stillThere(); err != nil {
		return err
	}
	if len(w.subs) > 0 {
		return &IncompleteError{KB: kb, Subs: w.subs, Err: w.cause}
	}
	return nil
}

func (s *session) walk(p place, sub string, w *walker) error {
	d, v, err := s.kbDir(p.folder)
	if err != nil {
		w.unread("", err)
		return nil
	}
	if v.Code != OK {
		return nil
	}
	elems := splitPath(sub)
	if len(elems) == 0 {
		defer d.close()
		return w.dir(d, false)
	}
	last := elems[len(elems)-1]
	d, at, v, err := d.reach(elems[:len(elems)-1])
	if err != nil {
		w.unread(docOf(p, at), err)
		return nil
	}
	if v.Code != OK {
		return nil
	}
	defer d.close()
	f, err := d.look(last)
	if err != nil {
		w.unread(sub, err)
		return nil
	}
	return w.one(d, item{name: last, found: f})
}

func docOf(p place, at string) string {
	if p.folder == "" {
		return at
	}
	return strings.TrimPrefix(strings.TrimPrefix(at, p.folder), "/")
}

// stillThere makes sure that the folder that was walked is the one the root's
// path names now: what was not met in a folder that was moved away or
// unmounted in the middle is not gone.
func (s *session) stillThere() error {
	walked, err := s.root.Stat(".")
	if err != nil {
		return rootUnavailable(s.top, err)
	}
	now, err := os.Stat(s.top.dir)
	if err != nil {
		return rootUnavailable(s.top, err)
	}
	if !os.SameFile(walked, now) {
		return rootUnavailable(s.top, errors.New("it was replaced by another folder meanwhile"))
	}
	return nil
}

func (w *walker) unread(path string, err error) {
	if w.cause == nil {
		w.cause = err
	}
	if n := len(w.subs); n > 0 && w.subs[n-1] == path {
		return
	}
	w.subs = append(w.subs, path)
}

// item is a name of a folder that the walk keeps.
type item struct {
	name  string
	key   string // what it sorts by: folders as "name/"
	found found
	plain bool // an ordinary file by the listing's word; not looked at yet
}

// dir walks one folder.
func (w *walker) dir(d *dir, link bool) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	doc := d.doc(d.path)
	if len(doc) > maxPathBytes {
		return nil // nothing in it could be addressed
	}
	if w.point != nil {
		abs := d.s.inTop(d.real)
		if err := w.point(WatchPoint{DocPath: DocPath{w.kb, doc}, Abs: abs, Link: link}); err != nil {
			return err
		}
	}
	entries, err := readDir(d.r)
	if err != nil {
		if !isGone(err) {
			w.unread(doc, err)
		}
		if len(entries) == 0 {
			return nil
		}
	}
	if !d.loaded {
		present := map[string]bool{}
		for _, e := range entries {
			if IsIgnoreFile(e.Name()) {
				present[e.Name()] = true
			}
		}
		d.loadRules(present)
	}
	for _, it := range w.keep(d, entries) {
		if err := w.one(d, it); err != nil {
			return err
		}
	}
	return nil
}

// keep drops what is ignored and sorts the rest.
func (w *walker) keep(d *dir, entries []fs.DirEntry) []item {
	items := make([]item, 0, len(entries))
	for _, e := range entries {
		name := e.Name()
		it := item{name: name, key: name}
		switch e.Type() {
		case fs.ModeDir, 0:
			isDir := e.IsDir()
			if w.point != nil && !isDir {
				continue
			}
			path := join(d.path, name)
			if d.ignored(path, name, isDir).Code != OK {
				continue
			}
			it.plain = true
			it.found.path = path
			if isDir {
				it.key += "/"
			}
		default:
			f, err := d.look(name)
			if err != nil {
				w.unread(d.doc(join(d.path, name)), err)
				continue
			}
			if f.verdict.Code != OK && !f.verdict.Code.Listed() {
				continue
			}
			it.found = f
			if f.fi.IsDir() {
				it.key += "/"
			}
		}
		items = append(items, it)
	}
	slices.SortFunc(items, func(a, b item) int { return strings.Compare(a.key, b.key) })
	return items
}

// one reports a file or enters a folder.
func (w *walker) one(d *dir, it item) error {
	if w.count++; w.count%256 == 0 {
		if err := w.ctx.Err(); err != nil {
			return err
		}
	}
	f := it.found
	if it.plain {
		fi, err := d.r.Lstat(it.name)
		if err != nil {
			if !isGone(err) {
				w.unread(d.doc(f.path), err)
			}
			return nil
		}
		f.fi, f.verdict = fi, Verdict{Code: OK}
		if fi.Mode()&fs.ModeSymlink != 0 { // it was a file a moment ago
			d.followLink(it.name, &f)
		}
	}
	if f.fi == nil || !f.verdict.Code.Listed() {
		return nil
	}
	doc := d.doc(f.path)
	if f.verdict.Code == OK && f.fi.IsDir() {
		if err := w.hops(doc, f); err != nil {
			return err
		}
		return w.enter(d, it.name, f)
	}
	if w.point != nil {
		return w.hops(doc, f)
	}
	if len(doc) > maxPathBytes {
		return nil
	}
	e := Entry{DocPath: DocPath{w.kb, doc}}
	if f.verdict.Code == OK {
		d.judge(it.name, &f)
	}
	e.fill(f.fi)
	e.Verdict = f.verdict
	return w.file(e)
}

// hops reports the places a link leads over and to.
func (w *walker) hops(doc string, f found) error {
	if w.point == nil {
		return nil
	}
	for _, abs := range f.hops {
		if err := w.point(WatchPoint{DocPath: DocPath{w.kb, doc}, Abs: abs, File: true, Link: true}); err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) enter(d *dir, name string, f found) error {
	c, v, err := d.openFound(f, name)
	if err != nil {
		w.unread(d.doc(f.path), err)
		return nil
	}
	if v.Code != OK {
		return nil
	}
	defer c.close()
	return w.dir(c, f.follow)
}

// readDir lists a folder. On an error it returns what was read before it.
func readDir(r *os.Root) ([]fs.DirEntry, error) {
	f, err := r.Open(".")
	if err != nil {
		return nil, err
	}
	entries, err := f.ReadDir(-1)
	if cerr := f.Close(); err == nil && cerr != nil {
		err = fmt.Errorf("close folder: %w", cerr)
	}
	return entries, err
}
