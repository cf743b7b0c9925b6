package main

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"time"

	"ragd/indexer"
	"ragd/internal/config"
	"ragd/internal/embed"
	"ragd/internal/search"
	"ragd/internal/store"
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

// openEmbedder opens the embedder that a source names. dim is the length of
// its vectors, if it is known from before.
func openEmbedder(cfg *config.Config, s embedSource, dim int) (embed.Embedder, error) {
	opt := embed.Options{Threads: cfg.Embeddings.Threads, Nice: embedNice}
	switch {
	case s.BaseURL != "":
		o := embed.HTTPOptions{BaseURL: s.BaseURL, Model: s.Model, Dimension: s.Dimension, Expect: dim, Timeout: cfg.Embeddings.Timeout}
		if s.BaseURL == cfg.Embeddings.BaseURL {
			o.APIKey = cfg.Embeddings.APIKey // it is for this server and no other
		}
		return embed.NewHTTP(o)
	case s.ModelDir != "":
		return embed.OpenDir(s.ModelDir, opt)
	}
	return embed.OpenBuiltin(opt)
}

// embedding is the daemon's embedder and the stage that feeds it. The zero
// value is search by keyword only.
type embedding struct {
	embedder embed.Embedder
	chat     *embed.Chat // nil: chunks are embedded as they are
	stage    *indexer.Embedding
	off      bool   // by configuration
	failed   string // why there is none
	expected string // key of the serving vectors, if they seem to be of a server that has not told its dimension yet

	mu     sync.Mutex
	old    embed.Embedder // of the generation that serves until the new one is complete
	oldKey string
}

// oldModelStays is how long an earlier model stays open when it is not needed
// any more: for the queries that have just begun.
const oldModelStays = 5 * time.Second

// openEmbedding opens the model. When that fails the daemon goes on by
// keyword and says so. It asks no server: that is the stage's work.
func (d *daemon) openEmbedding() {
	if !d.cfg.Embeddings.Enabled {
		d.embed.off = true
		return
	}
	if err := d.openStage(); err != nil {
		d.embed.failed = err.Error()
		d.log.Warn("the embedding model cannot be opened; search is by keyword", "error", err)
	}
}

func (d *daemon) openStage() error {
	source := sourceOf(d.cfg)
	e, err := openEmbedder(d.cfg, source, 0)
	if err != nil {
		return err
	}
	d.embed.embedder = e
	opt := indexer.EmbeddingOptions{
		Embedder: e, Store: d.store, Logger: d.log, Source: source.text(), Threads: d.cfg.Embeddings.Threads,
		Answers: func(key string) bool { e, _ := d.queryEmbedder(key); return e != nil },
		Flipped: d.dropOldModel,
	}
	if c := d.cfg.Contextual; c.Enabled {
		if d.embed.chat, err = embed.NewChat(embed.ChatOptions{BaseURL: c.BaseURL, APIKey: c.APIKey, Model: c.Model, Timeout: c.Timeout}); err != nil {
			return err
		}
		opt.Sentences, opt.SentencesAtOnce = d.embed.chat, c.Concurrency
	}
	if d.embed.stage, err = indexer.NewEmbedding(opt); err != nil {
		return err
	}
	d.openOldModel()
	return nil
}

// openOldModel opens the model of the vectors that serve, when that is another
// one. If it cannot be opened the new one serves at once, complete or not.
func (d *daemon) openOldModel() {
	st, err := d.store.VectorStatus(context.Background())
	if err != nil || st.Serving.ID == 0 {
		return
	}
	id := d.embed.embedder.Identity()
	if id.Dim == 0 {
		id.Dim = st.Serving.Dim
		d.embed.expected = indexer.VectorKey(id)
	}
	if st.Serving.Key == indexer.VectorKey(id) {
		return
	}
	var source embedSource
	if err := json.Unmarshal([]byte(st.Serving.Source), &source); err == nil {
		old, err := openEmbedder(d.cfg, source, st.Serving.Dim)
		if err == nil && indexer.VectorKey(old.Identity()) == st.Serving.Key {
			d.embed.old, d.embed.oldKey = old, st.Serving.Key
			d.log.Info("searches use the earlier model until all texts are embedded by the new one", "earlier", st.Serving.Name, "server", source.BaseURL)
			return
		}
		if err == nil {
			closeEmbedder(d.log, old)
		}
	}
	d.log.Info("the earlier model cannot be opened any more; texts are found by keyword until they are embedded anew", "earlier", st.Serving.Name)
}

// dropOldModel closes the earlier model: its vectors serve no more.
func (d *daemon) dropOldModel() {
	d.embed.mu.Lock()
	old := d.embed.old
	d.embed.old, d.embed.oldKey = nil, ""
	d.embed.mu.Unlock()
	if old != nil {
		time.AfterFunc(oldModelStays, func() { closeEmbedder(d.log, old) })
	}
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
	if d.embed.embedder == nil {
		return nil, "the embedding model could not be opened: " + d.embed.failed
	}
	if key == "" { // nothing has vectors yet
		return nil, d.embed.stage.Status().Paused
	}
	if d.ours(key) {
		return d.embed.embedder, ""
	}
	d.embed.mu.Lock()
	defer d.embed.mu.Unlock()
	if d.embed.old != nil && key == d.embed.oldKey {
		return d.embed.old, ""
	}
	return nil, "the vectors are of another model; they are being made anew"
}

func (d *daemon) closeEmbedding() {
	d.embed.mu.Lock()
	old := d.embed.old
	d.embed.old = nil
	d.embed.mu.Unlock()
	for _, e := range []embed.Embedder{d.embed.embedder, old} {
		if e != nil {
			closeEmbedder(d.log, e)
		}
	}
	if d.embed.chat != nil {
		d.embed.chat.Close()
	}
}

func closeEmbedder(log *slog.Logger, e embed.Embedder) {
	if err := e.Close(); err != nil {
		log.Warn("the embedding model did not close cleanly", "error", err)
	}
}

var _ indexer.VectorStore = (*store.Store)(nil)
