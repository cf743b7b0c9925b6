package indexer

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"ragd/internal/store"
)

// longQueue is an index in which chunks wait, and nothing else.
type longQueue struct {
	VectorStore
	waits atomic.Int64
}

func (q *longQueue) LoadVectors(context.Context) error { return nil }

func (q *longQueue) UseModel(context.Context, store.VectorModel) (store.VectorGeneration, error) {
	return store.VectorGeneration{ID: 1, Serving: true, Target: true}, nil
}

func (q *longQueue) PendingChunks(_ context.Context, limit int) (out []store.EmbedChunk, err error) {
	for id := q.waits.Load(); id > 0 && len(out) < limit; id-- {
		out = append(out, store.EmbedChunk{ID: id, Content: fmt.Sprintf("text %d", id)})
	}
	return out, nil
}

func (q *longQueue) KnownVectors(context.Context, int64, []store.VectorHash) (map[store.VectorHash]bool, error) {
	return nil, nil
}

func (q *longQueue) PutVectors(_ context.Context, _ int64, list []store.EmbeddedChunk) error {
	q.waits.Add(-int64(len(list)))
	return nil
}

func (q *longQueue) Flip(context.Context) (store.VectorGeneration, bool, error) {
	return store.VectorGeneration{}, false, nil
}

func (q *longQueue) CollectVectors(context.Context) (store.VectorGC, error) {
	return store.VectorGC{}, nil
}

// etaRig runs a stage whose embedder needs a second for each batch, so that
// left alone it does embedChunks a second.
func etaRig(t *testing.T, busy *atomic.Bool) (*Embedding, *longQueue) {
	t.Helper()
	f, q := &fakeEmbedder{name: "fake"}, &longQueue{}
	f.set(func(_ []string, v [][]float32) ([][]float32, error) {
		time.Sleep(time.Second)
		return v, nil
	})
	e, err := NewEmbedding(EmbeddingOptions{Embedder: f, Store: q})
	if err != nil {
		t.Fatal(err)
	}
	e.busy = busy.Load
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = e.Run(ctx) // ends with the context's error
	}()
	t.Cleanup(func() { cancel(); <-done })
	return e, q
}

func TestAnETAIsOfEmbeddingThatNothingIsInTheWayOf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var busy atomic.Bool
		busy.Store(true)
		e, q := etaRig(t, &busy)
		q.waits.Store(100_000)
		e.Wake()
		for range 50 { // files are indexed: embedding yields, and is slow
			time.Sleep(time.Second)
			if st := e.Status(); st.Sure {
				t.Fatalf("while files are indexed: %+v", st)
			}
		}
		if st := e.Status(); st.Rate <= 0 || st.Rate > 3 {
			t.Errorf("the rate of the last minute is not told: %+v", st)
		}
		busy.Store(false)
		for i := range 30 {
			st := e.Status()
			if st.Sure && i < 10 || !st.Sure && i > 14 {
				t.Fatalf("%d s after the last file: %+v", i, st)
			}
			if st.Sure && (st.Rate < embedChunks-0.5 || st.Rate > embedChunks+0.5) {
				t.Fatalf("%d s after the last file: %+v", i, st)
			}
			time.Sleep(time.Second)
		}
		// A file now and then changes nothing of what is known.
		for range 30 {
			busy.Store(true)
			time.Sleep(100 * time.Millisecond)
			busy.Store(false)
			time.Sleep(4900 * time.Millisecond)
			if st := e.Status(); !st.Sure || st.Rate < embedChunks-1 {
				t.Fatalf("with an edit each five seconds: %+v", st)
			}
		}
	})
}

// Whoever watches the status of a stage that rests must not be told, later,
// that the time of rest was work.
func TestAnETAForgetsTheTimeInWhichNothingWaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, q := etaRig(t, new(atomic.Bool))
		q.waits.Store(20)
		e.Wake()
		for i := range 300 {
			time.Sleep(time.Second)
			if st := e.Status(); st.Sure || i > 70 && st.Rate != 0 {
				t.Fatalf("after %d s with two seconds of work: %+v", i, st)
			}
		}
		q.waits.Store(100_000)
		e.Wake()
		for i := range 30 {
			if st := e.Status(); st.Sure != (i > 10) && i != 10 || i > 5 && st.Rate < embedChunks*0.8 {
				t.Fatalf("%d s after much has come: %+v", i, st)
			}
			time.Sleep(time.Second)
		}
	})
}
