package indexer

import (
	"context"
	"fmt"
	"testing"

	"ragd/internal/store"
)

func TestForcedReindexKeepsTheOldTextUntilTheNewIsIn(t *testing.T) {
	r := newRig(t)
	r.write("kb/a.md", "tungsten")
	r.hintRoot()
	r.settle()
	n := r.ext.total()
	counts, err := r.ix.Reindex(context.Background(), "kb", true)
	r.must(err)
	if counts.Enqueued != 1 {
		t.Errorf("counts: %+v", counts)
	}
	r.found("tungsten", "kb/a.md")
	r.settle()
	r.found("tungsten", "kb/a.md")
	if r.ext.total() != n+1 {
		t.Errorf("a forced reindex extracted %d times", r.ext.total()-n)
	}
	r.consistent()
}

func TestCrashLeavesNothingBehind(t *testing.T) {
	r := newRig(t)
	r.write("kb/a.md", "osmium")
	r.hintRoot()
	r.settle()
	r.stop()
	// A job claimed by a process that died.
	id := r.kbID("kb")
	_, err := r.store.ApplyPlans(context.Background(), id, []store.Plan{{Path: "a.md", Op: store.PlanIndex, Reason: store.ReasonModified}})
	r.must(err)
	jobs, err := r.store.Claim(context.Background(), 1)
	r.must(err)
	if len(jobs) != 1 {
		t.Fatal("nothing claimed")
	}
	r.restart()
	r.settle()
	r.found("osmium", "kb/a.md")
	if jobs := r.jobs(""); len(jobs) != 0 {
		t.Errorf("left over: %+v", jobs)
	}
}

func TestCrashesDoNotParkFilesThatWereOnlyWaiting(t *testing.T) {
	r := newRig(t)
	for i := range 40 {
		r.write(fmt.Sprintf("kb/%d.md", i), fmt.Sprintf("iridium number%d", i))
	}
	r.hintRoot()
	r.settle()
	r.stop()
	id := r.kbID("kb")
	var plans []store.Plan
	for i := range 40 {
		plans = append(plans, store.Plan{Path: fmt.Sprintf("%d.md", i), Op: store.PlanIndex, Reason: store.ReasonForced})
	}
	_, err := r.store.ApplyPlans(context.Background(), id, plans)
	r.must(err)
	for crash := range 6 { // each dies with everything it claimed in work
		jobs, err := r.store.Claim(context.Background(), 100)
		r.must(err)
		if crash == 0 && len(jobs) != 40 {
			t.Fatalf("claimed %d", len(jobs))
		}
		_, err = r.store.RescueStale(context.Background(), 0, 3)
		r.must(err)
	}
	r.restart()
	r.settle()
	parked := r.jobs(store.JobFailed)
	if len(parked) > 2 {
		t.Errorf("six crashes parked %d files; only those in work alone may be", len(parked))
	}
	for _, j := range parked {
		if j.Attempts < 3 {
			t.Errorf("parked after %d attempts: %+v", j.Attempts, j)
		}
	}
	if q, err := r.store.Queue(context.Background(), nil); err != nil || q.Pending+q.Processing > 0 {
		t.Errorf("left: %+v %v", q, err)
	}
}

func TestBinaryFileWithoutExtensionIsExcludedNotFailed(t *testing.T) {
	r := newRig(t)
	r.write("kb/program", "\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x03\x00>\x00\x01\x00")
	r.write("kb/LICENSE", "rhodium terms of use")
	r.hintRoot()
	r.settle()
	r.found("rhodium", "kb/LICENSE")
	if jobs := r.jobs(store.JobFailed); len(jobs) != 0 {
		t.Errorf("parked: %+v", jobs)
	}
	d, ok, err := r.store.Document(context.Background(), r.kbID("kb"), "program")
	r.must(err)
	if !ok || d.State != store.StateExcluded || d.Reason == "" {
		t.Errorf("the program is listed as %+v", d)
	}
	n := r.ext.total()
	r.hintRoot()
	r.settle()
	if r.ext.total() != n {
		t.Error("a scan read it again")
	}
}
