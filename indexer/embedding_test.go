package indexer

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"ragd/internal/embed"
	"ragd/internal/fault"
	"ragd/internal/store"
)

const fakeDim = 64

// fakeEmbedder gives equal texts equal vectors. Tests change its answers.
type fakeEmbedder struct {
	name   string
	mu     sync.Mutex
	calls  int
	texts  []string
	change func(texts []string, vectors [][]float32) ([][]float32, error)

	alone     bool // nothing embeds queries for other models' vectors
	sentences Sentences
}

func (f *fakeEmbedder) Identity() embed.Identity {
	return embed.Identity{Name: f.name, Dim: fakeDim, MaxTokens: 128}
}

func (f *fakeEmbedder) CountTokens(text string) int { return len(strings.Fields(text)) }

func (f *fakeEmbedder) Windows(text string, limit, _ int) (out []embed.Window) {
	n, start := 0, -1
	for i := 0; i <= len(text); i++ {
		space := i == len(text) || text[i] == ' ' || text[i] == '\n'
		if !space && start < 0 {
			start = i
		}
		if space && start >= 0 && (i == len(text) || i > 0 && text[i-1] != ' ') {
			if n++; n >= limit || i == len(text) {
				out = append(out, embed.Window{Start: start, End: i, Tokens: n})
				n, start = 0, -1
			}
		}
	}
	if start >= 0 && n > 0 {
		out = append(out, embed.Window{Start: start, End: len(text), Tokens: n})
	}
	return out
}

func fakeVector(text string) []float32 {
	r := rand.New(rand.NewChaCha8(sha256.Sum256([]byte(text))))
	v := make([]float32, fakeDim)
	for i := range v {
		v[i] = float32(r.NormFloat64())
	}
	return v
}

func (f *fakeEmbedder) EmbedPassages(_ context.Context, texts []string) ([][]float32, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls++
	f.texts = append(f.texts, texts...)
	out := make([][]float32, len(texts))
	for i, t := range texts {
		out[i] = fakeVector(t)
	}
	if f.change != nil {
		return f.change(texts, out)
	}
	return out, nil
}

func (f *fakeEmbedder) set(fn func(texts []string, vectors [][]float32) ([][]float32, error)) {
	f.mu.Lock()
	f.change = fn
	f.mu.Unlock()
}

// seen returns and forgets what was embedded.
func (f *fakeEmbedder) seen() (calls int, texts []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	calls, texts = f.calls, f.texts
	f.calls, f.texts = 0, nil
	return calls, texts
}

func newEmbedRig(t *testing.T) (*rig, *fakeEmbedder) {
	t.Helper()
	f := &fakeEmbedder{name: "fake"}
	return newRig(t, f.use(t)), f
}

func (f *fakeEmbedder) use(t *testing.T) func(o *Options) {
	return func(o *Options) {
		opt := EmbeddingOptions{
			Embedder: f, Store: o.Store.(*faultyStore), Logger: o.Logger,
			Answers: func(string) bool { return !f.alone },
		}
		if f.sentences != nil {
			opt.Sentences, opt.SentencesAtOnce = f.sentences, 2
		}
		e, err := NewEmbedding(opt)
		if err != nil {
			t.Fatal(err)
		}
		o.Embedding = e
	}
}

func (r *rig) vectors() store.VectorStatus {
	r.t.Helper()
	st, err := r.store.VectorStatus(context.Background())
	r.must(err)
	return st
}

// embedded waits until n chunks have vectors and none waits.
func (r *rig) embedded(n int64) {
	r.t.Helper()
	r.eventually(fmt.Sprintf("%d chunks embedded", n), func() bool {
		st := r.vectors()
		return st.Ready && st.Chunks == n && st.Backlog == 0
	})
}

