package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"ragd/indexer"
	"ragd/internal/chunk"
	"ragd/internal/embed"
	"ragd/internal/search"
	"ragd/internal/search/eval"
	"ragd/internal/store"
)

// evalIndex is a temporary index of a set's corpus, made by the same chunker,
// analyser, store and searcher as the daemon's.
type evalIndex struct {
	store    *store.Store
	searcher *search.Searcher
	meaning  bool // there are vectors
}

const evalBatch = 200

func newEvalIndex(ctx context.Context, path string, set *eval.Set, embedder embed.Embedder) (*evalIndex, error) {
	st, _, err := store.Open(ctx, store.Options{Path: path, Reanalyse: reanalyser()})
	if err != nil {
		return nil, err
	}
	ix := &evalIndex{store: st}
	if ix.searcher, err = search.New(search.Options{Index: st}); err == nil {
		err = ix.fill(ctx, set)
	}
	if err == nil && embedder != nil {
		err = ix.embed(ctx, embedder)
	}
	if err != nil {
		return nil, errors.Join(err, st.Close())
	}
	return ix, nil
}

func (x *evalIndex) close() { _ = x.store.Close() } // a temporary index: nothing to save

func (x *evalIndex) has(mode string) bool { return x.meaning || mode == string(search.ModeKeyword) }

// embed makes the vectors of all texts, and lets meaning take part.
func (x *evalIndex) embed(ctx context.Context, e embed.Embedder) error {
	stage, err := indexer.NewEmbedding(indexer.EmbeddingOptions{Embedder: e, Store: x.store})
	if err != nil {
		return err
	}
	if err := stage.Drain(ctx); err != nil {
		return fmt.Errorf("embed the corpus: %w", err)
	}
	x.meaning = true
	x.searcher.SetMeaning(&search.Meaning{
		Vectors:  x.store,
		Embedder: func(string) (search.Embedder, string) { return e, "" },
	})
	return nil
}

func (x *evalIndex) fill(ctx context.Context, set *eval.Set) error {
	kb, err := x.store.EnsureKB(ctx, set.Name, "eval", "/", false)
	if err != nil {
		return err
	}
	docs := map[string]eval.Document{}
	plans := make([]store.Plan, 0, len(set.Corpus))
	for _, d := range set.Corpus {
		docs[d.ID] = d
		plans = append(plans, store.Plan{Path: d.ID, Op: store.PlanIndex, Reason: store.ReasonNew})
	}
	for len(plans) > 0 {
		n := min(len(plans), 1000)
		if _, err := x.store.ApplyPlans(ctx, kb.ID, plans[:n]); err != nil {
			return err
		}
		plans = plans[n:]
	}
	terms, code := indexer.NewTerms(), eval.IsCode(set.Corpus)
	for {
		jobs, err := x.store.Claim(ctx, evalBatch)
		if err != nil {
			return err
		}
		if len(jobs) == 0 {
			return x.store.Maintain(ctx)
		}
		outcomes := make([]store.Outcome, len(jobs))
		for i, j := range jobs {
			outcomes[i] = store.Outcome{Job: j, Indexed: evalDocument(terms, docs[j.Path], code)}
		}
		if err := x.store.Commit(ctx, outcomes); err != nil {
			return fmt.Errorf("index the corpus: %w", err)
		}
	}
}

// evalDocument indexes a document as its file would be: as Markdown, source
// code or plain text.
func evalDocument(terms *indexer.Terms, d eval.Document, code bool) *store.Indexed {
	text := d.Text
	if !utf8.ValidString(text) {
		text = string([]rune(text))
	}
	format, media := chunk.FormatPlain, "text/plain"
	switch {
	case code:
		format, media = chunk.FormatCode, "text/x-source"
	case eval.IsMarkdown(text):
		format, media = chunk.FormatMarkdown, "text/markdown"
	}
	chunks := chunk.Split(chunk.Text{Body: text, Format: format}, chunk.Options{})
	if len(chunks) == 0 && d.Title != "" {
		text = d.Title
		chunks = chunk.Split(chunk.Text{Body: text, Format: chunk.FormatPlain}, chunk.Options{})
	}
	return &store.Indexed{
		Path: d.ID, Hash: sha256.Sum256([]byte(d.ID + "\x00" + d.Title + "\x00" + text)), Key: "eval",
		Text: text, Format: string(format), MediaType: media,
		Meta:   store.DocMeta{Title: d.Title, Type: "note", Status: "published"},
		Chunks: terms.Chunks("", d.Title, text, chunks),
	}
}

// search returns the ids of the documents of the best chunks, best first.
func (x *evalIndex) search(ctx context.Context, q, mode string) ([]string, float64, error) {
	start := time.Now()
	res, err := x.searcher.Search(ctx, search.Request{Query: q, Mode: search.Mode(mode), TopK: 50})
	ms := float64(time.Since(start).Microseconds()) / 1000
	if err != nil {
		return nil, ms, err
	}
	var ids []string
	seen := map[string]bool{}
	for _, h := range res.Hits {
		if !seen[h.Path] {
			seen[h.Path] = true
			ids = append(ids, h.Path)
		}
	}
	return ids, ms, nil
}
