package main

import (
	"context"
	"slices"

	"ragd/indexer"
	"ragd/internal/admin"
	"ragd/internal/store"
	"ragd/internal/wire"
	"ragd/kbroot"
	"ragd/mcpserver"
)

// reanalyser makes index terms anew for the store's repair.
func reanalyser() func(path, title string, headings []string, content string) (string, string, string) {
	terms := indexer.NewTerms()
	return terms.Again
}

// text is a slice of a revision's text, as both doors want it.
type text struct {
	rev     store.Revision
	content string
	total   int
}

// readText reads a slice of a document's revision; uid "" is the current one.
func readText(ctx context.Context, s *store.Store, kb int64, path, uid string, offset, limit int) (text, bool, error) {
	rev, ok, err := s.Revision(ctx, kb, path, uid)
	if err != nil || !ok {
		return text{}, false, err
	}
	content, total, err := s.ReadText(ctx, rev.ID, offset, limit)
	return text{rev, content, total}, err == nil, err
}

// mcpIndex is the store as mcpserver wants it.
type mcpIndex struct{ *store.Store }

// ReadRevision implements mcpserver.Store.
func (x mcpIndex) ReadRevision(ctx context.Context, kb int64, path, uid string, offset, limit int) (mcpserver.Text, bool, error) {
	t, ok, err := readText(ctx, x.Store, kb, path, uid, offset, limit)
	if err != nil || !ok {
		return mcpserver.Text{}, false, err
	}
	return mcpserver.Text{
		RevisionID: t.rev.UID, Title: t.rev.Title, Front: t.rev.Front, FrontError: t.rev.FrontError,
		Current: t.rev.Current, Created: t.rev.Created, Content: t.content, TotalChars: t.total,
	}, true, nil
}

// ListJobs implements mcpserver.Store.
func (x mcpIndex) ListJobs(ctx context.Context, q mcpserver.JobQuery) ([]store.Job, int64, error) {
	return x.Jobs(ctx, store.JobFilter{KBs: q.KBs, State: q.State, After: q.After, Limit: q.Limit})
}

// adminIndex is the store as admin wants it.
type adminIndex struct{ *store.Store }

// ReadDocument implements admin.Index.
func (x adminIndex) ReadDocument(ctx context.Context, kb int64, path string, offset, limit int) (admin.Text, bool, error) {
	t, ok, err := readText(ctx, x.Store, kb, path, "", offset, limit)
	if err != nil || !ok {
		return admin.Text{}, false, err
	}
	out := admin.Text{Content: t.content, TotalChars: t.total}
	revs, err := x.Revisions(ctx, kb, path)
	if err != nil {
		return admin.Text{}, false, err
	}
	for _, r := range revs {
		out.Revisions = append(out.Revisions, wire.Revision{ID: r.UID, Created: r.Created, Current: r.Current, Chars: r.Chars})
	}
	return out, true, nil
}

// ListJobs implements admin.Index.
func (x adminIndex) ListJobs(ctx context.Context, q admin.JobQuery) ([]store.Job, int64, error) {
	return x.Jobs(ctx, store.JobFilter{KBs: q.KBs, State: q.State, After: q.After, Limit: q.Limit})
}

// mcpWork is the indexer as mcpserver wants it.
type mcpWork struct{ *indexer.Indexer }

// Reindex implements mcpserver.Indexer.
func (w mcpWork) Reindex(ctx context.Context, kb string, force bool) (mcpserver.Counts, error) {
	c, err := w.Indexer.Reindex(ctx, kb, force)
	return mcpserver.Counts(c), err
}

// adminWork is the indexer as admin wants it.
type adminWork struct{ *indexer.Indexer }

// Reindex implements admin.Indexer.
func (w adminWork) Reindex(ctx context.Context, kb string, force bool) (wire.ReindexCounts, error) {
	c, err := w.Indexer.Reindex(ctx, kb, force)
	return wire.ReindexCounts(c), err
}

// RetryAll implements admin.Indexer.
func (w adminWork) RetryAll(ctx context.Context) (int, error) {
	return w.Indexer.RetryAll(ctx, store.JobFilter{})
}

// freshener is read-your-writes: first every change on disk becomes a plan,
// then the plans become searchable.
type freshener struct{ d *daemon }

// Wait implements mcpserver.Freshener.
func (f freshener) Wait(ctx context.Context, kbs []string) ([]kbroot.DocPath, int, []string, error) {
	var degraded []string
	if err := f.d.watcher.Barrier(ctx); err != nil {
		if ctx.Err() == nil {
			return nil, 0, nil, err
		}
		degraded = append(degraded, "changes on disk could not all be looked at in the time given")
	}
	ids, roots, err := f.d.named(context.WithoutCancel(ctx), kbs)
	if err != nil {
		return nil, 0, degraded, err
	}
	rep, err := f.d.indexer.Sync(ctx, ids)
	if err != nil {
		return nil, 0, degraded, err
	}
	pending := make([]kbroot.DocPath, len(rep.Pending))
	for i, p := range rep.Pending {
		pending[i] = kbroot.DocPath{KB: p.KB, Path: p.Path}
	}
	// How other roots are is nothing for who asked about these.
	among := func(root string) bool { return kbs == nil || roots[root] }
	return pending, int(rep.Total), append(degraded, f.d.degradedAmong(among)...), nil
}

// named gives the store's ids of KBs, and the roots they lie under; nil = all.
func (d *daemon) named(ctx context.Context, names []string) (ids []int64, roots map[string]bool, err error) {
	if names == nil {
		return nil, nil, nil
	}
	all, err := d.store.KBs(ctx)
	if err != nil {
		return nil, nil, err
	}
	ids, roots = []int64{}, map[string]bool{}
	for _, k := range all {
		if slices.Contains(names, k.Name) {
			ids = append(ids, k.ID)
			roots[k.Root] = true
		}
	}
	for _, n := range names {
		if k, ok := d.set.KB(n); ok { // not in the index yet
			roots[k.Root] = true
		}
	}
	return ids, roots, nil
}
