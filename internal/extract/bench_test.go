package extract

import (
	"context"
	"fmt"
	"testing"
	"time"
)

// bigPDF has so many pages of ordinary prose.
func bigPDF(t testing.TB, n int) []byte {
	texts := make([][]string, n)
	for i := range texts {
		for k := range 24 {
			texts[i] = append(texts[i], fmt.Sprintf("Line %d of page %d has about as many words on it as a line of a book has.", k, i))
		}
	}
	return pages(t, true, texts...)
}

// BenchmarkWorker measures what a file costs through the pool, once the
// engine is compiled and cached.
func BenchmarkWorker(b *testing.B) {
	cache := b.TempDir()
	extract := func(b *testing.B, r *Registry, src Source) {
		b.Helper()
		if _, err := r.Extract(context.Background(), src); err != nil {
			b.Fatal(err)
		}
	}
	registry := func(b *testing.B) (*Registry, *WorkerPool) {
		b.Helper()
		pool := newPool(b, WorkerLimits{CacheDir: cache})
		r, err := New(Options{Pool: pool})
		if err != nil {
			b.Fatal(err)
		}
		return r, pool
	}
	small := Source{Path: "a.pdf", Data: bigPDF(b, 4)}
	r, _ := registry(b)
	start := time.Now()
	extract(b, r, small)
	b.Logf("first PDF, compiling the engine: %v", time.Since(start).Round(time.Millisecond))

	b.Run("start and first PDF", func(b *testing.B) {
		for b.Loop() {
			r, pool := registry(b)
			extract(b, r, small)
			pool.Close()
		}
	})
	b.Run("start and first RTF", func(b *testing.B) {
		for b.Loop() {
			r, pool := registry(b)
			extract(b, r, Source{Path: "a.rtf", Data: []byte("{\\rtf1 x}")})
			pool.Close()
		}
	})
	for name, src := range map[string]Source{
		"PDF of 4 pages": small, "PDF of 350 pages": {Path: "a.pdf", Data: bigPDF(b, 350)}, "RTF": {Path: "a.rtf", Data: []byte("{\\rtf1 x}")},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				extract(b, r, src)
			}
		})
	}
}
