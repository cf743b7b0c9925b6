package kbroot

import (
	"os"
	"path/filepath"
	"testing"
)

func TestSweepFinishesRemovalsThatWereCutShort(t *testing.T) {
	s, dir := rootSet(t)
	left := tempName()
	put(t, dir, map[string]string{
		left + "/a/b.md": "gone", left + "2/a.md": "not ours", tempPrefix + "mine/a.md": "not ours", "k/" + left + "/a.md": "not in a root", "k/a.md": "kept",
	})
	file := tempName()
	put(t, dir, map[string]string{file: "a file"})
	n, err := s.Sweep()
	must(t, err)
	if n != 1 {
		t.Errorf("%d folders were swept", n)
	}
	if _, err := os.Stat(filepath.Join(dir, left)); !os.IsNotExist(err) {
		t.Errorf("the folder is still there: %v", err)
	}
	for _, kept := range []string{left + "2/a.md", tempPrefix + "mine/a.md", "k/" + left + "/a.md", "k/a.md", file} {
		if _, err := os.Stat(filepath.Join(dir, kept)); err != nil {
			t.Error(err)
		}
	}
	if n, err := s.Sweep(); n != 0 || err != nil {
		t.Errorf("again: %d, %v", n, err)
	}
}

func TestSweepLeavesARootThatIsAwayAlone(t *testing.T) {
	s, dir := rootSet(t)
	must(t, os.RemoveAll(dir))
	if n, err := s.Sweep(); n != 0 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
}
