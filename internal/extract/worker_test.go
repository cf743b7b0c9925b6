package extract

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"
)

const workerArg = "extract-worker-of-this-test"

// TestMain lets the test binary be its own worker.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == workerArg {
		os.Exit(workerMain(context.Background(), os.Stdin, os.Stdout, func(r *Registry) {
			r.byExt["misbehave"] = fileType{format: Format{Name: "misbehave", Version: 1, Worker: true}, read: misbehave, env: r.env}
		}))
	}
	goleak.VerifyTestMain(m)
}

func newPool(t testing.TB, limits WorkerLimits) *WorkerPool {
	t.Helper()
	if raceEnabled {
		limits.MemoryBytes = ^uint64(0) // the race detector reserves terabytes of addresses
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := NewWorkerPool(exe, []string{workerArg}, limits)
	t.Cleanup(p.Close)
	return p
}

// sharedFiles returns the folder of real files; the test is skipped where
// there is none.
func sharedFiles(t testing.TB) string {
	t.Helper()
	dir, err := filepath.Abs("../../../shared/realfiles")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "MANIFEST.tsv")); err != nil {
		t.Skip("no real files beside the repository")
	}
	return dir
}
