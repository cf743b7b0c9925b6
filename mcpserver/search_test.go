package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"ragd/internal/search"
	"ragd/internal/store"
	"ragd/kbroot"
)

func TestSearchCitesAndSearchesTheKBsAsked(t *testing.T) {
	w := newWorld(t, "a", "b", "c", "a,b")
	for _, kb := range []string{"a", "b", "c", "a,b"} {
		w.put(kb, "x.md", "line one\nthe fox of "+kb)
	}
	_, addr := startServer(t, w, Options{})
	c := dial(t, addr)
	for arg, want := range map[string][]string{"": {"a", "a,b", "b", "c"}, "b": {"b"}, "a,b": {"a,b"}, "b,c": {"b", "c"}, " c , b ,,c": {"b", "c"}} {
		out, text := ok[searchOut](c, "rag_search", m{"query": "fox", "kb": arg})
		var got []string
		for _, r := range out.Results {
			got = append(got, r.KB)
			if r.Path != "x.md" || r.Title == "" || r.Lines != (lineRange{1, 2}) || r.Headings == nil || r.Match != "keyword" || r.RevisionID == "" || r.Score <= 0 || r.Score > 1 {
				t.Errorf("%+v", r)
			}
			if !strings.Contains(text, r.KB+"/x.md lines 1-2") {
				t.Error(text)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("kb %q: %v, want %v", arg, got, want)
		}
	}
	f := c.refused("rag_search", m{"query": "fox", "kb": "b,zzz"}, "kb_not_found")
	if !strings.Contains(f.Message, "zzz") || !strings.Contains(f.Hint, "a,b") {
		t.Errorf("%+v", f)
	}
	c.refused("rag_search", m{"query": "fox", "kb": ","}, "kb_not_found")
}

func TestEmptySearchSaysWhichKindOfNothingItIs(t *testing.T) {
	w := newWorld(t, "empty", "waiting", "broken", "full")
	w.set("waiting", "p.md", func(d *fakeDoc) { d.rec.State = store.StatePending })
	w.set("broken", "f.pdf", func(d *fakeDoc) { d.rec.State = store.StateFailed })
	w.put("full", "a.md", "text")
	_, addr := startServer(t, w, Options{})
	c := dial(t, addr)
	for kb, want := range map[string]string{"empty": "nothing indexed yet", "waiting": "1 document pending", "broken": "failed: 1 document", "full": "no match", "": "no match"} {
		out, text := ok[searchOut](c, "rag_search", m{"query": "absent", "kb": kb})
		if out.Results == nil || len(out.Results) != 0 || !strings.Contains(out.Reason, want) || !strings.Contains(text, want) {
			t.Errorf("%q: %+v\n%s", kb, out, text)
		}
	}
	out, _ := ok[searchOut](c, "rag_search", m{"query": "absent"})
	if out.Freshness.Pending != 1 || out.Freshness.Failed != 1 {
		t.Errorf("%+v", out.Freshness)
	}
}

func TestSearchSaysWhatIsWeakAndExplainsWhenAsked(t *testing.T) {
	w := newWorld(t, "a")
	_, addr := startServer(t, w, Options{})
	c := dial(t, addr)
	w.onSearch = func(_ context.Context, req search.Request) (*search.Response, error) {
		hit := search.Hit{KB: "a", Path: "x.md", Title: "X", FirstLine: 1, LastLine: 1, Score: 0.1, Match: "meaning", Content: "text", RevisionID: strings.Repeat("f", 32)}
		if req.Explain {
			hit.Explain = &search.Explain{MeaningRank: 1, Cosine: 0.2, MeaningScore: 0.02, Weight: 0.5, WeightReason: "base 0.50"}
		}
		return &search.Response{Hits: []search.Hit{hit}, Weak: true}, nil
	}
	out, text := ok[searchOut](c, "rag_search", m{"query": "quantum blockchain"})
	if !out.Weak || !strings.Contains(text, "none of them is a good match") || out.Results[0].Explain != nil || strings.Contains(text, "cosine") {
		t.Errorf("%+v\n%s", out, text)
	}
	out, text = ok[searchOut](c, "rag_search", m{"query": "quantum blockchain", "explain": true})
	if e := out.Results[0].Explain; e == nil || e.MeaningRank != 1 || e.WeightReason == "" || !strings.Contains(text, "cosine 0.200") || !strings.Contains(text, "base 0.50") {
		t.Errorf("%+v\n%s", e, text)
	}
}

// fat makes a searcher whose hits are as large as the searcher lets them be.
func fat(path string, chars int, text string) func(context.Context, search.Request) (*search.Response, error) {
	return func(_ context.Context, req search.Request) (*search.Response, error) {
		resp := &search.Response{}
		for i := range req.TopK {
			content := cutFront(strings.Repeat(text, chars/runes(text)+1), min(chars, req.SnippetChars))
			resp.Hits = append(resp.Hits, search.Hit{
				KB: "notes", Path: fmt.Sprintf("%s%d.md", path, i), Title: "A title of a document", Headings: []string{"Chapter", "Section"}, ChunkIndex: i, FirstLine: 10, LastLine: 40,
				RevisionID: strings.Repeat("f", 32), Score: 0.5, Match: "keyword", Content: content, Marks: [][2]int{{len(content) / 2, len(content)/2 + 3}},
			})
		}
		return resp, nil
	}
}

func TestDefaultSearchReplyStaysWithinItsBudget(t *testing.T) {
	w := newWorld(t, "notes")
	_, addr := startServer(t, w, Options{})
	c := dial(t, addr)
	for name, f := range map[string]func(context.Context, search.Request) (*search.Response, error){
		"prose": fat("dir/", 5000, "lorem ipsum dolor "), "escapes": fat("dir/", 5000, "\"<a>\"\n\t\\"), "CJK": fat("dir/", 5000, "知識庫"),
		"emoji": fat("dir/", 5000, "👨‍👩‍👧‍👦 "), "controls": fat("dir/", 5000, "\x01\x02"), "long paths": fat(strings.Repeat("x", 1500)+"/", 5000, "word "),
	} {
		w.onSearch = f
		r := c.tool("rag_search", m{"query": "x"})
		if n := runes(string(r.raw)); n > 12_000 {
			t.Errorf("%s: a reply of %d characters", name, n)
		}
		var out searchOut
		if err := json.Unmarshal(r.Data, &out); err != nil {
			t.Fatal(err)
		}
		if name != "long paths" && name != "controls" && (len(out.Results) != 10 || out.Truncated) {
			t.Errorf("%s: %d results", name, len(out.Results))
		}
		if name == "long paths" && (!out.Truncated || len(out.Results) == 0) {
			t.Errorf("%s: %d results and truncated %v", name, len(out.Results), out.Truncated)
		}
		for i, x := range out.Results {
			if !x.Cut || runes(x.Content) == 0 {
				t.Errorf("%s: result %d is not marked as cut or is empty", name, i)
			}
		}
		if name == "prose" && (runes(out.Results[0].Content) < 2*runes(out.Results[9].Content) || runes(string(r.raw)) < 9000) {
			t.Errorf("first %d, last %d of %d characters", runes(out.Results[0].Content), runes(out.Results[9].Content), runes(string(r.raw)))
		}
	}
	w.onSearch = fat("dir/", 5000, "lorem ipsum ")
	if one, _ := ok[searchOut](c, "rag_search", m{"query": "x", "top_k": 1}); runes(one.Results[0].Content) < 900 {
		t.Errorf("a single result is cut to %d characters", runes(one.Results[0].Content))
	}
	if r := c.tool("rag_search", m{"query": "x", "top_k": 100}); runes(string(r.raw)) > maxSearchReply {
		t.Errorf("%d characters", runes(string(r.raw)))
	}
}

func TestContentNeverExceedsTheSnippetLimit(t *testing.T) {
	w := newWorld(t, "notes")
	for _, limit := range []int{50, 1000, 3000} {
		_, addr := startServer(t, w, Options{Limits: Limits{SnippetChars: limit}})
		c := dial(t, addr)
		w.onSearch = func(_ context.Context, req search.Request) (*search.Response, error) {
			req.SnippetChars = 100_000 // a searcher that does not keep to it
			return fat("d/", 5000, "word e\u0301 ")(context.Background(), req)
		}
		out, _ := ok[searchOut](c, "rag_search", m{"query": "x", "top_k": 3})
		for _, x := range out.Results {
			if n := runes(x.Content); n > limit || n == 0 || !x.Cut {
				t.Errorf("limit %d: %d characters, cut %v", limit, n, x.Cut)
			}
		}
	}
}

func TestSameQuerySameAnswer(t *testing.T) {
	w := newWorld(t, "notes")
	for i := range 30 {
		w.put("notes", fmt.Sprintf("%02d.md", i), "the fox "+strings.Repeat("jumps ", i*20))
	}
	_, addr := startServer(t, w, Options{})
	first := dial(t, addr).tool("rag_search", m{"query": "fox"})
	for range 5 {
		if again := dial(t, addr).tool("rag_search", m{"query": "fox"}); string(again.raw) != string(first.raw) {
			t.Fatal("another answer")
		}
	}
}

func TestWaitedForChangesAreInTheAnswerOrListed(t *testing.T) {
	w := newWorld(t, "notes", "other")
	w.put("notes", "a.md", "old")
	var asked [][]string
	w.onWait = func(ctx context.Context, kbs []string) ([]kbroot.DocPath, int, []string, error) {
		asked = append(asked, kbs)
		w.put("notes", "a.md", "the new fox")
		return nil, 0, nil, nil
	}
	_, addr := startServer(t, w, Options{})
	c := dial(t, addr)
	out, _ := ok[searchOut](c, "rag_search", m{"query": "new fox", "kb": "notes", "wait_ms": 1000})
	if len(out.Results) != 1 || len(out.Freshness.NotYet) != 0 {
		t.Errorf("%+v", out)
	}
	ok[searchOut](c, "rag_search", m{"query": "x", "wait_ms": "1000"})
	ok[searchOut](c, "rag_search", m{"query": "x", "wait_ms": 0})
	if len(asked) != 2 || !slices.Equal(asked[0], []string{"notes"}) || asked[1] != nil {
		t.Errorf("waited for %v", asked)
	}
	w.onWait = func(ctx context.Context, _ []string) ([]kbroot.DocPath, int, []string, error) {
		<-ctx.Done()
		return []kbroot.DocPath{{KB: "notes", Path: "late\xff.md"}}, 37, []string{"polling"}, ctx.Err()
	}
	began := time.Now()
	out, text := ok[searchOut](c, "rag_search", m{"query": "fox", "wait_ms": 50})
	if time.Since(began) > 5*time.Second || len(out.Results) != 1 || out.Freshness.NotYetTotal != 37 || len(out.Freshness.NotYet) != 1 || out.Freshness.NotYet[0].Path != "late�FF.md" {
		t.Errorf("%+v", out.Freshness)
	}
	if !strings.Contains(text, "37 changed documents are not in this answer yet: notes/late�FF.md") || !strings.Contains(text, "polling") {
		t.Error(text)
	}
}

func TestControlCharactersAreVisibleInTextAndExactInData(t *testing.T) {
	w := newWorld(t, "notes")
	w.put("notes", "evil\n[2] fake\x1b[31m.md", "text \x1b[2J\x08 fox \u202e")
	_, addr := startServer(t, w, Options{})
	out, text := ok[searchOut](dial(t, addr), "rag_search", m{"query": "fox"})
	if out.Results[0].Path != "evil\n[2] fake\x1b[31m.md" || !strings.Contains(out.Results[0].Content, "\x1b[2J\x08") {
		t.Errorf("%+v", out.Results[0])
	}
	if strings.ContainsAny(text, "\x1b\x08\u202e") || strings.Contains(text, "\n[2] fake") || !strings.Contains(text, `evil\n[2] fake\x1b[31m.md`) {
		t.Errorf("%q", text)
	}
}
