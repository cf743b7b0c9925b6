package embedtest

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync"
	"testing"

	"ragd/internal/embed"
	"ragd/internal/fault"
)

var passages = []string{
	"The watcher reports changed files.", "Zürich liegt am See.", "索引を検索する方法", "Vectors are compared by cosine.",
	"😀 😀 👍", "a", strings.Repeat("Every word of a long text counts. ", 400), "x\x00y\x01z \u200b tail",
}

// Run holds an embedder to what embed.Embedder promises. open makes a fresh one.
func Run(t *testing.T, open func(t *testing.T) embed.Embedder) {
	t.Helper()
	for name, check := range map[string]func(*testing.T, embed.Embedder){
		"vectors are of unit length, in order, the same alone and in a batch": checkVectors,
		"a text without words fails alone":                                    checkNoWords,
		"an empty batch is no work":                                           checkEmpty,
		"a done context ends the call":                                        checkCancelled,
		"hostile texts do no harm":                                            checkHostile,
		"windows hold every word":                                             checkWindows,
		"calls may overlap":                                                   checkConcurrent,
		"a closed embedder says so":                                           checkClosed,
		"a long text's end counts":                                            checkLong,
	} {
		t.Run(name, func(t *testing.T) {
			e := open(t)
			t.Cleanup(func() {
				if err := e.Close(); err != nil {
					t.Errorf("Close: %v", err)
				}
			})
			check(t, e)
		})
	}
}

func cosine(a, b []float32) float64 {
	var dot, aa, bb float64
	for i := range a {
		dot += float64(a[i]) * float64(b[i])
		aa += float64(a[i]) * float64(a[i])
		bb += float64(b[i]) * float64(b[i])
	}
	return dot / math.Sqrt(aa*bb)
}

func checkUnit(t *testing.T, e embed.Embedder, v []float32) {
	t.Helper()
	if want := e.Identity().Dim; len(v) != want || want == 0 {
		t.Fatalf("a vector has %d values, the identity says %d", len(v), want)
	}
	var square float64
	for _, x := range v {
		square += float64(x) * float64(x)
	}
	if !(math.Abs(square-1) < 1e-4) {
		t.Fatalf("a vector's length is %v", math.Sqrt(square))
	}
}

func checkVectors(t *testing.T, e embed.Embedder) {
	ctx := context.Background()
	all, err := e.EmbedPassages(ctx, passages)
	if err != nil || len(all) != len(passages) {
		t.Fatalf("%d vectors, %v", len(all), err)
	}
	key := e.Identity().Key()
	for i, p := range passages {
		checkUnit(t, e, all[i])
		one, err := e.EmbedPassages(ctx, []string{p})
		if err != nil {
			t.Fatal(err)
		}
		if c := cosine(one[0], all[i]); c < 0.99999 {
			t.Errorf("%.20q alone and in a batch: cosine %v", p, c)
		}
		for j := range i {
			if c := cosine(all[i], all[j]); c > 0.99 {
				t.Errorf("%.20q and %.20q have one vector", p, passages[j])
			}
		}
	}
	q, err := e.EmbedQuery(ctx, passages[0])
	if err != nil {
		t.Fatal(err)
	}
	checkUnit(t, e, q)
	if e.Identity().Key() != key {
		t.Error("the identity has changed")
	}
}

func checkNoWords(t *testing.T, e embed.Embedder) {
	texts := []string{"first words", " \n\t ", "last words", "\x01\x02"}
	vs, err := e.EmbedPassages(context.Background(), texts)
	var b *embed.BatchError
	if !errors.As(err, &b) {
		t.Fatalf("error %v, want a *BatchError", err)
	}
	if at := b.Indexes(); len(at) != 2 || at[0] != 1 || at[1] != 3 || fault.KindOf(b.Errs[1]) != fault.Permanent {
		t.Errorf("failed: %v", b)
	}
	if len(vs) != 4 || vs[1] != nil || vs[3] != nil {
		t.Fatalf("vectors of texts without words: %v", vs)
	}
	checkUnit(t, e, vs[0])
	checkUnit(t, e, vs[2])
	if _, err := e.EmbedQuery(context.Background(), "  "); err == nil {
		t.Error("a query without words has a vector")
	}
}

