package kbroot

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"ragd/internal/fault"
)

// tempPrefix begins the names of files that are being written. It is a
// built-in exclude, so no half-written file is ever a document.
const tempPrefix = ".ragd-tmp-"

// WriteFile writes a document whole or not at all: a temporary file in the
// same folder, fsync, rename, fsync of the folder. It makes the KB (in the
// first root) and the folders on the way. replaced tells that a file of that
// name was there. Errors: fault.Invalid "bad_path", "bad_kb_name", "too_large",
// "ignored_path" (with the rule: it would never be indexed), "not_a_file";
// fault.Denied "read_only_kb", "write_denied"; fault.Unavailable "disk_full",
// "root_unavailable".
func (s *Set) WriteFile(p DocPath, data []byte) (replaced bool, err error) {
	return s.WriteFileIn("", p, data)
}

// WriteFileIn is WriteFile under one root, "" = any: a new KB is made there,
// and one that lies elsewhere is unknown (fault.NotFound "kb_not_found").
func (s *Set) WriteFileIn(root string, p DocPath, data []byte) (replaced bool, err error) {
	clean, err := CleanPath(p.Path)
	if err != nil {
		return false, err
	}
	st := s.state.Load()
	if int64(len(data)) > st.opts.MaxFileBytes {
		return false, fault.New(fault.Invalid, "too_large", "%s has %d bytes; at most %d are allowed", clip(clean), len(data), st.opts.MaxFileBytes)
	}
	pl, err := s.placeToWrite(st, root, p.KB, clean)
	if err != nil {
		return false, err
	}
	ses, err := st.open(pl.top)
	if err != nil {
		return false, err
	}
	defer ses.close()
	d, name, err := ses.makeWay(pl, clean)
	if err != nil {
		return false, err
	}
	defer d.close()
	return d.writeFile(name, clean, data)
}

// placeToWrite finds the KB or makes it, but not for a path that is refused.
func (s *Set) placeToWrite(st *state, root, kb, path string) (place, error) {
	pl, ok, err := st.find(kb)
	if err != nil {
		return place{}, err
	}
	if !ok {
		if err := st.refusedBelowNew(path); err != nil {
			return place{}, err
		}
		if _, err := s.createKB(root, kb); err != nil {
			return place{}, err
		}
		if pl, ok, err = st.find(kb); err != nil {
			return place{}, err
		}
		if !ok {
			return place{}, unknownKB(kb)
		}
	}
	if root != "" && pl.top.name != root {
		return place{}, unknownKB(kb)
	}
	return pl, pl.writable()
}

func (p place) writable() error {
	if p.top.mounted && !p.top.writable {
		return fault.New(fault.Denied, "read_only_kb", "knowledge base %q is a mounted folder and read-only", p.Name).
			WithHint("set writable = true for this mount in the configuration")
	}
	return nil
}

// refusedBelowNew judges a path in a KB that does not exist yet, by the rules
// that need no folder.
func (st *state) refusedBelowNew(path string) error {
	d := &dir{s: &session{st: st, top: &top{}}}
	elems := splitPath(path)
	for i, name := range elems {
		at := join(d.path, name)
		if v := d.ignored(at, name, i < len(elems)-1); v.Code != OK {
			return ignoredPath(path, v)
		}
		d.path = at
	}
	return nil
}

func ignoredPath(path string, v Verdict) error {
	return fault.New(fault.Invalid, "ignored_path", "%s would never be indexed: %s (rule: %s)", clip(path), v.Reason, v.Rule).
		WithHint("choose another name, or change the rule")
}

// makeWay opens the folder of a path, making the folders that are missing.
// Links are not followed for writing.
func (s *session) makeWay(pl place, path string) (*dir, string, error) {
	d, v, err := s.kbDir(pl.folder)
	if err != nil {
		return nil, "", err
	}
	if v.Code != OK {
		return nil, "", unknownKB(pl.Name)
	}
	elems := splitPath(path)
	last := len(elems) - 1
	for _, name := range elems[:last] {
		c, err := d.makeFolder(name, path)
		d.close()
		if err != nil {
			return nil, "", err
		}
		d = c
	}
	return d, elems[last], nil
}

func (d *dir) makeFolder(name, path string) (*dir, error) {
	at := join(d.path, name)
	if v := d.ignored(at, name, true); v.Code != OK {
		return nil, ignoredPath(path, v)
	}
	if err := d.r.Mkdir(name, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, writeError("make the folder of", path, err)
	}
	fi, err := d.r.Lstat(name)
	if err != nil {
		return nil, writeError("make the folder of", path, err)
	}
	if !fi.IsDir() {
		return nil, fault.New(fault.Invalid, "not_a_folder", "%s cannot be written: %s on the way is not a folder", clip(path), clip(d.doc(at)))
	}
	c, v, err := d.openFound(found{path: at, fi: fi}, name)
	if err != nil {
		return nil, err
	}
	if v.Code != OK {
		return nil, fault.New(fault.Transient, "write_failed", "%s could not be written: its folder was removed meanwhile", clip(path))
	}
	c.loadRules(nil)
	return c, nil
}

