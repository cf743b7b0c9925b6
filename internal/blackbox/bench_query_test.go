package blackbox

import (
	"context"
	"strings"
	"testing"
	"time"
)

// BenchmarkTwoHundredThousandChunks asks of a large index of real text, at
// rest and while more is being indexed.
func BenchmarkTwoHundredThousandChunks(b *testing.B) {
	once(b, func(b *testing.B, add func(string, float64, string, string)) {
		h := newHome(b)
		files, bytes := realText(b, h.path("real"), 123<<20)
		h.serve(b)
		status := beside(func() error { _, err := h.admin().Status(context.Background()); return err })
		h.drained(b, int64(files*9/10)) // some are no text
		took, err := status()
		must(b, err)
		add("status in a bulk load p95", quantile(took, 0.95), "ms", "<= 50")
		add("RSS at most in bulk (large)", memory(h.pid(), "VmHWM"), "MB", "<= 300")
		st := h.status(b)
		add("chunks", float64(st.Chunks), "", "200,000")

		whole := questions(b)
		var few []string
		for i, q := range whole {
			if w := strings.Fields(q); len(w) > 4 {
				few = append(few, strings.Join(w[len(w)-1-i%2:], " "))
			}
		}
		c := h.connect(b)
		ask := func(list []string) []time.Duration { return askAll(b, c, list) }
		ask(whole[:min(50, len(whole))])
		d := ask(whole)
		add("whole question p50", quantile(d, 0.5), "ms", "<= 5")
		add("whole question p95", quantile(d, 0.95), "ms", "<= 20")
		d = ask(few)
		add("one or two words p50", quantile(d, 0.5), "ms", "<= 5")
		add("one or two words p95", quantile(d, 0.95), "ms", "")

		time.Sleep(20 * time.Second) // the upkeep of an idle daemon
		add("index to text (large)", float64(h.status(b).Index.Bytes)/float64(bytes), "x", "<= 1.6")
		before := cpuSeconds(h.pid())
		time.Sleep(10 * time.Second)
		add("idle CPU", (cpuSeconds(h.pid())-before)*10, "%", "0")
		add("idle RSS", memory(h.pid(), "VmRSS"), "MB", "<= 60")
		add("idle RSS anonymous", memory(h.pid(), "RssAnon"), "MB", "")

		markdown(b, h.path("more"), 40<<20)
		var busy []time.Duration
		for i := 0; i < len(whole); i += 60 {
			if st := h.status(b); st.Queue.Pending == 0 && i > 0 {
				break
			}
			busy = append(busy, ask(whole[i:min(i+60, len(whole))])...)
		}
		add("whole question while indexing p95", quantile(busy, 0.95), "ms", "<= 50")
	})
}

// askAll asks one question after the other and returns how long each took.
func askAll(b testing.TB, c *client, list []string) (took []time.Duration) {
	b.Helper()
	for _, q := range list {
		start := time.Now()
		_, err := get[found](c, "rag_search", args{"query": q})
		must(b, err)
		took = append(took, time.Since(start))
	}
	return took
}
