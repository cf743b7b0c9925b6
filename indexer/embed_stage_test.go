package indexer

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"ragd/internal/embed"
	"ragd/internal/embed/embedtest"
	"ragd/internal/fault"
	"ragd/internal/store"
)

// fakeSentences answers with a sentence that names the title. Tests change its answers.
type fakeSentences struct {
	mu     sync.Mutex
	asked  []string // chunks
	change func(title, document, chunk string) (string, error)
}

func (f *fakeSentences) Key() string { return "fake" }

func (f *fakeSentences) Sentence(_ context.Context, title, document, chunk string) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, chunk)
	if f.change != nil {
		return f.change(title, document, chunk)
	}
	return "Context of " + title + ".", nil
}

func (f *fakeSentences) set(fn func(title, document, chunk string) (string, error)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.change = fn
}

func (f *fakeSentences) seen() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.asked)
}

func TestASentenceIsPartOfWhatIsEmbeddedAndOfItsHash(t *testing.T) {
	f := &fakeEmbedder{name: "fake"}
	c := store.EmbedChunk{ID: 1, Title: "T", Content: "one two three"}
	plain, with := windowsOf(f, c, ""), windowsOf(f, c, "It is about numbers.")
	if plain[0].hash == with[0].hash || with[0].text != "T\nIt is about numbers.\none two three" || plain[0].text != "T\none two three" {
		t.Errorf("%+v %+v", plain, with)
	}
	if with[0].start != plain[0].start || with[0].end != plain[0].end {
		t.Error("the sentence moves the window")
	}
}

func TestAChunkThatNobodyHasASentenceForIsEmbeddedAsItIs(t *testing.T) {
	f := &fakeEmbedder{name: "fake"}
	s := &fakeSentences{}
	f.sentences = s
	s.set(func(title, document, chunk string) (string, error) {
		if strings.Contains(chunk, "cursed") {
			return "", fault.New(fault.Permanent, "context_rejected", "no")
		}
		return "Zebra of " + strings.TrimSpace(document), nil
	})
	r := newRig(t, f.use(t))
	r.write("kb/good.md", "A good text.\n")
	r.write("kb/bad.md", "A cursed text.\n")
	r.hintRoot()
	r.settle()
	r.embedded(2)
	_, texts := f.seen()
	slices.Sort(texts)
	if len(texts) != 2 || !strings.Contains(texts[0], "A cursed text.") || texts[1] != "Zebra of A good text.\nA good text.\n" && !strings.HasPrefix(texts[1], "Zebra of A good text.") {
		t.Errorf("embedded: %q", texts)
	}
	r.consistent()
}

func TestAnOutageOfTheSentencesIsNoneOfTheVectors(t *testing.T) {
	f := &fakeEmbedder{name: "fake"}
	s := &fakeSentences{}
	f.sentences = s
	s.set(func(string, string, string) (string, error) {
		return "", fault.New(fault.Unavailable, "down", "the chat server is down")
	})
	r := newRig(t, f.use(t))
	for i := range 40 {
		r.write(fmt.Sprintf("kb/%02d.md", i), fmt.Sprintf("Text %d.\n", i))
	}
	r.hintRoot()
	r.settle()
	r.embedded(40)
	if n := len(s.seen()); n > 2 {
		t.Errorf("asked %d times", n)
	}
	if st := r.ix.opt.Embedding.Status(); st.Paused != "" || !strings.Contains(st.Plain, "the chat server is down") {
		t.Errorf("%+v", st)
	}
	// It is asked again in the background, when its rest is over.
	s.set(nil)
	c := r.ix.opt.Embedding.contexts
	c.mu.Lock()
	c.until = time.Now()
	c.mu.Unlock()
	r.write("kb/new.md", "A new text.\n")
	r.hint("kb", "new.md")
	r.settle()
	r.embedded(41)
	r.eventually("the chat server is known to be back", func() bool { return r.ix.opt.Embedding.Status().Plain == "" })
	f.seen()
	r.write("kb/newer.md", "A newer text.\n")
	r.hint("kb", "newer.md")
	r.settle()
	r.embedded(42)
	if _, texts := f.seen(); len(texts) != 1 || !strings.Contains(texts[0], "Context of") {
		t.Errorf("%q", texts)
	}
	r.consistent()
}

