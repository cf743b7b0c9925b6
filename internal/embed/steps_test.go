package embed

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"
)

// What a query can have to wait for is one step: one layer of one batch. That
// is 256 tokens at most, whatever the texts are: 5 ms of an AVX-512 core, 9 ms
// of an AVX2 one.
func TestAStepIsOneLayerOf256TokensAtMost(t *testing.T) {
	t.Parallel()
	m, err := OpenBuiltin(Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close() //nolint:errcheck // a test's end
	texts := []string{"a", strings.Repeat("word ", 40), strings.Repeat("letter", 5000), strings.Repeat("日本語の文章", 3000), strings.Repeat("two words ", 9000)}
	for range 200 {
		texts = append(texts, "one of many short texts")
	}
	var ws []*piece
	for i, text := range texts {
		ws = m.split(ws, i, text)
	}
	n := 0
	for _, b := range m.batches(ws) {
		tokens := 0
		for _, w := range b {
			tokens += len(w.ids)
		}
		if n += len(b); tokens > batchTokens {
			t.Errorf("a batch of %d texts has %d tokens", len(b), tokens)
		}
	}
	if n != len(ws) {
		t.Errorf("%d of %d windows are in a batch", n, len(ws))
	}
	// Between any two steps a passage looks whether a query waits.
	looks := 0
	batch := m.batches(ws)[0]
	err = m.run(context.Background(), batch, func(context.Context) error { looks++; return nil })
	if err != nil || looks != m.layers {
		t.Errorf("%d looks in %d layers, %v", looks, m.layers, err)
	}
}

func TestPassagesStandAsideForQueriesButNotForEver(t *testing.T) {
	t.Parallel()
	var g gate
	g.enter()
	begin := time.Now()
	if err := g.yield(context.Background()); err != nil || time.Since(begin) < yieldAtMost {
		t.Errorf("a passage waited %s for the query, %v", time.Since(begin), err)
	}
	g.leave()
	if err := g.yield(context.Background()); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	g.enter()
	defer g.leave()
	if err := g.yield(ctx); err == nil {
		t.Error("a done context does not end the wait")
	}
}

// BenchmarkQueryAmongPassages measures 12-token queries while passages are
// embedded by half of the CPUs.
func BenchmarkQueryAmongPassages(b *testing.B) {
	m, err := OpenBuiltin(Options{Nice: 10})
	if err != nil {
		b.Fatal(err)
	}
	defer m.Close() //nolint:errcheck // a benchmark's end
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		batch := slices.Repeat([]string{strings.Repeat("passage after passage ", 60)}, 16)
		for ctx.Err() == nil {
			_, _ = m.EmbedPassages(ctx, batch) // ends with the benchmark
		}
	}()
	time.Sleep(50 * time.Millisecond)
	var took []time.Duration
	for b.Loop() {
		begin := time.Now()
		if _, err := m.EmbedQuery(ctx, BenchQuery); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(begin))
		time.Sleep(2 * time.Millisecond)
	}
	cancel()
	<-done
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
}
