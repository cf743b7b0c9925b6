package store

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
)

// clusters makes unit vectors that lie around some centres, as those of texts do.
func clusters(n, dim int, seed uint64) [][]float32 {
	r := rand.New(rand.NewPCG(seed, 7))
	centres := make([][]float32, 1+n/40)
	for i := range centres {
		centres[i] = make([]float32, dim)
		for k := range centres[i] {
			centres[i][k] = float32(r.NormFloat64())
		}
	}
	out := make([][]float32, n)
	for i := range out {
		c := centres[r.IntN(len(centres))]
		v := make([]float32, dim)
		for k := range v {
			v[k] = c[k]*0.7 + float32(r.NormFloat64())
		}
		out[i], _ = unit(v, dim)
	}
	return out
}

// setOf makes a set with one window per chunk; ids are index + 1.
func setOf(vectors [][]float32, dim int) *codeSet {
	s := newCodeSet(1, dim)
	code := make([]uint64, s.words)
	for i, v := range vectors {
		s.add(chunkMeta{id: int64(i + 1), doc: int64(i/3 + 1), kb: int64(i % 3), typ: "note"})
		signs(code, v)
		s.addWindow(int64(i+1), code)
	}
	return s
}

func dot(a, b []float32) (sum float64) {
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

func TestCandidatesHoldTheTrueNearest(t *testing.T) {
	const dim, n = 384, 6000
	vectors := clusters(n, dim, 1)
	s := setOf(vectors, dim)
	all, _ := s.filter(Filter{IncludeRetired: true})
	found, want := 0, 0
	for _, q := range clusters(60, dim, 1) {
		code := make([]uint64, s.words)
		signs(code, q)
		list := s.estimate(q, s.nearest(code, all, estimateCount(n)), rescoreCount(n, 10))
		got := map[uint32]bool{}
		for _, c := range list {
			got[c.row] = true
		}
		order := make([]int, n)
		for i := range order {
			order[i] = i
		}
		slices.SortFunc(order, func(a, b int) int { return cmp.Compare(dot(q, vectors[b]), dot(q, vectors[a])) })
		for _, i := range order[:10] {
			want++
			if got[uint32(i+1)] {
				found++
			}
		}
	}
	if recall := float64(found) / float64(want); recall < 0.99 {
		t.Errorf("recall@10 of the candidates is %.3f", recall)
	}
}

func TestScanIsTheSameAsSorting(t *testing.T) {
	t.Run("one part", func(t *testing.T) { scanIsSorting(t, 100, 9000) })
	t.Run("several parts", func(t *testing.T) { scanIsSorting(t, 10, 2*scanAlone*blockSize+500) })
}

func scanIsSorting(t *testing.T, dim, n int) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	vectors := clusters(n, dim, 3)
	s := setOf(vectors, dim)
	for i := 1; i <= n; i += 5 {
		s.remove(int64(i))
	}
	for name, by := range map[string]Filter{
		"all": {}, "one KB": {KBs: []int64{2}}, "nothing": {KBs: []int64{9}},
	} {
		f, _ := s.filter(by)
		q := make([]uint64, s.words)
		signs(q, vectors[17])
		const k = 50
		var want []int32
		for i := range n {
			if _, code := s.window(uint32(i)); f.allows(s.chunk(uint32(i))) {
				want = append(want, distance(q, code))
			}
		}
		slices.Sort(want)
		if len(want) > k {
			last := want[k-1]
			want = slices.DeleteFunc(want, func(d int32) bool { return d > last })
		}
		var got []int32
		list := s.nearest(q, f, k)
		if !slices.IsSortedFunc(list, func(a, b candidate) int { return cmp.Compare(a.at, b.at) }) {
			t.Errorf("%s: not in order", name)
		}
		for _, c := range list {
			got = append(got, c.distance)
			if !f.allows(s.chunk(c.slot)) {
				t.Fatalf("%s: a chunk that is filtered out", name)
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %d candidates, want %d", name, len(got), len(want))
		}
	}
}

func TestTheBestByEstimateAreThoseOfASort(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		list := make([]candidate, 1+r.IntN(60))
		for i := range list {
			list[i] = candidate{at: uint32(i), estimate: float32(r.IntN(12))}
		}
		want := slices.Clone(list)
		slices.SortFunc(want, func(a, b candidate) int { return cmp.Compare(b.estimate, a.estimate) })
		n := r.IntN(len(list)) + 1
		head := atLeast(list, n)
		if head < n {
			t.Fatalf("%d of %d", head, n)
		}
		slices.SortFunc(list[:head], func(a, b candidate) int { return cmp.Compare(b.estimate, a.estimate) })
		seen := map[uint32]bool{}
		for i, c := range list {
			seen[c.at] = true
			if i < head && c.estimate != want[i].estimate || i >= head && c.estimate >= want[n-1].estimate {
				t.Fatalf("at %d: %g, want %g", i, c.estimate, want[i].estimate)
			}
		}
		if len(seen) != len(list) {
			t.Fatal("candidates were lost")
		}
	}
}

