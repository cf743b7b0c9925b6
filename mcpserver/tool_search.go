package mcpserver

import (
	"context"
	"fmt"
	"math"
	"time"

	"ragd/internal/search"
)

type lineRange struct {
	First int `json:"first"`
	Last  int `json:"last"`
}

type searchHit struct {
	KB         string    `json:"kb"`
	Path       string    `json:"path"`
	Title      string    `json:"title"`
	ChunkIndex int       `json:"chunk_index"`
	Lines      lineRange `json:"lines"`
	Headings   []string  `json:"headings"`
	Page       int       `json:"page,omitempty"`
	Score      float64   `json:"score"`
	Match      string    `json:"match"`
	RevisionID string    `json:"revision_id"`
	Content    string    `json:"content"`
	Cut        bool      `json:"content_truncated"`
	Poor       string    `json:"poor,omitempty"` // why the document's text is poor

	Explain *search.Explain `json:"explain,omitempty"`
}

type searchOut struct {
	Results   []searchHit `json:"results"`
	Truncated bool        `json:"truncated,omitempty"`
	Weak      bool        `json:"weak,omitempty"`     // none of the results is a good match
	Reason    string      `json:"reason,omitempty"`   // why results are empty
	Fallback  string      `json:"fallback,omitempty"` // why a leg did not take part
	Freshness freshness   `json:"freshness"`
}

const (
	defaultTopK = 10
	maxTopK     = 100
	maxWaitMS   = 60_000
)

func toolSearch() *tool {
	return &tool{
		name: "rag_search", title: "Search knowledge bases", idempotent: true,
		desc: "Find passages in the knowledge bases; start here. Returns ranked excerpts, each with kb, path, lines and headings to cite. " +
			"Write a self-contained query: nothing is remembered between calls, so name the thing you mean (\"how does the billing service retry failed payments\", not \"how does it retry\"). " +
			"Questions, keywords, identifiers, error messages and \"exact phrases\" in quotes all work; -word leaves a word out. " +
			"When an excerpt is not enough, call rag_read with its kb and path. To browse instead of search, use rag_list_kbs and rag_list_documents. " +
			"An empty result says why under reason; weak means that nothing here answers the query.",
		args: []arg{
			{name: "query", desc: "What to find, self-contained.", kind: argText, required: true},
			{name: "kb", desc: "Search only this knowledge base, or several separated by commas; leave out for all.", kind: argName},
			{name: "top_k", desc: "Most results to return.", kind: argInt, low: 1, high: maxTopK, def: defaultTopK},
			{name: "wait_ms", desc: "Wait up to this long for files changed before this call to be indexed first, for example after you edited one. What is still missing then is listed under freshness.not_yet.", kind: argInt, low: 0, high: maxWaitMS, def: 0},
			{name: "explain", desc: "Say how each result got its score.", kind: argBool, def: false},
		},
		out: object([]string{"results", "freshness"}, map[string]schema{
			"results": list(object([]string{"kb", "path", "title", "chunk_index", "lines", "headings", "score", "match", "revision_id", "content", "content_truncated"}, map[string]schema{
				"kb": text("Knowledge base."), "path": text("Path of the document; pass it to rag_read."), "title": text("Title of the document."),
				"chunk_index": integer("Number of the passage in the document, from 0."),
				"lines":       object([]string{"first", "last"}, map[string]schema{"first": integer("First line in the file, from 1."), "last": integer("Last line.")}),
				"headings":    list(text("A heading, outermost first.")), "page": integer("Page, where the format has pages."),
				"score": number("0 to 1, higher is better."), "match": oneOf("How it was found.", "keyword", "meaning", "both"),
				"revision_id": text("Version of the document; pass it to rag_read as revision to read exactly this one."),
				"content":     text("The passage, cut around the matching part."), "content_truncated": boolean("The passage is longer; rag_read has all of it."),
				"poor":    text("The text of this document is poor, and why: do not trust it word for word."),
				"explain": explainSchema(),
			})),
			"truncated": boolean("There are more results; ask for a larger top_k or narrow the query."),
			"weak":      boolean("None of the results is a good match: what was asked is probably not in here."),
			"reason":    text("Why there are no results."),
			"fallback":  text("Why the search could not use everything it should have."),
			"freshness": freshnessSchema(),
		}),
		run: runSearch,
	}
}

