package search

import (
	"context"
	"fmt"
	"strings"

	"ragd/internal/analysis"
	"ragd/internal/store"
)

// cite fetches the chunks of the ranked hits and makes citations of them. A
// chunk that was replaced since the index was asked is left out.
func (s *Searcher) cite(ctx context.Context, a *analysis.Analyzer, q analysis.Query, list []ranked, r Request, lex store.LexicalResult) ([]Hit, error) {
	if len(list) == 0 {
		return nil, nil
	}
	ids := make([]int64, len(list))
	byID := make(map[int64]ranked, len(list))
	for i, h := range list {
		ids[i] = h.ChunkID
		byID[h.ChunkID] = h
	}
	records, err := s.index.Chunks(ctx, ids)
	if err != nil {
		return nil, err
	}
	limit := r.SnippetChars
	if limit <= 0 {
		limit = int(s.snippet.Load())
	}
	want := wanted(q)
	hits := make([]Hit, 0, len(records))
	for _, rec := range records {
		h := byID[rec.ID]
		hit := hitOf(rec, h.score)
		cutSnippet(a, &hit, rec, want, limit)
		if r.Explain {
			hit.Explain = explain(h, lex)
		}
		hits = append(hits, hit)
	}
	return hits, nil
}

func hitOf(rec store.ChunkRecord, score float64) Hit {
	return Hit{
		KB: rec.KB, Path: rec.Path, Title: rec.Title, Type: rec.Type, Status: rec.Status, Canon: rec.Canon,
		DocumentID: rec.DocumentID, RevisionID: rec.RevisionID, ChunkID: rec.ID, ChunkIndex: rec.Index,
		Headings: rec.Headings, Page: rec.Page, Score: score, Match: "keyword",
	}
}

func explain(h ranked, lex store.LexicalResult) *Explain {
	var b strings.Builder
	for i, t := range lex.Terms {
		if i > 0 {
			b.WriteString("; ")
		}
		fmt.Fprintf(&b, "%s df=%d idf=%.2f %s", t.Phrase, t.DocFreq, t.IDF, t.Role)
	}
	return &Explain{
		LexicalRank: h.rank, LexicalRaw: h.Raw, LexicalScore: lexicalScore(h.Raw),
		WeightReason: "keyword only", Terms: b.String(),
	}
}
