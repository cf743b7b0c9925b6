package embed

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"ragd/internal/embed/kernel"
	"ragd/internal/embed/wordpiece"
	"ragd/internal/fault"
)

const (
	// batchTokens is how many tokens go through a layer at once. More is not
	// faster (the kernels work in panels of 48 rows), and one step, a layer of
	// one batch, is what a cancelled context waits for.
	batchTokens = 256
	// maxQueryWindows bounds the text of one query.
	maxQueryWindows = 64
	// special is how many tokens the model adds to each window.
	special = 2
)

// Model is a BERT encoder that runs in this process.
type Model struct {
	id     Identity
	tok    *wordpiece.Tokenizer
	kern   *kernel.Model
	pool   kernel.Pooling
	layers int
	nice   int

	gate    gate
	slots   *slots        // passages in the kernel
	queries chan struct{} // queries in the kernel
	asked   atomic.Int64  // when the last query came, unix ns; 0: none yet

	life   sync.RWMutex // read-held by every call that uses kern
	closed bool

	mu   sync.Mutex
	runs []*kernel.Run // idle; guarded by mu
}

var _ Embedder = (*Model)(nil)

func (m *Model) start(opt Options) {
	m.nice = opt.Nice
	m.slots = newSlots(opt.threads())
	m.queries = make(chan struct{}, max(2, runtime.NumCPU()))
}

// Identity implements Embedder.
func (m *Model) Identity() Identity { return m.id }

// Path returns the name of the instructions in use: "avx2", "portable", ….
func (m *Model) Path() string { return m.kern.Path().String() }

// SetThreads changes how many passages are embedded at once, from the next batch on.
func (m *Model) SetThreads(n int) { m.slots.resize(n) }

// LastQuery is when the last query came; zero if none has.
func (m *Model) LastQuery() time.Time {
	if at := m.asked.Load(); at != 0 {
		return time.Unix(0, at)
	}
	return time.Time{}
}

// CountTokens implements Embedder; [CLS] and [SEP] are not counted.
func (m *Model) CountTokens(text string) int { return m.tok.Count(text) }

// Windows implements Embedder.
func (m *Model) Windows(text string, limit, overlap int) []Window {
	return m.tok.Windows(text, m.limit(limit), overlap)
}

// limit returns the tokens of a window without the two special ones.
func (m *Model) limit(want int) int {
	most := m.id.MaxTokens - special
	if want <= 0 || want > most {
		return most
	}
	return want
}

// EmbedQuery implements Embedder.
func (m *Model) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	if err := m.acquire(); err != nil {
		return nil, err
	}
	defer m.life.RUnlock()
	m.asked.Store(time.Now().UnixNano())
	ws := m.split(nil, 0, m.id.QueryPrefix+text)
	if len(ws) == 0 || m.tok.Count(text) == 0 {
		return nil, fault.New(fault.Invalid, "embed_no_words", "the query has no words")
	}
	if len(ws) > maxQueryWindows {
		return nil, fault.New(fault.Invalid, "query_too_long", "the query has more than %d tokens", maxQueryWindows*m.limit(0))
	}
	select {
	case m.queries <- struct{}{}:
		defer func() { <-m.queries }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	m.gate.enter()
	defer m.gate.leave()
	for _, b := range m.batches(ws) {
		if err := m.run(ctx, b, ctxErr); err != nil {
			return nil, err
		}
	}
	return m.join(ws)
}

func ctxErr(ctx context.Context) error { return ctx.Err() }

// Close implements Embedder.
func (m *Model) Close() error {
	m.life.Lock()
	defer m.life.Unlock()
	if m.closed {
		return nil
	}
	m.closed = true
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range m.runs {
		r.Close()
	}
	m.runs = nil
	m.kern.Close()
	return nil
}

// acquire keeps the model open until life.RUnlock.
func (m *Model) acquire() error {
	m.life.RLock()
	if m.closed {
		m.life.RUnlock()
		return fault.New(fault.Unavailable, "embedder_closed", "the embedding model is closed")
	}
	return nil
}

// takeRun returns an idle run or a new one.
func (m *Model) takeRun() (*kernel.Run, error) {
	m.mu.Lock()
	if n := len(m.runs); n > 0 {
		r := m.runs[n-1]
		m.runs = m.runs[:n-1]
		m.mu.Unlock()
		return r, nil
	}
	m.mu.Unlock()
	return m.kern.NewRun(max(batchTokens, m.id.MaxTokens))
}

// giveRun keeps a run for the next call, up to one for each thread and one for a query.
func (m *Model) giveRun(r *kernel.Run) {
	m.mu.Lock()
	if len(m.runs) <= m.slots.capacity() {
		m.runs = append(m.runs, r)
		r = nil
	}
	m.mu.Unlock()
	if r != nil {
		r.Close()
	}
}
