package kbroot

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"
)

// ignoreNames are the ignore files of a folder; a later one wins over an
// earlier one of the same folder.
var ignoreNames = [...]string{".gitignore", ".ignore", ".ragdignore"}

// IsIgnoreFile reports whether a file of this name holds ignore rules.
func IsIgnoreFile(name string) bool {
	return name == ignoreNames[0] || name == ignoreNames[1] || name == ignoreNames[2]
}

// maxIgnoreBytes bounds what is read of an ignore file; the rest has no effect.
const maxIgnoreBytes = 4 << 20

// rules is the ignore files that apply in a folder: those of the folder and,
// through parent, those of the folders above it.
type rules struct {
	parent *rules
	base   string        // the folder, relative to the root
	files  []*ignoreFile // in the order of ignoreNames
}

// decide returns the pattern that decides about a path and the file it stands
// in. path is relative to the root and lies below r.base.
func (r *rules) decide(path, elem string, isDir bool) (*pattern, *ignoreFile) {
	for ; r != nil; r = r.parent {
		name := path
		if r.base != "" {
			name = path[len(r.base)+1:]
		}
		for i := len(r.files) - 1; i >= 0; i-- {
			if p := r.files[i].last(name, elem, isDir); p != nil {
				return p, r.files[i]
			}
		}
	}
	return nil, nil
}

// ignoreCache keeps parsed ignore files by absolute path.
type ignoreCache struct {
	mu    sync.Mutex
	files map[string]cachedIgnore
}

type cachedIgnore struct {
	stamp  stamp
	readAt time.Time
	file   *ignoreFile
}

const maxCachedIgnores = 20000

func newIgnoreCache() *ignoreCache { return &ignoreCache{files: map[string]cachedIgnore{}} }

// stamp identifies one state of a file or folder as far as stat can tell.
type stamp struct {
	dev, ino     uint64
	size         int64
	mtime, ctime time.Time
}

func stampOf(fi fs.FileInfo) stamp {
	dev, ino, ctime, _ := sysStat(fi)
	return stamp{dev: dev, ino: ino, size: fi.Size(), mtime: fi.ModTime(), ctime: ctime}
}

// settled reports whether a file read at a time would show any later change
// in its stamp. Within one tick of the file system's clock it would not.
func (s stamp) settled(readAt time.Time) bool {
	tick := 100 * time.Millisecond
	if s.mtime.Nanosecond() == 0 { // perhaps a file system with whole seconds
		tick = 2500 * time.Millisecond
	}
	newest := s.mtime
	if s.ctime.After(newest) {
		newest = s.ctime
	}
	return readAt.Sub(newest) > tick
}

// load returns the parsed ignore file name in r, or nil where there is no
// regular file of that name. key is its absolute path, shown its path
// relative to the root. A file that cannot be read counts as empty, as in git.
func (c *ignoreCache) load(r *os.Root, name, key, shown string) *ignoreFile {
	fi, err := r.Lstat(name)
	if err != nil || !fi.Mode().IsRegular() {
		return nil
	}
	st := stampOf(fi)
	c.mu.Lock()
	hit, ok := c.files[key]
	c.mu.Unlock()
	if ok && hit.stamp == st && hit.file.name == shown && st.settled(hit.readAt) {
		return hit.file
	}
	readAt := time.Now()
	f := parseIgnore(shown, readIgnore(r, name))
	c.mu.Lock()
	if len(c.files) >= maxCachedIgnores {
		clear(c.files)
	}
	c.files[key] = cachedIgnore{st, readAt, f}
	c.mu.Unlock()
	return f
}

func readIgnore(r *os.Root, name string) string {
	f, err := r.OpenFile(name, os.O_RDONLY|openNonblock, 0)
	if err != nil {
		return ""
	}
	defer f.Close()
	if fi, err := f.Stat(); err != nil || !fi.Mode().IsRegular() {
		return ""
	}
	var b strings.Builder
	if _, err := io.Copy(&b, io.LimitReader(f, maxIgnoreBytes)); err != nil {
		return ""
	}
	return b.String()
}

func ruleText(f *ignoreFile, p *pattern) string {
	return fmt.Sprintf("%s:%d: %s", f.name, p.line, p.text)
}
