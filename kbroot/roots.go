package kbroot

import (
	"fmt"
	"strings"

	"ragd/internal/fault"
)

// RootID tells one folder from another that takes its place, and an empty one
// from a full one.
type RootID struct {
	Dev     uint64
	Inode   uint64
	Entries int // names in the root's folder, of any kind
}

// Roots looks at the disk and tells the state of every root and mount.
func (s *Set) Roots() []RootState {
	st := s.state.Load()
	list := make([]RootState, 0, len(st.tops))
	for _, t := range st.tops {
		v := st.view(t)
		r := RootState{Name: t.name, Dir: t.dir, Mounted: t.mounted, Available: v.err == nil}
		if v.err != nil {
			r.Reason = v.err.Error()
			if e, ok := fault.As(v.err); ok {
				r.Reason = e.Message
			}
		} else if !t.mounted {
			r.Notes = v.describe()
		}
		list = append(list, r)
	}
	return list
}

func (v *view) describe() []string {
	var notes []string
	if n := len(v.loose); n > 0 {
		const most = 3
		names := make([]string, 0, most)
		for _, name := range v.loose[:min(n, most)] {
			names = append(names, fmt.Sprintf("%q", DisplayPath(name)))
		}
		if n > most {
			names = append(names, "…")
		}
		what := "1 file lies directly in the root and belongs to no knowledge base"
		if n > 1 {
			what = fmt.Sprintf("%d files lie directly in the root and belong to no knowledge base", n)
		}
		notes = append(notes, what+": "+strings.Join(names, ", "))
	}
	if len(v.folders) == 0 {
		notes = append(notes, "the root holds no knowledge base; make a folder in it for each")
	}
	return append(notes, v.notes...)
}

// Fingerprint identifies the folder of a root or mount as it is now, by the
// root's name.
func (s *Set) Fingerprint(root string) (RootID, error) {
	st := s.state.Load()
	for _, t := range st.tops {
		if t.name == root {
			return st.fingerprint(t)
		}
	}
	return RootID{}, fault.New(fault.NotFound, "root_not_found", "no root or mount is named %s", clip(root))
}

func (st *state) fingerprint(t *top) (RootID, error) {
	s, err := st.open(t)
	if err != nil {
		return RootID{}, err
	}
	defer s.close()
	fi, err := s.root.Stat(".")
	if err != nil {
		return RootID{}, rootUnavailable(t, err)
	}
	var id RootID
	id.Dev, id.Inode, _, _ = sysStat(fi)
	f, err := s.root.Open(".")
	if err != nil {
		return RootID{}, rootUnavailable(t, err)
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	if err != nil {
		return RootID{}, rootUnavailable(t, err)
	}
	id.Entries = len(names)
	return id, nil
}
