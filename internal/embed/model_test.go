package embed_test

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"ragd/internal/embed"
	"ragd/internal/embed/kernel"
	"ragd/internal/fault"
)

func builtin(t testing.TB, opt embed.Options) *embed.Model {
	t.Helper()
	m, err := embed.OpenBuiltin(opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

func cos(a, b []float32) float64 {
	var sum float64
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

// samples are texts of 1 to about 250 tokens, of prose, code and other scripts.
func samples() []string {
	words := strings.Fields(`the index is a cache of files on disk and can always be rebuilt from them ; func (w *Watcher) Run(ctx
		context.Context) error { return nil } Zürich 東京 Москва retry-after 429 p95 ≤ 50 ms "quoted" glacier invoice lentils`)
	out := []string{"a", "hello world", "😀", "日本語の文章", "SELECT * FROM chunks WHERE id = 7;"}
	for n := 2; n < 150; n += 11 {
		var b strings.Builder
		for i := range n {
			b.WriteString(words[(i*i+n*7)%len(words)])
			b.WriteByte(' ')
		}
		out = append(out, b.String())
	}
	return out
}

func TestSelfTestPassesOnEveryPath(t *testing.T) {
	for _, p := range kernel.Available() {
		for _, float := range []bool{false, true} {
			t.Run(fmt.Sprint(p, float), func(t *testing.T) {
				t.Parallel()
				r, err := embed.SelfTest(context.Background(), builtin(t, embed.Options{Path: p, Float: float}))
				if err != nil || !r.OK() || len(r.Checks) != 4 || r.Path != p.String() {
					t.Errorf("%+v, %v", r, err)
				}
			})
		}
	}
}

func TestAllPathsGiveNearlyTheSameVectors(t *testing.T) {
	t.Parallel()
	texts := samples()
	oracle, err := builtin(t, embed.Options{Float: true}).EmbedPassages(context.Background(), texts)
	if err != nil {
		t.Fatal(err)
	}
	names, all := []string{"float"}, [][][]float32{oracle}
	for _, p := range kernel.Available() {
		vs, err := builtin(t, embed.Options{Path: p}).EmbedPassages(context.Background(), texts)
		if err != nil {
			t.Fatal(err)
		}
		names, all = append(names, p.String()), append(all, vs)
	}
	for i := range all {
		for j := range i {
			for k := range texts {
				if c := cos(all[i][k], all[j][k]); c < 0.999 {
					t.Errorf("%s and %s: cosine %.5f for %.30q", names[i], names[j], c, texts[k])
				}
			}
		}
	}
}

func TestAVectorIsTheSameToTheBitAloneAndInABatch(t *testing.T) {
	texts := samples()
	for _, p := range kernel.Available() {
		for _, float := range []bool{false, true} {
			t.Run(fmt.Sprint(p, float), func(t *testing.T) {
				t.Parallel()
				m := builtin(t, embed.Options{Path: p, Float: float, Threads: 2})
				some := texts
				if p == kernel.Portable {
					some = texts[:12]
				}
				all, err := m.EmbedPassages(context.Background(), some)
				if err != nil {
					t.Fatal(err)
				}
				for i, text := range some {
					alone, err := m.EmbedQuery(context.Background(), text)
					if err != nil {
						t.Fatal(err)
					}
					if !slices.Equal(alone, all[i]) {
						t.Errorf("%.30q: cosine %v", text, cos(alone, all[i]))
					}
				}
			})
		}
	}
}

func TestCancellingEndsBetweenTwoLayers(t *testing.T) {
	t.Parallel()
	m := builtin(t, embed.Options{Threads: 1})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		_, err := m.EmbedPassages(ctx, []string{strings.Repeat("many words of one long text ", 40000)})
		done <- err
	}()
	time.AfterFunc(20*time.Millisecond, cancel)
	select {
	case err := <-done:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
	case <-time.After(20 * time.Second): // the whole text takes longer
		t.Error("the call went on")
	}
}

func TestAQueryDoesNotWaitForPassages(t *testing.T) {
	t.Parallel()
	m := builtin(t, embed.Options{Threads: 1})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	batch := slices.Repeat([]string{strings.Repeat("passage after passage ", 60)}, 400)
	var ended atomic.Bool
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, err := m.EmbedPassages(ctx, batch)
		ended.Store(err == nil)
	}()
	for range 10 {
		if _, err := m.EmbedQuery(context.Background(), "what is asked"); err != nil {
			t.Fatal(err)
		}
	}
	if ended.Load() {
		t.Error("ten queries took longer than 400 passages")
	}
	cancel()
	<-done
}

func TestThreadsCanBeChangedWhileInUse(t *testing.T) {
	t.Parallel()
	m := builtin(t, embed.Options{Threads: 1, Nice: 10})
	want, err := m.EmbedPassages(context.Background(), samples())
	if err != nil {
		t.Fatal(err)
	}
	m.SetThreads(3)
	got, err := m.EmbedPassages(context.Background(), samples())
	if err != nil {
		t.Fatal(err)
	}
	m.SetThreads(0)
	for i := range want {
		if !slices.Equal(got[i], want[i]) {
			t.Errorf("text %d has another vector", i)
		}
	}
}

func TestAnEndlessQueryIsRefusedNotCut(t *testing.T) {
	t.Parallel()
	_, err := builtin(t, embed.Options{}).EmbedQuery(context.Background(), strings.Repeat("word ", 20000))
	if fault.KindOf(err) != fault.Invalid {
		t.Errorf("%v", err)
	}
}

func TestTheBuiltInIdentityIsComplete(t *testing.T) {
	t.Parallel()
	m := builtin(t, embed.Options{})
	id := m.Identity()
	if _, err := hex.DecodeString(id.Revision); err != nil || len(id.Revision) != 16 {
		t.Errorf("revision %q", id.Revision)
	}
	if id.Name != embed.BuiltinName || id.Dim != 384 || id.Pooling != "mean" || id.MaxTokens != 256 || id.QueryPrefix != "" {
		t.Errorf("%+v", id)
	}
	prefix := "query: "
	if other := builtin(t, embed.Options{QueryPrefix: &prefix}).Identity(); other.Key() == id.Key() {
		t.Error("two prefixes, one key")
	}
	if a, b := (embed.Identity{Name: "a|b"}), (embed.Identity{Name: "a", Revision: "b"}); a.Key() == b.Key() {
		t.Error("two names, one key")
	}
}

// The fp32 weights the built-in model was made of, if they lie beside the repository.
func TestInt8IsNearTheOriginalWeights(t *testing.T) {
	t.Parallel()
	dir := filepath.Join("..", "..", "..", "shared", "models", embed.BuiltinName)
	if _, err := os.Stat(dir); err != nil {
		t.Skip("the original weights are not there")
	}
	texts := samples()
	ref, err := embed.OpenDir(dir, embed.Options{Float: true})
	if err != nil {
		t.Fatal(err)
	}
	defer ref.Close() //nolint:errcheck // a test's end
	want, err := ref.EmbedPassages(context.Background(), texts)
	if err != nil {
		t.Fatal(err)
	}
	paths := kernel.Available()
	for _, p := range paths[min(1, len(paths)-1):] { // the portable one is slow, and near the others
		got, err := builtin(t, embed.Options{Path: p}).EmbedPassages(context.Background(), texts)
		if err != nil {
			t.Fatal(err)
		}
		mean, least := 0.0, math.Inf(1)
		for i := range texts {
			c := cos(got[i], want[i])
			mean += c / float64(len(texts))
			least = min(least, c)
		}
		t.Logf("%s: mean cosine %.5f, least %.5f", p, mean, least)
		if mean < 0.998 || least < 0.99 {
			t.Errorf("%s: mean cosine %.5f, least %.5f", p, mean, least)
		}
	}
}

func BenchmarkQuery12Tokens(b *testing.B) {
	m := builtin(b, embed.Options{})
	for b.Loop() {
		if _, err := m.EmbedQuery(context.Background(), "how do I rotate the keys of the backup server"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPassages(b *testing.B) {
	for _, p := range kernel.Available()[1:] {
		for _, threads := range []int{1, min(2, runtime.NumCPU())} {
			b.Run(fmt.Sprintf("%s/%d", p, threads), func(b *testing.B) {
				m := builtin(b, embed.Options{Path: p, Threads: threads})
				text := strings.Repeat("the scan that follows reads the disk again and decides what is new. ", 17)
				batch := slices.Repeat([]string{text}, 8)
				tokens := (m.CountTokens(text) + 2) * len(batch)
				b.ReportAllocs()
				n := 0
				for b.Loop() {
					n += tokens
					if _, err := m.EmbedPassages(context.Background(), batch); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "tokens/s")
			})
		}
	}
}
