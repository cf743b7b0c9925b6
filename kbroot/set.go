package kbroot

import (
	"os"
	"slices"
	"sync"
	"sync/atomic"
)

// DefaultMaxFileBytes is the size cap where Options.MaxFileBytes is 0.
const DefaultMaxFileBytes = 50 << 20

// RootSpec is a configured root: a folder whose first-level folders are KBs.
type RootSpec struct {
	Name string // empty: the base name of Dir, made unique
	Dir  string // absolute
}

// MountSpec is a configured folder that is a KB by itself.
type MountSpec struct {
	Name     string
	Dir      string // absolute
	Writable bool   // documents may be written and removed through WriteFile and Remove
	Poll     bool   // the file system gives no events; the watcher polls it
}

// Options configure a Set.
type Options struct {
	Roots        []RootSpec
	Mounts       []MountSpec
	Hidden       bool     // index hidden files below a KB too; the built-in excludes still apply
	MaxFileBytes int64    // files above it are listed, not indexed; 0 is DefaultMaxFileBytes
	OwnDirs      []string // absolute paths of the daemon's own files and folders, never indexed; a * at the end stands for any rest of a name
	Exclude      []string // patterns in .gitignore syntax, relative to each KB; they win over ignore files
}

// Set is all roots and mounts of one daemon. Its methods may be called from
// many goroutines; each call sees one configuration from beginning to end.
type Set struct {
	state  atomic.Pointer[state]
	ignore *ignoreCache
	uid    int // effective user id, for the permission check; -1 where there is none
}

// state is one configuration; immutable but for the listing cache.
type state struct {
	opts   Options
	tops   []*top // roots in order, then mounts
	extra  *ignoreFile
	ignore *ignoreCache
	uid    int

	views map[*top]*viewBox // one for each top; the map itself never changes
	named atomic.Pointer[naming]
}

// viewBox holds the last listing of one root. Each has its own lock, so a
// root that hangs holds up nobody who asks about another.
type viewBox struct {
	mu   sync.Mutex
	view *view
}

// top is a root or a mount.
type top struct {
	name     string
	dir      string // absolute, clean, links not resolved
	mounted  bool
	writable bool
	poll     bool
	own      []string // the daemon's own paths below dir, relative to it
}

// New validates the options and returns a Set. A folder that does not exist
// is no error: its root is unavailable until it is there. Relative folders,
// duplicate or nested ones, and bad names are (fault.Invalid).
func New(o Options) (*Set, error) {
	s := &Set{ignore: newIgnoreCache(), uid: os.Geteuid()}
	if err := s.Reconfigure(o); err != nil {
		return nil, err
	}
	return s, nil
}

// Reconfigure replaces the configuration; on error the old one stays.
func (s *Set) Reconfigure(o Options) error {
	o = cloneOptions(o)
	if o.MaxFileBytes <= 0 {
		o.MaxFileBytes = DefaultMaxFileBytes
	}
	tops, err := buildTops(&o)
	if err != nil {
		return err
	}
	extra, err := parseConfigured(o.Exclude)
	if err != nil {
		return err
	}
	st := &state{opts: o, tops: tops, extra: extra, ignore: s.ignore, uid: s.uid, views: make(map[*top]*viewBox)}
	for _, t := range tops {
		st.views[t] = &viewBox{}
	}
	if old := s.state.Load(); old != nil {
		st.rememberFrom(old)
	}
	s.state.Store(st)
	return nil
}

// Options returns a copy of the configuration in force, defaults filled in.
func (s *Set) Options() Options { return cloneOptions(s.state.Load().opts) }

func cloneOptions(o Options) Options {
	o.Roots = slices.Clone(o.Roots)
	o.Mounts = slices.Clone(o.Mounts)
	o.OwnDirs = slices.Clone(o.OwnDirs)
	o.Exclude = slices.Clone(o.Exclude)
	return o
}