// A forced reindex is a person's word that the server is back.
func TestAForcedReindexAsksForSentencesAtOnceAfterAnOutage(t *testing.T) {
	f := &fakeEmbedder{name: "fake"}
	s := &fakeSentences{}
	f.sentences = s
	s.set(func(string, string, string) (string, error) {
		return "", fault.New(fault.Unavailable, "down", "the chat server is down")
	})
	r := newRig(t, f.use(t))
	const n = 40
	for i := range n {
		r.write(fmt.Sprintf("kb/%02d.md", i), fmt.Sprintf("Text %d.\n", i))
	}
	r.hintRoot()
	r.settle()
	r.embedded(n)
	s.set(nil)
	f.seen()
	_, err := r.ix.Reindex(context.Background(), "kb", true)
	r.must(err)
	r.settle()
	r.embedded(n)
	_, texts := f.seen()
	with := 0
	for _, text := range texts {
		if strings.Contains(text, "Context of") {
			with++
		}
	}
	if with != n || r.ix.opt.Embedding.Status().Plain != "" {
		t.Errorf("%d of %d texts have a sentence; %+v", with, n, r.ix.opt.Embedding.Status())
	}
	r.consistent()
}

// chunkQueue is an index in which certain chunks wait, in their order.
type chunkQueue struct {
	longQueue
	chunks []store.EmbedChunk
	done   []store.EmbeddedChunk
}

func (q *chunkQueue) PendingChunks(_ context.Context, limit int) ([]store.EmbedChunk, error) {
	return slices.Clone(q.chunks[:min(limit, len(q.chunks))]), nil
}

func (q *chunkQueue) PutVectors(_ context.Context, _ int64, list []store.EmbeddedChunk) error {
	for _, c := range list {
		q.chunks = slices.DeleteFunc(q.chunks, func(w store.EmbedChunk) bool { return w.ID == c.ID })
	}
	q.done = append(q.done, list...)
	return nil
}

func TestALongTextGetsACallOfItsOwnAndDelaysNoOther(t *testing.T) {
	long := strings.Repeat("the committee meets again and adjourns ", 2600) // over 100,000 characters
	for name, fails := range map[string]bool{"and is embedded": false, "and is refused": true} {
		t.Run(name, func(t *testing.T) {
			q, f := &chunkQueue{}, &fakeEmbedder{name: "fake"}
			for i := range 30 {
				q.chunks = append(q.chunks, store.EmbedChunk{ID: int64(i), Content: fmt.Sprintf("a short text %d", i)})
			}
			q.chunks[7].Content = long
			var calls [][]string
			f.set(func(texts []string, v [][]float32) ([][]float32, error) {
				calls = append(calls, slices.Clone(texts))
				if fails && strings.Contains(texts[0], "committee") {
					return nil, fault.New(fault.Permanent, "refused", "too long")
				}
				return v, nil
			})
			e, err := NewEmbedding(EmbeddingOptions{Embedder: f, Store: q})
			if err != nil {
				t.Fatal(err)
			}
			if err := e.Drain(context.Background()); err != nil {
				t.Fatal(err)
			}
			for _, texts := range calls {
				parts := 0
				for _, s := range texts {
					if strings.Contains(s, "committee") {
						parts++
					}
				}
				if parts > 0 && parts < len(texts) {
					t.Errorf("a call has %d windows of the long text and %d of others", parts, len(texts)-parts)
				}
			}
			if len(q.done) != 30 || q.done[7].ID != 7 {
				t.Fatalf("%d chunks are done", len(q.done))
			}
			for _, c := range q.done {
				if (c.Failed != nil) != (fails && c.ID == 7) {
					t.Errorf("chunk %d: %v", c.ID, c.Failed)
				}
			}
		})
	}
}

// However many windows the chunks that wait have, a call has no more than fit.
func TestChunksOfManyWindowsAreSpreadOverCalls(t *testing.T) {
	r, f := newEmbedRig(t)
	var mu sync.Mutex
	var sizes []int
	f.set(func(texts []string, v [][]float32) ([][]float32, error) {
		mu.Lock()
		defer mu.Unlock()
		sizes = append(sizes, len(texts))
		return v, nil
	})
	for i := range 20 {
		var b strings.Builder
		for k := range 1500 {
			fmt.Fprintf(&b, "w%d-%d ", i, k)
		}
		r.write(fmt.Sprintf("kb/%02d.txt", i), b.String())
		r.write(fmt.Sprintf("kb/short%02d.txt", i), fmt.Sprintf("a short text %d", i))
	}
	r.hintRoot()
	r.settle()
	r.eventually("all is embedded", func() bool { st := r.vectors(); return st.Chunks > 40 && st.Backlog == 0 && st.Failed == 0 })
	mu.Lock()
	defer mu.Unlock()
	for _, n := range sizes {
		if n > embedWindows {
			t.Errorf("a call with %d texts", n)
		}
	}
	r.consistent()
}

