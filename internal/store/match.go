package store

// Column is a set of searchable columns.
type Column uint8

// The columns; zero means all three.
const (
	ColTitle Column = 1 << iota
	ColHeadings
	ColBody
)

// Phrase is one or more consecutive analysed terms. With Prefix, the last one
// matches as a prefix; one of less than three bytes is taken as a whole word,
// and one that very many words begin with stands for the most frequent of them.
type Phrase struct {
	Terms   []string
	Columns Column
	Prefix  bool
	// Parts says that the phrase before it in its clause is an identifier and
	// this one its parts, which are in every chunk that has the identifier.
	Parts bool
}

// Clause is one concept of a query: any of its phrases satisfies it, and the
// best-scoring one counts (an identifier whole or in parts).
type Clause struct {
	Any    []Phrase
	Weight float64 // 1 = normal; 0 is taken as 1
	Must   bool    // hits without it are left out (quoted phrases)
}

// Filter limits what may match; it applies inside the index, never after the limit.
type Filter struct {
	KBs            []int64 // nil = all; empty non-nil = none
	Known          []int64 // KBs that the caller may know of; how common a word is, is counted in them alone; nil = all
	Types          []string
	IncludeRetired bool // also status closed and superseded
	Published      bool // only status published and canon, and documents without one
}

// LexicalQuery is a ranked query of plain clauses.
type LexicalQuery struct {
	Clauses []Clause
	Not     []Phrase
	Filter  Filter
	Limit   int  // at most 1000; larger is clamped
	Pairs   bool // most terms are pairs of characters, of a script without blanks
}

// LexicalHit is one chunk that matched.
type LexicalHit struct {
	ChunkID    int64
	DocumentID int64
	Raw        float64 // BM25, higher is better
}

// LexicalResult is what a lexical query gave.
type LexicalResult struct {
	Hits       []LexicalHit // by Raw descending, then ChunkID
	MaxRaw     float64      // the Raw of a chunk with all words of the query, those included that none has
	Terms      []TermInfo
	Capped     []string // prefixes that stood only for the most frequent words that begin so
	Generation uint64
}

// TermInfo explains how a term took part.
type TermInfo struct {
	Phrase    string
	DocFreq   int64 // chunks; an estimate when Estimated
	Estimated bool
	IDF       float64
	Role      string // "retrieve", "rescore", "must", "not"
}

// Expr is a boolean match expression (for callers that offer FTS5's syntax).
// Exactly one field is set.
type Expr struct {
	Phrase *Phrase
	And    []Expr
	Or     []Expr
	Not    *NotExpr
	Near   *NearExpr
}

// NotExpr matches what Left matches and Right does not.
type NotExpr struct{ Left, Right Expr }

// NearExpr matches phrases within Distance terms of one another.
type NearExpr struct {
	Phrases  []Phrase
	Distance int // default 10
}
