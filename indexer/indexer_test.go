package indexer

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"ragd/internal/fault"
	"ragd/internal/store"
	"ragd/kbroot"
)

func TestFileIsSearchableReplacedAndForgotten(t *testing.T) {
	r := newRig(t)
	r.write("kb/sub/a.md", "# Boiler\n\nserviced by Nordheim\n")
	r.hint("kb", "sub/a.md")
	r.settle()
	r.found("nordheim", "kb/sub/a.md")

	r.write("kb/sub/a.md", "# Boiler\n\nserviced by Vestergaard\n")
	r.hint("kb", "sub/a.md")
	r.settle()
	r.found("nordheim")
	r.found("vestergaard", "kb/sub/a.md")

	r.remove("kb/sub/a.md")
	r.hint("kb", "sub/a.md")
	r.settle()
	r.found("vestergaard")
	r.consistent()
}

func TestOnlyFileOfAKBIsForgottenByAScanToo(t *testing.T) {
	r := newRig(t)
	r.write("kb/a.md", "xylophone")
	r.hintRoot()
	r.settle()
	r.found("xylophone", "kb/a.md")
	r.stop()
	r.remove("kb/a.md")
	r.restart()
	r.settle()
	r.found("xylophone")
}

func TestUnchangedFilesAreNotReadAgain(t *testing.T) {
	r := newRig(t)
	for i := range 20 {
		r.write(fmt.Sprintf("kb/%d.md", i), fmt.Sprintf("text number %d", i))
	}
	r.hintRoot()
	r.settle()
	n := r.ext.total()
	for range 10 { // a touch storm
		for i := range 20 {
			now := time.Now()
			r.must(os.Chtimes(filepath.Join(r.dir, fmt.Sprintf("kb/%d.md", i)), now, now))
		}
		r.hintRoot()
		r.settle()
	}
	r.restart()
	r.settle()
	if got := r.ext.total(); got != n {
		t.Errorf("%d extractions after touching, want none beyond %d", got, n)
	}
}

func TestRenameNeedsNoExtraction(t *testing.T) {
	r := newRig(t)
	r.write("kb/old/a.md", "# Title\n\nquartz")
	r.hintRoot()
	r.settle()
	n := r.ext.total()
	r.must(os.Rename(filepath.Join(r.dir, "kb/old"), filepath.Join(r.dir, "kb/new")))
	r.hint("kb", "old")
	r.changes <- kbroot.Change{Kind: kbroot.ChangeTree, DocPath: kbroot.DocPath{KB: "kb", Path: "new"}, Live: true}
	r.settle()
	r.found("quartz", "kb/new/a.md")
	if got := r.ext.total(); got != n {
		t.Errorf("a rename cost %d extractions", got-n)
	}
	r.consistent()
}

func TestTwinKeepsItsTextWhenTheOtherIsDeleted(t *testing.T) {
	r := newRig(t)
	r.write("kb/a.md", "the same zirconium text")
	r.write("kb/b.md", "the same zirconium text")
	r.hintRoot()
	r.settle()
	r.found("zirconium", "kb/a.md", "kb/b.md")
	r.remove("kb/a.md")
	r.hint("kb", "a.md")
	r.settle()
	r.found("zirconium", "kb/b.md")
	r.consistent()
}

func TestBadFileCostsOneJobAndIsTriedAgainWhenItChanges(t *testing.T) {
	r := newRig(t)
	r.ext.interfere(func(path string) error {
		if path == "bad.md" {
			return fault.New(fault.Permanent, "corrupt", "the file is cut short")
		}
		return nil
	})
	r.write("kb/bad.md", "broken")
	r.write("kb/good.md", "fine")
	r.hintRoot()
	r.settle()
	r.found("fine", "kb/good.md")
	jobs := r.jobs(store.JobFailed)
	if len(jobs) != 1 || jobs[0].Path != "bad.md" || jobs[0].Code != "corrupt" || jobs[0].Attempts != 1 {
		t.Fatalf("parked: %+v", jobs)
	}
	n := r.ext.total()
	r.hintRoot()
	r.settle()
	if r.ext.total() != n {
		t.Error("a scan of the unchanged file tried it again")
	}
	r.ext.interfere(nil)
	r.write("kb/bad.md", "mended now")
	r.hint("kb", "bad.md")
	r.settle()
	r.found("mended", "kb/bad.md")
	if jobs := r.jobs(store.JobFailed); len(jobs) != 0 {
		t.Errorf("still parked: %+v", jobs)
	}
}

