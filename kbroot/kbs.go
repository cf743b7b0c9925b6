package kbroot

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"ragd/internal/fault"
)

// place is where a KB lies: a top and, for a root, its first-level folder.
type place struct {
	KB
	top    *top
	folder string // "" for a mount
	down   bool   // its root cannot be read just now
}

// KBs returns the knowledge bases as they are on disk now, sorted by name:
// the first-level folders of readable roots, and readable mounts.
func (s *Set) KBs() ([]KB, error) {
	st := s.state.Load()
	var list []KB
	for _, p := range st.names().list {
		if p.top.mounted && st.view(p.top).err != nil || p.down {
			continue
		}
		list = append(list, p.KB)
	}
	slices.SortFunc(list, func(a, b KB) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}

// KB looks one up by name. A KB of a root that cannot be read just now is
// still known when it was seen before.
func (s *Set) KB(name string) (KB, bool) {
	p, ok, _ := s.state.Load().find(name)
	return p.KB, ok
}

// find looks a KB up. Where it is not found, err is not nil if a root is
// unavailable, so that nobody can say that the KB does not exist.
func (st *state) find(name string) (place, bool, error) {
	for _, t := range st.tops {
		if t.mounted && t.name == name {
			return mountPlace(t), true, nil
		}
	}
	n := st.names()
	if i, ok := n.byName[name]; ok {
		return n.list[i], true, nil
	}
	for _, v := range n.views {
		if v.err != nil {
			return place{}, false, v.err
		}
	}
	return place{}, false, nil
}

func mountPlace(t *top) place {
	return place{KB: KB{Name: t.name, Root: t.name, Dir: t.dir, Mounted: true}, top: t}
}

// naming is the names of all KBs, worked out from one view of each root.
type naming struct {
	views  []*view // of the roots, in order
	list   []place
	byName map[string]int
}

// names returns the KBs with their names, worked out anew only when a root's
// listing is another than the last time.
func (st *state) names() *naming {
	var views []*view
	for _, t := range st.tops {
		if !t.mounted {
			views = append(views, st.view(t))
		}
	}
	if n := st.named.Load(); n != nil && slices.Equal(n.views, views) {
		return n
	}
	n := st.nameAll(views)
	st.named.Store(n)
	return n
}

// nameAll gives every KB its name. Mounts come first, since their names are
// somebody's choice; then the roots in order. A name that is taken gets
// "@root" behind it.
func (st *state) nameAll(views []*view) *naming {
	n := &naming{views: views, byName: map[string]int{}}
	add := func(p place) {
		n.byName[p.Name] = len(n.list)
		n.list = append(n.list, p)
	}
	taken := func(name string) bool { _, ok := n.byName[name]; return ok }
	for _, t := range st.tops {
		if t.mounted {
			add(mountPlace(t))
		}
	}
	for _, t := range st.tops {
		if t.mounted {
			continue
		}
		v := views[0]
		views = views[1:]
		for _, folder := range v.folders {
			name := folder
			if taken(name) {
				name = folder + "@" + t.name
			}
			for i := 2; taken(name); i++ {
				name = fmt.Sprintf("%s@%s#%d", folder, t.name, i)
			}
			add(place{
				KB:  KB{Name: name, Root: t.name, Dir: t.dir + string(filepath.Separator) + folder},
				top: t, folder: folder, down: v.err != nil,
			})
		}
	}
	return n
}

// view is what the folder of a root (not what is in its KBs) looks like.
type view struct {
	err     error // not readable; folders then holds what was seen last
	folders []string
	loose   []string // files that lie directly in the root
	notes   []string

	root    stamp
	ignores [len(ignoreNames)]stamp
	readAt  time.Time
	fixed   bool // may be reused while the stamps stay
}

// view returns the root's listing, read anew when it may have changed.
func (st *state) view(t *top) *view {
	box := st.views[t]
	box.mu.Lock()
	defer box.mu.Unlock()
	old := box.view
	s, err := st.open(t)
	if err != nil {
		v := &view{err: err}
		if old != nil {
			v.folders = old.folders
		}
		box.view = v
		return v
	}
	defer s.close()
	v := &view{readAt: time.Now()}
	fi, err := s.root.Stat(".")
	if err == nil {
		v.root = stampOf(fi)
		for i, name := range ignoreNames {
			if fi, err := s.root.Lstat(name); err == nil {
				v.ignores[i] = stampOf(fi)
			}
		}
		if old != nil && old.err == nil && old.fixed && old.root == v.root && old.ignores == v.ignores {
			return old
		}
		err = s.list(v)
	}
	if err != nil {
		v = &view{err: rootUnavailable(t, err)}
		if old != nil {
			v.folders = old.folders
		}
	}
	box.view = v
	return v
}

// list fills a view from the folder.
func (s *session) list(v *view) error {
	if s.top.mounted {
		return s.probe()
	}
	entries, err := readDir(s.root)
	if err != nil {
		return err
	}
	v.fixed = v.root.settled(v.readAt)
	for _, ig := range v.ignores {
		v.fixed = v.fixed && ig.settled(v.readAt)
	}
	d := s.topDir()
	for _, e := range entries {
		f, err := d.lookFirst(e.Name())
		switch {
		case err != nil:
			return err
		case f.verdict.Code == ExcludedSymlink:
			v.fixed = false // what a link leads to changes without the root changing
			v.notes = append(v.notes, fmt.Sprintf("%q is no knowledge base: %s", DisplayPath(e.Name()), f.verdict.Reason))
		case f.verdict.Code == IgnoredRule && f.fi.IsDir():
			v.notes = append(v.notes, fmt.Sprintf("folder %q is ignored by %s", DisplayPath(e.Name()), f.verdict.Rule))
		case f.verdict.Code != OK:
		case f.fi.IsDir():
			v.fixed = v.fixed && !f.follow
			v.folders = append(v.folders, e.Name())
		default:
			v.loose = append(v.loose, e.Name())
		}
	}
	slices.Sort(v.folders)
	slices.Sort(v.loose)
	return nil
}

// probe finds out whether the folder can be listed, without listing it all.
func (s *session) probe() error {
	f, err := s.root.Open(".")
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Readdirnames(1); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

// CreateKB makes a folder in the first root. Names that could not be a KB's
// (hidden, built-in excludes, ignored) or that people cannot type are refused.
func (s *Set) CreateKB(name string) (KB, error) { return s.createKB("", name) }

// createKB makes a KB in a root, "" = the first.
func (s *Set) createKB(root, name string) (KB, error) {
	st := s.state.Load()
	if err := ValidKBName(name); err != nil {
		return KB{}, err
	}
	if !utf8.ValidString(name) || strings.ContainsFunc(name, isControl) || strings.TrimSpace(name) != name || strings.Contains(name, `\`) {
		return KB{}, fault.New(fault.Invalid, "bad_kb_name",
			"knowledge base name %s is not allowed: it must be UTF-8 without control characters, backslashes, and spaces at its ends", clip(name))
	}
	t, ok := st.topFor(root)
	if !ok {
		return KB{}, fault.New(fault.Conflict, "no_root", "knowledge base %q cannot be made: no root folder is configured", name).
			WithHint("configure a root; mounted folders hold one knowledge base each")
	}
	if _, ok, _ := st.find(name); ok {
		return KB{}, fault.New(fault.Conflict, "kb_exists", "knowledge base %q exists", name)
	}
	ses, err := st.open(t)
	if err != nil {
		return KB{}, err
	}
	defer ses.close()
	if v := ses.topDir().ignoredFirst(name, true); v.Code != OK {
		return KB{}, fault.New(fault.Invalid, "ignored_path", "knowledge base name %q would never be indexed: %s (%s)", name, v.Reason, v.Rule)
	}
	if err := ses.root.Mkdir(name, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return KB{}, writeError("make the folder of knowledge base", name, err)
	}
	p, ok, err := st.find(name)
	if err != nil {
		return KB{}, err
	}
	if !ok {
		return KB{}, fault.New(fault.Conflict, "kb_exists", "knowledge base %q cannot be made: a file of that name is in the root", name)
	}
	return p.KB, nil
}

// topFor is the root of a name, "" = the first, in which KBs can be made.
func (st *state) topFor(root string) (*top, bool) {
	for _, t := range st.tops {
		if !t.mounted && (root == "" || t.name == root) {
			return t, true
		}
	}
	return nil, false
}
