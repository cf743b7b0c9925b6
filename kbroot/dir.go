package kbroot

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// session is one call's view of a root: its folder is opened once, and all
// that the call reads is reached from that handle.
type session struct {
	st   *state
	top  *top
	root *os.Root
	real string // top.dir with links resolved; worked out when first needed
	// trace has the hops of links noted, which only the watcher wants.
	trace bool
}

// open opens a root. It never blocks on a FIFO that stands in its place: the
// "/." makes the system insist on a folder.
func (st *state) open(t *top) (*session, error) {
	r, err := os.OpenRoot(t.dir + "/.")
	if err != nil {
		return nil, rootUnavailable(t, err)
	}
	return &session{st: st, top: t, root: r}, nil
}

func (s *session) close() { _ = s.root.Close() } // read-only handle: nothing to lose

// dir is an open folder of a KB (or the root's own folder) on the way down.
type dir struct {
	s      *session
	r      *os.Root
	kb     string // the KB's folder relative to the root; "" for a mount and for the root's own folder
	kbReal string // the same with links resolved
	path   string // relative to the root, as documents in it are addressed
	real   string // relative to the root, links resolved
	linked bool   // a link to a folder was followed on the way
	rules  *rules
	loaded bool // the folder's own ignore files are in rules
}

func (d *dir) close() {
	if d.r != d.s.root {
		_ = d.r.Close()
	}
}

// doc turns a path relative to the root into one relative to the KB.
func (d *dir) doc(path string) string {
	if d.kb == "" {
		return path
	}
	if len(path) <= len(d.kb) {
		return ""
	}
	return path[len(d.kb)+1:]
}

func join(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

// topDir is the root's own folder; for a mount that is its KB.
func (s *session) topDir() *dir {
	d := &dir{s: s, r: s.root}
	d.loadRules(nil)
	return d
}

// kbDir opens a KB's folder. v is not OK where it is no KB (any more).
func (s *session) kbDir(folder string) (*dir, Verdict, error) {
	top := s.topDir()
	if s.top.mounted {
		return top, Verdict{Code: OK}, nil
	}
	f, err := top.lookFirst(folder)
	if err != nil || f.verdict.Code != OK {
		return nil, f.verdict, err
	}
	d, v, err := top.openFound(f, folder)
	if d != nil {
		d.kb, d.kbReal = folder, d.real
		d.linked = false // the KB itself may be a link; its insides are judged afresh
		d.loadRules(nil)
	}
	return d, v, err
}

// loadRules reads the folder's ignore files. present, where it is known,
// tells which of them the folder's listing has.
func (d *dir) loadRules(present map[string]bool) {
	d.loaded = true
	var files []*ignoreFile
	for _, name := range ignoreNames {
		if present != nil && !present[name] {
			continue
		}
		shown := join(d.path, name)
		if f := d.s.st.ignore.load(d.r, name, d.s.top.dir+"/"+shown, shown); f != nil && len(f.patterns) > 0 {
			files = append(files, f)
		}
	}
	if len(files) > 0 {
		d.rules = &rules{parent: d.rules, base: d.path, files: files}
	}
}

// found is what a look at one name showed.
type found struct {
	path    string      // relative to the root
	fi      fs.FileInfo // of the target where a link is followed; nil when Missing
	target  string      // the target relative to the root, where a link is followed
	follow  bool
	hops    []string // for a link: the absolute paths below the root that it leads over and to
	verdict Verdict  // OK, Ignored*, Missing or ExcludedSymlink
}

// look judges one name of the folder by name and kind, without opening it.
// An error means that nothing is known, not even that the name is absent.
func (d *dir) look(name string) (found, error) {
	f := found{path: join(d.path, name)}
	fi, err := d.r.Lstat(name)
	if err != nil {
		if isGone(err) {
			f.verdict = missing
			return f, nil
		}
		return f, folderUnreadable(d.doc(d.path), err)
	}
	f.fi = fi
	if f.verdict = d.ignored(f.path, name, fi.IsDir()); f.verdict.Code != OK {
		return f, nil
	}
	if fi.Mode()&fs.ModeSymlink != 0 {
		d.followLink(name, &f)
	}
	return f, nil
}

var missing = Verdict{Code: Missing, Reason: "no such file"}

// lookFirst judges a first-level name of a root: is it the folder of a KB?
func (d *dir) lookFirst(name string) (found, error) {
	f := found{path: name}
	fi, err := d.r.Lstat(name)
	if err != nil {
		if isGone(err) {
			f.verdict = missing
			return f, nil
		}
		return f, rootUnavailable(d.s.top, err)
	}
	f.fi = fi
	if f.verdict = d.ignoredFirst(name, fi.IsDir()); f.verdict.Code != OK {
		return f, nil
	}
	if fi.Mode()&fs.ModeSymlink != 0 {
		d.followLink(name, &f)
	}
	return f, nil
}

// openFound opens a folder that look found to be one.
func (d *dir) openFound(f found, name string) (*dir, Verdict, error) {
	if f.fi == nil || !f.fi.IsDir() {
		return nil, missing, nil
	}
	var r *os.Root
	var err error
	if f.follow {
		r, err = d.s.root.OpenRoot(f.target + "/.")
	} else {
		r, err = d.r.OpenRoot(name + "/.")
	}
	if err != nil {
		if isGone(err) {
			return nil, missing, nil
		}
		return nil, Verdict{}, folderUnreadable(d.doc(f.path), err)
	}
	c := &dir{s: d.s, r: r, kb: d.kb, kbReal: d.kbReal, path: f.path, real: join(d.real, name), linked: d.linked, rules: d.rules}
	if f.follow {
		c.real, c.linked = f.target, true
	}
	return c, Verdict{Code: OK}, nil
}

// reach descends from a KB's folder along elems. Where it stops early, v says
// why and at tells the path (relative to the root) it stopped at.
func (d *dir) reach(elems []string) (end *dir, at string, v Verdict, err error) {
	for _, name := range elems {
		f, err := d.look(name)
		if err != nil || f.verdict.Code != OK {
			d.close()
			return nil, f.path, f.verdict, err
		}
		c, v, err := d.openFound(f, name)
		d.close()
		if c == nil {
			return nil, f.path, v, err
		}
		c.loadRules(nil)
		d = c
	}
	return d, d.path, Verdict{Code: OK}, nil
}

// realTop is the root's folder with links resolved.
func (s *session) realTop() (string, error) {
	if s.real == "" {
		p, err := filepath.EvalSymlinks(s.top.dir)
		if err != nil {
			return "", err
		}
		s.real = p
	}
	return s.real, nil
}

func splitPath(p string) []string {
	if p == "" {
		return nil
	}
	return strings.Split(p, "/")
}