func (d *dir) writeFile(name, path string, data []byte) (replaced bool, err error) {
	if v := d.ignored(join(d.path, name), name, false); v.Code != OK {
		return false, ignoredPath(path, v)
	}
	mode := fs.FileMode(0o644)
	switch fi, err := d.r.Lstat(name); {
	case err == nil && !fi.Mode().IsRegular():
		return false, fault.New(fault.Invalid, "not_a_file", "%s cannot be written: a folder, link or special file of that name is there", clip(path))
	case err == nil:
		replaced, mode = true, fi.Mode().Perm()
	case !isGone(err):
		return false, writeError("write", path, err)
	}
	temp := tempName()
	if err := d.writeTemp(temp, data, mode); err != nil {
		_ = d.r.Remove(temp) // the first error is the one that counts
		return false, writeError("write", path, err)
	}
	if err := d.r.Rename(temp, name); err != nil {
		_ = d.r.Remove(temp)
		return false, writeError("write", path, err)
	}
	if err := d.sync(); err != nil {
		return replaced, writeError("write", path, err)
	}
	return replaced, nil
}

func (d *dir) writeTemp(temp string, data []byte, mode fs.FileMode) error {
	f, err := d.r.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}

// sync makes a rename in the folder last. File systems that cannot sync a
// folder say EINVAL; there is nothing to be done about those.
func (d *dir) sync() error {
	f, err := d.r.Open(".")
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return nil
}

func writeError(what, path string, err error) error {
	switch {
	case errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT):
		return fault.New(fault.Unavailable, "disk_full", "could not %s %s: the disk is full", what, clip(path)).Because(err)
	case errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS):
		return fault.New(fault.Denied, "write_denied", "could not %s %s: the folder is not writable", what, clip(path)).Because(err)
	case errors.Is(err, syscall.ENAMETOOLONG):
		return badPath(path)
	}
	return fault.New(fault.Transient, "write_failed", "could not %s %s", what, clip(path)).Because(fmt.Errorf("%s: %w", what, err))
}

// Remove removes a document's file. existed is false where there is none.
// What is no document (an ignored file, a folder) is refused: fault.Invalid
// "ignored_path" or "not_a_file". Of a link, the link goes, not its target.
func (s *Set) Remove(p DocPath) (existed bool, err error) {
	l, err := s.state.Load().lookup(p)
	if err != nil {
		return false, err
	}
	defer l.close()
	v := l.entry.Verdict
	if v.Code == Missing {
		return false, nil
	}
	if err := l.place.writable(); err != nil {
		return false, err
	}
	switch {
	case !v.Code.Listed():
		return false, fault.New(fault.Invalid, "ignored_path", "%s is not a document: %s (rule: %s)", clip(p.Path), v.Reason, v.Rule)
	case l.entry.Mode.IsDir():
		return false, fault.New(fault.Invalid, "not_a_file", "%s is a folder, not a document", clip(p.Path))
	}
	if err := l.dir.r.Remove(l.name); err != nil {
		if isGone(err) {
			return false, nil
		}
		return false, writeError("remove", p.Path, err)
	}
	if err := l.dir.sync(); err != nil {
		return true, writeError("remove", p.Path, err)
	}
	return true, nil
}

// RemoveKB removes a KB's folder with all that is in it. A mounted folder is
// refused (fault.Denied "mounted_kb"); an unknown name is fault.NotFound.
func (s *Set) RemoveKB(name string) error {
	st := s.state.Load()
	pl, ok, err := st.find(name)
	if err != nil {
		return err
	}
	if !ok {
		return unknownKB(name)
	}
	if pl.Mounted {
		return fault.New(fault.Denied, "mounted_kb", "knowledge base %q is a mounted folder; its files are never removed", name).
			WithHint("take it out of the configuration with `ragd remove %s`", name)
	}
	ses, err := st.open(pl.top)
	if err != nil {
		return err
	}
	defer ses.close()
	return removeFolder(ses.root, pl.folder, name)
}

// removeFolder moves a folder aside before it takes it apart: so it is gone at
// once and as a whole, and whoever watches it need not follow every file. What
// cannot be taken apart comes back under its name.
func removeFolder(root *os.Root, folder, name string) error {
	aside := tempName()
	if err := root.Rename(folder, aside); err != nil { // such as a file system mounted there
		aside = folder
	}
	if err := root.RemoveAll(aside); err != nil {
		return writeError("remove knowledge base", name, errors.Join(err, root.Rename(aside, folder)))
	}
	return nil
}
