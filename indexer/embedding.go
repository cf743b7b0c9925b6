package indexer

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"ragd/internal/embed"
	"ragd/internal/fault"
	"ragd/internal/store"
)

// Embedder is what the embed stage needs of a model; every embed.Embedder is one.
type Embedder interface {
	Identity() embed.Identity
	EmbedPassages(ctx context.Context, texts []string) ([][]float32, error)
	Windows(text string, limit, overlap int) []embed.Window
	CountTokens(text string) int
}

// VectorStore is what the embed stage needs of the index; *store.Store is one.
type VectorStore interface {
	LoadVectors(ctx context.Context) error
	ServingModel(ctx context.Context) (store.VectorGeneration, error)
	UseModel(ctx context.Context, m store.VectorModel) (store.VectorGeneration, error)
	PendingChunks(ctx context.Context, limit int) ([]store.EmbedChunk, error)
	KnownVectors(ctx context.Context, generation int64, hashes []store.VectorHash) (map[store.VectorHash]bool, error)
	PutVectors(ctx context.Context, generation int64, list []store.EmbeddedChunk) error
	Flip(ctx context.Context) (store.VectorGeneration, bool, error)
	ServeTarget(ctx context.Context) (store.VectorGeneration, error)
	CollectVectors(ctx context.Context) (store.VectorGC, error)

	ChunkContexts(ctx context.Context, model string, chunks []int64) (map[int64]string, error)
	PutContexts(ctx context.Context, model string, sentences map[int64]string) error
	Surroundings(ctx context.Context, chunk int64, most int) (string, error)
	HasContexts(ctx context.Context) (bool, error)
	EmbedAgain(ctx context.Context, kb int64, all bool) (int64, error)
}

const (
	embedChunks     = 16 // in one batch
	embedChunksBusy = 4  // while files are being indexed
	embedWindows    = 96 // in one batch, unless a chunk alone has more
	embedYield      = 2 * time.Second
	embedRetryFirst = time.Second
	embedRetryMax   = time.Minute
	embedWaitMax    = time.Hour // that a server may ask for
	embedAttempts   = 3         // of a text whose error may pass
	collectEvery    = 10 * time.Minute
)

// EmbeddingOptions configure an Embedding.
type EmbeddingOptions struct {
	Embedder Embedder
	Store    VectorStore
	Logger   *slog.Logger
	Source   string // how to open the embedder again; kept with its vectors
	Threads  int    // that the embedder computes with; 0: half of the CPUs, all when nobody else wants them

	// Answers says whether queries can be embedded for the vectors of a key.
	// While they can, an earlier model's vectors serve until the new ones are
	// complete. nil: they never can.
	Answers func(key string) bool
	// Flipped is called when the vectors of another model have begun to serve.
	Flipped func()

	Sentences       Sentences // put in front of chunks when they are embedded; nil: none
	SentencesAtOnce int       // asked for; 0: 1
}

// Embedding is the stage behind insert: it gives the chunks that wait their
// vectors, those of the newest files first. Text is found by keyword before.
// It keeps no queue of its own: what waits is in the index.
type Embedding struct {
	opt  EmbeddingOptions
	log  *slog.Logger
	kick chan struct{} // capacity 1
	busy func() bool   // files are being indexed; set before Run
	rate *rateMeter
	work workMeter // batches during which nothing was indexed

	contexts   *contexts     // nil: chunks are embedded as they are
	active     atomic.Int64  // when something was indexed last, unix ns
	threads    int           // set last; only the running goroutine uses it
	generation int64         // of the target; 0 = not asked for yet
	attempts   map[int64]int // of chunks whose error may pass; only the running goroutine uses it
	collected  time.Time

	mu     sync.Mutex
	reason string // why it rests; "" = it does not
	failed string // why it cannot work at all
}

