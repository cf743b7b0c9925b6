package mcpserver

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"ragd/internal/fault"
	"ragd/internal/search"
	"ragd/internal/store"
)

type docRow struct {
	ID        string   `json:"id"`
	Namespace string   `json:"namespace"`
	Path      string   `json:"path"`
	Title     string   `json:"title"`
	Type      string   `json:"type"`
	Status    string   `json:"status"`
	Tags      []string `json:"tags"`
	CreatedAt *string  `json:"created_at"`
	UpdatedAt *string  `json:"updated_at"`
	Snippet   string   `json:"snippet,omitempty"` // search
	Match     string   `json:"match,omitempty"`   // search
}

type namespaceRow struct {
	Namespace string   `json:"namespace"`
	Repos     []string `json:"repos"`
}

type findDocsOut struct {
	Count      int            `json:"count"`
	Limit      int            `json:"limit"`
	Truncated  bool           `json:"truncated"`
	Note       string         `json:"note,omitempty"`
	Reason     string         `json:"reason,omitempty"` // why a search found nothing
	Fallback   string         `json:"fallback,omitempty"`
	Documents  []docRow       `json:"documents,omitzero"`
	Namespaces []namespaceRow `json:"namespaces,omitzero"`
	Freshness  *freshness     `json:"freshness,omitempty"`
}

const (
	maxListed  = 500
	maxFound   = 25
	foundDepth = 100 // hits looked at for the found documents
)

func toolFindDocs() *tool {
	return &tool{
		name: "capsid_find_docs", title: "Find documents", jsonText: true, idempotent: true,
		desc: "Find documents (not passages) and their metadata; nothing is changed. action list: all, or by type and status; glob: by path pattern; search: the 25 best for a query; " +
			"namespaces: the knowledge bases (a namespace is one) with the git remotes they come from. For passages to cite use rag_search; to read a document use rag_read with kb = namespace.",
		args: []arg{
			{name: "action", desc: "What to do.", kind: argText, enum: []string{"list", "glob", "search", "namespaces"}, def: "list"},
			{name: "namespace", desc: "Only this knowledge base; leave out for all.", kind: argName, max: 64},
			{name: "type", desc: "list, search: only documents of this type.", kind: argText, max: 64},
			{name: "status", desc: "list: only documents of this status.", kind: argText, max: 64},
			{name: "glob", desc: "glob: SQLite GLOB over the path: * crosses /, ? is one character, [...] a class; case-sensitive.", kind: argName, max: 512},
			{name: "query", desc: "search: what to find.", kind: argText, max: 512},
			{name: "mode", desc: "search: hybrid, keyword (FTS5 syntax: phrases, AND, OR, NOT, NEAR, prefix*) or semantic.", kind: argText, enum: []string{"hybrid", "keyword", "semantic"}, def: "hybrid"},
			{name: "include_retired", desc: "search: also documents of status closed or superseded.", kind: argBool, def: false},
		},
		out: object([]string{"count", "limit", "truncated"}, map[string]schema{
			"count": integer("Rows in this answer."), "limit": integer("Most rows an answer has."), "truncated": boolean("There are more rows than limit."),
			"note": text("How to get at the rest, or how the query was taken."), "reason": text("search: why there are no documents."), "fallback": text("Why the search could not use meaning."),
			"documents": list(object([]string{"id", "namespace", "path", "title", "type", "status", "tags", "created_at", "updated_at"}, map[string]schema{
				"id": text("Stable id of the document."), "namespace": text("Knowledge base."), "path": text("Path."), "title": text("Title."), "type": text("Type."), "status": text("Status."),
				"tags": list(text("A tag.")), "created_at": {"type": []string{"string", "null"}, "description": "From its front matter."}, "updated_at": {"type": []string{"string", "null"}, "description": "From its front matter, else when the file changed."},
				"snippet": text("search: the best passage."), "match": oneOf("search: how it was found.", "keyword", "meaning", "both"),
			})),
			"namespaces": list(object([]string{"namespace", "repos"}, map[string]schema{"namespace": text("Knowledge base."), "repos": list(text("A git remote."))})),
			"freshness":  freshnessSchema(),
		}),
		run: runFindDocs,
	}
}

