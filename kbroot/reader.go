package kbroot

import (
	"io/fs"
	"os"
	"strings"
	"time"
)

// Reader opens documents one after another and keeps the folder of the last
// one open, since most of the cost of opening a small file is the way down
// from its root. It serves one goroutine.
type Reader struct {
	set  *Set
	kept *lookup // nil: no folder is open
	in   DocPath // the folder that kept has open
	at   time.Time
}

// NewReader returns a reader with no folder open.
func (s *Set) NewReader() *Reader { return &Reader{set: s} }

// OpenEntry is Stat and Open in one look: the file is nil where there is
// nothing to open (a verdict other than OK, or a folder). Errors are those of
// Open. A folder that was looked at after since, with its rules and all above
// it, is not looked at again: what changed before since is seen for certain,
// what changed later may not be.
func (r *Reader) OpenEntry(p DocPath, since time.Time) (Entry, *os.File, fs.FileInfo, error) {
	clean, err := CleanPath(p.Path)
	if err != nil {
		return Entry{DocPath: p}, nil, nil, err
	}
	folder, name := "", clean
	if i := strings.LastIndexByte(clean, '/'); i >= 0 {
		folder, name = clean[:i], clean[i+1:]
	}
	in := DocPath{p.KB, folder}
	if r.kept != nil && r.in == in && r.at.After(since) && r.kept.ses.st == r.set.state.Load() {
		l := *r.kept
		l.entry = Entry{DocPath: DocPath{p.KB, clean}}
		// A folder that was taken away and made anew has lost its files for
		// whoever has the old one open: the way is looked at again.
		if err := l.lookAt(name); err == nil && l.entry.Verdict.Code != Missing {
			return l.open(p)
		}
	}
	r.Close()
	at := time.Now()
	l, err := r.set.state.Load().lookup(p)
	if err != nil {
		return Entry{DocPath: p}, nil, nil, err
	}
	if l.dir == nil {
		defer l.close()
	} else {
		r.kept, r.in, r.at = l, in, at
	}
	return l.open(p)
}

// Close lets go of the folder that is open, which would keep a file system
// from being unmounted. The reader can be used again.
func (r *Reader) Close() {
	if r.kept != nil {
		r.kept.close()
		r.kept = nil
	}
}
