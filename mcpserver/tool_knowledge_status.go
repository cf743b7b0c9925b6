package mcpserver

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ragd/internal/store"
)

type knowledgeStatusOut struct {
	ProjectID             string   `json:"projectId"`
	TenantID              string   `json:"tenantId"`
	Indexed               bool     `json:"indexed"`
	ChunkCount            int64    `json:"chunkCount"`
	ItemCount             int      `json:"itemCount"`
	ImportedItemIDs       []string `json:"importedItemIds"`
	ItemsTruncated        bool     `json:"itemsTruncated,omitempty"`
	RegisteredInUserIndex bool     `json:"registeredInUserIndex"`
	Hint                  string   `json:"hint,omitempty"`
}

const maxItems = 10_000

func toolKnowledgeStatus() *tool {
	return &tool{
		name: "knowledge_status", title: "Is a knowledge base indexed?", jsonText: true, idempotent: true, advanced: true,
		desc: "Tell whether a knowledge base is indexed for you, so that an empty search can be understood: indexed true means that an empty search found no match; " +
			"false comes with a hint that says what is missing. rag_status tells about the daemon as a whole.",
		args: []arg{{name: "projectId", desc: "Name or id of the knowledge base.", kind: argName, required: true}},
		out: object([]string{"projectId", "tenantId", "indexed", "chunkCount", "itemCount", "importedItemIds", "registeredInUserIndex"}, map[string]schema{
			"projectId": text("As given."), "tenantId": text("The root that you have selected, or that the knowledge base lies under."),
			"indexed": boolean("A search of it could find something."), "chunkCount": integer("Searchable chunks."), "itemCount": integer("Length of importedItemIds."),
			"importedItemIds": list(text("Id of a searchable document.")), "itemsTruncated": boolean("There are more documents than importedItemIds lists."),
			"registeredInUserIndex": boolean("It is indexed, perhaps under another root than yours."), "hint": text("When not indexed: what is missing."),
		}),
		run: runKnowledgeStatus,
	}
}

func runKnowledgeStatus(ctx context.Context, c *call) (*reply, error) {
	id := c.v.str("projectId")
	out := knowledgeStatusOut{ProjectID: id, TenantID: c.scope.root, ImportedItemIDs: []string{}}
	refs, err := c.nameable(ctx)
	if err != nil {
		return nil, err
	}
	ref, ok := findKB(refs, decodeName(id))
	if n, err := strconv.ParseInt(id, 10, 64); !ok && err == nil {
		if i := slices.IndexFunc(refs, func(r kbRef) bool { return r.id == n && n > 0 }); i >= 0 {
			ref, ok = refs[i], true
		}
	}
	if !ok {
		out.Hint = "never indexed: there is no knowledge base of this name; rag_list_kbs lists them"
		return &reply{data: out}, nil
	}
	if out.TenantID == "" {
		out.TenantID = encodeName(ref.root)
	}
	st, err := c.kbStats(ctx, ref)
	if err != nil {
		return nil, err
	}
	out.RegisteredInUserIndex = st.Chunks > 0
	mine := c.scope.root == "" || c.scope.root == ref.root
	switch {
	case out.RegisteredInUserIndex && mine:
		out.Indexed, out.ChunkCount = true, st.Chunks
		if err := c.items(ctx, ref, &out); err != nil {
			return nil, err
		}
	case out.RegisteredInUserIndex:
		out.Hint = fmt.Sprintf("it is indexed under the root %s, and %s is selected: switch to %s, or put the documents under %s to have them indexed here",
			encodeName(ref.root), encodeName(c.scope.root), encodeName(ref.root), encodeName(c.scope.root))
	default:
		if out.Hint, err = c.whyNotIndexed(ctx, ref, st); err != nil {
			return nil, err
		}
	}
	return &reply{data: out}, nil
}

func (c *call) kbStats(ctx context.Context, ref kbRef) (store.KBStats, error) {
	if ref.id == 0 {
		return store.KBStats{}, nil
	}
	stats, err := c.deps.Store.KBStats(ctx, []int64{ref.id})
	if err != nil {
		return store.KBStats{}, err
	}
	i := slices.IndexFunc(stats, func(st store.KBStats) bool { return st.ID == ref.id })
	if i < 0 {
		return store.KBStats{}, nil
	}
	return stats[i], nil
}

// items lists the ids of the searchable documents.
func (c *call) items(ctx context.Context, ref kbRef, out *knowledgeStatusOut) error {
	after := ""
	for {
		docs, _, more, err := c.deps.Store.Documents(ctx, ref.id, store.Page{After: after, Limit: 1000}, nil)
		if err != nil {
			return err
		}
		for _, d := range docs {
			after = d.Path
			if d.RevisionID == "" {
				continue
			}
			if len(out.ImportedItemIDs) == maxItems {
				out.ItemsTruncated = true
				return nil
			}
			out.ImportedItemIDs = append(out.ImportedItemIDs, itemID(ref.name, d.Path))
			out.ItemCount++
		}
		if !more || len(docs) == 0 {
			return nil
		}
	}
}

// itemID is a document's id to the outside: the same after a rebuild.
func itemID(kb, path string) string { return encodeName(kb + "/" + path) }

func (c *call) whyNotIndexed(ctx context.Context, ref kbRef, st store.KBStats) (string, error) {
	var parts []string
	if n := st.Pending + st.Processing; n > 0 {
		parts = append(parts, count(n, "document")+" pending")
	}
	if st.Failed > 0 {
		part := fmt.Sprintf("%d failed", st.Failed)
		jobs, _, err := c.deps.Store.ListJobs(ctx, JobQuery{KBs: idsOf(ref), State: store.JobFailed, Limit: 1})
		if err != nil {
			return "", err
		}
		if len(jobs) > 0 {
			part += fmt.Sprintf(" (%s: %s)", clip(encodeName(jobs[0].Path), 200), clip(jobs[0].Message, 200))
		}
		parts = append(parts, part)
	}
	if len(parts) == 0 {
		return "never indexed: the folder has no documents that can be indexed", nil
	}
	return "not indexed yet: " + strings.Join(parts, ", "), nil
}