func TestCompactKeepsWhatLives(t *testing.T) {
	const dim = 64
	vectors := clusters(9000, dim, 5)
	s := setOf(vectors, dim)
	for i := 2; i <= 9000; i += 2 {
		s.remove(int64(i))
	}
	if !s.untidy() {
		t.Fatal("half of it is dead and it counts as tidy")
	}
	before := s.bytes()
	tidy := s.compact()
	if tidy.live != 4500 || tidy.windows != 4500 || tidy.dead != 0 || tidy.bytes() >= before {
		t.Fatalf("%d chunks, %d windows, %d dead, %d bytes of %d", tidy.live, tidy.windows, tidy.dead, tidy.bytes(), before)
	}
	for i := 1; i <= 9000; i++ {
		slot, ok := tidy.slot(int64(i))
		if ok != (i%2 == 1) {
			t.Fatalf("chunk %d: there %v", i, ok)
		}
		if !ok {
			continue
		}
		code := make([]uint64, s.words)
		signs(code, vectors[i-1])
		if row, got := tidy.window(tidy.chunk(slot).first); int(row) != i || !slices.Equal(got, code) {
			t.Fatalf("chunk %d has the vector %d", i, row)
		}
	}
}

func TestAChunkOfOneWindowTakes70BytesAtMost(t *testing.T) {
	const n = 40_000
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	s := newCodeSet(1, 384)
	code := make([]uint64, s.words)
	for i := range n {
		s.add(chunkMeta{id: int64(i+1) << seqShift, doc: int64(i/3 + 1), kb: int64(i % 3), typ: "note"})
		s.addWindow(int64(i+1), code)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	took := float64(after.HeapAlloc) - float64(before.HeapAlloc)
	if said := float64(s.bytes()); s.live != n || took/n > 70 || said/n > 70 || math.Abs(took/said-1) > 0.05 {
		t.Errorf("%.1f bytes a chunk, and it says %.1f", took/n, said/n)
	}
	runtime.KeepAlive(s)
}

func TestChunksKnowTheirWindows(t *testing.T) {
	s := newCodeSet(1, 64)
	var owners []int64
	for i := range int64(9000) {
		id := (i*7919%9001 + 1) << seqShift // out of order
		s.add(chunkMeta{id: id | i%32, doc: i, kb: 1})
		for w := range i % 4 {
			s.addWindow(i*4+w+1, []uint64{uint64(id)})
			owners = append(owners, id|i%32)
		}
	}
	slot := uint32(0)
	for at, want := range owners {
		slot = s.owner(uint32(at), slot)
		if got := s.chunk(slot).id(); got != want {
			t.Fatalf("window %d belongs to %d, want %d", at, got, want)
		}
		if at%97 == 0 {
			if alone := s.owner(uint32(at), 0); alone != slot {
				t.Fatalf("window %d: slot %d and %d", at, alone, slot)
			}
		}
	}
}

func TestMoreKindsOfChunksThanFitLoseTheirTypeNotTheirPlace(t *testing.T) {
	s := newCodeSet(1, 64)
	for i := range int64(70_000) {
		if !s.add(chunkMeta{id: i + 1, doc: 1, kb: 1 + i%3, typ: fmt.Sprint("type", i)}) {
			t.Fatalf("chunk %d has no place", i+1)
		}
	}
	f, _ := s.filter(Filter{KBs: []int64{2}})
	slot, ok := s.slot(70_001 - 1)
	if !ok || f.allows(s.chunk(slot)) != ((70_000-1)%3 == 1) {
		t.Errorf("the last chunk: there %v, in KB 2 %v", ok, f.allows(s.chunk(slot)))
	}
}

func TestPackedVectorsKeepCosines(t *testing.T) {
	for _, dim := range []int{1, 3, 64, 100, 384, 1024} {
		vs := clusters(40, dim, uint64(dim))
		for i := range vs {
			got, ok := dotPacked(vs[0], packVector(vs[i]))
			if want := dot(vs[0], vs[i]); !ok || math.Abs(got-want) > 0.01 {
				t.Fatalf("dimension %d: %.4f for %.4f", dim, got, want)
			}
		}
	}
}

func FuzzWindows(f *testing.F) {
	f.Add(appendWindow(appendWindow(nil, window{7, 0, 100, []uint64{1, 2}}), window{1 << 30, 100, 220, []uint64{3, 4}}))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		var again []byte
		if err := eachWindow(b, func(w window) error {
			again = appendWindow(again, w)
			return nil
		}); err != nil {
			return
		}
		n := 0
		if err := eachWindow(again, func(window) error { n++; return nil }); err != nil {
			t.Fatalf("what was written cannot be read: %v", err)
		}
	})
}