// NewEmbedding makes the stage; it starts nothing.
func NewEmbedding(o EmbeddingOptions) (*Embedding, error) {
	if o.Embedder == nil || o.Store == nil {
		return nil, errors.New("indexer: the embed stage needs an Embedder and a Store")
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Answers == nil {
		o.Answers = func(string) bool { return false }
	}
	if o.Flipped == nil {
		o.Flipped = func() {}
	}
	e := &Embedding{
		opt: o, log: o.Logger, kick: make(chan struct{}, 1), rate: newRateMeter(),
		attempts: map[int64]int{}, busy: func() bool { return false },
	}
	if o.Sentences != nil {
		e.contexts = newContexts(o.Sentences, o.Store, o.SentencesAtOnce)
	}
	return e, nil
}

// Wake says that there may be chunks to embed.
func (e *Embedding) Wake() {
	e.active.Store(time.Now().UnixNano())
	select {
	case e.kick <- struct{}{}:
	default:
	}
}

// EmbedStatus is how the stage is doing.
type EmbedStatus struct {
	Paused string  // why it rests; "" = it does not
	Failed string  // why it cannot work
	Plain  string  // why chunks go without sentences about their document; "" = they do not, or are not meant to have any
	Rate   float64 // chunks a second in the last minute: of work while nothing else was in the way if Sure, of all time if not
	Sure   bool    // there is enough behind Rate to tell how long the rest will take
}

// sureAfter is how much work an ETA needs. While files are indexed, embedding
// stands aside, and its rate says nothing about the time after.
const sureAfter = 10 * time.Second

// Status is safe to call at any time.
func (e *Embedding) Status() EmbedStatus {
	now := time.Now()
	st := EmbedStatus{Plain: e.contexts.why()}
	st.Rate, _ = e.rate.perSecond(now)
	if rate, took := e.work.perSecond(now); took >= sureAfter {
		st.Rate, st.Sure = rate, true
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	st.Paused, st.Failed = e.reason, e.failed
	return st
}

// Run embeds until ctx ends. An outage makes it rest and go on by itself; a
// model that does not fit its own vectors ends the stage and keeps the rest
// of the program going.
func (e *Embedding) Run(ctx context.Context) error {
	if e.contexts != nil {
		defer e.contexts.probes.Wait()
	}
	e.active.Store(time.Now().UnixNano())
	if err := e.opt.Store.LoadVectors(ctx); err != nil && ctx.Err() == nil {
		e.log.Warn("the vectors cannot be loaded yet; search is by keyword", "error", err)
	}
	wait := embedRetryFirst
	for {
		sleep := collectEvery
		err := e.drain(ctx, true)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err == nil:
			e.rest("")
			wait = embedRetryFirst
		case final(err):
			e.fail(err)
			<-ctx.Done()
			return ctx.Err()
		default:
			e.rest(reasonOf(err))
			sleep, wait = wait, min(2*wait, embedRetryMax)
			if asked, ok := embed.RetryAfter(err); ok {
				sleep = max(sleep, min(asked, embedWaitMax))
			}
		}
		if !e.sleep(ctx, sleep, err == nil) {
			return ctx.Err()
		}
	}
}

// reasonOf is an error in the words of whoever looks at the status.
func reasonOf(err error) string {
	f, ok := fault.As(err)
	switch {
	case !ok:
		return err.Error()
	case f.Hint == "":
		return f.Message
	}
	return f.Message + "; " + f.Hint
}

// final errors do not pass by themselves.
func final(err error) bool {
	f, ok := fault.As(err)
	return ok && (f.Code == "model_changed" || f.Code == "bad_model")
}

// sleep waits; a wake ends it early when wakeable. False: ctx has ended.
func (e *Embedding) sleep(ctx context.Context, d time.Duration, wakeable bool) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	kick := e.kick
	if !wakeable {
		kick = nil
	}
	select {
	case <-ctx.Done():
		return false
	case <-kick:
	case <-timer.C:
	}
	return true
}

