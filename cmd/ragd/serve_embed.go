package main

import (
	"context"
	"encoding/json"
	"log/slog"

	"ragd/indexer"
	"ragd/internal/config"
	"ragd/internal/embed"
	"ragd/internal/fault"
	"ragd/internal/search"
	"ragd/internal/store"
	"ragd/internal/wire"
)

// embedNice is the niceness of the threads that embed passages.
const embedNice = 10

// embedSource is how to open an embedder again. It is kept with the vectors,
// so that after a change of model the old one can go on answering.
type embedSource struct {
	ModelDir  string `json:"model_dir,omitempty"`
	BaseURL   string `json:"base_url,omitempty"`
	Model     string `json:"model,omitempty"`
	Dimension int    `json:"dimension,omitempty"`
}

func sourceOf(cfg *config.Config) embedSource {
	e := cfg.Embeddings
	return embedSource{ModelDir: e.ModelDir, BaseURL: e.BaseURL, Model: e.Model, Dimension: e.Dimension}
}

func (s embedSource) text() string {
	b, err := json.Marshal(s)
	if err != nil {
		return ""
	}
	return string(b)
}

// openEmbedder opens the embedder that a source names.
func openEmbedder(cfg *config.Config, s embedSource) (embed.Embedder, error) {
	opt := embed.Options{Threads: cfg.Embeddings.Threads, Nice: embedNice}
	switch {
	case s.BaseURL != "":
		return nil, fault.New(fault.Invalid, "embeddings_base_url", "embeddings.base_url is %q, and this build embeds in the process only", s.BaseURL).
			WithHint("Leave embeddings.base_url out to use the built-in model, or name a folder in embeddings.model_dir.")
	case s.ModelDir != "":
		return embed.OpenDir(s.ModelDir, opt)
	}
	return embed.OpenBuiltin(opt)
}

// embedding is the daemon's embedder and the stage that feeds it. The zero
// value is search by keyword only.
type embedding struct {
	embedder embed.Embedder
	stage    *indexer.Embedding
	old      embed.Embedder // of the generation that serves until the new one is complete
	oldKey   string
	off      bool   // by configuration
	failed   string // why there is none
}

// openEmbedding opens the model. When that fails the daemon goes on by
// keyword and says so.
func (d *daemon) openEmbedding() {
	if !d.cfg.Embeddings.Enabled {
		d.embed.off = true
		return
	}
	source := sourceOf(d.cfg)
	e, err := openEmbedder(d.cfg, source)
	if err != nil {
		d.embed.failed = err.Error()
		d.log.Warn("the embedding model cannot be opened; search is by keyword", "error", err)
		return
	}
	d.embed.embedder = e
	d.embed.stage, err = indexer.NewEmbedding(indexer.EmbeddingOptions{
		Embedder: e, Store: d.store, Logger: d.log, Source: source.text(),
	})
	if err != nil {
		d.embed.failed = err.Error()
		d.log.Warn("embedding cannot start; search is by keyword", "error", err)
		return
	}
	d.openOldModel()
}

// openOldModel opens the model of the vectors that serve, when that is another
// one. If it cannot be opened the new one serves at once, complete or not.
func (d *daemon) openOldModel() {
	st, err := d.store.VectorStatus(context.Background())
	if err != nil || st.Serving.ID == 0 || st.Serving.Key == indexer.VectorKey(d.embed.embedder.Identity()) {
		return
	}
	var source embedSource
	if err := json.Unmarshal([]byte(st.Serving.Source), &source); err == nil {
		old, err := openEmbedder(d.cfg, source)
		if err == nil && indexer.VectorKey(old.Identity()) == st.Serving.Key {
			d.embed.old, d.embed.oldKey = old, st.Serving.Key
			d.log.Info("searches use the earlier model until all texts are embedded by the new one", "earlier", st.Serving.Name)
			return
		}
		if err == nil {
			closeEmbedder(d.log, old)
		}
	}
	d.log.Info("the earlier model cannot be opened any more; texts are found by keyword until they are embedded anew", "earlier", st.Serving.Name)
	d.embed.stage.ServeAtOnce()
}

// meaning is the searcher's meaning leg; nil when it is switched off.
func (d *daemon) meaning() *search.Meaning {
	if d.embed.off {
		return nil
	}
	return &search.Meaning{Vectors: d.store, Embedder: d.queryEmbedder}
}

// queryEmbedder returns what embeds queries for the vectors of a key.
func (d *daemon) queryEmbedder(key string) (search.Embedder, string) {
	switch {
	case d.embed.embedder == nil:
		return nil, "the embedding model could not be opened: " + d.embed.failed
	case key == indexer.VectorKey(d.embed.embedder.Identity()):
		return d.embed.embedder, ""
	case d.embed.old != nil && key == d.embed.oldKey:
		return d.embed.old, ""
	}
	return nil, "the vectors are of another model; they are being made anew"
}

func (d *daemon) closeEmbedding() {
	for _, e := range []embed.Embedder{d.embed.embedder, d.embed.old} {
		if e != nil {
			closeEmbedder(d.log, e)
		}
	}
}

func closeEmbedder(log *slog.Logger, e embed.Embedder) {
	if err := e.Close(); err != nil {
		log.Warn("the embedding model did not close cleanly", "error", err)
	}
}

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
	st := d.embed.stage.Status()
	out.Rate = st.Rate
	switch {
	case st.Failed != "":
		out.State, out.Reason = "failed", st.Failed
	case st.Paused != "":
		out.State, out.Reason = "paused", st.Paused
	}
	vs, err := d.store.VectorStatus(context.Background())
	if err != nil {
		return out
	}
	out.Backlog = vs.Backlog
	if out.Reason == "" && vs.Serving.ID != 0 && vs.Target.ID != vs.Serving.ID {
		out.Reason = "searches use " + vs.Serving.Name + " until all texts are embedded by the new model"
	}
	return out
}

var _ indexer.VectorStore = (*store.Store)(nil)
