package watcher

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"ragd/kbroot"
)

// BenchmarkArm5000Folders is the cost of watching a root anew.
func BenchmarkArm5000Folders(b *testing.B) {
	dir := b.TempDir()
	for i := range 5000 {
		sub := filepath.Join(dir, fmt.Sprintf("k/d%02d/e%03d", i%50, i/50))
		must(b, os.MkdirAll(sub, 0o755))
		for j := range 10 {
			must(b, os.WriteFile(filepath.Join(sub, fmt.Sprintf("f%d.md", j)), nil, 0o644))
		}
	}
	set, err := kbroot.New(kbroot.Options{Roots: []kbroot.RootSpec{{Name: "r", Dir: dir}}})
	must(b, err)
	for b.Loop() {
		w, err := New(Options{Set: set})
		must(b, err)
		ctx, cancel := context.WithCancel(context.Background())
		out := make(chan kbroot.Change)
		done := make(chan error, 1)
		go func() { done <- w.Run(ctx, out) }()
		<-out // the first hint comes when everything is watched
		if n := w.State()[0].Watches; n < 5000 {
			b.Fatalf("%d folders are watched", n)
		}
		cancel()
		<-done
	}
}
