package mcpserver

import (
	"context"
	"fmt"
	"strings"

	"ragd/internal/store"
	"ragd/internal/wire"
)

type documentRow struct {
	Path    string        `json:"path"`
	Status  string        `json:"status"`
	Reason  string        `json:"reason,omitempty"`
	Chunks  int64         `json:"chunks"`
	Bytes   int64         `json:"bytes"`
	Quality *wire.Quality `json:"quality,omitempty"`
}

type listDocumentsOut struct {
	KB         string        `json:"kb"`
	Documents  []documentRow `json:"documents"`
	Total      int64         `json:"total"`
	NextCursor string        `json:"next_cursor,omitempty"`
	Freshness  freshness     `json:"freshness"`
}

// pageChars bounds a page of paths, which may be 4,096 bytes each: the page
// ends early and next_cursor goes on.
const pageChars = 40_000

func toolListDocuments() *tool {
	return &tool{
		name: "rag_list_documents", title: "List documents", idempotent: true,
		desc: "List the documents of one knowledge base by path, with status (indexed, pending, failed, excluded), chunks, bytes and the quality of the text. " +
			"Use it to see what there is or why a file is missing from search; to find something by content use rag_search. " +
			"Long listings come in pages: pass next_cursor on as cursor.",
		args: []arg{
			{name: "kb", desc: "Name of the knowledge base.", kind: argName, required: true},
			{name: "limit", desc: "Documents in this page.", kind: argInt, low: 1, high: 1000, def: 100},
			{name: "cursor", desc: "next_cursor of the page before; leave out for the first page.", kind: argOpaque, max: maxCursor},
		},
		out: object([]string{"kb", "documents", "total", "freshness"}, map[string]schema{
			"kb": text("Name of the knowledge base."),
			"documents": list(object([]string{"path", "status", "chunks", "bytes"}, map[string]schema{
				"path": text("Path, as rag_read takes it."), "status": oneOf("State in the index.", "indexed", "pending", "failed", "excluded"),
				"reason": text("Why it failed or is excluded."), "chunks": integer("Searchable chunks."), "bytes": integer("Size of the file."),
				"quality": qualitySchema(),
			})),
			"total":       integer("Documents in the knowledge base."),
			"next_cursor": text("There is more: pass this as cursor."),
			"freshness":   freshnessSchema(),
		}),
		run: runListDocuments,
	}
}

func runListDocuments(ctx context.Context, c *call) (*reply, error) {
	at, err := parseCursor("rag_list_documents", c.v.str("cursor"))
	if err != nil {
		return nil, err
	}
	ref, err := c.kb(ctx, c.v.str("kb"))
	if err != nil {
		return nil, err
	}
	out := listDocumentsOut{KB: encodeName(ref.name), Documents: []documentRow{}}
	if ref.id > 0 {
		docs, total, more, err := c.deps.Store.Documents(ctx, ref.id, store.Page{After: string(at.Path), Limit: c.v.num("limit", 100)}, nil)
		if err != nil {
			return nil, err
		}
		out.Total = total
		used := 0
		for i, d := range docs {
			row := documentRow{Path: encodeName(d.Path), Status: string(d.State), Reason: clip(d.Reason, 300), Chunks: d.Chunks, Bytes: d.Size}
			row.Quality = qualityOf(d)
			used += len(row.Path) + len(row.Reason) + qualityChars(row.Quality)
			out.Documents = append(out.Documents, row)
			if i == len(docs)-1 && !more {
				break
			}
			if used > pageChars || i == len(docs)-1 {
				out.NextCursor = cursor{Tool: "rag_list_documents", Path: []byte(d.Path)}.String()
				break
			}
		}
	}
	if out.Freshness, err = c.freshness(ctx, idsOf(ref), []kbRef{ref}); err != nil {
		return nil, err
	}
	return &reply{data: out, text: listDocumentsText(out)}, nil
}

// idsOf is the store's list for one KB: never nil, which would mean all.
func idsOf(ref kbRef) []int64 {
	if ref.id == 0 {
		return []int64{}
	}
	return []int64{ref.id}
}

func listDocumentsText(out listDocumentsOut) string {
	var b strings.Builder
	switch {
	case out.Total == 0:
		fmt.Fprintf(&b, "%s has no documents yet.\n", visible(out.KB, false))
	case len(out.Documents) == 0:
		fmt.Fprintf(&b, "%s: no more documents (%d in all).\n", visible(out.KB, false), out.Total)
	default:
		fmt.Fprintf(&b, "%s: %d of %s\n", visible(out.KB, false), len(out.Documents), count(out.Total, "document"))
	}
	for _, d := range out.Documents {
		fmt.Fprintf(&b, "- %s: %s, %s, %s", visible(d.Path, false), d.Status, count(d.Chunks, "chunk"), size(d.Bytes))
		if d.Reason != "" {
			fmt.Fprintf(&b, " (%s)", visible(d.Reason, false))
		}
		b.WriteString(qualityText(d.Quality))
		b.WriteByte('\n')
	}
	if out.NextCursor != "" {
		fmt.Fprintf(&b, "More: call rag_list_documents with cursor %s\n", out.NextCursor)
	}
	b.WriteString(out.Freshness.line())
	return strings.TrimSpace(b.String())
}
