package mcpserver

import (
	"context"
	"fmt"
	"strings"

	"ragd/internal/store"
)

type kbRow struct {
	Name      string `json:"name"`
	Documents int64  `json:"documents"`
	Chunks    int64  `json:"chunks"`
	Bytes     int64  `json:"bytes"`
}

type listKBsOut struct {
	KBs       []kbRow   `json:"kbs"`
	Total     int       `json:"total"`
	Freshness freshness `json:"freshness"`
}

const maxKBs = 1000

func toolListKBs() *tool {
	return &tool{
		name: "rag_list_kbs", title: "List knowledge bases", idempotent: true,
		desc: "List the knowledge bases (folders of documents) you can search, with how many documents, chunks and bytes each holds. " +
			"Use it to learn the names that the kb argument of the other tools takes; to find something, call rag_search right away (it searches all of them).",
		out: object([]string{"kbs", "total", "freshness"}, map[string]schema{
			"kbs": list(object([]string{"name", "documents", "chunks", "bytes"}, map[string]schema{
				"name": text("Name, as the kb argument takes it."), "documents": integer("Searchable documents."),
				"chunks": integer("Searchable chunks."), "bytes": integer("Size of the documents' files."),
			})),
			"total":     integer("How many there are; kbs holds at most 1000."),
			"freshness": freshnessSchema(),
		}),
		run: runListKBs,
	}
}

func runListKBs(ctx context.Context, c *call) (*reply, error) {
	refs, err := c.visible(ctx)
	if err != nil {
		return nil, err
	}
	ids := c.storeIDs("", refs)
	stats, err := c.deps.Store.KBStats(ctx, ids)
	if err != nil {
		return nil, err
	}
	fresh, err := c.freshness(ctx, ids, refs)
	if err != nil {
		return nil, err
	}
	byName := make(map[string]store.KBStats, len(stats))
	for _, st := range stats {
		byName[st.Name] = st
	}
	out := listKBsOut{KBs: []kbRow{}, Total: len(refs), Freshness: fresh}
	for _, r := range refs[:min(len(refs), maxKBs)] {
		st := byName[r.name]
		out.KBs = append(out.KBs, kbRow{encodeName(r.name), st.Documents, st.Chunks, st.Bytes})
	}
	return &reply{data: out, text: listKBsText(out, c)}, nil
}

func listKBsText(out listKBsOut, c *call) string {
	var b strings.Builder
	if out.Total == 0 {
		b.WriteString(c.noKBs())
	} else {
		fmt.Fprintf(&b, "%s:\n", count(int64(out.Total), "knowledge base"))
		for _, k := range out.KBs {
			fmt.Fprintf(&b, "- %s: %s, %s, %s\n", visible(k.Name, false), count(k.Documents, "document"), count(k.Chunks, "chunk"), size(k.Bytes))
		}
		if out.Total > len(out.KBs) {
			fmt.Fprintf(&b, "… and %d more; name one in rag_search or rag_list_documents.\n", out.Total-len(out.KBs))
		}
	}
	b.WriteString(out.Freshness.line())
	return strings.TrimSpace(b.String())
}

// noKBs says where folders go.
func (s *Server) noKBs() string {
	if !s.scope.all() {
		return "There are no knowledge bases that this connection may see."
	}
	var where, gone []string
	for _, r := range s.deps.Files.Roots() {
		switch {
		case r.Mounted:
		case r.Available:
			where = append(where, showName(r.Dir))
		default:
			gone = append(gone, showName(r.Dir)+" ("+showText(r.Reason)+")")
		}
	}
	msg := "There are no knowledge bases yet."
	if len(where) > 0 {
		msg += " Make a folder with documents in it under " + strings.Join(where, " or ") + ": each folder there is a knowledge base."
	}
	if len(gone) > 0 {
		msg += " Not readable just now: " + strings.Join(gone, ", ") + "."
	}
	return msg
}