func TestTextIsFoundByKeywordWhileTheEmbedderIsOut(t *testing.T) {
	r, f := newEmbedRig(t)
	f.set(func([]string, [][]float32) ([][]float32, error) {
		return nil, fault.New(fault.Unavailable, "embed_down", "the server is down")
	})
	for i := range 5 {
		r.write(fmt.Sprintf("kb/%d.md", i), fmt.Sprintf("# Note %d\n\nA wombat lives here.\n", i))
	}
	r.hintRoot()
	r.settle()
	r.found("wombat", "kb/0.md", "kb/1.md", "kb/2.md", "kb/3.md", "kb/4.md")
	r.eventually("the stage rests", func() bool { return r.ix.opt.Embedding.Status().Paused != "" })
	if st := r.vectors(); st.Backlog != 5 || st.Failed != 0 {
		t.Fatalf("%+v", st)
	}
	if jobs := r.jobs(store.JobFailed); len(jobs) != 0 {
		t.Fatalf("an outage parked %v", jobs)
	}
	f.set(nil)
	r.embedded(5)
	r.eventually("the stage works again", func() bool { return r.ix.opt.Embedding.Status().Paused == "" })
	r.consistent()
}

func TestTouchedRenamedAndCopiedTextIsNotEmbeddedAgain(t *testing.T) {
	r, f := newEmbedRig(t)
	r.write("kb/a.md", "# Title\n\nThe one text.\n")
	r.hint("kb", "a.md")
	r.settle()
	r.embedded(1)
	f.seen()
	for i := range 10 {
		when := time.Now().Add(time.Duration(i) * time.Second)
		r.must(os.Chtimes(filepath.Join(r.dir, "kb/a.md"), when, when))
		r.hint("kb", "a.md")
		r.settle()
	}
	r.must(os.Rename(filepath.Join(r.dir, "kb/a.md"), filepath.Join(r.dir, "kb/b.md")))
	r.hint("kb", "a.md")
	r.hint("kb", "b.md")
	r.settle()
	r.embedded(1)
	r.write("kb/c.md", "# Title\n\nThe one text.\n")
	r.hint("kb", "c.md")
	r.settle()
	r.embedded(2)
	if calls, texts := f.seen(); calls != 0 {
		t.Fatalf("embedded again: %q", texts)
	}
	r.consistent()
}

func TestUselessVectorsParkTheirTextAlone(t *testing.T) {
	nan := fakeVector("x")
	nan[0] = float32(math.NaN())
	for name, bad := range map[string][]float32{
		"zero": make([]float32, fakeDim), "NaN": nan, "empty": {}, "short": fakeVector("x")[:10], "long": append(fakeVector("x"), 1),
	} {
		t.Run(name, func(t *testing.T) {
			r, f := newEmbedRig(t)
			f.set(func(texts []string, vectors [][]float32) ([][]float32, error) {
				for i, s := range texts {
					if strings.Contains(s, "cursed") {
						vectors[i] = bad
					}
				}
				return vectors, nil
			})
			r.write("kb/good.md", "A good text.\n")
			r.write("kb/bad.md", "A cursed text.\n")
			r.hintRoot()
			r.settle()
			r.eventually("the good one is embedded and the bad one parked", func() bool {
				st := r.vectors()
				return st.Chunks == 1 && st.Backlog == 0 && st.Failed == 1
			})
			jobs := r.jobs(store.JobFailed)
			if len(jobs) != 1 || jobs[0].Stage != "embed" || jobs[0].Path != "bad.md" || jobs[0].Code != "bad_vector" {
				t.Fatalf("%+v", jobs)
			}
			r.found("cursed", "kb/bad.md")
			r.consistent()
			f.set(nil)
			r.must(r.ix.Retry(context.Background(), jobs[0].ID))
			r.embedded(2)
			r.consistent()
		})
	}
}

