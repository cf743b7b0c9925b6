package kbroot

import (
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"
)

// Reader opens documents one after another and keeps the folders of the last
// ones open, since most of the cost of opening a small file is the way down
// from its root. It serves one goroutine.
type Reader struct {
	set  *Set
	kept []kept // the one used last comes first
}

// kept is a folder with the way to it open.
type kept struct {
	in DocPath
	at time.Time // when the look at it began
	l  *lookup
}

// keptFolders is how many: jobs come from several knowledge bases in turn.
const keptFolders = 8

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
	if l, ok := r.again(in, since); ok {
		l.entry = Entry{DocPath: DocPath{p.KB, clean}}
		// A folder that was taken away and made anew has lost its files for
		// whoever has the old one open: the way is looked at again.
		if err := l.lookAt(name); err == nil && l.entry.Verdict.Code != Missing {
			return l.open(p)
		}
		r.drop(0)
	}
	at := time.Now()
	l, err := r.set.state.Load().lookup(p)
	if err != nil {
		return Entry{DocPath: p}, nil, nil, err
	}
	if l.dir == nil {
		defer l.close()
	} else {
		r.keep(kept{in, at, l})
	}
	return l.open(p)
}

// again returns a folder that is open and was looked at late enough, and puts
// it first.
func (r *Reader) again(in DocPath, since time.Time) (l lookup, ok bool) {
	i := slices.IndexFunc(r.kept, func(k kept) bool { return k.in == in })
	if i < 0 {
		return l, false
	}
	k := r.kept[i]
	if !k.at.After(since) || k.l.ses.st != r.set.state.Load() {
		r.drop(i)
		return l, false
	}
	copy(r.kept[1:], r.kept[:i])
	r.kept[0] = k
	return *k.l, true
}

func (r *Reader) keep(k kept) {
	if len(r.kept) == keptFolders {
		r.drop(keptFolders - 1)
	}
	r.kept = slices.Insert(r.kept, 0, k)
}

func (r *Reader) drop(i int) {
	r.kept[i].l.close()
	r.kept = slices.Delete(r.kept, i, i+1)
}

// Close lets go of the folders that are open, which would keep a file system
// from being unmounted. The reader can be used again.
func (r *Reader) Close() {
	for len(r.kept) > 0 {
		r.drop(len(r.kept) - 1)
	}
}
