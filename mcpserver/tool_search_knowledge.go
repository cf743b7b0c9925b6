package mcpserver

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"ragd/internal/fault"
	"ragd/internal/search"
)

type knowledgeScores struct {
	Lexical  float64 `json:"lexical"`
	Semantic float64 `json:"semantic"`
	Fused    float64 `json:"fused"`
}

type knowledgeSource struct {
	KB    string     `json:"kb"`
	Path  string     `json:"path"`
	Lines *lineRange `json:"lines,omitempty"`
	Page  int        `json:"page,omitempty"`
}

type knowledgeHit struct {
	ItemID     string          `json:"knowledge_item_id"`
	RevisionID string          `json:"knowledge_revision_id"`
	Title      string          `json:"title"`
	Excerpt    string          `json:"excerpt"`
	Source     knowledgeSource `json:"source"`
	Reference  string          `json:"reference"`
	Scores     knowledgeScores `json:"scores"`
}

type knowledgeSearchOut struct {
	Type      string         `json:"type"`
	Results   []knowledgeHit `json:"results"`
	Truncated bool           `json:"truncated,omitempty"`
	Reason    string         `json:"reason,omitempty"`
	Fallback  string         `json:"fallback,omitempty"`
	Freshness freshness      `json:"freshness"`
}

type knowledgeOut struct {
	Type       string          `json:"type"`
	Owner      string          `json:"owner"`
	Team       string          `json:"team"`
	Scope      string          `json:"scope"`
	KBID       string          `json:"knowledge_base_id"`
	ItemID     string          `json:"knowledge_item_id"`
	RevisionID string          `json:"knowledge_revision_id"`
	Title      string          `json:"title"`
	Content    string          `json:"content"`
	Locator    string          `json:"locator"`
	Source     knowledgeSource `json:"source"`
	Reference  string          `json:"reference"`
	Offset     int             `json:"content_offset"`
	Limit      int             `json:"content_limit"`
	TotalChars int             `json:"content_total_chars"`
	Truncated  bool            `json:"content_truncated"`
}

