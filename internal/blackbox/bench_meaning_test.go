package blackbox

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"net"
	"os"
	"testing"
	"time"

	"ragd/indexer"
	"ragd/internal/embed"
	"ragd/internal/store"
)

// BenchmarkHybridTwoHundredThousandChunks asks of a large index by words and
// by meaning, through the MCP socket.
func BenchmarkHybridTwoHundredThousandChunks(b *testing.B) { hybrid(b, 123<<20, "<= 25") }

// BenchmarkHybridAMillionChunks takes some 6 GB of disk and a quarter of an
// hour, so it runs only where RAGD_BENCH_MILLION is set (and -timeout raised).
func BenchmarkHybridAMillionChunks(b *testing.B) {
	if os.Getenv("RAGD_BENCH_MILLION") == "" {
		b.Skip("RAGD_BENCH_MILLION is not set")
	}
	hybrid(b, 620<<20, "<= 50")
}

// hybrid measures an index of so much text. Its vectors are drawn, not
// embedded: how long a search takes does not depend on what they say, and
// embedding so much text takes hours.
func hybrid(b *testing.B, bytes int64, p95 string) {
	once(b, func(b *testing.B, add func(string, float64, string, string)) {
		h := newHome(b)
		files, written := realText(b, h.path("real"), bytes)
		if written < bytes {
			more, _ := markdown(b, h.path("made"), bytes-written)
			files += more
		}
		h.serve(b)
		h.drained(b, int64(files*9/10)) // some are no text
		h.stop(b)
		h.drawVectors(b)
		h.setEnv("EMBEDDINGS_ENABLED=true")

		whole := questions(b)
		start := time.Now()
		h.start(b)
		c := h.firstAnswer(b, whole[0])
		first := time.Since(start)
		h.ready(b)
		all := time.Since(start)
		st := h.status(b)
		add("chunks", float64(st.Chunks), "", "")
		add("start to first answer", first.Seconds(), "s", "<= 1")
		add("start to answers by meaning", all.Seconds(), "s", "")

		ask := func(list []string) []time.Duration { return askAll(b, c, list) }
		ask(whole[:min(50, len(whole))])
		d := ask(whole)
		add("hybrid question p50", quantile(d, 0.5), "ms", "<= 12")
		add("hybrid question p95", quantile(d, 0.95), "ms", p95)

		time.Sleep(20 * time.Second) // the upkeep of an idle daemon
		add("idle RSS with the model", memory(h.pid(), "VmRSS"), "MB", "<= 150")
		add("idle RSS with the model, anonymous", memory(h.pid(), "RssAnon"), "MB", "")

		markdown(b, h.path("more"), 40<<20)
		var busy []time.Duration
		for i := 0; i < len(whole); i += 60 { // the files are in soon, their vectors are not
			busy = append(busy, ask(whole[i:min(i+60, len(whole))])...)
		}
		add("hybrid question while indexing p95", quantile(busy, 0.95), "ms", "<= 80")
	})
}

// drawVectors gives every chunk of an index that no daemon holds vectors of
// the built-in model's length, as many as the stage would cut it into.
func (h *home) drawVectors(b testing.TB) {
	b.Helper()
	ctx := context.Background()
	m, err := embed.OpenBuiltin(embed.Options{Threads: 1})
	must(b, err)
	id := m.Identity()
	must(b, m.Close())
	s, _, err := store.Open(ctx, store.Options{Path: h.data("index.db")})
	must(b, err)
	g, err := s.UseModel(ctx, store.VectorModel{Key: indexer.VectorKey(id), Name: id.Name, Source: "{}", Dim: id.Dim})
	must(b, err)
	rng, n := rand.New(rand.NewPCG(3, 4)), uint64(0)
	for {
		list, err := s.PendingChunks(ctx, 2000)
		must(b, err)
		if len(list) == 0 {
			break
		}
		out := make([]store.EmbeddedChunk, len(list))
		for i, c := range list {
			out[i].ID = c.ID
			for range 1 + len(c.Content)/450 {
				n++
				w := store.WindowVector{End: len(c.Content), Vector: make([]float32, id.Dim)}
				binary.LittleEndian.PutUint64(w.Hash[:], n)
				for k := range w.Vector {
					w.Vector[k] = rng.Float32() - 0.5
				}
				out[i].Windows = append(out[i].Windows, w)
			}
		}
		must(b, s.PutVectors(ctx, g.ID, out))
	}
	_, err = s.UseModel(ctx, store.VectorModel{Key: indexer.VectorKey(id), Name: id.Name, Source: "{}", Dim: id.Dim})
	must(b, err)
	must(b, s.Close())
}

// firstAnswer waits for the first search through MCP that finds something.
func (h *home) firstAnswer(b testing.TB, query string) *client {
	b.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(2 * time.Millisecond) {
		if conn, err := net.Dial("unix", h.socket("mcp.sock")); err == nil {
			c := newClient(conn)
			if c.handshake() == nil {
				if res, err := get[found](c, "rag_search", args{"query": query}); err == nil && len(res.Results) > 0 {
					b.Cleanup(func() { _ = conn.Close() })
					return c
				}
			}
			_ = conn.Close()
		}
		if time.Now().After(deadline) {
			b.Fatal("no answer\n" + h.logTail(20))
		}
	}
}

// ready waits until the vectors are in memory.
func (h *home) ready(b testing.TB) {
	b.Helper()
	eventually(b, "the vectors are in memory", func() string {
		res, _ := h.meaning(b, "what happens when a connection is reset")
		return res.Fallback
	})
}