// actionArgs says which arguments go with which action.
func actionArgs(action string) []string {
	switch action {
	case "glob":
		return []string{"action", "glob", "namespace"}
	case "search":
		return []string{"action", "query", "namespace", "type", "mode", "include_retired"}
	case "namespaces":
		return []string{"action"}
	}
	return []string{"action", "namespace", "type", "status"}
}

func runFindDocs(ctx context.Context, c *call) (*reply, error) {
	action := c.v.str("action")
	if action == "" {
		action = "list"
	}
	allowed := actionArgs(action)
	for _, a := range toolFindDocs().args { // in the order of the schema, so the answer is stable
		if _, given := c.v[a.name]; given && !slices.Contains(allowed, a.name) {
			return nil, fault.New(fault.Invalid, "invalid_argument", "%s does not go with action %s, which takes %v", a.name, action, allowed[1:]).WithHint("Leave it out.")
		}
	}
	refs, err := c.visible(ctx)
	if err != nil {
		return nil, err
	}
	if ns := c.v.str("namespace"); ns != "" {
		ref, err := c.kb(ctx, ns)
		if err != nil {
			return nil, err
		}
		refs = []kbRef{ref}
	}
	switch action {
	case "namespaces":
		return c.namespaces(refs), nil
	case "search":
		return c.searchDocs(ctx, refs)
	case "glob":
		if c.v.str("glob") == "" {
			return nil, fault.New(fault.Invalid, "missing_argument", "action glob needs glob: a pattern of 1 to 512 characters").WithHint("For example **/*.md.")
		}
		return c.listDocs(ctx, refs, DocFilter{Glob: decodeName(c.v.str("glob"))})
	}
	return c.listDocs(ctx, refs, DocFilter{Type: c.v.str("type"), Status: c.v.str("status")})
}

func (c *call) listDocs(ctx context.Context, refs []kbRef, f DocFilter) (*reply, error) {
	out := findDocsOut{Limit: maxListed, Documents: []docRow{}}
	for _, ref := range refs {
		if ref.id == 0 || len(out.Documents) > maxListed {
			continue
		}
		docs, err := c.deps.Docs.FindDocs(ctx, ref.id, f, maxListed+1-len(out.Documents))
		if err != nil {
			return nil, err
		}
		for _, d := range docs {
			out.Documents = append(out.Documents, docRowOf(ref.name, d))
		}
	}
	if len(out.Documents) > maxListed {
		out.Documents, out.Truncated = out.Documents[:maxListed], true
		out.Note = fmt.Sprintf("only the first %d are listed; narrow it with namespace, type, status or action glob, or use action search", maxListed)
	}
	out.Count = len(out.Documents)
	return &reply{data: out}, nil
}

func (c *call) namespaces(refs []kbRef) *reply {
	out := findDocsOut{Limit: maxListed, Namespaces: []namespaceRow{}}
	for _, ref := range refs[:min(len(refs), maxListed)] {
		row := namespaceRow{Namespace: encodeName(ref.name), Repos: []string{}}
		if kb, ok := c.deps.Files.KB(ref.name); ok {
			row.Repos = gitRemotes(kb.Dir)
		}
		out.Namespaces = append(out.Namespaces, row)
	}
	if out.Truncated = len(refs) > maxListed; out.Truncated {
		out.Note = fmt.Sprintf("only the first %d are listed", maxListed)
	}
	out.Count = len(out.Namespaces)
	return &reply{data: out}
}