func BenchmarkScan(b *testing.B) {
	for _, n := range []int{100_000, 500_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := newCodeSet(1, 384)
			r := rand.New(rand.NewPCG(1, 2))
			code := make([]uint64, 6)
			for i := range n {
				if i%3 == 0 {
					s.add(chunkMeta{id: int64(i + 1), doc: int64(i), kb: 1})
				}
				for k := range code {
					code[k] = r.Uint64()
				}
				s.addWindow(int64(i+1), code)
			}
			q := clusters(1, 384, 9)[0]
			all, _ := s.filter(Filter{})
			b.ReportMetric(float64(s.bytes())/float64(n), "B/window")
			for b.Loop() {
				signs(code, q)
				list := s.nearest(code, all, estimateCount(n))
				s.estimate(q, list, rescoreCount(n, 300))
			}
		})
	}
}

func BenchmarkMeaning(b *testing.B) {
	s := open(b)
	ctx := context.Background()
	kb := ensure(b, s, "notes")
	g, err := s.UseModel(ctx, VectorModel{Key: "m", Name: "m", Dim: 384})
	if err != nil {
		b.Fatal(err)
	}
	const n = 5000
	vectors := clusters(n, 384, 1)
	var docs []*Indexed
	for i := range n {
		docs = append(docs, doc(fmt.Sprintf("%d.md", i), "T", fmt.Sprintf("text %d", i)))
	}
	put(b, s, kb, docs...)
	list, err := s.PendingChunks(ctx, n)
	if err != nil {
		b.Fatal(err)
	}
	var out []EmbeddedChunk
	for i, c := range list {
		out = append(out, EmbeddedChunk{ID: c.ID, Windows: []WindowVector{{Hash: VectorHash{byte(i), byte(i >> 8)}, End: 1, Vector: vectors[i]}}})
	}
	if err := s.PutVectors(ctx, g.ID, out); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := s.Meaning(ctx, MeaningQuery{Generation: g.ID, Vector: vectors[3], Limit: 300}); err != nil {
			b.Fatal(err)
		}
	}
}
