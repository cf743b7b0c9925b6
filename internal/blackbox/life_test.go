package blackbox

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

func TestASecondDaemonIsRefusedAndNamesTheFirst(t *testing.T) {
	t.Parallel()
	h := withDaemon(t)
	h.write(t, "kb/a.md", "first come, first served")
	h.finds(t, "kb", "served", "a.md")
	code, _, errOut := h.ragd("serve")
	if code == 0 || !strings.Contains(errOut, strconv.Itoa(h.pid())) {
		t.Errorf("exit code %d, %q does not name pid %d", code, errOut, h.pid())
	}
	// Other sockets, same index; and another index, same sockets.
	code, _, errOut = h.ragd("serve", "--mcp-socket", h.dir+"/m.sock", "--admin-socket", h.dir+"/a.sock")
	if code == 0 || !strings.Contains(errOut, strconv.Itoa(h.pid())) {
		t.Errorf("same index: exit code %d, %q", code, errOut)
	}
	code, _, errOut = h.ragd("serve", "--db", h.dir+"/other.db")
	if code == 0 || !strings.Contains(errOut, "mcp.sock") {
		t.Errorf("same sockets: exit code %d, %q", code, errOut)
	}
	h.finds(t, "kb", "served", "a.md")
}

func TestWhatAnEarlierRunLeftBehindDoesNotStopTheNext(t *testing.T) {
	t.Parallel()
	h := withDaemon(t)
	h.write(t, "kb/a.md", "left behind by a crash")
	h.finds(t, "kb", "behind", "a.md")
	h.kill(t)
	// The number in the lock file now belongs to a stranger.
	locks, err := filepath.Glob(h.data("*.lock"))
	must(t, err)
	for _, l := range locks {
		must(t, os.WriteFile(l, []byte(strconv.Itoa(os.Getpid())+"\n"), 0o600))
	}
	h.serve(t)
	h.finds(t, "kb", "behind", "a.md")
	if h.status(t).PID != h.pid() {
		t.Error("another daemon answers")
	}
}

func TestSIGTERMEndsTheDaemonInTimeUnderLoad(t *testing.T) {
	h := withDaemon(t)
	h.many(t, "bulk", 1500, func(i int) string {
		return fmt.Sprintf("# Load %d\n\n%s", i, strings.Repeat(fmt.Sprintf("word%d and more of it. ", i), 200))
	})
	stop := make(chan struct{})
	var asking sync.WaitGroup
	for range 4 {
		c := h.connect(t)
		asking.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if _, err := c.call("rag_search", args{"query": "what is word17 and more of it", "wait_ms": 5000}); err != nil {
					return // the daemon is gone
				}
			}
		})
	}
	eventually(t, "indexing is under way", func() string {
		st, err := h.admin().Status(context.Background())
		must(t, err)
		if st.Documents < 50 {
			return fmt.Sprint(st.Documents)
		}
		return ""
	})
	took := h.stop(t)
	close(stop)
	asking.Wait()
	t.Logf("gone after %s", took)
	if limit := 5 * time.Second; took > limit {
		t.Errorf("SIGTERM took %s, over %s", took, limit)
	}
	h.doctor(t)
	h.serve(t)
	h.finds(t, "bulk", "word1499", "d014/f01499.md")
}

func TestTwoSignalsEndItAtOnce(t *testing.T) {
	t.Parallel()
	h := withDaemon(t)
	p := h.proc
	must(t, p.cmd.Process.Signal(syscall.SIGINT))
	select {
	case <-p.done:
	case <-time.After(patience):
		t.Fatal("SIGINT did not end it")
	}
	h.mu.Lock()
	h.proc = nil
	h.drop()
	h.mu.Unlock()
	for _, s := range []string{"mcp.sock", "admin.sock"} {
		if _, err := os.Lstat(h.socket(s)); err == nil {
			t.Errorf("%s is left behind", s)
		}
	}
}