func TestRetryStartsAParkedJobFresh(t *testing.T) {
	r := newRig(t)
	r.ext.interfere(func(string) error { return fault.New(fault.Permanent, "needs_helper", "a helper is missing") })
	r.write("kb/a.md", "helium")
	r.hintRoot()
	r.settle()
	jobs := r.jobs(store.JobFailed)
	if len(jobs) != 1 {
		t.Fatalf("parked: %+v", jobs)
	}
	r.ext.interfere(nil)
	r.must(r.ix.Retry(context.Background(), jobs[0].ID))
	r.settle()
	r.found("helium", "kb/a.md")
	if err := r.ix.Retry(context.Background(), jobs[0].ID); fault.KindOf(err) != fault.NotFound {
		t.Errorf("retrying a job that is gone: %v", err)
	}
}

func TestTransientFailureIsRetriedAndParkedAtTheLimit(t *testing.T) {
	r := newRig(t, func(o *Options) { o.RetryMax = 2 })
	r.ext.interfere(func(string) error { return fault.New(fault.Transient, "busy", "busy just now") })
	r.write("kb/a.md", "argon")
	r.hintRoot()
	r.eventually("the job is parked after two attempts", func() bool {
		jobs := r.jobs(store.JobFailed)
		return len(jobs) == 1 && jobs[0].Attempts == 2
	})
	if n := r.ext.total(); n != 2 {
		t.Errorf("%d attempts, want 2", n)
	}
}

func TestPanicInExtractionParksTheFileOnly(t *testing.T) {
	r := newRig(t)
	r.ext.interfere(func(path string) error {
		if path == "boom.md" {
			panic("out of range")
		}
		return nil
	})
	r.write("kb/boom.md", "x")
	r.write("kb/ok.md", "krypton")
	r.hintRoot()
	r.settle()
	r.found("krypton", "kb/ok.md")
	if jobs := r.jobs(store.JobFailed); len(jobs) != 1 || jobs[0].Code != "panic" {
		t.Errorf("parked: %+v", jobs)
	}
}

func TestEditDuringExtractionIsNotLost(t *testing.T) {
	r := newRig(t)
	reached, release := make(chan struct{}), make(chan struct{})
	first := true
	r.ext.interfere(func(string) error {
		if first {
			first = false
			close(reached)
			<-release
		}
		return nil
	})
	r.write("kb/a.md", "before")
	r.hint("kb", "a.md")
	<-reached
	r.write("kb/a.md", "afterwards")
	r.hint("kb", "a.md")
	r.planned()
	close(release)
	r.settle()
	r.found("afterwards", "kb/a.md")
	r.found("before")
	r.consistent()
}

func TestRootThatVanishesIsNotAnEmptyRoot(t *testing.T) {
	r := newRig(t)
	r.write("kb/a.md", "neon")
	r.hintRoot()
	r.settle()
	aside := r.dir + ".aside"
	r.must(os.Rename(r.dir, aside))
	r.hintRoot()
	r.hint("kb", "a.md")
	r.settle()
	r.found("neon", "kb/a.md")
	if len(r.ix.HeldRoots()) != 1 {
		t.Errorf("held roots: %v", r.ix.HeldRoots())
	}
	r.must(os.Mkdir(r.dir, 0o755)) // an empty mount point in its place
	r.hintRoot()
	r.settle()
	r.found("neon", "kb/a.md")
	r.restart()
	r.settle()
	r.found("neon", "kb/a.md")
	r.must(os.Remove(r.dir))
	r.must(os.Rename(aside, r.dir))
	r.hintRoot()
	r.settle()
	r.found("neon", "kb/a.md")
	if len(r.ix.HeldRoots()) != 0 {
		t.Errorf("held roots: %v", r.ix.HeldRoots())
	}
}

func TestReindexConfirmsThatARootIsEmpty(t *testing.T) {
	r := newRig(t)
	r.write("kb/a.md", "radon")
	r.hintRoot()
	r.settle()
	r.stop()
	r.remove("kb")
	r.restart()
	r.settle()
	r.found("radon", "kb/a.md")
	_, err := r.ix.Reindex(context.Background(), "", false)
	r.must(err)
	r.settle()
	r.found("radon")
}

func TestKBThatIsRemovedIsForgotten(t *testing.T) {
	r := newRig(t)
	r.write("kb/a.md", "xenon")
	r.write("other/b.md", "xenon")
	r.hintRoot()
	r.settle()
	r.remove("kb")
	r.hint("kb", "a.md")
	r.changes <- kbroot.Change{Kind: kbroot.ChangeTree, DocPath: kbroot.DocPath{KB: "kb"}}
	r.settle()
	r.found("xenon", "other/b.md")
	r.consistent()
}

func TestRootReplacedByAnotherShowsTheNewFiles(t *testing.T) {
	r := newRig(t)
	r.write("kb/old.md", "cobalt")
	r.hintRoot()
	r.settle()
	r.must(os.Rename(filepath.Join(r.dir, "kb"), filepath.Join(r.dir, "kb2")))
	r.write("kb/n.md", "nickel")
	r.hintRoot()
	r.settle()
	r.found("cobalt", "kb2/old.md")
	r.found("nickel", "kb/n.md")
}

