package blackbox

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// BenchmarkFirstIndexing indexes Markdown from nothing, and has Recoll do the
// same with the same files where it is installed.
func BenchmarkFirstIndexing(b *testing.B) {
	once(b, func(b *testing.B, add func(string, float64, string, string)) {
		h := newHome(b)
		files, bytes := markdown(b, h.path("docs"), 20<<20)
		start := time.Now()
		h.serve(b)
		h.drained(b, int64(files))
		took := time.Since(start).Seconds()
		speed := float64(bytes) / mega / took
		add("first indexing of Markdown", speed, "MB/s", ">= 15")
		work := float64(bytes) / mega / cpuSeconds(h.pid())
		add("first indexing by the CPU second", work, "MB/s", "")
		peak := memory(h.pid(), "VmHWM")
		add("RSS at most in bulk", peak, "MB", "<= 300")
		h.stop(b)
		size := treeBytes(b, h.data())
		add("index to text", size/float64(bytes), "x", "<= 1.6")
		recoll(b, h, bytes, speed, work, add)
	})
}

// recoll measures recollindex on the files of h.
func recoll(b *testing.B, h *home, bytes int64, speed, work float64, add func(string, float64, string, string)) {
	if _, err := exec.LookPath("recollindex"); err != nil {
		b.Log("recollindex is not installed; nothing to compare with")
		return
	}
	conf := filepath.Join(h.dir, "recoll")
	must(b, os.Mkdir(conf, 0o700))
	must(b, os.WriteFile(filepath.Join(conf, "recoll.conf"), fmt.Appendf(nil, "topdirs = %s\n", h.root), 0o600))
	cmd := exec.Command("recollindex", "-c", conf)
	cmd.Env = h.env
	start := time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Logf("recollindex: %v\n%.2000s", err, out)
		return
	}
	took := time.Since(start).Seconds()
	add("Recoll on the same files", float64(bytes)/mega/took, "MB/s", "")
	if use, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		add("Recoll RSS at most", float64(use.Maxrss)*1024/mega, "MB", "")
	}
	add("Recoll index to text", treeBytes(b, filepath.Join(conf, "xapiandb"))/float64(bytes), "x", "")
	cpu := (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	add("ragd to Recoll by the CPU second", work/(float64(bytes)/mega/cpu), "x", "")
	add("ragd to Recoll in speed", speed/(float64(bytes)/mega/took), "x", ">= 10")
}

// BenchmarkFiftyThousandFiles is the life of a daemon over many small files:
// first indexing, edits, a stop, a restart with nothing changed.
func BenchmarkFiftyThousandFiles(b *testing.B) {
	once(b, func(b *testing.B, add func(string, float64, string, string)) {
		const n = 50_000
		h := newHome(b)
		paths := h.many(b, "many", n, func(i int) string {
			return fmt.Sprintf("# Note %d\n\nserial%d stands in this small file, and a few words more about subject%d.\n", i, i, i%997)
		})
		start := time.Now()
		h.serve(b)
		h.drained(b, n)
		add("50,000 small files", time.Since(start).Seconds(), "s", "<= 90")

		var edits []time.Duration
		for i := range 100 {
			p, word := paths[(i*487)%n], fmt.Sprintf("edited%dnow", i)
			begin := time.Now()
			h.write(b, "many/"+p, "# Edited\n\n"+word+"\n")
			for len(h.search(b, "many", word).Results) == 0 {
				if time.Since(begin) > patience {
					b.Fatalf("edit %d is not found", i)
				}
				time.Sleep(3 * time.Millisecond)
			}
			edits = append(edits, time.Since(begin))
		}
		add("edit to found p50", quantile(edits, 0.5), "ms", "<= 300")
		add("edit to found p95", quantile(edits, 0.95), "ms", "<= 1000")

		add("SIGTERM to gone", h.stop(b).Seconds(), "s", "<= 5")
		start = time.Now()
		h.start(b)
		ready := 0.0
		for {
			health, err := h.admin().Health(context.Background())
			if err == nil && ready == 0 {
				ready = time.Since(start).Seconds()
			}
			if err == nil && health.Status != "warming_up" {
				break
			}
			if time.Since(start) > patience {
				b.Fatal("not reconciled")
			}
			time.Sleep(2 * time.Millisecond)
		}
		add("restart of 50,000 unchanged ready", ready, "s", "<= 2")
		add("restart of 50,000 unchanged reconciled", time.Since(start).Seconds(), "s", "<= 5")
	})
}

// BenchmarkManyEdits edits a thousand files fifty times each and compares
// what is left with a fresh index.
func BenchmarkManyEdits(b *testing.B) {
	once(b, func(b *testing.B, add func(string, float64, string, string)) {
		const files, rounds = 1000, 50
		text := func(i, round int) string {
			return fmt.Sprintf("# File %d\n\nRound %d of word%d. %s", i, round, i*rounds+round, fmt.Sprintf("Paragraph about item %d in some more words than these. ", i))
		}
		h := withDaemon(b, "RAGD_RETENTION_REVISIONS=0")
		for round := range rounds {
			h.many(b, "kb", files, func(i int) string { return text(i, round) })
			h.synced(b, "kb", "round")
		}
		h.stop(b)
		h.serve(b)
		h.drained(b, files)
		time.Sleep(15 * time.Second) // the upkeep of an idle daemon
		h.stop(b)
		edited := treeBytes(b, h.data())
		fresh := newHome(b)
		fresh.many(b, "kb", files, func(i int) string { return text(i, rounds-1) })
		fresh.serve(b)
		fresh.drained(b, files)
		fresh.stop(b)
		add("after 50 edits of 1,000 files to fresh", edited/treeBytes(b, fresh.data()), "x", "<= 1.5")
	})
}
