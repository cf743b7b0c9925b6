package search

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ragd/internal/analysis"
	"ragd/internal/chunk"
	"ragd/internal/fault"
	"ragd/internal/store"
)

const toyDim = 128

// toyEmbedder knows a few synonyms: a text's vector is the sum of its words',
// and words of one meaning share theirs.
type toyEmbedder struct{ err error }

var toyMeanings = map[string]string{
	"heating": "boiler", "looks": "service", "services": "service", "serviced": "service", "after": "", "who": "", "the": "", "a": "", "is": "", "every": "",
	"automobile": "car", "vehicle": "car",
}

func (e toyEmbedder) EmbedQuery(_ context.Context, text string) ([]float32, error) {
	if e.err != nil {
		return nil, e.err
	}
	return toyVector(text)
}

func toyVector(text string) ([]float32, error) {
	v := make([]float32, toyDim)
	n := 0
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return r < 'a' || r > 'z' }) {
		if m, ok := toyMeanings[w]; ok {
			w = m
		}
		if w == "" {
			continue
		}
		n++
		r := rand.New(rand.NewChaCha8(sha256.Sum256([]byte(w))))
		for i := range v {
			v[i] += float32(r.NormFloat64())
		}
	}
	if n == 0 {
		return nil, fault.New(fault.Invalid, codeNoWords, "no words")
	}
	return v, nil
}

// testIndex is a searcher over a real index with toy vectors.
type testIndex struct {
	t     *testing.T
	store *store.Store
	*Searcher
	gen   store.VectorGeneration
	embed *toyEmbedder
}

