package mcpserver

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"ragd/internal/fault"
	"ragd/internal/store"
)

type readOut struct {
	KB          string         `json:"kb"`
	Path        string         `json:"path"`
	RevisionID  string         `json:"revision_id"`
	Title       string         `json:"title"`
	FrontMatter map[string]any `json:"front_matter"`
	FrontError  string         `json:"front_matter_error,omitempty"`
	Content     string         `json:"content"`
	Offset      int            `json:"content_offset"`
	Limit       int            `json:"content_limit"`
	TotalChars  int            `json:"content_total_chars"`
	Truncated   bool           `json:"content_truncated"`
	Stale       bool           `json:"stale"`
	Freshness   freshness      `json:"freshness"`
}

const (
	maxReadChars = 100_000
	maxOffset    = 1 << 31
)

func toolRead() *tool {
	return &tool{
		name: "rag_read", title: "Read a document", idempotent: true,
		desc: "Read the text of one document, given kb and path (as rag_search cites them and rag_list_documents lists them). " +
			"Use it when a search result's excerpt is not enough. Without offset and limit_chars you get the whole text up to 100,000 characters; " +
			"while content_truncated is true, call again with offset = content_offset + the number of characters you got. " +
			"stale: true means that the file has changed since this text was indexed.",
		args: []arg{
			{name: "kb", desc: "Name of the knowledge base.", kind: argName, required: true},
			{name: "path", desc: "Path of the document in it.", kind: argName, required: true},
			{name: "offset", desc: "Characters to skip.", kind: argInt, low: 0, high: maxOffset, def: 0},
			{name: "limit_chars", desc: "Most characters to return.", kind: argInt, low: 1, high: maxReadChars, def: maxReadChars},
			{name: "revision", desc: "revision_id of an earlier answer, to read exactly that version; leave out for the current one.", kind: argText, max: 64},
		},
		out: object([]string{"kb", "path", "revision_id", "title", "front_matter", "content", "content_offset", "content_limit", "content_total_chars", "content_truncated", "stale", "freshness"}, map[string]schema{
			"kb": text("Knowledge base."), "path": text("Path."), "revision_id": text("Version of the document."), "title": text("Title."),
			"front_matter":        {"type": "object", "description": "Fields of the document's front matter; empty when it has none."},
			"front_matter_error":  text("The front matter could not be read, and where."),
			"content":             text("The text, without front matter."),
			"content_offset":      integer("Characters before content."),
			"content_limit":       integer("Most characters content can hold."),
			"content_total_chars": integer("Characters in the whole text."),
			"content_truncated":   boolean("There is more after content."),
			"stale":               boolean("The file has changed since this text was indexed."),
			"freshness":           freshnessSchema(),
		}),
		run: runRead,
	}
}

func runRead(ctx context.Context, c *call) (*reply, error) {
	path, err := docPath(c.v.str("path"))
	if err != nil {
		return nil, err
	}
	ref, err := c.kb(ctx, c.v.str("kb"))
	if err != nil {
		return nil, err
	}
	doc, err := c.document(ctx, ref, path)
	if err != nil {
		return nil, err
	}
	out := readOut{KB: encodeName(ref.name), Path: encodeName(doc.Path), Offset: c.v.num("offset", 0), Limit: c.v.num("limit_chars", maxReadChars)}
	t, ok, err := c.deps.Store.ReadRevision(ctx, ref.id, doc.Path, c.v.str("revision"), out.Offset, out.Limit)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, noRevision(doc, c.v.str("revision"))
	}
	out.RevisionID, out.Title, out.Content, out.TotalChars = t.RevisionID, t.Title, t.Content, t.TotalChars
	out.FrontMatter, out.FrontError = plainMap(t.Front), t.FrontError
	out.Truncated = out.Offset+utf8.RuneCountInString(t.Content) < t.TotalChars
	out.Stale = !t.Current || c.stale(ctx, ref, doc)
	if out.Freshness, err = c.freshness(ctx, idsOf(ref), []kbRef{ref}); err != nil {
		return nil, err
	}
	return &reply{data: out, text: readText(&out)}, nil
}

