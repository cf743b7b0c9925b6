package kbroot

import (
	"os"
	"path/filepath"
	"testing"
)

func TestAKBOfARootThatIsAwayKeepsItsName(t *testing.T) {
	base := t.TempDir()
	first, second := filepath.Join(base, "first"), filepath.Join(base, "second")
	for _, dir := range []string{filepath.Join(first, "notes"), filepath.Join(second, "notes")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	o := Options{Roots: []RootSpec{{Dir: first}, {Dir: second}}}
	before, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	kbs, err := before.KBs()
	if err != nil || len(kbs) != 2 {
		t.Fatalf("%v, %v", kbs, err)
	}
	if err := os.Rename(first, first+".away"); err != nil {
		t.Fatal(err)
	}
	check := func(step string, s *Set) {
		t.Helper()
		got, err := s.KBs()
		if err != nil || len(got) != 1 || got[0].Name != "notes@second" {
			t.Fatalf("%s: %v, %v; want only notes@second", step, got, err)
		}
	}
	after, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	after.Remember(kbs)
	check("started without the first root", after)
	if err := after.Reconfigure(o); err != nil {
		t.Fatal(err)
	}
	check("configured anew", after)
	if err := os.Rename(first+".away", first); err != nil {
		t.Fatal(err)
	}
	got, err := after.KBs()
	if err != nil || len(got) != 2 || got[0].Name != "notes" || got[0].Root != "first" {
		t.Fatalf("the root is back: %v, %v", got, err)
	}
}
