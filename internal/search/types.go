// Package search turns a person's query into cited hits: it parses, runs the
// lexical (and, when there is an embedder, the semantic) leg in the store,
// fuses, spreads hits over documents and cuts snippets. It keeps no state
// about callers and writes nothing.
package search

import (
	"fmt"
	"strings"
)

// Mode says which legs take part.
type Mode string

// The modes.
const (
	ModeHybrid  Mode = "hybrid"
	ModeKeyword Mode = "keyword"
	ModeMeaning Mode = "meaning"
	ModeRRF     Mode = "rrf"
)

// Request is one search.
type Request struct {
	Query          string
	KBs            []int64 // store ids; nil = all, empty non-nil = none
	Known          []int64 // those that the caller may know of; nil = all
	TopK           int     // 1..100
	Mode           Mode    // "" = hybrid
	Alpha          *float64
	PerDocument    int // most chunks of one document among the first ten; 0 = default (3)
	SnippetChars   int // 0 = the searcher's default
	Types          []string
	IncludeRetired bool
	PublishedOnly  bool // no drafts and the like
	Explain        bool
}

// Hit is one cited chunk.
type Hit struct {
	KB         string
	Path       string
	Title      string
	Type       string
	Status     string
	Canon      bool
	DocumentID int64
	RevisionID string
	ChunkID    int64
	ChunkIndex int
	FirstLine  int
	LastLine   int
	Headings   []string
	Page       int
	Score      float64 // 0..1, monotone: the root of the weighted sum of the legs' scores
	Match      string  // keyword, meaning, both
	Content    string  // cut around the matching part
	Truncated  bool
	Marks      [][2]int // byte ranges in Content that matched
	Explain    *Explain
}

// Explain says how a hit got its score.
type Explain struct {
	LexicalRank  int     `json:"lexical_rank,omitempty"`
	LexicalRaw   float64 `json:"lexical_raw,omitempty"`
	LexicalScore float64 `json:"lexical_score"`
	MeaningRank  int     `json:"meaning_rank,omitempty"`
	Cosine       float64 `json:"cosine,omitempty"`
	MeaningScore float64 `json:"meaning_score"`
	Weight       float64 `json:"weight"` // of meaning
	WeightReason string  `json:"weight_reason,omitempty"`
	Terms        string  `json:"terms,omitempty"`
}

// String says the same in a line for people.
func (e *Explain) String() string {
	leg := func(name string, rank int, raw string, score float64) string {
		if rank == 0 {
			return fmt.Sprintf("%s: not among its best%s", name, raw)
		}
		return fmt.Sprintf("%s: rank %d%s, score %.3f", name, rank, raw, score)
	}
	keyword, meaning := "", ""
	if e.LexicalRank > 0 {
		keyword = fmt.Sprintf(", BM25 %.2f", e.LexicalRaw)
	}
	if e.Cosine != 0 {
		meaning = fmt.Sprintf(", cosine %.3f", e.Cosine)
	}
	return strings.Join([]string{
		leg("keyword", e.LexicalRank, keyword, e.LexicalScore),
		leg("meaning", e.MeaningRank, meaning, e.MeaningScore),
		fmt.Sprintf("weight of meaning %.2f (%s)", e.Weight, e.WeightReason),
		"terms: " + e.Terms,
	}, "; ")
}

// Response is what a search gave.
type Response struct {
	Hits      []Hit
	Truncated bool   // there were more
	Weak      bool   // nothing is above its floor
	Fallback  string // why a leg did not take part; "" = all asked for did
	Note      string // how the query was taken, where not as it was written
	// PendingVectors is how many chunks could not be found by meaning yet.
	PendingVectors int64
	Dropped        []string // query words that were left out as stop words
}