func runSearch(ctx context.Context, c *call) (*reply, error) {
	refs, err := c.kbSet(ctx, c.v.str("kb"))
	if err != nil {
		return nil, err
	}
	ids := c.storeIDs(c.v.str("kb"), refs)
	missing, err := c.await(ctx, refs, ids, time.Duration(c.v.num("wait_ms", 0))*time.Millisecond)
	if err != nil {
		return nil, err
	}
	if c.v.num("wait_ms", 0) > 0 { // what was waited for may have brought in a new KB
		if refs, err = c.kbSet(ctx, c.v.str("kb")); err != nil {
			return nil, err
		}
		ids = c.storeIDs(c.v.str("kb"), refs)
	}
	topK := c.v.num("top_k", defaultTopK)
	resp, err := c.find(ctx, c.deps.Search, search.Request{
		Query: c.v.str("query"), KBs: ids, TopK: topK, SnippetChars: c.opts.Limits.SnippetChars, IncludeRetired: true,
		Explain: c.v.flag("explain"),
	})
	if err != nil {
		return nil, err
	}
	out := searchOut{Results: []searchHit{}, Truncated: resp.Truncated, Weak: resp.Weak, Fallback: clip(resp.Fallback, 300)}
	if out.Freshness, err = c.freshness(ctx, ids, refs); err != nil {
		return nil, err
	}
	out.Freshness.NotYet, out.Freshness.NotYetTotal = missing.NotYet, missing.NotYetTotal
	out.Freshness.Degraded = union(out.Freshness.Degraded, missing.Degraded)
	if len(resp.Hits) == 0 {
		out.Truncated = false
		if out.Reason, err = c.whyEmpty(ctx, ids, refs, out.Freshness); err != nil {
			return nil, err
		}
		return &reply{data: out, text: searchText(&out)}, nil
	}
	poor, err := c.poor(ctx, resp.Hits)
	if err != nil {
		return nil, err
	}
	fitSearch(&out, resp.Hits, poor, c.searchBudget(topK), c.opts.Limits.SnippetChars)
	return &reply{data: out, text: searchText(&out)}, nil
}

// find searches; no KB at all, as opposed to every KB, has no hits.
func (c *call) find(ctx context.Context, engine Searcher, req search.Request) (*search.Response, error) {
	if none(req.KBs) {
		return &search.Response{}, nil
	}
	if !c.scope.all() {
		refs, err := c.visible(ctx)
		if err != nil {
			return nil, err
		}
		req.Known = c.storeIDs("", refs)
	}
	return engine.Search(ctx, req)
}

// whyEmpty says which kind of nothing was found.
func (c *call) whyEmpty(ctx context.Context, ids []int64, refs []kbRef, f freshness) (string, error) {
	if len(refs) == 0 {
		return c.noKBs(), nil
	}
	stats, err := c.deps.Store.KBStats(ctx, ids)
	if err != nil {
		return "", err
	}
	var docs int64
	for _, st := range stats {
		docs += st.Documents
	}
	switch {
	case docs == 0 && f.Pending > 0:
		return fmt.Sprintf("nothing indexed yet: %s pending; ask again in a moment, or with wait_ms", count(f.Pending, "document")), nil
	case docs == 0 && f.Failed > 0:
		return fmt.Sprintf("failed: %s could not be indexed and nothing else is there; rag_jobs says why", count(f.Failed, "document")), nil
	case docs == 0:
		return "nothing indexed yet: there are no documents", nil
	case f.Pending > 0 || f.Failed > 0:
		return fmt.Sprintf("no match among %s (%d pending and %d failed are not searchable); try other words", count(docs, "document"), f.Pending, f.Failed), nil
	}
	return fmt.Sprintf("no match among %s; try other or fewer words", count(docs, "document")), nil
}

func hitOf(h search.Hit) searchHit {
	headings := make([]string, 0, min(len(h.Headings), 6))
	for _, x := range h.Headings[max(0, len(h.Headings)-6):] {
		headings = append(headings, clip(x, 100))
	}
	return searchHit{
		KB: encodeName(h.KB), Path: encodeName(h.Path), Title: clip(h.Title, 150), ChunkIndex: h.ChunkIndex,
		Lines: lineRange{h.FirstLine, h.LastLine}, Headings: headings, Page: h.Page,
		Score: math.Round(h.Score*1e4) / 1e4, Match: h.Match, RevisionID: h.RevisionID, Cut: h.Truncated, Explain: h.Explain,
	}
}

// explainSchema describes a search.Explain.
func explainSchema() schema {
	return object([]string{"lexical_score", "meaning_score", "weight"}, map[string]schema{
		"lexical_rank": integer("Rank by keyword, from 1; absent when not found by keyword."), "lexical_raw": number("BM25."),
		"lexical_score": number("The keyword leg's score, 0 to 1."),
		"meaning_rank":  integer("Rank by meaning, from 1; absent when not found by meaning."), "cosine": number("Nearness of the best part to the query."),
		"meaning_score": number("The meaning leg's score, 0 to 1."),
		"weight":        number("Weight of meaning, 0 to 1."), "weight_reason": text("What the weight is made of."),
		"terms": text("The query's terms: how many passages have them, and what each did."),
	})
}

func union(a, b []string) []string {
	seen := make(map[string]bool, len(a))
	for _, x := range a {
		seen[x] = true
	}
	for _, x := range b {
		if !seen[x] {
			a = append(a, x)
			seen[x] = true
		}
	}
	return a
}
