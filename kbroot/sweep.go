package kbroot

import (
	"crypto/rand"
	"errors"
	"strings"
)

// Sweep takes apart what removals of knowledge bases left when the program was
// killed in them: folders that were moved aside already. n tells how many.
func (s *Set) Sweep() (n int, err error) {
	st := s.state.Load()
	for _, t := range st.tops {
		if t.mounted {
			continue
		}
		ses, oerr := st.open(t)
		if oerr != nil {
			continue // it is away; the next start looks again
		}
		swept, serr := ses.sweep()
		n, err = n+swept, errors.Join(err, serr)
		ses.close()
	}
	return n, err
}

func (s *session) sweep() (n int, err error) {
	entries, err := readDir(s.root)
	if err != nil {
		return 0, err
	}
	for _, e := range entries {
		if !e.IsDir() || !isTemp(e.Name()) {
			continue
		}
		if rerr := s.root.RemoveAll(e.Name()); rerr != nil {
			err = errors.Join(err, rerr)
			continue
		}
		n++
	}
	return n, err
}

// tempName is the name of a file or folder while it is written or removed.
func tempName() string { return tempPrefix + rand.Text() }

// isTemp tells the names that tempName makes from those that
// somebody gave.
func isTemp(name string) bool {
	rest, ok := strings.CutPrefix(name, tempPrefix)
	return ok && len(rest) == tempLength && strings.Trim(rest, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == ""
}

// tempLength is that of rand.Text.
const tempLength = 26
