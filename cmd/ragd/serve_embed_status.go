package main

import (
	"context"
	"math"

	"ragd/indexer"
	"ragd/internal/search"
	"ragd/internal/wire"
)

// embedder says how embedding is doing.
func (d *daemon) embedder() wire.Embedder {
	if d.embed.off {
		return wire.Embedder{State: "off", Reason: "switched off by embeddings.enabled"}
	}
	if d.embed.stage == nil {
		return wire.Embedder{State: "failed", Reason: d.embed.failed}
	}
	id := d.embed.embedder.Identity()
	out := wire.Embedder{State: "ready", Model: id.Name, Dimension: id.Dim}
	work := d.embed.stage.Status()
	switch {
	case work.Failed != "":
		out.State, out.Reason = "failed", work.Failed
	case work.Paused != "":
		out.State, out.Reason = "paused", work.Paused
	default:
		out.Reason = work.Plain
	}
	vs, err := d.store.VectorStatus(context.Background())
	if err != nil {
		return out
	}
	if vs.Serving.ID != 0 && !d.ours(vs.Serving.Key) {
		out.Serving = vs.Serving.Name
	}
	out.Total, out.Backlog, out.Failed, out.Rate = vs.Total, vs.Backlog, vs.Failed, work.Rate
	if vs.Target.ID != 0 && !d.ours(vs.Target.Key) {
		out.Backlog = vs.Total // the new model has not answered yet, so nothing is embedded for it
	}
	out.Embedded = max(0, out.Total-out.Backlog)
	if out.State == "ready" && work.Sure {
		out.ETASeconds = etaSeconds(out.Backlog, work.Rate)
	}
	return out
}

// toldSearch is the searcher, which counts the vectors to come even where its
// meaning leg could not take part.
type toldSearch struct{ d *daemon }

// Search implements admin.Search.
func (s toldSearch) Search(ctx context.Context, req search.Request) (*search.Response, error) {
	resp, err := s.d.searcher.Search(ctx, req)
	if err != nil || resp.PendingVectors > 0 {
		return resp, err
	}
	told := *resp
	told.PendingVectors = s.d.embedder().Backlog
	return &told, nil
}

// ours reports whether vectors of a key are those of the embedder in use.
func (d *daemon) ours(key string) bool {
	id := d.embed.embedder.Identity()
	return key == indexer.VectorKey(id) || id.Dim == 0 && key == d.embed.expected
}

// etaSeconds is how long the backlog takes at a rate; 0 = nothing to do, or unknown.
func etaSeconds(backlog int64, rate float64) int64 {
	if backlog <= 0 || rate <= 0 {
		return 0
	}
	return int64(math.Min(math.Ceil(float64(backlog)/rate), 365*24*3600))
}
