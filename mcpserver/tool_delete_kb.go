package mcpserver

import (
	"context"
	"fmt"

	"ragd/internal/fault"
	"ragd/internal/store"
	"ragd/kbroot"
)

type deleteKBOut struct {
	KB        string `json:"kb"`
	Existed   bool   `json:"existed"`
	Documents int64  `json:"documents"`
	Note      string `json:"note,omitempty"`
}

func toolDeleteKB() *tool {
	return &tool{
		name: "rag_delete_kb", title: "Delete a knowledge base", writes: true, destructive: true, idempotent: true, advanced: true,
		desc: "Delete a whole knowledge base: its folder with all files, and its index. There is no undo, so confirm: true is required; without it you are told how many documents would go. " +
			"Of a mounted folder only the index is deleted, never the files.",
		args: []arg{
			{name: "kb", desc: "Name of the knowledge base.", kind: argName, required: true},
			{name: "confirm", desc: "Must be true.", kind: argBool},
		},
		out: object([]string{"kb", "existed", "documents"}, map[string]schema{
			"kb": text("Knowledge base."), "existed": boolean("It was there and is gone now."),
			"documents": integer("Documents that were deleted."), "note": text("What was kept."),
		}),
		run: runDeleteKB,
	}
}

func runDeleteKB(ctx context.Context, c *call) (*reply, error) {
	refs, err := c.visible(ctx)
	if err != nil {
		return nil, err
	}
	ref, ok := findKB(refs, decodeName(c.v.str("kb")))
	out := deleteKBOut{KB: encodeName(decodeName(c.v.str("kb")))}
	if ok && ref.id > 0 {
		// All that rag_list_documents shows, also what could not be indexed.
		_, out.Documents, _, err = c.deps.Store.Documents(ctx, ref.id, store.Page{Limit: 1}, nil)
		if err != nil {
			return nil, err
		}
	}
	if !c.v.flag("confirm") {
		return nil, fault.New(fault.Invalid, "confirm_required", "this would delete %s of %q; nothing was deleted", count(out.Documents, "document"), clip(out.KB, 100)).
			WithHint("Call again with confirm: true if that is meant.")
	}
	if !ok {
		out.Documents = 0
		return &reply{data: out, text: fmt.Sprintf("There was no knowledge base %s; nothing was deleted.", visible(out.KB, false))}, nil
	}
	doc := kbroot.DocPath{KB: ref.name}
	// Begun is finished: half a deletion helps nobody.
	work := context.WithoutCancel(ctx)
	if !ref.mounted && ref.onDisk {
		if err := c.deps.Files.RemoveKB(ref.name); err != nil && fault.KindOf(err) != fault.NotFound {
			c.audit("delete_kb", doc, "", "", err)
			return nil, err
		}
	}
	existed, n, err := c.deps.Index.ForgetKB(work, ref.name)
	c.audit("delete_kb", doc, "", "", err)
	if err != nil {
		return nil, err
	}
	out.Existed, out.Documents = existed || ref.onDisk, max(n, out.Documents)
	line := fmt.Sprintf("%s deleted with %s.", visible(out.KB, false), count(out.Documents, "document"))
	if ref.mounted {
		out.Note = "it is a mounted folder: its files were kept, only the index was deleted"
		line = fmt.Sprintf("%s: the index of %s was deleted; the files of the mounted folder were kept.", visible(out.KB, false), count(out.Documents, "document"))
	}
	return &reply{data: out, text: line}, nil
}