func checkEmpty(t *testing.T, e embed.Embedder) {
	if vs, err := e.EmbedPassages(context.Background(), nil); err != nil || len(vs) != 0 {
		t.Errorf("%d vectors, %v", len(vs), err)
	}
}

func checkCancelled(t *testing.T, e embed.Embedder) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := e.EmbedPassages(ctx, passages); fault.KindOf(err) != fault.Cancelled || err == nil {
		t.Errorf("passages: %v", err)
	}
	if _, err := e.EmbedQuery(ctx, "a query"); fault.KindOf(err) != fault.Cancelled || err == nil {
		t.Errorf("query: %v", err)
	}
	if _, err := e.EmbedQuery(context.Background(), "a query"); err != nil {
		t.Errorf("the next call: %v", err)
	}
}

func checkHostile(t *testing.T, e embed.Embedder) {
	texts := []string{
		"short one", strings.Repeat("long text of many words ", 4200), strings.Repeat("😀", 400),
		"\xff\xfe broken \xc3 utf-8", "[CLS] [SEP] [PAD]", strings.Repeat("#", 300), "short two",
	}
	vs, err := e.EmbedPassages(context.Background(), texts)
	var b *embed.BatchError
	if err != nil && !errors.As(err, &b) {
		t.Fatal(err)
	}
	checkUnit(t, e, vs[0])
	checkUnit(t, e, vs[1])
	checkUnit(t, e, vs[6])
	for i, v := range vs {
		if v != nil {
			checkUnit(t, e, v)
		} else if b == nil || b.Errs[i] == nil {
			t.Errorf("text %d has neither vector nor error", i)
		}
	}
}

func checkWindows(t *testing.T, e embed.Embedder) {
	text := strings.Repeat("Lorem ipsum dolor sit amet, consectetur adipiscing elit. ", 300)
	most := e.Identity().MaxTokens
	for _, limit := range []int{0, 40, 1 << 20} {
		end := 0
		for _, w := range e.Windows(text, limit, 10) {
			if strings.TrimSpace(text[min(end, w.Start):w.Start]) != "" || w.Tokens > most || w.End <= w.Start {
				t.Fatalf("limit %d: window %+v after %d", limit, w, end)
			}
			if limit == 40 && w.Tokens > 40 {
				t.Fatalf("limit 40: window %+v", w)
			}
			end = w.End
		}
		if strings.TrimSpace(text[end:]) != "" {
			t.Fatalf("limit %d: the end is in no window", limit)
		}
	}
	if n := e.CountTokens("two words"); n < 2 || n > 12 {
		t.Errorf("\"two words\" has %d tokens", n)
	}
}

func checkConcurrent(t *testing.T, e embed.Embedder) {
	want, err := e.EmbedQuery(context.Background(), passages[0])
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if vs, err := e.EmbedPassages(context.Background(), passages[:4]); err != nil || len(vs) != 4 {
				t.Errorf("passages: %v", err)
			}
			got, err := e.EmbedQuery(context.Background(), passages[0])
			if err != nil {
				t.Errorf("query: %v", err)
			} else if cosine(got, want) < 0.99999 {
				t.Error("a query's vector depends on what else runs")
			}
		})
	}
	wg.Wait()
}

func checkClosed(t *testing.T, e embed.Embedder) {
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := e.EmbedQuery(context.Background(), "a query"); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("query: %v", err)
	}
	if _, err := e.EmbedPassages(context.Background(), []string{"a"}); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("passages: %v", err)
	}
}

func checkLong(t *testing.T, e embed.Embedder) {
	start := strings.Repeat("The harbour is quiet in winter. ", 150)
	vs, err := e.EmbedPassages(context.Background(), []string{start, start + strings.Repeat("Compilers allocate registers. ", 150)})
	if err != nil {
		t.Fatal(err)
	}
	if c := cosine(vs[0], vs[1]); c > 0.97 {
		t.Errorf("the second half of a text changes its vector by nothing: cosine %v", c)
	}
}