type knowledgeFailure struct {
	Type    string `json:"type"`
	Code    string `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

const (
	knowledgeScope   = "knowledge:read"
	excerptChars     = 500
	knowledgeDepth   = 100 // hits looked at
	maxKnowledgeRead = 10_000
)

func toolSearchKnowledge() *tool {
	source := object([]string{"kb", "path"}, map[string]schema{
		"kb": text("Knowledge base."), "path": text("Path."), "page": integer("Page."),
		"lines": object([]string{"first", "last"}, map[string]schema{"first": integer("First line."), "last": integer("Last line.")}),
	})
	return &tool{
		name: "search_knowledge", title: "Search or read published knowledge", jsonText: true, idempotent: true, advanced: true, knowledge: true,
		desc: "Two exclusive uses. With query: search published items; each result has an item id, a revision id and an excerpt. " +
			"With knowledge_item_id (and knowledge_revision_id for exactly that version): read the item in pages; go on with offset while content_truncated is true. rag_search and rag_read do the same for all documents.",
		args: []arg{
			{name: "query", desc: "What to find, self-contained.", kind: argText},
			{name: "knowledge_base_id", desc: "With query: only this knowledge base.", kind: argName},
			{name: "max_results", desc: "With query: most results.", kind: argInt, low: 1, high: 50, def: 10},
			{name: "mode", desc: "With query: hybrid, lexical, semantic or rrf; anything else is hybrid.", kind: argText, def: "hybrid"},
			{name: "alpha", desc: "With query: weight of the lexical score, 0 to 1; that of the semantic one is 1 - alpha.", kind: argFloat, low: 0, high: 1, clamp: true, def: 0.5},
			{name: "knowledge_item_id", desc: "The item to read.", kind: argName, max: 2 * maxName},
			{name: "knowledge_revision_id", desc: "The version of it; leave out for the current one.", kind: argText, max: 64},
			{name: "offset", desc: "With knowledge_item_id: characters to skip.", kind: argInt, low: 0, high: maxOffset, def: 0},
			{name: "limit_chars", desc: "With knowledge_item_id: most characters to return.", kind: argInt, low: 1, high: maxKnowledgeRead, def: 4000},
		},
		out: object([]string{"type"}, map[string]schema{
			"type": oneOf("Which of the two uses this answers; knowledge_error or knowledge_unavailable on failure.", "knowledge_search", "knowledge", "knowledge_error", "knowledge_unavailable"),
			"results": list(object([]string{"knowledge_item_id", "knowledge_revision_id", "title", "excerpt", "source", "reference", "scores"}, map[string]schema{
				"knowledge_item_id": text("Id of the item."), "knowledge_revision_id": text("Its current version."), "title": text("Title."), "excerpt": text("The matching passage."), "source": source,
				"reference": text("Address of the item as a resource."),
				"scores":    object([]string{"lexical", "semantic", "fused"}, map[string]schema{"lexical": number("0 to 1."), "semantic": number("0 to 1."), "fused": number("0 to 1; results are in this order.")}),
			})),
			"truncated": boolean("There are more results; raise max_results or narrow the query."),
			"reason":    text("Why there are no results."), "fallback": text("Why the search could not use meaning."), "freshness": freshnessSchema(),
			"owner": text("Whose connection this is."), "team": text("The root the item lies under."), "scope": text("The permission that was used."), "knowledge_base_id": text("Knowledge base."),
			"knowledge_item_id": text("Id of the item."), "knowledge_revision_id": text("Version of the text."), "title": text("Title."), "content": text("The text."), "locator": text("Which part of the item this is."),
			"source": source, "reference": text("Address of the item as a resource."), "content_offset": integer("Characters before content."), "content_limit": integer("Most characters content can hold."),
			"content_total_chars": integer("Characters in the whole text."), "content_truncated": boolean("There is more after content."),
		}),
		failure: knowledgeFailed,
		failureSchema: object([]string{"type", "code", "message"}, map[string]schema{
			"code": text("On failure: a stable code."), "message": text("On failure: what was wrong."), "hint": text("On failure: the next step."),
		}),
		run: runSearchKnowledge,
	}
}

func knowledgeFailed(e *fault.Error, _ bool) any {
	out := knowledgeFailure{Type: "knowledge_error", Code: e.Code, Message: e.Message, Hint: e.Hint}
	if !strings.HasPrefix(e.Code, "knowledge_") && e.Kind == fault.Invalid {
		out.Code = "knowledge_invalid_request"
	}
	if e.Code == "knowledge_runtime_disabled" || e.Code == "knowledge_resource_unavailable" {
		out.Type = "knowledge_unavailable"
	}
	return out
}

func runSearchKnowledge(ctx context.Context, c *call) (*reply, error) {
	switch {
	case c.opts.KnowledgeDisabled:
		return nil, fault.New(fault.Unavailable, "knowledge_runtime_disabled", "search_knowledge is turned off on this server").
			WithHint("The owner can turn it on with knowledge.enabled; rag_search is a different tool and may still work.")
	case c.opts.Agent.NoKnowledge:
		return nil, fault.New(fault.Denied, "knowledge_scope_required", "this connection has not the scope %s", knowledgeScope).
			WithHint("Ask the owner to grant it to this agent.")
	}
	query, item := c.v.str("query"), c.v.str("knowledge_item_id")
	mixed := func(names ...string) error {
		for _, n := range names {
			if _, given := c.v[n]; given {
				return fault.New(fault.Invalid, "knowledge_invalid_request", "%s does not go with this shape; give either query (knowledge_base_id, max_results, mode, alpha) or knowledge_item_id (knowledge_revision_id, offset, limit_chars)", n).
					WithHint("Leave it out.")
			}
		}
		return nil
	}
	switch {
	case query != "":
		if err := mixed("knowledge_item_id", "knowledge_revision_id", "offset", "limit_chars"); err != nil {
			return nil, err
		}
		return c.searchKnowledge(ctx, query)
	case item != "":
		if err := mixed("knowledge_base_id", "max_results", "mode", "alpha"); err != nil {
			return nil, err
		}
		return c.readKnowledge(ctx, item)
	case c.v.str("knowledge_revision_id") != "":
		return nil, fault.New(fault.Invalid, "knowledge_item_required", "knowledge_revision_id needs knowledge_item_id").WithHint("Give both as a search result shows them.")
	}
	return nil, fault.New(fault.Invalid, "knowledge_query_required", "give query to search, or knowledge_item_id to read").WithHint("Call search_knowledge again with one of them.")
}

// noKnowledge is the one answer to what is missing, foreign, inactive or unpublished.
func noKnowledge(id string) error {
	return fault.New(fault.NotFound, "knowledge_resource_unavailable", "%q is not available", clip(id, 200)).
		WithHint("Search for it with query.")
}

// published tells whether a document of this status is given out as knowledge.
func published(status string) bool { return status == "" || status == "published" || status == "canon" }

func (c *call) searchKnowledge(ctx context.Context, query string) (*reply, error) {
	base := c.v.str("knowledge_base_id")
	refs, err := c.visible(ctx)
	if err != nil {
		return nil, err
	}
	if base != "" {
		ref, ok := findKB(refs, decodeName(base))
		if !ok {
			return nil, noKnowledge(base)
		}
		refs = []kbRef{ref}
	}
	ids := c.storeIDs(base, refs)
	req := search.Request{
		Query: query, KBs: ids, TopK: knowledgeDepth, Mode: knowledgeMode(c.v.str("mode")),
		SnippetChars: min(excerptChars, c.opts.Limits.SnippetChars), Explain: true, PublishedOnly: true,
	}
	if alpha, ok := c.v["alpha"].(float64); ok {
		req.Alpha = &alpha
	}
	resp, err := c.find(ctx, c.deps.Search, req)
	if err != nil {
		return nil, err
	}
	out := knowledgeSearchOut{Type: "knowledge_search", Results: []knowledgeHit{}, Fallback: clip(resp.Fallback, 300)}
	if out.Freshness, err = c.freshness(ctx, ids, refs); err != nil {
		return nil, err
	}
	limit := c.v.num("max_results", 10)
	for _, h := range resp.Hits {
		if published(h.Status) { // it may have changed since the index was asked
			out.Results = append(out.Results, knowledgeHitOf(h))
		}
	}
	if out.Truncated = resp.Truncated || len(out.Results) > limit; len(out.Results) > limit {
		out.Results = out.Results[:limit]
	}
	if len(out.Results) == 0 {
		if out.Reason, err = c.whyEmpty(ctx, ids, refs, out.Freshness); err != nil {
			return nil, err
		}
	}
	return &reply{data: out}, nil
}

func knowledgeMode(mode string) search.Mode {
	switch mode {
	case "lexical":
		return search.ModeKeyword
	case "semantic":
		return search.ModeMeaning
	case "rrf":
		return search.ModeRRF
	}
	return search.ModeHybrid
}

func knowledgeHitOf(h search.Hit) knowledgeHit {
	scores := knowledgeScores{Fused: h.Score}
	switch {
	case h.Explain != nil:
		scores.Lexical, scores.Semantic = h.Explain.LexicalScore, h.Explain.MeaningScore
	case h.Match == "keyword":
		scores.Lexical = h.Score
	case h.Match == "meaning":
		scores.Semantic = h.Score
	}
	return knowledgeHit{
		ItemID: itemID(h.KB, h.Path), RevisionID: h.RevisionID, Title: clip(h.Title, 300), Excerpt: cutFront(h.Content, excerptChars),
		Source:    knowledgeSource{KB: encodeName(h.KB), Path: encodeName(h.Path), Lines: &lineRange{h.FirstLine, h.LastLine}, Page: h.Page},
		Reference: docURI(h.KB, h.Path), Scores: scores,
	}
}

func (c *call) readKnowledge(ctx context.Context, item string) (*reply, error) {
	name, path, ok := strings.Cut(decodeName(item), "/")
	refs, err := c.visible(ctx)
	if err != nil {
		return nil, err
	}
	ref, found := findKB(refs, name)
	if _, err := docPath(encodeName(path)); err != nil || !ok || !found || ref.id == 0 {
		return nil, noKnowledge(item)
	}
	doc, ok, err := c.deps.Store.Document(ctx, ref.id, path)
	if err != nil {
		return nil, err
	}
	if !ok || doc.RevisionID == "" || !published(doc.Meta.Status) {
		return nil, noKnowledge(item)
	}
	offset, limit := c.v.num("offset", 0), c.v.num("limit_chars", 4000)
	t, ok, err := c.deps.Store.ReadRevision(ctx, ref.id, path, c.v.str("knowledge_revision_id"), offset, limit)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, noKnowledge(item)
	}
	end := offset + utf8.RuneCountInString(t.Content)
	out := knowledgeOut{
		Type: "knowledge", Owner: orElse(c.opts.Agent.Name, "local"), Team: encodeName(ref.root), Scope: knowledgeScope,
		KBID: encodeName(ref.name), ItemID: itemID(ref.name, path), RevisionID: t.RevisionID, Title: t.Title, Content: t.Content,
		Locator: fmt.Sprintf("%s, characters %d-%d", encodeName(path), offset, end),
		Source:  knowledgeSource{KB: encodeName(ref.name), Path: encodeName(path)}, Reference: docURI(ref.name, path),
		Offset: offset, Limit: limit, TotalChars: t.TotalChars, Truncated: end < t.TotalChars,
	}
	return &reply{data: out}, nil
}
