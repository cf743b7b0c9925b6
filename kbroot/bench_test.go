package kbroot

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func benchTree(b *testing.B, dirs, files int) (*Set, string) {
	s, dir := rootSet(b)
	for i := range dirs {
		sub := filepath.Join(dir, "k", fmt.Sprintf("d%02d/e%02d", i%20, i/20))
		must(b, os.MkdirAll(sub, 0o755))
		for j := range files {
			must(b, os.WriteFile(filepath.Join(sub, fmt.Sprintf("file-%03d.md", j)), nil, 0o644))
		}
	}
	put(b, dir, map[string]string{"k/.gitignore": "*.log\nbuild/\n/tmp\n**/cache/**\nfoo*.bak\n"})
	return s, dir
}

func BenchmarkWalk50000Files(b *testing.B) {
	s, _ := benchTree(b, 500, 100)
	b.ResetTimer()
	for b.Loop() {
		must(b, s.Walk(context.Background(), "k", "", func(Entry) error { return nil }))
	}
}

func BenchmarkStat(b *testing.B) {
	s, _ := benchTree(b, 20, 10)
	for b.Loop() {
		if _, err := s.Stat(DocPath{"k", "d07/e00/file-003.md"}); err != nil {
			b.Fatal(err)
		}
	}
}
