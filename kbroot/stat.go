package kbroot

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"ragd/internal/fault"
)

// Stat looks at one path: its lstat (of the target, where it is a link that
// is followed) and the verdict with every rule that applies, those about the
// folders above it included. A path that does not exist has the verdict
// Missing. A folder that is walked has the verdict OK and a Mode that says
// so. An error means that nothing is known: fault.Unavailable, with the code
// "root_unavailable" or "folder_unreadable"; fault.Invalid "bad_path".
func (s *Set) Stat(p DocPath) (Entry, error) {
	l, err := s.state.Load().lookup(p)
	if err != nil {
		return Entry{DocPath: p}, err
	}
	l.close()
	return l.entry, nil
}

// lookup is Stat's result with the folder the path lies in still open.
type lookup struct {
	entry Entry
	place place
	ses   *session
	dir   *dir // nil where the way to it was not clear
	name  string
	found found
}

func (l *lookup) close() {
	if l.dir != nil {
		l.dir.close()
	}
	if l.ses != nil {
		l.ses.close()
	}
}

// lookup does Stat's work. Without an error the caller closes it.
func (st *state) lookup(p DocPath) (*lookup, error) {
	clean, err := CleanPath(p.Path)
	if err != nil {
		return nil, err
	}
	l := &lookup{entry: Entry{DocPath: DocPath{p.KB, clean}}}
	pl, ok, err := st.find(p.KB)
	if err != nil {
		return nil, err
	}
	if !ok {
		l.entry.Verdict = missing
		return l, nil
	}
	l.place = pl
	if l.ses, err = st.open(pl.top); err != nil {
		return nil, err
	}
	if err := l.look(splitPath(clean)); err != nil {
		l.close()
		return nil, err
	}
	return l, nil
}

func (l *lookup) look(elems []string) error {
	last := len(elems) - 1
	if clear, err := l.descend(elems[:last]); err != nil || !clear {
		return err
	}
	return l.lookAt(elems[last])
}

// descend opens the folder a path lies in. Where the way to it is not clear,
// the entry has the reason.
func (l *lookup) descend(elems []string) (clear bool, err error) {
	d, v, err := l.ses.kbDir(l.place.folder)
	if err != nil {
		return false, err
	}
	if v.Code != OK {
		l.entry.Verdict = missing
		return false, nil
	}
	d, at, v, err := d.reach(elems)
	if err != nil {
		return false, err
	}
	if v.Code != OK {
		l.blocked(at, v)
		return false, nil
	}
	l.dir = d
	return true, nil
}

// lookAt judges one name of the folder that descend opened.
func (l *lookup) lookAt(name string) (err error) {
	l.name = name
	if l.found, err = l.dir.look(name); err != nil {
		return err
	}
	if l.found.verdict.Code == OK {
		l.dir.judge(name, &l.found)
	}
	l.entry.Verdict = l.found.verdict
	if l.found.fi != nil {
		l.entry.fill(l.found.fi)
	}
	return nil
}

// blocked gives a path the verdict of a folder above it that is not entered.
// Only what is there can be ignored.
func (l *lookup) blocked(at string, v Verdict) {
	if !v.Code.Listed() && v.Code != Missing {
		fi, err := l.ses.root.Lstat(join(l.place.folder, l.entry.Path))
		if err == nil {
			l.entry.fill(fi)
		} else if isGone(err) {
			v = missing
		}
	}
	if v.Code == ExcludedSymlink {
		// The link itself is listed; what lies behind it is not.
		v = Verdict{Code: Missing, Reason: fmt.Sprintf("%q is a link that is not followed: %s", DisplayPath(docOf(l.place, at)), v.Reason)}
	}
	l.entry.Verdict = v
}

// Open opens a document for reading. It never leaves the root and never
// blocks on a FIFO; what is opened is a regular file with the verdict OK.
// Errors: as of Stat; fault.NotFound "document_not_found"; fault.Permanent
// "not_indexable", with the reason, for everything else that is no document.
func (s *Set) Open(p DocPath) (*os.File, fs.FileInfo, error) {
	r := s.NewReader()
	defer r.Close()
	e, f, fi, err := r.OpenEntry(p, time.Now())
	switch {
	case err != nil || f != nil:
		return f, fi, err
	case e.Verdict.Code == Missing:
		return nil, nil, notFound(p)
	case e.Verdict.Code != OK:
		return nil, nil, notIndexable(p, e.Verdict.Reason)
	}
	return nil, nil, notIndexable(p, "it is a folder")
}

// open opens what was looked at. The file is nil where there is nothing to
// open: a verdict other than OK, or a folder.
func (l *lookup) open(p DocPath) (Entry, *os.File, fs.FileInfo, error) {
	if l.entry.Verdict.Code != OK || l.entry.Mode.IsDir() {
		return l.entry, nil, nil, nil
	}
	f, fi, err := l.openFile(p)
	return l.entry, f, fi, err
}

func (l *lookup) openFile(p DocPath) (f *os.File, fi fs.FileInfo, err error) {
	if l.found.follow {
		f, err = l.ses.root.OpenFile(l.found.target, os.O_RDONLY|openNonblock, 0)
	} else {
		f, err = l.dir.r.OpenFile(l.name, os.O_RDONLY|openNonblock, 0)
	}
	if err != nil {
		return nil, nil, openError(p, err)
	}
	fi, err = f.Stat()
	if err == nil && !fi.Mode().IsRegular() {
		err = notIndexable(p, "it is "+kindOf(fi.Mode())+", not a file")
	}
	if err != nil {
		_ = f.Close()
		return nil, nil, err
	}
	return f, fi, nil
}

func notFound(p DocPath) error {
	return fault.New(fault.NotFound, "document_not_found", "no document %s in knowledge base %s", clip(p.Path), clip(p.KB))
}

func notIndexable(p DocPath, reason string) error {
	return fault.New(fault.Permanent, "not_indexable", "%s is not indexed: %s", clip(p.Path), reason)
}

func openError(p DocPath, err error) error {
	switch {
	case isGone(err):
		return notFound(p)
	case errors.Is(err, fs.ErrPermission):
		return notIndexable(p, "there is no permission to read it")
	}
	return fault.New(fault.Transient, "open_failed", "%s could not be opened", clip(p.Path)).Because(err)
}