func (c *call) searchDocs(ctx context.Context, refs []kbRef) (*reply, error) {
	if c.v.str("query") == "" {
		return nil, fault.New(fault.Invalid, "missing_argument", "action search needs query: a string of 1 to 512 characters").WithHint("Say what to find.")
	}
	ids := c.storeIDs(c.v.str("namespace"), refs)
	req := search.Request{
		Query: c.v.str("query"), KBs: ids, TopK: foundDepth, PerDocument: 1, IncludeRetired: c.v.flag("include_retired"),
		SnippetChars: min(300, c.opts.Limits.SnippetChars),
	}
	if t := c.v.str("type"); t != "" {
		req.Types = []string{t}
	}
	engine := c.deps.Search
	switch c.v.str("mode") {
	case "keyword":
		req.Mode = search.ModeKeyword
		if c.deps.FTS != nil {
			engine = c.deps.FTS
		}
	case "semantic":
		req.Mode = search.ModeMeaning
	}
	resp, err := c.find(ctx, engine, req)
	if err != nil {
		return nil, err
	}
	out := findDocsOut{Limit: maxFound, Documents: []docRow{}, Fallback: clip(resp.Fallback, 300)}
	if out.Fallback == "" && req.Mode != search.ModeKeyword && c.deps.Status != nil {
		if e := c.deps.Status.Status().Embedder; e.State == "off" {
			out.Fallback = "searched by keyword: search by meaning is turned off"
		}
	}
	best := bestPerDocument(resp.Hits)
	if out.Truncated = len(best) > maxFound || resp.Truncated; out.Truncated {
		out.Note = "these are the best matches; narrow the query, or name a namespace or type, for others"
	}
	if resp.Note != "" {
		out.Note = strings.TrimPrefix(out.Note+"; "+clip(resp.Note, 300), "; ")
	}
	for _, h := range canonFirst(best)[:min(len(best), maxFound)] {
		i := slices.IndexFunc(refs, func(r kbRef) bool { return r.name == h.KB })
		if i < 0 {
			continue // a KB that came after refs were listed
		}
		d, ok, err := c.deps.Store.Document(ctx, refs[i].id, h.Path)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue // deleted meanwhile
		}
		row := docRowOf(h.KB, d)
		row.Snippet, row.Match = h.Content, h.Match
		out.Documents = append(out.Documents, row)
	}
	out.Count = len(out.Documents)
	fresh, err := c.freshness(ctx, ids, refs)
	if err != nil {
		return nil, err
	}
	out.Freshness = &fresh
	if out.Count == 0 {
		if out.Reason, err = c.whyEmpty(ctx, ids, refs, fresh); err != nil {
			return nil, err
		}
	}
	return &reply{data: out}, nil
}

// bestPerDocument keeps the first hit of each document.
func bestPerDocument(hits []search.Hit) []search.Hit {
	type key struct{ kb, path string }
	seen := make(map[key]bool, len(hits))
	return slices.DeleteFunc(slices.Clone(hits), func(h search.Hit) bool {
		k := key{h.KB, h.Path}
		if seen[k] {
			return true
		}
		seen[k] = true
		return false
	})
}

// canonRelevant is the part of the best score that makes a hit relevant, so
// that being canon lifts it to the front.
const canonRelevant = 0.5

// canonFirst puts the relevant canon hits first; else the order stays.
func canonFirst(hits []search.Hit) []search.Hit {
	if len(hits) == 0 {
		return hits
	}
	floor := hits[0].Score * canonRelevant
	first := func(h search.Hit) bool { return (h.Canon || h.Status == "canon") && h.Score >= floor }
	out := make([]search.Hit, 0, len(hits))
	for _, want := range []bool{true, false} {
		for _, h := range hits {
			if first(h) == want {
				out = append(out, h)
			}
		}
	}
	return out
}

func docRowOf(kb string, d store.DocRecord) docRow {
	row := docRow{
		ID: encodeName(kb + "/" + d.Path), Namespace: encodeName(kb), Path: encodeName(d.Path), Title: clip(d.Meta.Title, 300),
		Type: orElse(d.Meta.Type, "note"), Status: orElse(d.Meta.Status, "published"), Tags: d.Meta.Tags[:min(len(d.Meta.Tags), 100)],
	}
	if row.Tags == nil {
		row.Tags = []string{}
	}
	if d.Meta.Created != "" {
		row.CreatedAt = &d.Meta.Created
	}
	switch {
	case d.Meta.Updated != "":
		row.UpdatedAt = &d.Meta.Updated
	case d.Stat.MTimeNS != 0:
		s := isoTime(unixNano(d.Stat.MTimeNS))
		row.UpdatedAt = &s
	}
	return row
}

func orElse(s, def string) string {
	if s == "" {
		return def
	}
	return s
}
