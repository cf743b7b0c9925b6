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
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := NewWorkerPool(exe, []string{workerArg}, limits)
	t.Cleanup(p.Close)
	return p
}

// realFiles is the folder of real files: what REALFILES names, or a folder
// "realfiles" near the repository; without one the test is skipped.
func realFiles(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("REALFILES")
	if dir == "" {
		if near, err := filepath.Glob("../../../*/realfiles"); err == nil && len(near) == 1 {
			dir = near[0]
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "MANIFEST.tsv")); err != nil || dir == "" {
		t.Skip("REALFILES names no folder of real files")
	}
	return dir
}