func TestARestartReadsNothingAndFindsWhatChangedMeanwhile(t *testing.T) {
	t.Parallel()
	h := withDaemon(t)
	h.write(t, "kb/same.md", "vicuna unchanged")
	h.write(t, "kb/edited.md", "vicuna before")
	h.write(t, "kb/deleted.md", "vicuna deleted")
	h.write(t, "kb/moved.md", "vicuna moved")
	h.finds(t, "kb", "vicuna", "same.md", "edited.md", "deleted.md", "moved.md")
	h.stop(t)
	h.write(t, "kb/edited.md", "vicuna after")
	h.remove(t, "kb/deleted.md")
	h.rename(t, "kb/moved.md", "kb/elsewhere.md")
	h.write(t, "kb/new.md", "vicuna new")
	// A file that nobody may read any more would fail if it were read again.
	atime := time.Now().Add(-48 * time.Hour)
	must(t, os.Chtimes(h.path("kb/same.md"), atime, time.Time{}))
	h.serve(t)
	h.finds(t, "kb", "vicuna", "same.md", "edited.md", "elsewhere.md", "new.md")
	h.finds(t, "kb", "before")
	h.finds(t, "kb", "after", "edited.md")
}

func TestReadYourWritesHoldsForEveryKindOfWrite(t *testing.T) {
	t.Parallel()
	h := sharedDaemon(t)
	kb := h.newKB(t)
	want := func(query string, n int) {
		t.Helper()
		if f := h.synced(t, kb, query); len(f.paths()) != n {
			t.Errorf("%q finds %q, want %d (%+v)", query, f.paths(), n, f.Freshness)
		}
	}
	for i := range 12 {
		word := fmt.Sprintf("fresh%d", i)
		file := fmt.Sprintf("%s/r%d/f.md", kb, i)
		h.write(t, file, word+" written")
		want(word, 1)
		h.write(t, file, word+"again")
		want(word+"again", 1)
		want("written", 0)
		h.rename(t, fmt.Sprintf("%s/r%d", kb, i), fmt.Sprintf("%s/q%d", kb, i))
		want(word+"again", 1)
		h.remove(t, fmt.Sprintf("%s/q%d", kb, i))
		want(word+"again", 0)
	}
	// A KB that did not exist a moment ago, named in the call.
	name := kb + " brand new"
	h.write(t, name+"/x/y.md", "justborn")
	t.Cleanup(func() { h.remove(t, name) })
	if f := h.synced(t, "", "justborn"); len(f.Results) != 1 {
		t.Errorf("new KB: %+v", f)
	}
}

func TestStatusIsAnsweredWhileMuchIsUnderWay(t *testing.T) {
	t.Parallel()
	h := withDaemon(t)
	h.many(t, "bulk", 700, func(i int) string {
		return fmt.Sprintf("# Load %d\n\n%s", i, strings.Repeat("status under load. ", 200))
	})
	asked := 0
	var worst time.Duration
	for range 40 {
		start := time.Now()
		h.status(t)
		if _, err := get[map[string]any](h.client(t), "rag_status", args{}); err != nil {
			t.Fatal(err)
		}
		h.search(t, "bulk", "status under load")
		worst = max(worst, time.Since(start))
		asked++
		time.Sleep(5 * time.Millisecond)
	}
	t.Logf("%d rounds, the slowest %s", asked, worst)
	if worst > 10*time.Second {
		t.Errorf("status and search took %s during a bulk load", worst)
	}
}

func TestAFileThatFailsIsParkedToldAndTriedAgain(t *testing.T) {
	t.Parallel()
	h := withDaemon(t)
	h.write(t, "kb/good.md", "quetzal that is fine")
	h.write(t, "kb/bad.md", "quetzal \x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"+strings.Repeat("\x00\x01\x02\xff", 400))
	eventually(t, "the bad file is told", func() string {
		for p, d := range h.documents(t, "kb") {
			if p == "bad.md" && (d.Status == "failed" || d.Status == "excluded") && d.Reason != "" {
				return ""
			}
		}
		return fmt.Sprint(h.documents(t, "kb"))
	})
	h.finds(t, "kb", "quetzal", "good.md")
	jobs, err := h.admin().Jobs(context.Background(), "failed", 10)
	must(t, err)
	if d := h.documents(t, "kb")["bad.md"]; d.Status == "failed" {
		if len(jobs.Jobs) != 1 || jobs.Jobs[0].Message == "" || jobs.Jobs[0].Stage == "" {
			t.Fatalf("%+v", jobs)
		}
		out := h.ok(t, "jobs", "--failed")
		if !strings.Contains(out, "kb/bad.md") {
			t.Error(out)
		}
		h.ok(t, "retry", fmt.Sprint(jobs.Jobs[0].ID))
		eventually(t, "it fails again", func() string {
			jobs, err := h.admin().Jobs(context.Background(), "failed", 10)
			must(t, err)
			return map[bool]string{true: "", false: "no failed job"}[len(jobs.Jobs) == 1]
		})
	}
	h.write(t, "kb/bad.md", "quetzal that was mended")
	h.finds(t, "kb", "quetzal", "bad.md", "good.md")
	if f := h.synced(t, "kb", "quetzal"); f.Freshness.Failed != 0 {
		t.Errorf("%+v", f.Freshness)
	}
	if code, _, errOut := h.ragd("retry", "999999"); code != 4 {
		t.Errorf("an unknown job: exit code %d %q", code, errOut)
	}
}