func TestIgnoreRuleRemovesAndRestores(t *testing.T) {
	r := newRig(t)
	r.write("kb/a.md", "iron")
	r.write("kb/a.log", "iron")
	r.hintRoot()
	r.settle()
	r.found("iron", "kb/a.md", "kb/a.log")
	r.write("kb/.gitignore", "*.log\n")
	r.hintRoot()
	r.settle()
	r.found("iron", "kb/a.md")
	r.remove("kb/.gitignore")
	r.hintRoot()
	r.settle()
	r.found("iron", "kb/a.md", "kb/a.log")
	r.consistent()
}

func TestUnsupportedAndTooLargeFilesAreListedWithTheReason(t *testing.T) {
	r := newRig(t)
	r.write("kb/picture.xyz123", "\x00\x01\x02")
	big, err := os.Create(filepath.Join(r.dir, "kb/big.md"))
	r.must(err)
	r.must(big.Truncate(60 << 20))
	r.must(big.Close())
	r.hintRoot()
	r.settle()
	docs, _, _, err := r.store.Documents(context.Background(), r.kbID("kb"), store.Page{Limit: 10}, nil)
	r.must(err)
	if len(docs) != 2 {
		t.Fatalf("listed: %+v", docs)
	}
	for _, d := range docs {
		if d.State != store.StateExcluded || d.Reason == "" {
			t.Errorf("%s: state %s, reason %q", d.Path, d.State, d.Reason)
		}
	}
}

func TestFullDiskRestsThePipelineAndBurnsNoAttempt(t *testing.T) {
	r := newRig(t)
	full := fault.New(fault.Unavailable, "disk_full", "no space left for the index")
	r.store.mu.Lock()
	r.store.commit = func([]store.Outcome) error { return full }
	r.store.write = full
	r.store.mu.Unlock()
	r.write("kb/a.md", "titanium")
	r.hint("kb", "a.md")
	r.eventually("the outage shows in the status", func() bool { return r.ix.Status(context.Background()).Phase == PhasePaused })
	r.store.mu.Lock()
	r.store.commit, r.store.write = nil, nil
	r.store.mu.Unlock()
	r.settle()
	r.found("titanium", "kb/a.md")
	if r.ix.Status(context.Background()).Phase == PhasePaused {
		t.Error("still resting")
	}
}

func TestStopBurnsNoAttempt(t *testing.T) {
	r := newRig(t)
	reached := make(chan struct{})
	once := false
	r.ext.interfere(func(string) error {
		if !once {
			once = true
			close(reached)
			time.Sleep(50 * time.Millisecond)
			return context.Canceled
		}
		return nil
	})
	r.write("kb/a.md", "sodium")
	r.hint("kb", "a.md")
	<-reached
	r.stop()
	for _, j := range r.jobs("") {
		if j.Attempts != 0 || j.State != store.JobPending {
			t.Errorf("after the stop: %+v", j)
		}
	}
	r.restart()
	r.settle()
	r.found("sodium", "kb/a.md")
}

func TestFileJustSavedOvertakesABulkLoad(t *testing.T) {
	r := newRig(t)
	for i := range 3000 {
		r.write(fmt.Sprintf("bulk/%d.md", i), fmt.Sprintf("bulk text %d", i))
	}
	r.ext.interfere(func(string) error { time.Sleep(time.Millisecond); return nil })
	r.hintRoot()
	r.planned()
	r.write("kb/mine.md", "palladium")
	r.hint("kb", "mine.md")
	start := time.Now()
	r.eventually("the saved file is searchable", func() bool { return len(r.find("palladium")) == 1 })
	q, err := r.store.Queue(context.Background(), nil)
	r.must(err)
	t.Logf("found after %v with %d jobs open", time.Since(start), q.Pending)
	if q.Pending == 0 {
		t.Skip("the bulk load was over before; nothing to overtake")
	}
}

func TestNamesOfAnyBytesRoundTrip(t *testing.T) {
	r := newRig(t)
	names := []string{"a b.md", "a_b.md", "a-b.md", "%.md", "new\nline.md", "emoji 🧭.md", "nfc-é.md", "nfd-e\u0301.md", "x..foo.md", "Case.md", "case.md", "bad-\xff\xfe.md"}
	for _, n := range names {
		r.write("kb/"+n, "manganese")
	}
	r.hintRoot()
	r.settle()
	got := r.find("manganese")
	for _, n := range names {
		if !got["kb/"+n] {
			t.Errorf("%q is not found", n)
		}
	}
	for _, n := range names {
		r.remove("kb/" + n)
		r.hint("kb", n)
	}
	r.settle()
	r.found("manganese")
}
