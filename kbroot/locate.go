package kbroot

import (
	"os"
	"path/filepath"
	"strings"

	"ragd/internal/fault"
)

// Locate tells the KB and path of an absolute path, whether or not it exists.
// root is the name of the root or mount it lies in; ok is false outside all.
// In a root but in no KB (the root itself, a file directly in it, a folder
// that is no KB) doc is zero. The KB's own folder has the path "".
func (s *Set) Locate(abs string) (doc DocPath, root string, ok bool) {
	st := s.state.Load()
	t, rel, ok := st.topOf(filepath.Clean(abs))
	if !ok {
		return DocPath{}, "", false
	}
	if t.mounted {
		return DocPath{t.name, rel}, t.name, true
	}
	folder, path, _ := strings.Cut(rel, "/")
	if folder != "" {
		for _, p := range st.names().list {
			if p.top == t && p.folder == folder {
				return DocPath{p.Name, path}, t.name, true
			}
		}
	}
	return DocPath{}, t.name, true
}

// topOf finds the root a path lies in, as written or with links resolved.
func (st *state) topOf(abs string) (*top, string, bool) {
	for _, t := range st.tops {
		if rel, ok := relUnder(t.dir, abs); ok {
			return t, rel, true
		}
	}
	for _, t := range st.tops {
		if real, err := filepath.EvalSymlinks(t.dir); err == nil {
			if rel, ok := relUnder(real, resolveFolder(abs)); ok {
				return t, rel, true
			}
		}
	}
	return nil, "", false
}

// resolveFolder resolves the links of the longest existing folder of a path;
// its last element, and what does not exist, stay as written.
func resolveFolder(abs string) string {
	dir, rest := filepath.Dir(abs), filepath.Base(abs)
	for {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			return filepath.Join(real, rest)
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return abs
		}
		rest = filepath.Join(filepath.Base(dir), rest)
		dir = parent
	}
}

// Explain tells what becomes of an absolute path and which rule says so. For
// a folder, the verdict OK means that it is walked. A path outside every root
// is fault.NotFound "outside_roots".
func (s *Set) Explain(abs string) (Entry, Verdict, error) {
	doc, root, ok := s.Locate(abs)
	if !ok {
		return Entry{}, Verdict{}, fault.New(fault.NotFound, "outside_roots", "%s lies in no root and no mounted folder", clip(abs)).
			WithHint("add its folder with `ragd add`")
	}
	if doc.Path != "" {
		e, err := s.Stat(doc)
		return e, e.Verdict, err
	}
	e := Entry{DocPath: doc}
	st := s.state.Load()
	t, rel, _ := st.topOf(filepath.Clean(abs))
	ses, err := st.open(t)
	if err != nil {
		return e, Verdict{}, err
	}
	defer ses.close()
	fi, err := os.Lstat(abs)
	if err != nil {
		e.Verdict = missing
		return e, e.Verdict, nil
	}
	e.fill(fi)
	e.Verdict, err = ses.explainTop(root, doc, rel)
	return e, e.Verdict, err
}

// explainTop explains the root itself, a KB's folder, or what lies in no KB.
func (s *session) explainTop(root string, doc DocPath, rel string) (Verdict, error) {
	if rel == "" || doc.KB != "" {
		return Verdict{Code: OK}, nil
	}
	first, below, _ := strings.Cut(rel, "/")
	f, err := s.topDir().lookFirst(first)
	if err != nil {
		return Verdict{}, err
	}
	if f.verdict.Code == OK && below == "" {
		return Verdict{
			Code:   IgnoredRule,
			Reason: "it lies directly in root \"" + root + "\" and belongs to no knowledge base; move it into a folder",
			Rule:   "the first-level folders of a root are its knowledge bases",
		}, nil
	}
	return f.verdict, nil
}
