package embed

import (
	"context"
	"sync"
	"sync/atomic"

	"ragd/internal/embed/kernel"
)

// EmbedPassages implements Embedder. Work is done in batches of about 256
// tokens, layer by layer; between two layers a query goes first and a done
// context ends the call.
func (m *Model) EmbedPassages(ctx context.Context, texts []string) ([][]float32, error) {
	if err := m.acquire(); err != nil {
		return nil, err
	}
	defer m.life.RUnlock()
	if len(texts) == 0 {
		return nil, ctx.Err()
	}
	var ws []*piece
	failed := &BatchError{Size: len(texts)}
	first := make([]int, len(texts)+1)
	for i, text := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if m.id.PassagePrefix == "" || m.tok.Count(text) > 0 {
			ws = m.split(ws, i, m.id.PassagePrefix+text)
		}
		if first[i+1] = len(ws); first[i+1] == first[i] {
			failed.set(i, errNoWords())
		}
	}
	if err := m.runAll(ctx, m.batches(ws)); err != nil {
		return nil, err
	}
	out := make([][]float32, len(texts))
	for i := range texts {
		own := ws[first[i]:first[i+1]]
		if len(own) == 0 {
			continue
		}
		v, err := m.join(own)
		if err != nil {
			failed.set(i, err)
			continue
		}
		out[i] = v
	}
	return out, failed.orNil()
}

// runAll runs batches on as many threads as there are slots and ends when all are done.
func (m *Model) runAll(ctx context.Context, batches [][]*piece) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(m.slots.capacity(), len(batches)) {
		wg.Go(func() {
			lower(m.nice)
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(batches) {
					return
				}
				if err := m.runOne(ctx, batches[i]); err != nil {
					cancel(err)
				}
			}
		})
	}
	wg.Wait()
	if int(next.Load()) >= len(batches) && ctx.Err() == nil {
		return nil
	}
	return context.Cause(ctx)
}

func (m *Model) runOne(ctx context.Context, batch []*piece) error {
	if err := m.slots.take(ctx); err != nil {
		return err
	}
	defer m.slots.give()
	return m.run(ctx, batch, m.gate.yield)
}

// run embeds one batch. between is called before each layer and ends the run with its error.
func (m *Model) run(ctx context.Context, batch []*piece, between func(context.Context) error) error {
	r, err := m.takeRun()
	if err != nil {
		return err
	}
	defer m.giveRun(r)
	if err := m.load(r, batch); err != nil {
		return err
	}
	for l := range m.layers {
		if err := between(ctx); err != nil {
			return err
		}
		if err := r.Layer(l); err != nil {
			return err
		}
	}
	out := make([]float32, len(batch)*m.id.Dim)
	if err := r.End(m.pool, out); err != nil {
		return err
	}
	for i, w := range batch {
		w.vector = out[i*m.id.Dim : (i+1)*m.id.Dim : (i+1)*m.id.Dim]
	}
	return nil
}

func (m *Model) load(r *kernel.Run, batch []*piece) error {
	var ids []int32
	lens := make([]int32, len(batch))
	for i, w := range batch {
		ids = append(ids, w.ids...)
		lens[i] = int32(len(w.ids))
	}
	return r.Begin(ids, lens)
}