// document finds a document by its path, or by the same path in the other
// Unicode normal form, which is how some systems write it. The error says why
// there is none.
func (s *Server) document(ctx context.Context, ref kbRef, path string) (store.DocRecord, error) {
	if ref.id > 0 {
		for _, p := range spellings(path) {
			doc, ok, err := s.deps.Store.Document(ctx, ref.id, p)
			if err != nil {
				return store.DocRecord{}, err
			}
			if ok {
				return doc, nil
			}
		}
	}
	entry, err := s.deps.Files.Stat(ref.doc(path))
	switch {
	case err != nil, entry.Verdict.Code == "missing", entry.Mode.IsDir():
	case entry.Verdict.Code == "ok":
		return store.DocRecord{}, fault.New(fault.Transient, "document_not_indexed", "%s is not indexed yet", clip(encodeName(path), 200)).
			WithHint("Ask again in a moment.")
	default:
		return store.DocRecord{}, fault.New(fault.NotFound, "document_excluded", "%s is not indexed: %s", clip(encodeName(path), 200), entry.Verdict.Reason)
	}
	return store.DocRecord{}, fault.New(fault.NotFound, "document_not_found", "there is no document %q in %s", clip(encodeName(path), 200), clip(encodeName(ref.name), 100)).
		WithHint("rag_list_documents lists the paths; rag_search finds documents by content.")
}

func noRevision(doc store.DocRecord, uid string) error {
	name := clip(encodeName(doc.Path), 200)
	switch {
	case uid != "":
		return fault.New(fault.NotFound, "revision_not_found", "%s has no revision %q", name, clip(uid, 64)).
			WithHint("Old revisions are kept for a limited time; leave revision out to read the current one.")
	case doc.State == store.StateFailed:
		return fault.New(fault.NotFound, "document_failed", "%s could not be indexed: %s", name, clip(doc.Reason, 300)).
			WithHint("rag_jobs tells more; it is tried again when the file changes.")
	case doc.State == store.StateExcluded:
		return fault.New(fault.NotFound, "document_excluded", "%s is not indexed: %s", name, clip(doc.Reason, 300))
	}
	return fault.New(fault.Transient, "document_not_indexed", "%s is not indexed yet", name).WithHint("Ask again in a moment.")
}

func readText(out *readOut) string {
	var b strings.Builder
	end := out.Offset + utf8.RuneCountInString(out.Content)
	fmt.Fprintf(&b, "%s/%s", visible(out.KB, false), visible(out.Path, false))
	if out.Title != "" {
		fmt.Fprintf(&b, " · %s", visible(out.Title, false))
	}
	fmt.Fprintf(&b, "\ncharacters %d-%d of %d · revision %s\n", out.Offset, end, out.TotalChars, out.RevisionID)
	if out.Stale {
		b.WriteString("Stale: the file has changed since this text was indexed.\n")
	}
	if out.FrontError != "" {
		b.WriteString(visible(out.FrontError, false) + "\n")
	}
	if len(out.FrontMatter) > 0 {
		if fm, err := encode(out.FrontMatter); err == nil {
			fmt.Fprintf(&b, "front matter: %s\n", visible(string(fm), false))
		}
	}
	if line := out.Freshness.line(); line != "" {
		b.WriteString(line + "\n")
	}
	b.WriteString("\n" + showText(out.Content))
	if out.Truncated {
		fmt.Fprintf(&b, "\n[… more: call rag_read with offset %d]", end)
	}
	return b.String()
}

// plainMap makes front matter fit for JSON: YAML has keys and numbers that
// JSON has not.
func plainMap(m map[string]any) map[string]any {
	out := make(map[string]any, len(m))
	for k, v := range m {
		out[strings.ToValidUTF8(k, "�")] = plainValue(v, 0)
	}
	return out
}

const maxFrontDepth = 32

func plainValue(v any, depth int) any {
	if depth > maxFrontDepth {
		return "…"
	}
	switch x := v.(type) {
	case nil, bool, int, int64, uint64:
		return x
	case string:
		return x
	case map[string]any:
		out := make(map[string]any, len(x))
		for k, e := range x {
			out[k] = plainValue(e, depth+1)
		}
		return out
	case map[any]any:
		out := make(map[string]any, len(x))
		for k, e := range x {
			out[fmt.Sprint(k)] = plainValue(e, depth+1)
		}
		return out
	case []any:
		out := slices.Clone(x)
		for i := range out {
			out[i] = plainValue(out[i], depth+1)
		}
		return out
	}
	if b, err := encode(v); err == nil && len(b) > 0 {
		return rawValue(b)
	}
	return fmt.Sprint(v) // NaN, infinities
}
