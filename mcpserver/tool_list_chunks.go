package mcpserver

import (
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"ragd/internal/fault"
)

type chunkEntry struct {
	SourcePath   string  `json:"source_path"`
	ChunkCount   int64   `json:"chunk_count"`
	ActiveCount  int64   `json:"active_count"`
	LastSyncedAt string  `json:"last_synced_at"`
	ContentHash  string  `json:"content_hash"`
	IdentityID   *string `json:"identity_id"`
}

type listChunksOut struct {
	Success   bool         `json:"success"`
	Entries   []chunkEntry `json:"entries"`
	Total     int64        `json:"total"`
	Truncated bool         `json:"truncated"`
	Prefix    string       `json:"prefix"`
	Summary   string       `json:"summary"`
}

type listChunksFailure struct {
	Error         bool   `json:"error"`
	Code          string `json:"code"`
	Message       string `json:"message"`
	AIInstruction string `json:"aiInstruction"`
}

func toolListChunks() *tool {
	return &tool{
		name: "list_chunks", title: "List indexed sources", jsonText: true, idempotent: true, advanced: true,
		desc: "List what is indexed under a path prefix, one entry per document with chunk counts, last sync and content hash. " +
			"Use it to compare the index with another copy of the documents (content_hash changes exactly when the text does); to find content use rag_search, to browse use rag_list_documents.",
		args: []arg{
			{name: "prefix", desc: `Literal, case-sensitive start of source_path, which is <knowledge base>/<path>; "" lists everything.`, kind: argName, required: true, empty: true},
			{name: "limit", desc: "Most entries to return.", kind: argInt, low: 1, high: 1000, def: 100},
			{name: "includeDeprecated", desc: "Count chunks of superseded revisions and list deleted documents too.", kind: argBool, def: false},
		},
		out: object([]string{"success", "entries", "total", "truncated", "prefix", "summary"}, map[string]schema{
			"success": boolean("true"),
			"entries": list(object([]string{"source_path", "chunk_count", "active_count", "last_synced_at", "content_hash", "identity_id"}, map[string]schema{
				"source_path": text("<knowledge base>/<path>."), "chunk_count": integer("Chunks; with includeDeprecated superseded ones too."), "active_count": integer("Chunks that search sees."),
				"last_synced_at": text("When the newest chunk was made, ISO 8601 UTC."), "content_hash": text("SHA-256 over the hashes of the active chunks."),
				"identity_id": {"type": []string{"string", "null"}, "description": "artifact_id of the document's front matter."},
			})),
			"total": integer("Entries there are in all."), "truncated": boolean("total is more than limit: use a longer prefix or a larger limit."),
			"prefix": text("As given."), "summary": text("The count in words."),
		}),
		failure: chunksFailure,
		failureSchema: object([]string{"error", "code", "message", "aiInstruction"}, map[string]schema{
			"error": boolean("On failure: true."), "code": text("On failure: DATABASE_ERROR, UNKNOWN_ERROR or INVALID_ARGUMENT."),
			"message": text("On failure: what was wrong and what is allowed."), "aiInstruction": text("On failure: the next step."),
		}),
		run: runListChunks,
	}
}

func chunksFailure(e *fault.Error, panicked bool) any {
	out := listChunksFailure{Error: true, Code: "UNKNOWN_ERROR", Message: e.Message, AIInstruction: e.Hint}
	switch e.Kind {
	case fault.Invalid, fault.NotFound, fault.Denied:
		out.Code = "INVALID_ARGUMENT"
	case fault.Internal, fault.Transient, fault.Unavailable, fault.Permanent:
		if !panicked {
			out.Code = "DATABASE_ERROR"
		}
	}
	return out
}

func runListChunks(ctx context.Context, c *call) (*reply, error) {
	prefix, limit, deprecated := decodeName(c.v.str("prefix")), c.v.num("limit", 100), c.v.flag("includeDeprecated")
	refs, err := c.visible(ctx)
	if err != nil {
		return nil, err
	}
	// In the order of "<name>/", KB by KB is the order of source_path.
	slices.SortFunc(refs, func(a, b kbRef) int { return strings.Compare(a.name+"/", b.name+"/") })
	out := listChunksOut{Success: true, Entries: []chunkEntry{}, Prefix: c.v.str("prefix")}
	for _, ref := range refs {
		within, ok := pathPrefix(ref.name, prefix)
		if !ok || ref.id == 0 {
			continue
		}
		entries, total, err := c.deps.Chunks.ListChunks(ctx, ref.id, within, deprecated, limit-len(out.Entries))
		if err != nil {
			return nil, err
		}
		out.Total += total
		for _, e := range entries {
			out.Entries = append(out.Entries, chunkEntryOf(ref.name, e, deprecated))
		}
	}
	out.Truncated = out.Total > int64(len(out.Entries))
	out.Summary = fmt.Sprintf("%s under %q", count(out.Total, "source path"), clip(out.Prefix, 100))
	if out.Truncated {
		out.Summary += fmt.Sprintf("; the first %d are listed, use a longer prefix or a larger limit for the rest", len(out.Entries))
	}
	return &reply{data: out}, nil
}

// pathPrefix is the part of a source_path prefix that falls on a KB's paths;
// false when none of them can start with it.
func pathPrefix(kb, prefix string) (string, bool) {
	whole := kb + "/"
	if rest, ok := strings.CutPrefix(prefix, whole); ok {
		return rest, true
	}
	return "", strings.HasPrefix(whole, prefix)
}

func chunkEntryOf(kb string, e ChunkEntry, deprecated bool) chunkEntry {
	out := chunkEntry{
		SourcePath: encodeName(kb + "/" + e.Path), ChunkCount: e.Active, ActiveCount: e.Active,
		LastSyncedAt: isoTime(e.LastSynced), ContentHash: hex.EncodeToString(e.Hash[:]),
	}
	if deprecated {
		out.ChunkCount = e.Chunks
	}
	if e.ArtifactID != "" {
		out.IdentityID = &e.ArtifactID
	}
	return out
}

func isoTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
