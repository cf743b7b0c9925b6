package mcpserver

import (
	"context"
	"fmt"

	"ragd/kbroot"
)

type reindexOut struct {
	Added    int `json:"added"`
	Modified int `json:"modified"`
	Deleted  int `json:"deleted"`
	Skipped  int `json:"skipped"`
	Excluded int `json:"excluded"`
	Enqueued int `json:"enqueued"`
}

func toolReindex() *tool {
	return &tool{
		name: "rag_reindex", title: "Compare disk and index", writes: true, idempotent: true,
		desc: "Compare the files on disk with the index now and queue what differs. Changes are noticed by themselves, so this is rarely needed. " +
			"force: true queues every document again; what is indexed stays searchable until its replacement is in. Returns before the indexing is done.",
		args: []arg{
			{name: "force", desc: "Index every document again.", kind: argBool, def: false},
			{name: "kb", desc: "Only this knowledge base; leave out for all.", kind: argName},
		},
		out: object([]string{"added", "modified", "deleted", "skipped", "excluded", "enqueued"}, map[string]schema{
			"added": integer("New documents."), "modified": integer("Changed documents."), "deleted": integer("Documents that are gone."),
			"skipped": integer("Documents that are as indexed."), "excluded": integer("Files that are not indexed."), "enqueued": integer("Documents queued for indexing."),
		}),
		run: runReindex,
	}
}

func runReindex(ctx context.Context, c *call) (*reply, error) {
	force := c.v.flag("force")
	names := []string{""} // all at once
	switch arg := c.v.str("kb"); {
	case arg != "":
		ref, err := c.kb(ctx, arg)
		if err != nil {
			return nil, err
		}
		names = []string{ref.name}
	case !c.scope.all():
		refs, err := c.visible(ctx)
		if err != nil {
			return nil, err
		}
		names = nil
		for _, r := range refs {
			names = append(names, r.name)
		}
	}
	var out reindexOut
	for _, name := range names {
		n, err := c.deps.Index.Reindex(ctx, name, force)
		if force {
			c.audit("reindex", kbroot.DocPath{KB: name}, "", "", err)
		}
		if err != nil {
			return nil, err
		}
		out.Added += n.Added
		out.Modified += n.Modified
		out.Deleted += n.Deleted
		out.Skipped += n.Skipped
		out.Excluded += n.Excluded
		out.Enqueued += n.Enqueued
	}
	return &reply{data: out, text: fmt.Sprintf("%s queued: %d added, %d modified; %d deleted, %d unchanged, %d excluded.",
		count(int64(out.Enqueued), "document"), out.Added, out.Modified, out.Deleted, out.Skipped, out.Excluded)}, nil
}