func TestMissingAnswersNeverShiftVectors(t *testing.T) {
	r, f := newEmbedRig(t)
	f.set(func(_ []string, vectors [][]float32) ([][]float32, error) {
		if len(vectors) > 1 {
			vectors = vectors[1:]
		}
		return vectors, nil
	})
	for i := range 6 {
		r.write(fmt.Sprintf("kb/%d.txt", i), fmt.Sprintf("Text of number %d", i))
	}
	r.hintRoot()
	r.settle()
	r.embedded(6)
	st := r.vectors()
	for i := range 6 {
		res, err := r.store.Meaning(context.Background(), store.MeaningQuery{
			Generation: st.Serving.ID, Vector: fakeVector(fmt.Sprintf("Text of number %d", i)), Limit: 1,
		})
		r.must(err)
		recs, err := r.store.Chunks(context.Background(), []int64{res.Hits[0].ChunkID})
		r.must(err)
		if recs[0].Path != fmt.Sprintf("%d.txt", i) || res.Hits[0].Cosine < 0.99 {
			t.Errorf("vector of text %d belongs to %s with cosine %.2f", i, recs[0].Path, res.Hits[0].Cosine)
		}
	}
}

func TestOneTextThatAServerRefusesParksAlone(t *testing.T) {
	r, f := newEmbedRig(t)
	f.set(func(texts []string, vectors [][]float32) ([][]float32, error) {
		for _, s := range texts {
			if strings.Contains(s, "cursed") {
				return nil, fault.New(fault.Permanent, "refused", "the server refuses the batch")
			}
		}
		return vectors, nil
	})
	for i := range 8 {
		r.write(fmt.Sprintf("kb/%d.txt", i), fmt.Sprintf("Text %d", i))
	}
	r.write("kb/bad.txt", "cursed text")
	r.hintRoot()
	r.settle()
	r.eventually("all but one are embedded", func() bool {
		st := r.vectors()
		return st.Chunks == 8 && st.Backlog == 0 && st.Failed == 1
	})
	r.consistent()
}

func TestTextsWithoutWordsAreNoFailure(t *testing.T) {
	r, f := newEmbedRig(t)
	f.set(func(texts []string, vectors [][]float32) ([][]float32, error) {
		errs := &embed.BatchError{Errs: map[int]error{}, Size: len(texts)}
		for i, s := range texts {
			if !strings.ContainsAny(s, "abcdefghijklmnopqrstuvwxyz") {
				errs.Errs[i], vectors[i] = fault.New(fault.Permanent, "embed_no_words", "no words"), nil
			}
		}
		if len(errs.Errs) > 0 {
			return vectors, errs
		}
		return vectors, nil
	})
	r.write("kb/emoji.txt", "🎉 🎉 🎉")
	r.write("kb/words.txt", "words")
	r.hintRoot()
	r.settle()
	r.embedded(1)
	if jobs := r.jobs(store.JobFailed); len(jobs) != 0 {
		t.Fatalf("%+v", jobs)
	}
	r.consistent()
}

func TestIdleStageAsksForNothing(t *testing.T) {
	r, f := newEmbedRig(t)
	r.write("kb/a.md", "Some text.\n")
	r.hint("kb", "a.md")
	r.settle()
	r.embedded(1)
	f.seen()
	time.Sleep(300 * time.Millisecond)
	if calls, _ := f.seen(); calls != 0 {
		t.Fatalf("%d calls with nothing to do", calls)
	}
}

func TestNewModelBuildsBesideTheOldOne(t *testing.T) {
	r, _ := newEmbedRig(t)
	r.write("kb/a.md", "Some text.\n")
	r.write("kb/b.md", "More text.\n")
	r.hintRoot()
	r.settle()
	r.embedded(2)
	before := r.vectors().Serving.ID
	second := &fakeEmbedder{name: "second"}
	use := second.use(t)
	second.set(func([]string, [][]float32) ([][]float32, error) {
		return nil, fault.New(fault.Unavailable, "down", "down")
	})
	r.opt = use
	r.restart()
	r.eventually("the new model is the target, and the old one serves", func() bool {
		st := r.vectors()
		return st.Target.ID != before && st.Serving.ID == before && st.Ready && st.Backlog == 2
	})
	second.set(nil)
	r.eventually("the new one serves", func() bool { st := r.vectors(); return st.Serving.ID != before && st.Ready && st.Chunks == 2 })
	r.consistent()
}
