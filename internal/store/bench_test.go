package store

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"ragd/internal/chunk"
)

// corpusGen writes text whose words follow Zipf's law, as real text does.
type corpusGen struct {
	rng  *rand.Rand
	zipf *rand.Zipf
	n    int
}

func newCorpusGen(seed uint64) *corpusGen {
	rng := rand.New(rand.NewPCG(seed, 1))
	return &corpusGen{rng: rng, zipf: rand.NewZipf(rng, 1.07, 4, 120000)}
}

// word is the word of a rank; common words are short.
func word(rank uint64) string {
	const letters = "etaoinshrdlu"
	b := []byte{'w'}
	for n := rank + 1; n > 0; n /= uint64(len(letters)) {
		b = append(b, letters[n%uint64(len(letters))])
	}
	return string(b) + strings.Repeat("x", int(rank%4))
}

// document makes one of about size bytes in chunks of about 1,400.
func (g *corpusGen) document(size int) *Indexed {
	g.n++
	title := word(g.zipf.Uint64()) + " " + word(g.zipf.Uint64()+50) + " " + word(g.zipf.Uint64()+500)
	in := &Indexed{
		Path: fmt.Sprintf("dir%02d/doc%06d.md", g.n%50, g.n), Key: testKey, Format: "md", MediaType: "text/markdown",
		Meta: DocMeta{Title: title, Type: "note", Status: "published"},
	}
	var text strings.Builder
	for text.Len() < size {
		start := text.Len()
		for line := 0; text.Len()-start < 1400; line++ {
			text.WriteString(word(g.zipf.Uint64()))
			if line%12 == 11 {
				text.WriteByte('\n')
			} else {
				text.WriteByte(' ')
			}
		}
		i := len(in.Chunks)
		in.Chunks = append(in.Chunks, ChunkInput{Chunk: chunk.Chunk{
			Index: i, Start: start, End: text.Len(), CharStart: start, CharEnd: text.Len(),
			SourceStart: int64(start), SourceEnd: int64(text.Len()), SourceCharS: int64(start), SourceCharEnd: int64(text.Len()),
			FirstLine: 1 + i*20, LastLine: i*20 + 20, Headings: []string{title, "Section " + strconv.Itoa(i/2)},
		}})
	}
	in.Text = text.String()
	in.Hash = sha256.Sum256([]byte(in.Text))
	in.Stat = Stat{Size: int64(len(in.Text)), MTimeNS: int64(g.n), Inode: uint64(g.n)}
	for i := range in.Chunks {
		c := &in.Chunks[i]
		body := in.Text[c.Start:c.End]
		c.Hash = sha256.Sum256([]byte(body))
		c.TitleTerms, c.HeadingTerms = title, title+" section "+strconv.Itoa(i/2)
		c.BodyTerms = strings.Join(strings.Fields(body), " ")
	}
	return in
}

// load fills a store with n chunks and returns the bytes of text and the time
// spent in Commit.
func load(tb testing.TB, s *Store, kb KBInfo, n, docSize int) (bytes int64, spent time.Duration) {
	tb.Helper()
	g := newCorpusGen(7)
	ctx := context.Background()
	for n > 0 {
		byPath := map[string]*Indexed{}
		var plans []Plan
		var batch int
		for len(plans) < 64 && batch < 3<<20 && n > 0 {
			d := g.document(docSize)
			byPath[d.Path] = d
			plans = append(plans, Plan{Path: d.Path, Op: PlanIndex, Reason: ReasonNew, Stat: d.Stat})
			batch += len(d.Text)
			n -= len(d.Chunks)
		}
		if _, err := s.ApplyPlans(ctx, kb.ID, plans); err != nil {
			tb.Fatal(err)
		}
		jobs, err := s.Claim(ctx, len(plans))
		if err != nil {
			tb.Fatal(err)
		}
		outcomes := make([]Outcome, len(jobs))
		for i, j := range jobs {
			outcomes[i] = Outcome{Job: j, Indexed: byPath[j.Path]}
		}
		start := time.Now()
		if err := s.Commit(ctx, outcomes); err != nil {
			tb.Fatal(err)
		}
		spent += time.Since(start)
		bytes += int64(batch)
	}
	return bytes, spent
}

// BenchmarkCommit measures bringing in documents of 12 KB; one operation is
// one chunk of about 1,400 bytes.
func BenchmarkCommit(b *testing.B) {
	s := open(b)
	kb := ensure(b, s, "bench")
	n := max(b.N, 100)
	b.ResetTimer()
	bytes, spent := load(b, s, kb, n, 12<<10)
	b.StopTimer()
	b.ReportMetric(float64(bytes)/1e6/spent.Seconds(), "MB/s")
	if err := s.Maintain(context.Background()); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(sizeOf(s.opt.Path))/float64(bytes), "index/text")
}

// benchChunks is the size of the index that queries are measured on.
func benchChunks() int {
	if n, err := strconv.Atoi(os.Getenv("RAGD_BENCH_CHUNKS")); err == nil {
		return n
	}
	return 20000
}

func BenchmarkLexical(b *testing.B) {
	s := open(b)
	kb := ensure(b, s, "bench")
	load(b, s, kb, benchChunks(), 12<<10)
	if err := s.Maintain(context.Background()); err != nil {
		b.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(3, 3))
	pick := func(lo, hi int) string { return word(uint64(lo + rng.IntN(hi-lo))) }
	for _, k := range []struct {
		name string
		make func() string
	}{
		{"one rare word", func() string { return pick(5000, 20000) }},
		{"one middling word", func() string { return pick(200, 1000) }},
		{"one common word", func() string { return pick(0, 20) }},
		{"two words", func() string { return pick(50, 500) + " " + pick(500, 5000) }},
		{"question", func() string {
			return pick(0, 20) + " " + pick(20, 100) + " " + pick(20, 100) + " " + pick(100, 500) + " " + pick(200, 2000) + " " + pick(500, 5000) + " " + pick(3000, 30000)
		}},
		{"common question", func() string {
			return pick(0, 20) + " " + pick(0, 20) + " " + pick(20, 60) + " " + pick(20, 60) + " " + pick(60, 120)
		}},
	} {
		b.Run(k.name, func(b *testing.B) {
			var times []time.Duration
			for b.Loop() {
				q := query(k.make())
				q.Limit = 300
				s.dfs = dfCache{} // each query as the first
				start := time.Now()
				if _, err := s.Lexical(context.Background(), q); err != nil {
					b.Fatal(err)
				}
				times = append(times, time.Since(start))
			}
			b.ReportMetric(percentile(times, 50), "p50-ms")
			b.ReportMetric(percentile(times, 95), "p95-ms")
		})
	}
}

func percentile(d []time.Duration, p int) float64 {
	slices.Sort(d)
	return float64(d[min(len(d)*p/100, len(d)-1)].Microseconds()) / 1000
}
