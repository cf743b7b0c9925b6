package search

import (
	"context"
	"fmt"
	"strings"

	"ragd/internal/analysis"
	"ragd/internal/store"
)

// answer is what an answer was made of.
type answer struct {
	request Request
	lex     store.LexicalResult
	leg     *meaningLeg
	weight  weight
}

// cite fetches the chunks of the ranked hits and makes citations of them. A
// chunk that was replaced since the index was asked is left out.
func (s *Searcher) cite(ctx context.Context, a *analysis.Analyzer, q analysis.Query, list []fused, ans *answer) ([]Hit, error) {
	if len(list) == 0 {
		return nil, nil
	}
	spans := make([]store.ChunkSpan, len(list))
	byID := make(map[int64]*fused, len(list))
	var byMeaning []int64
	for i := range list {
		h := &list[i]
		spans[i] = store.ChunkSpan{ID: h.chunk, All: h.chunks}
		byID[h.chunk] = h
		if h.lexRank == 0 {
			byMeaning = append(byMeaning, h.chunk)
		}
	}
	records, err := s.index.Spans(ctx, spans)
	if err != nil {
		return nil, err
	}
	var places map[int64][2]int
	if len(byMeaning) > 0 && ans.leg.took() {
		if places, err = ans.leg.vectors.Places(ctx, ans.leg.query, byMeaning); err != nil {
			return nil, err
		}
	}
	limit := ans.request.SnippetChars
	if limit <= 0 {
		limit = int(s.snippet.Load())
	}
	want := wantedOf(q)
	hits := make([]Hit, 0, len(records))
	for _, rec := range records {
		h := byID[rec.ID]
		hit := hitOf(rec, h)
		place := places[rec.ID]
		cutSnippet(a, &hit, rec, want, limit, [2]int{max(place[0]+rec.Before, 0), place[1] + rec.Before})
		if len(h.chunks) > 1 {
			hit.FirstLine, hit.LastLine = rec.FirstLine, rec.LastLine
		}
		if ans.request.Explain {
			hit.Explain = explain(h, ans)
		}
		hits = append(hits, hit)
	}
	return hits, nil
}

func hitOf(rec store.ChunkRecord, h *fused) Hit {
	return Hit{
		KB: rec.KB, Path: rec.Path, Title: rec.Title, Type: rec.Type, Status: rec.Status, Canon: rec.Canon,
		DocumentID: rec.DocumentID, RevisionID: rec.RevisionID, ChunkID: rec.ID, ChunkIndex: rec.Index,
		Headings: rec.Headings, Page: rec.Page, Score: h.score, Match: h.match(),
	}
}

func explain(h *fused, ans *answer) *Explain {
	var b strings.Builder
	for i, t := range ans.lex.Terms {
		if i > 0 {
			b.WriteString("; ")
		}
		fmt.Fprintf(&b, "%s df=%d idf=%.2f %s", t.Phrase, t.DocFreq, t.IDF, t.Role)
	}
	return &Explain{
		LexicalRank: h.lexRank, LexicalRaw: h.raw, LexicalScore: h.lexical,
		MeaningRank: h.meanRank, Cosine: h.cosine, MeaningScore: h.meaning,
		Weight: ans.weight.meaning, WeightReason: ans.weight.reason, Terms: b.String(),
	}
}
