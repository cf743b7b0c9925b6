package kbroot

import (
	"path/filepath"
	"slices"
)

// Remember tells which KBs there were when the daemon ran last. Those of a
// root that cannot be read keep their names by it, so that a folder of
// another root does not take one over while the root is away.
func (s *Set) Remember(kbs []KB) {
	st := s.state.Load()
	for _, t := range st.tops {
		if t.mounted {
			continue
		}
		var folders []string
		for _, kb := range kbs {
			if !kb.Mounted && kb.Root == t.name && filepath.Dir(kb.Dir) == t.dir {
				folders = append(folders, filepath.Base(kb.Dir))
			}
		}
		st.views[t].remember(folders)
	}
}

// remember holds only until the root has been looked at.
func (b *viewBox) remember(folders []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.view == nil && len(folders) > 0 {
		slices.Sort(folders)
		b.view = &view{folders: folders}
	}
}

// rememberFrom takes over what an earlier configuration knew of a root.
func (st *state) rememberFrom(old *state) {
	for _, t := range st.tops {
		for _, was := range old.tops {
			if t.mounted || was.mounted || t.name != was.name || t.dir != was.dir {
				continue
			}
			box := old.views[was]
			box.mu.Lock()
			v := box.view
			box.mu.Unlock()
			if v != nil {
				st.views[t].remember(slices.Clone(v.folders))
			}
		}
	}
}