func TestTheNewestFilesAreEmbeddedFirst(t *testing.T) {
	r, f := newEmbedRig(t)
	down := fault.New(fault.Unavailable, "down", "down")
	f.set(func([]string, [][]float32) ([][]float32, error) { return nil, down })
	const n = 60
	for i := range n {
		name := fmt.Sprintf("kb/%02d.txt", (i*37)%n)
		r.write(name, fmt.Sprintf("Text number %d", (i*37)%n))
		when := time.Now().Add(-time.Duration((i*37)%n+1) * time.Hour)
		r.must(os.Chtimes(filepath.Join(r.dir, name), when, when))
	}
	r.hintRoot()
	r.settle()
	f.set(nil)
	f.seen()
	r.embedded(n)
	_, texts := f.seen()
	at := func(i int) int {
		return slices.IndexFunc(texts, func(s string) bool { return strings.HasSuffix(s, fmt.Sprintf("number %d", i)) })
	}
	for i := range n - embedChunks {
		if at(i) > at(i+embedChunks) {
			t.Fatalf("text %d was embedded after text %d, which is older", i, i+embedChunks)
		}
	}
}

func TestAnEarlierModelThatNobodyCanAskGivesWayAtOnce(t *testing.T) {
	r, _ := newEmbedRig(t)
	r.write("kb/a.md", "Some text.\n")
	r.hintRoot()
	r.settle()
	r.embedded(1)
	before := r.vectors().Serving.ID
	second := &fakeEmbedder{name: "second", alone: true}
	second.set(func(texts []string, v [][]float32) ([][]float32, error) {
		return nil, fault.New(fault.Unavailable, "down", "down")
	})
	r.opt = second.use(t)
	r.restart()
	r.eventually("the new one serves, though it has nothing yet", func() bool {
		st := r.vectors()
		return st.Serving.ID != before && st.Target.ID == st.Serving.ID && st.Backlog == 1
	})
}

// A server that asks to be left alone for an hour is.
func TestAServersWishToWaitIsHeard(t *testing.T) {
	s := embedtest.NewServer(t, 16)
	s.Fault = func(w http.ResponseWriter, _ embedtest.Request) bool {
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(http.StatusTooManyRequests)
		return true
	}
	h, err := embed.NewHTTP(embed.HTTPOptions{BaseURL: s.URL, Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t, func(o *Options) {
		e, err := NewEmbedding(EmbeddingOptions{Embedder: h, Store: o.Store.(*faultyStore), Logger: o.Logger})
		if err != nil {
			t.Fatal(err)
		}
		o.Embedding = e
	})
	r.write("kb/a.md", "Some text.\n")
	r.hintRoot()
	r.settle()
	r.eventually("the stage rests", func() bool { return r.ix.opt.Embedding.Status().Paused != "" })
	time.Sleep(1500 * time.Millisecond) // its own first pause is a second
	if n := len(s.Seen()); n != 1 {
		t.Errorf("%d requests", n)
	}
}

// threadedEmbedder notes how many threads it was given.
type threadedEmbedder struct {
	fakeEmbedder
	threads []int
	asked   time.Time
}

func (e *threadedEmbedder) SetThreads(n int)     { e.threads = append(e.threads, n) }
func (e *threadedEmbedder) LastQuery() time.Time { return e.asked }

func TestAllCPUsAreTakenOnlyWhenNobodyElseWantsThem(t *testing.T) {
	half, all := max(1, runtime.NumCPU()/2), runtime.NumCPU()
	if half == all {
		t.Skip("there is one CPU")
	}
	synctest.Test(t, func(t *testing.T) {
		f := &threadedEmbedder{}
		e, err := NewEmbedding(EmbeddingOptions{Embedder: f, Store: &store.Store{}})
		if err != nil {
			t.Fatal(err)
		}
		busy := false
		e.busy = func() bool { return busy }
		last := func(want int, why string) {
			t.Helper()
			e.pace(time.Now())
			if f.threads[len(f.threads)-1] != want {
				t.Errorf("%s: threads %v", why, f.threads)
			}
		}
		e.Wake()
		last(half, "something was just indexed")
		time.Sleep(idleAfter)
		last(all, "nothing was indexed for a while")
		f.asked = time.Now()
		last(half, "a query has come")
		time.Sleep(idleAfter)
		last(all, "and no other")
		busy = true
		last(half, "files are being indexed")
		busy = false
		time.Sleep(idleAfter - time.Second)
		last(half, "they were until now")
		e.opt.Threads = 1
		time.Sleep(idleAfter)
		n := len(f.threads)
		e.pace(time.Now())
		if len(f.threads) != n {
			t.Error("a configured number of threads is changed")
		}
	})
}

func TestReasonsAreForPeople(t *testing.T) {
	for want, err := range map[string]error{
		"plain":             errors.New("plain"),
		"the server is out": fault.New(fault.Unavailable, "x", "the server is out"),
		"no key; check K":   fault.New(fault.Unavailable, "x", "no key").WithHint("check K"),
	} {
		if got := reasonOf(err); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