func newTestIndex(t *testing.T) *testIndex {
	t.Helper()
	ctx := context.Background()
	st, _, err := store.Open(ctx, store.Options{Path: filepath.Join(t.TempDir(), "index.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	x := &testIndex{t: t, store: st, embed: &toyEmbedder{}}
	if x.gen, err = st.UseModel(ctx, store.VectorModel{Key: "toy", Name: "toy", Dim: toyDim}); err != nil {
		t.Fatal(err)
	}
	x.Searcher, err = New(Options{Index: st, Meaning: &Meaning{
		Vectors:  st,
		Embedder: func(string) (Embedder, string) { return *x.embed, "" },
	}})
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func (x *testIndex) must(err error) {
	x.t.Helper()
	if err != nil {
		x.t.Fatal(err)
	}
}

// put indexes documents, given as path and paragraphs, each its own chunk.
func (x *testIndex) put(kb string, docs map[string][]string) int64 {
	x.t.Helper()
	ctx := context.Background()
	info, err := x.store.EnsureKB(ctx, kb, "root", "/"+kb, false)
	x.must(err)
	var plans []store.Plan
	for p := range docs {
		plans = append(plans, store.Plan{Path: p, Op: store.PlanIndex, Reason: store.ReasonNew})
	}
	slices.SortFunc(plans, func(a, b store.Plan) int { return strings.Compare(a.Path, b.Path) })
	_, err = x.store.ApplyPlans(ctx, info.ID, plans)
	x.must(err)
	jobs, err := x.store.Claim(ctx, 1000)
	x.must(err)
	slices.SortFunc(jobs, func(a, b store.Job) int { return strings.Compare(a.Path, b.Path) })
	a := analysis.New()
	var outcomes []store.Outcome
	for _, j := range jobs {
		in := &store.Indexed{Path: j.Path, Key: "test", Format: "text", Meta: store.DocMeta{Title: strings.TrimSuffix(j.Path, ".md"), Type: "note", Status: "published"}}
		for i, p := range docs[j.Path] {
			start := len(in.Text)
			in.Text += p + "\n"
			in.Chunks = append(in.Chunks, store.ChunkInput{
				Chunk: chunk.Chunk{Index: i, Start: start, End: start + len(p), CharStart: start, CharEnd: start + len(p), FirstLine: i + 1, LastLine: i + 1},
				Hash:  sha256.Sum256([]byte(p)), BodyTerms: string(a.AppendTerms(nil, p)), TitleTerms: string(a.AppendTerms(nil, in.Meta.Title)),
			})
		}
		in.Hash = sha256.Sum256([]byte(in.Text))
		outcomes = append(outcomes, store.Outcome{Job: j, Indexed: in})
	}
	x.must(x.store.Commit(ctx, outcomes))
	return info.ID
}

// vectors embeds what waits.
func (x *testIndex) vectors() {
	x.t.Helper()
	ctx := context.Background()
	for {
		list, err := x.store.PendingChunks(ctx, 100)
		x.must(err)
		if len(list) == 0 {
			return
		}
		var out []store.EmbeddedChunk
		for _, c := range list {
			e := store.EmbeddedChunk{ID: c.ID}
			if v, err := toyVector(c.Content); err == nil {
				sum := sha256.Sum256([]byte(c.Content))
				e.Windows = []store.WindowVector{{Hash: store.VectorHash(sum[:16]), End: len(c.Content), Vector: v}}
			}
			out = append(out, e)
		}
		x.must(x.store.PutVectors(ctx, x.gen.ID, out))
	}
}

func (x *testIndex) ask(r Request) *Response {
	x.t.Helper()
	resp, err := x.Search(context.Background(), r)
	x.must(err)
	return resp
}

func paths(resp *Response) (out []string) {
	for _, h := range resp.Hits {
		out = append(out, h.Path)
	}
	return out
}

// house has a document that answers in other words, and others.
func house(t *testing.T) *testIndex {
	x := newTestIndex(t)
	docs := map[string][]string{
		"house.md": {"boiler is serviced every spring"},
		"bread.md": {"knead the dough for ten minutes"},
		"car.md":   {"automobile needs oil"},
	}
	for i := range 30 {
		docs[fmt.Sprintf("filler%02d.md", i)] = []string{fmt.Sprintf("entry %d on page %d of the ledger", i, i*7)}
	}
	x.put("notes", docs)
	return x
}

func TestOtherWordsFindTheDocument(t *testing.T) {
	x := house(t)
	x.vectors()
	for _, mode := range []Mode{ModeHybrid, ModeMeaning, ModeRRF} {
		resp := x.ask(Request{Query: "who looks after the heating", Mode: mode, Explain: true})
		if resp.Fallback != "" || len(resp.Hits) == 0 || resp.Hits[0].Path != "house.md" || resp.Hits[0].Match != "meaning" {
			t.Fatalf("%s: %q %+v", mode, resp.Fallback, paths(resp))
		}
		e := resp.Hits[0].Explain
		if e == nil || e.MeaningRank != 1 || e.Cosine < 0.5 || e.LexicalRank != 0 || e.WeightReason == "" {
			t.Fatalf("%s: %+v", mode, e)
		}
	}
	if resp := x.ask(Request{Query: "who looks after the heating", Mode: ModeKeyword}); len(resp.Hits) != 0 || resp.Fallback != "" {
		t.Fatalf("by keyword: %v %q", paths(resp), resp.Fallback)
	}
	resp := x.ask(Request{Query: "boiler serviced"})
	if h := resp.Hits[0]; h.Path != "house.md" || h.Match != "both" || h.Score <= 0 || h.Score > 1 {
		t.Fatalf("%+v", h)
	}
	for i := 1; i < len(resp.Hits); i++ {
		if resp.Hits[i].Score > resp.Hits[i-1].Score {
			t.Fatalf("scores rise at %d", i)
		}
	}
}

func TestTextWithoutVectorsYetCompetesByKeyword(t *testing.T) {
	x := house(t)
	x.vectors()
	x.put("notes", map[string][]string{"new.md": {"boiler was replaced by a heat pump"}})
	resp := x.ask(Request{Query: "boiler"})
	if resp.PendingVectors != 1 || !slices.Contains(paths(resp), "new.md") || resp.Fallback != "" {
		t.Fatalf("%d pending, %v, %q", resp.PendingVectors, paths(resp), resp.Fallback)
	}
	for _, h := range resp.Hits {
		if h.Path == "new.md" && h.Match != "keyword" {
			t.Fatalf("%+v", h)
		}
	}
}

func TestAMissingEmbedderLeavesTheKeywords(t *testing.T) {
	x := house(t)
	x.vectors()
	want := paths(x.ask(Request{Query: "boiler spring", Mode: ModeKeyword}))
	x.embed.err = fault.New(fault.Unavailable, "down", "the server is down")
	for _, mode := range []Mode{ModeHybrid, ModeMeaning, ModeRRF} {
		resp := x.ask(Request{Query: "boiler spring", Mode: mode})
		if !strings.Contains(resp.Fallback, "the server is down") || !slices.Equal(paths(resp), want) {
			t.Errorf("%s: %q %v, want %v", mode, resp.Fallback, paths(resp), want)
		}
	}
	x.embed.err = errors.New("secret detail")
	if resp := x.ask(Request{Query: "boiler"}); resp.Fallback == "" || strings.Contains(resp.Fallback, "secret") {
		t.Errorf("fallback %q", resp.Fallback)
	}
}

func TestSwitchedOffMeaningIsOnlySaidToWhoAskedForIt(t *testing.T) {
	x := house(t)
	x.SetMeaning(nil)
	if resp := x.ask(Request{Query: "boiler"}); resp.Fallback != "" || len(resp.Hits) != 1 {
		t.Errorf("hybrid: %q %v", resp.Fallback, paths(resp))
	}
	if resp := x.ask(Request{Query: "boiler", Mode: ModeMeaning}); resp.Fallback == "" || len(resp.Hits) != 1 {
		t.Errorf("meaning: %q %v", resp.Fallback, paths(resp))
	}
}

func TestVectorsNotLoadedYetAreAReason(t *testing.T) {
	x := house(t)
	x.vectors()
	x.SetMeaning(&Meaning{Vectors: noVectors{x.store}, Embedder: func(string) (Embedder, string) { return *x.embed, "" }})
	if resp := x.ask(Request{Query: "boiler"}); resp.Fallback == "" || len(resp.Hits) != 1 {
		t.Errorf("%q %v", resp.Fallback, paths(resp))
	}
}

type noVectors struct{ *store.Store }

func (noVectors) ServingModel(context.Context) (store.VectorGeneration, error) {
	return store.VectorGeneration{}, nil
}

func TestNothingRelevantIsSaidToBeWeak(t *testing.T) {
	x := house(t)
	x.put("notes", map[string][]string{"chain.md": {"the blockchain of custody is a metal chain on the wall of the castle that the guard walks past every night"}})
	x.vectors()
	for _, tc := range []struct {
		name, query string
		mode        Mode
		weak        bool
	}{
		{"no word and no meaning", "quantum cryptography", "", true},
		{"one of many words", "quantum blockchain consensus algorithm throughput benchmark", "", true},
		{"one of many words, by keyword alone", "quantum blockchain consensus algorithm throughput benchmark latency shards ledgers rollups validators miners wallets", ModeKeyword, true},
		{"the words", "boiler spring", "", false},
		{"the words, by keyword alone", "boiler spring", ModeKeyword, false},
		{"other words of the same meaning", "who looks after the heating", "", false},
		{"other words, by meaning alone", "who looks after the heating", ModeMeaning, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			resp := x.ask(Request{Query: tc.query, Mode: tc.mode})
			if tc.weak && len(resp.Hits) > 0 && !resp.Weak {
				t.Errorf("%v are good matches", paths(resp))
			}
			if !tc.weak && (len(resp.Hits) == 0 || resp.Weak) {
				t.Errorf("%v is weak", paths(resp))
			}
		})
	}
}

func TestNearnessCountsHowFarTheBestStandsOut(t *testing.T) {
	docs := func(cosines ...float64) (list []fused) {
		for i, c := range cosines {
			list = append(list, fused{document: int64(i), cosine: c, vector: true})
		}
		return list
	}
	flat := []float64{.3, .3, .3, .3, .3, .3, .3, .3, .3, .3, .3}
	sharp := []float64{.34, .2, .2, .15, .15, .1, .1, .1, .1, .1, .1}
	for _, tc := range []struct {
		name string
		list []fused
		weak bool
	}{
		{"all alike", docs(flat...), true},
		{"one stands out", docs(sharp...), false},
		{"a few that are far", docs(.2, .18), true},
		{"the only document, near", docs(.4), false},
		{"the only document, far", docs(.2), true},
		{"nothing", nil, true},
		{"no vectors yet", []fused{{document: 1, lexical: .5}}, true},
	} {
		if got := weak(tc.list, 0, true); got != tc.weak {
			t.Errorf("%s: weak is %v, nearness %.2f", tc.name, got, nearness(tc.list))
		}
	}
}

func TestAlphaEndsAreTheLegs(t *testing.T) {
	x := house(t)
	x.put("notes", map[string][]string{
		"a.md": {"car"}, "b.md": {"vehicle with a boiler in it"}, "c.md": {"the car and the oil and the boiler"},
	})
	x.vectors()
	one, zero := 1.0, 0.0
	const q = "car oil boiler"
	if got, want := paths(x.ask(Request{Query: q, Alpha: &one, TopK: 4})), paths(x.ask(Request{Query: q, Mode: ModeKeyword, TopK: 4})); !slices.Equal(got[:3], want[:3]) {
		t.Errorf("alpha 1: %v, by keyword %v", got, want)
	}
	if got, want := paths(x.ask(Request{Query: q, Alpha: &zero, TopK: 4})), paths(x.ask(Request{Query: q, Mode: ModeMeaning, TopK: 4})); !slices.Equal(got, want) {
		t.Errorf("alpha 0: %v, by meaning %v", got, want)
	}
}

func TestFiltersHoldForMeaning(t *testing.T) {
	x := house(t)
	other := x.put("other", map[string][]string{"far.md": {"something about a vehicle"}})
	x.vectors()
	resp := x.ask(Request{Query: "boiler service heating", KBs: []int64{other}, Mode: ModeMeaning})
	for _, h := range resp.Hits {
		if h.KB != "other" {
			t.Errorf("%s/%s", h.KB, h.Path)
		}
	}
	if got := paths(x.ask(Request{Query: "automobile", KBs: []int64{other}})); !slices.Equal(got, []string{"far.md"}) {
		t.Errorf("%v", got)
	}
	if resp := x.ask(Request{Query: "automobile", KBs: []int64{}}); len(resp.Hits) != 0 {
		t.Errorf("%v", paths(resp))
	}
}

func TestWordsToLeaveOutAreLeftOutOfMeaningToo(t *testing.T) {
	x := house(t)
	x.put("notes", map[string][]string{"old.md": {"boiler of the old house"}, "new.md": {"boiler of the new flat"}})
	x.vectors()
	for _, q := range []string{"boiler -old", `"new flat"`} {
		for _, p := range paths(x.ask(Request{Query: q})) {
			if p == "old.md" {
				t.Errorf("%s finds %s", q, p)
			}
		}
	}
}

func TestLongerListsBeginWithTheShorterOnes(t *testing.T) {
	x := house(t)
	docs := map[string][]string{}
	for i := range 20 {
		for k := range 5 {
			p := fmt.Sprintf("many%02d.md", i)
			docs[p] = append(docs[p], fmt.Sprintf("boiler number %d of %d and its service", k, i))
		}
	}
	x.put("notes", docs)
	x.vectors()
	long := paths(x.ask(Request{Query: "boiler service", TopK: 50}))
	for _, k := range []int{1, 3, 10, 25} {
		if short := paths(x.ask(Request{Query: "boiler service", TopK: k})); !slices.Equal(short, long[:k]) {
			t.Errorf("top %d: %v, of 50: %v", k, short, long[:k])
		}
	}
	seen := map[string]bool{}
	for _, p := range long[:5] {
		seen[p] = true
	}
	if len(seen) != 5 {
		t.Errorf("five hits of %d documents: %v", len(seen), long[:5])
	}
}

func TestWeightMovesWithTheQuery(t *testing.T) {
	const question = "who looks after the heating"
	of := func(query string, covered float64) float64 {
		return weigh(Request{Query: query, Mode: ModeHybrid}, covered).meaning
	}
	base := of(question, usualCoverage)
	if math.Abs(base-weightBase) > 1e-9 {
		t.Errorf("base weight %.2f", base)
	}
	if w := of(question, 1); w >= base {
		t.Errorf("full coverage: %.2f", w)
	}
	if w := of(question, 0); w <= base {
		t.Errorf("no coverage: %.2f", w)
	}
	if w := of("E_CONN_RESET", usualCoverage); w >= base {
		t.Errorf("identifier: %.2f", w)
	}
	if w := of("кто обслуживает котёл", 0); w > weightForeign {
		t.Errorf("foreign script: %.2f", w)
	}
	if w := of("Kubernetes 是什么东西", 0); w > weightForeign {
		t.Errorf("a foreign question with a Latin name: %.2f", w)
	}
	if w := of("what does 茶 mean in this recipe", usualCoverage); w != base {
		t.Errorf("an English question with a foreign word: %.2f", w)
	}
	alpha := 2.0
	if w := weigh(Request{Query: "кто", Mode: ModeHybrid, Alpha: &alpha}, 0).meaning; w != 0 {
		t.Errorf("alpha is clamped: %.2f", w)
	}
}

func TestScalesAreAbsoluteAndMonotone(t *testing.T) {
	for _, tc := range []struct {
		name string
		f    func(float64) float64
		step float64
	}{{"keyword", lexicalScore, 0.5}, {"meaning", meaningScore, 0.005}} {
		last := tc.f(-1)
		if last != 0 {
			t.Errorf("%s: below zero gives %v", tc.name, last)
		}
		for x := tc.step; x <= 200*tc.step; x += tc.step {
			v := tc.f(x)
			if v <= last || v > 1 || math.IsNaN(v) {
				t.Fatalf("%s: %v after %v at %v", tc.name, v, last, x)
			}
			last = v
		}
	}
}

func TestWordsInOneChunkAndMeaningInAnotherCountTogether(t *testing.T) {
	list := []fused{
		{chunk: 1 << 5, document: 1, lexRank: 1, lexical: .4, meaning: .1, vector: true},
		{chunk: 9 << 5, document: 1, meanRank: 1, meaning: .4, lexical: .1, vector: true},
		{chunk: 20 << 5, document: 2, lexRank: 2, lexical: .28, meaning: .28, vector: true},
	}
	got := order(ModeHybrid, weight{meaning: 0.5}, 0, list)
	if got[0].document != 1 || got[1].document != 1 || got[0].base > 1 || got[2].base <= 0 {
		t.Errorf("%+v", got)
	}
	for _, mode := range []Mode{ModeKeyword, ModeMeaning} {
		if got := order(mode, weight{}, 0, list); got[0].document != 1 {
			t.Errorf("%s: %+v", mode, got)
		}
	}
}

func TestIdentifiersAreTold(t *testing.T) {
	for _, q := range []string{"parseConfig", "E_CONN_RESET", "internal/search/fuse.go", "x86", "std::vector push_back", "--error-on=all", "utf8"} {
		if !looksLikeIdentifier(q) {
			t.Errorf("%q is one", q)
		}
	}
	for _, q := range []string{"who looks after the heating", "boiler", "What is this?", "", "Mr. Olafsson", "the e.g. of all things that we said"} {
		if looksLikeIdentifier(q) {
			t.Errorf("%q is none", q)
		}
	}
}