// Again lets a KB's chunks that could not be embedded wait once more, and all
// of them if they may come out otherwise: with other sentences, or without
// those they have. The vectors they have serve until then.
func (e *Embedding) Again(ctx context.Context, kb int64) error {
	e.contexts.again()
	all := e.contexts != nil
	if !all {
		had, err := e.opt.Store.HasContexts(ctx)
		if err != nil {
			return err
		}
		all = had
	}
	n, err := e.opt.Store.EmbedAgain(ctx, kb, all)
	if n > 0 {
		e.Wake()
	}
	return err
}

// Drain embeds all that waits and returns; for use without Run.
func (e *Embedding) Drain(ctx context.Context) error { return e.drain(ctx, false) }

func (e *Embedding) drain(ctx context.Context, polite bool) error {
	if err := e.prepare(ctx); err != nil {
		return err
	}
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		e.pace(time.Now())
		n := embedChunks
		if polite && e.yield(ctx) {
			n = embedChunksBusy
		}
		began := time.Now()
		list, err := e.opt.Store.PendingChunks(ctx, n)
		if err != nil {
			return err
		}
		if len(list) == 0 {
			return e.complete(ctx)
		}
		done, err := e.embed(ctx, list)
		if err != nil {
			return err
		}
		if n == embedChunks && !e.busy() {
			e.work.add(began, time.Now(), done)
		}
		e.rest("")
	}
}

// yield lets files be indexed first, but not for ever; true: they still are.
func (e *Embedding) yield(ctx context.Context) bool {
	for end := time.Now().Add(embedYield); e.busy(); {
		if !time.Now().Before(end) || !e.sleep(ctx, 50*time.Millisecond, false) {
			return true
		}
	}
	return false
}

// prepare makes the embedder's vectors the target. A server tells its
// dimension with its first answer.
func (e *Embedding) prepare(ctx context.Context) error {
	if e.generation != 0 {
		return nil
	}
	if e.opt.Embedder.Identity().Dim == 0 {
		if _, err := e.opt.Embedder.EmbedPassages(ctx, []string{"dimension"}); err != nil {
			return err
		}
	}
	id := e.opt.Embedder.Identity()
	g, err := e.opt.Store.UseModel(ctx, store.VectorModel{Key: VectorKey(id), Name: id.Name, Dim: id.Dim, Source: e.opt.Source})
	if err != nil {
		return err
	}
	if !g.Serving {
		old, err := e.opt.Store.ServingModel(ctx)
		if err != nil {
			return err
		}
		if old.ID != 0 && !e.opt.Answers(old.Key) {
			if g, err = e.opt.Store.ServeTarget(ctx); err != nil {
				return err
			}
		}
	}
	if g.Serving {
		e.opt.Flipped()
	}
	e.generation = g.ID
	return nil
}

// complete is called when nothing waits.
func (e *Embedding) complete(ctx context.Context) error {
	clear(e.attempts)
	g, flipped, err := e.opt.Store.Flip(ctx)
	if err != nil {
		return err
	}
	if flipped {
		e.log.Info("searches by meaning use the new model from now on", "model", g.Name)
		e.opt.Flipped()
	}
	if time.Since(e.collected) < collectEvery {
		return nil
	}
	e.collected = time.Now()
	_, err = e.opt.Store.CollectVectors(ctx)
	return err
}

func (e *Embedding) rest(why string) {
	e.mu.Lock()
	changed := (e.reason == "") != (why == "")
	e.reason = why
	e.mu.Unlock()
	switch {
	case changed && why != "":
		e.log.Warn("embedding rests until the cause is gone; search by keyword goes on", "reason", why)
	case changed:
		e.log.Info("embedding goes on")
	}
}

func (e *Embedding) fail(err error) {
	e.mu.Lock()
	e.failed = err.Error()
	e.mu.Unlock()
	e.log.Error("nothing more is embedded; search by keyword goes on", "error", err)
}
