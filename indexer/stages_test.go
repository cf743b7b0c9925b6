package indexer

import "testing"

func TestStageOfAJobUnderWayIsKnownUntilItIsCommitted(t *testing.T) {
	r := newRig(t)
	in, on := make(chan struct{}), make(chan struct{})
	r.ext.interfere(func(string) error { close(in); <-on; return nil })
	r.write("notes/a.md", "slow to read")
	r.hint("notes", "a.md")
	<-in
	var stages []string
	for _, s := range r.ix.Stages() {
		stages = append(stages, s)
	}
	if len(stages) != 1 || stages[0] != "extract" {
		t.Errorf("while a file is read the stages are %q", stages)
	}
	close(on)
	r.settle()
	r.eventually("no stage", func() bool { return len(r.ix.Stages()) == 0 })
}