func TestAFileThatCannotBeReadIsParkedAndMendsItself(t *testing.T) {
	t.Parallel()
	if os.Getuid() == 0 {
		t.Skip("root may read everything")
	}
	h := withDaemon(t)
	file := h.write(t, "kb/shut.md", "kinkajou behind a door")
	must(t, os.Chmod(file, 0))
	h.write(t, "kb/open.md", "kinkajou in the open")
	h.finds(t, "kb", "kinkajou", "open.md")
	must(t, os.Chmod(file, 0o600))
	h.finds(t, "kb", "kinkajou", "open.md", "shut.md")
}

func TestAKBThatIsRemovedWhileItIsIndexedLeavesNothing(t *testing.T) {
	t.Parallel()
	h := withDaemon(t)
	h.write(t, "kb/a.md", "the other KB stays put")
	h.many(t, "doomed", 400, func(i int) string { return fmt.Sprintf("# Doomed %d\n\n%s", i, strings.Repeat("doomed text. ", 100)) })
	eventually(t, "indexing is under way", func() string {
		if st := h.status(t); st.Documents < 20 {
			return fmt.Sprint(st.Documents)
		}
		return ""
	})
	h.remove(t, "doomed")
	eventually(t, "nothing is left", func() string {
		st := h.status(t)
		if st.Documents != 1 || st.Queue.Pending+st.Queue.Processing+st.Queue.Failed > 0 {
			return fmt.Sprintf("%d documents, %+v", st.Documents, st.Queue)
		}
		return ""
	})
	h.finds(t, "", "doomed")
	h.finds(t, "kb", "stays", "a.md")
	h.doctor(t)
}

func TestALargeDocumentIsAnsweredInPiecesThatAddUp(t *testing.T) {
	t.Parallel()
	h := sharedDaemon(t)
	kb := h.newKB(t)
	var b strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&b, "Line %d of the large document: größer, 大きい, 🎈 and tapioca.\n", i)
	}
	h.write(t, kb+"/large.md", b.String())
	h.synced(t, kb, "tapioca")
	r, err := h.client(t).call("rag_search", args{"query": "tapioca", "kb": kb, "top_k": 100})
	must(t, err)
	if len(r.Data) > 400_000 {
		t.Errorf("a reply of %d bytes", len(r.Data))
	}
	var whole strings.Builder
	for offset := 0; ; {
		p, err := get[readOut](h.client(t), "rag_read", args{"kb": kb, "path": "large.md", "offset": offset})
		must(t, err)
		whole.WriteString(p.Content)
		offset += len([]rune(p.Content))
		if !p.Cut {
			break
		}
		if p.Content == "" {
			t.Fatalf("an empty page at %d", offset)
		}
	}
	if whole.String() != b.String() {
		t.Errorf("%d bytes read of %d", whole.Len(), b.Len())
	}
}

func TestARestartTidiesWhatTheLastRunLeft(t *testing.T) {
	t.Parallel()
	h := withDaemon(t, "RAGD_RETENTION_REVISIONS=0")
	for _, word := range []string{"first", "second", "third"} {
		h.write(t, "notes/a.md", "The "+word+" text.\n")
		h.finds(t, "notes", word, "a.md")
	}
	if h.status(t).Index.RetainedRevisions == 0 {
		t.Fatal("nothing was left to tidy")
	}
	h.stop(t)
	h.serve(t)
	eventually(t, "superseded revisions are dropped", func() string {
		if n := h.status(t).Index.RetainedRevisions; n != 0 {
			return fmt.Sprint(n, " are kept")
		}
		return ""
	})
}
