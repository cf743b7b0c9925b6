package indexer

import (
	"context"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"ragd/internal/embed"
	"ragd/internal/fault"
	"ragd/internal/store"
)

// Sentences writes a sentence about a chunk's place in its document; every
// *embed.Chat does.
type Sentences interface {
	Key() string // another key, other sentences
	Sentence(ctx context.Context, title, document, chunk string) (string, error)
}

const (
	contextRestFirst = time.Minute
	contextRestMax   = 15 * time.Minute
)

// contexts asks for the sentences that are put in front of chunks. While the
// server is out, chunks are embedded as they are: it is asked in the
// background whether it is back.
type contexts struct {
	from  Sentences
	store VectorStore
	limit int // sentences asked for at once

	probes sync.WaitGroup

	mu      sync.Mutex
	reason  string // why it rests; "" = it does not
	until   time.Time
	pause   time.Duration
	probing bool
}

func newContexts(from Sentences, st VectorStore, limit int) *contexts {
	return &contexts{from: from, store: st, limit: max(limit, 1), pause: contextRestFirst}
}

// of returns the sentences of some chunks, those there are.
func (c *contexts) of(ctx context.Context, list []store.EmbedChunk) (map[int64]string, error) {
	if c == nil {
		return nil, nil
	}
	ids := make([]int64, len(list))
	for i, e := range list {
		ids[i] = e.ID
	}
	known, err := c.store.ChunkContexts(ctx, c.from.Key(), ids)
	if err != nil {
		return nil, err
	}
	missing := slices.DeleteFunc(slices.Clone(list), func(e store.EmbedChunk) bool { _, ok := known[e.ID]; return ok })
	if len(missing) == 0 {
		return known, nil
	}
	if c.why() != "" {
		c.probe(ctx, missing[0])
		return known, nil
	}
	made, err := c.ask(ctx, missing)
	if err != nil {
		return nil, err
	}
	for id, s := range made {
		known[id] = s
	}
	return known, nil
}

// ask asks about chunks and keeps the answers. What the server will not say
// anything about stays without; an outage ends the round. The error is the
// store's or the context's.
func (c *contexts) ask(ctx context.Context, list []store.EmbedChunk) (map[int64]string, error) {
	made, mu := map[int64]string{}, sync.Mutex{}
	g, inner := errgroup.WithContext(ctx)
	g.SetLimit(c.limit)
	for _, e := range list {
		g.Go(func() error {
			if inner.Err() != nil {
				return nil
			}
			s, err := c.one(inner, e)
			if err != nil || s == "" {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			made[e.ID] = s
			return nil
		})
	}
	outage := g.Wait()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err := c.store.PutContexts(ctx, c.from.Key(), made); err != nil {
		return nil, err
	}
	c.note(time.Now(), outage)
	return made, nil
}

// one returns a chunk's sentence, "" when the server has none for it.
func (c *contexts) one(ctx context.Context, e store.EmbedChunk) (string, error) {
	around, err := c.store.Surroundings(ctx, e.ID, embed.ContextDocumentBytes)
	if err != nil {
		return "", err
	}
	s, err := c.from.Sentence(ctx, e.Title, around, e.Content)
	if err != nil && !outage(err) {
		return "", nil // the chunk is embedded as it is
	}
	return s, err
}

// probe asks about one chunk in the background, when it is time to.
func (c *contexts) probe(ctx context.Context, e store.EmbedChunk) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.probing || time.Now().Before(c.until) {
		return
	}
	c.probing = true
	c.probes.Go(func() {
		// How it ends is noted by ask; the answer is kept for the chunk's next time.
		_, _ = c.ask(ctx, []store.EmbedChunk{e})
		c.mu.Lock()
		defer c.mu.Unlock()
		c.probing = false
	})
}

// note takes in how a round has ended.
func (c *contexts) note(now time.Time, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil {
		c.reason, c.pause = "", contextRestFirst
		return
	}
	wait := c.pause
	if asked, ok := embed.RetryAfter(err); ok {
		wait = max(wait, min(asked, contextRestMax))
	}
	c.until, c.pause = now.Add(wait), min(2*c.pause, contextRestMax)
	c.reason = "chunks are embedded without a sentence about their document: " + err.Error()
	if f, ok := fault.As(err); ok {
		c.reason = "chunks are embedded without a sentence about their document: " + f.Message
	}
}

// again lets a server that was out be asked at once: whoever wants all chunks
// embedded anew wants them with their sentences.
func (c *contexts) again() {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reason, c.until, c.pause = "", time.Time{}, contextRestFirst
}

// why is why chunks go without sentences; "" = they do not.
func (c *contexts) why() string {
	if c == nil {
		return ""
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.reason
}
