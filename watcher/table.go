package watcher

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"ragd/kbroot"
)

// table is the bookkeeping of watches: which folder on disk is watched, and
// which folders of KBs it is. Links make one real folder appear under several
// addresses; the system watches it once.
type table struct {
	byAbs  map[string]*watch
	kids   map[string]map[string]struct{} // folder → watched folders directly in it
	byID   map[fileID]string
	files  map[string]map[kbroot.DocPath]string // file → documents that are links to it → root
	links  map[kbroot.DocPath]string            // all links of KBs that lead to a place in their root → root
	counts map[string]int                       // watches by root
}

// watch is one watched folder.
type watch struct {
	abs  string
	root string
	top  bool // the root's or mount's own folder
	id   fileID
	docs map[kbroot.DocPath]struct{} // the folders of KBs it is; none for a root's own folder
	was  map[kbroot.DocPath]struct{} // docs before the last arming
	gen  uint64                      // the last arming that wanted it
}

// fileID identifies a folder beyond its name; zero where the system has none.
type fileID struct{ dev, ino uint64 }

func newTable() *table {
	return &table{
		byAbs: map[string]*watch{}, kids: map[string]map[string]struct{}{}, byID: map[fileID]string{},
		files: map[string]map[kbroot.DocPath]string{}, links: map[kbroot.DocPath]string{},
		counts: map[string]int{},
	}
}

func (t *table) insert(w *watch) {
	t.byAbs[w.abs] = w
	t.counts[w.root]++
	dir := filepath.Dir(w.abs)
	if t.kids[dir] == nil {
		t.kids[dir] = map[string]struct{}{}
	}
	t.kids[dir][w.abs] = struct{}{}
	if w.id != (fileID{}) {
		t.byID[w.id] = w.abs
	}
}

func (t *table) delete(w *watch) {
	delete(t.byAbs, w.abs)
	t.counts[w.root]--
	dir := filepath.Dir(w.abs)
	delete(t.kids[dir], w.abs)
	if len(t.kids[dir]) == 0 {
		delete(t.kids, dir)
	}
	if t.byID[w.id] == w.abs {
		delete(t.byID, w.id)
	}
}

// below returns the watches at and below a folder, the deepest last.
func (t *table) below(abs string) []*watch {
	var list []*watch
	var visit func(string)
	visit = func(at string) {
		if w := t.byAbs[at]; w != nil {
			list = append(list, w)
		}
		for kid := range t.kids[at] {
			visit(kid)
		}
	}
	visit(abs)
	return list
}

// has reports whether a folder is watched as the folder doc of a KB.
func (t *table) has(abs string, doc kbroot.DocPath) bool {
	w := t.byAbs[abs]
	if w == nil {
		return false
	}
	_, ok := w.docs[doc]
	return ok
}

// dropLinks forgets the links of a root, before they are gathered anew.
func (t *table) dropLinks(root string) {
	for l, r := range t.links {
		if r == root {
			delete(t.links, l)
		}
	}
	for abs, docs := range t.files {
		for doc, r := range docs {
			if r == root {
				delete(docs, doc)
			}
		}
		if len(docs) == 0 {
			delete(t.files, abs)
		}
	}
}

// linkAt reports whether a path of a KB is a link or, with wide, whether one
// lies below it.
func (t *table) linkAt(doc kbroot.DocPath, wide bool) bool {
	if _, ok := t.links[doc]; ok || !wide {
		return ok
	}
	for l := range t.links {
		if l.KB == doc.KB && strings.HasPrefix(l.Path, doc.Path+"/") {
			return true
		}
	}
	return false
}

func idOf(dir string) (fileID, fs.FileInfo, error) {
	fi, err := os.Stat(dir)
	if err != nil {
		return fileID{}, nil, err
	}
	return fileIDOf(fi), fi, nil
}
