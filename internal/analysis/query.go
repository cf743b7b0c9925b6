package analysis

// Phrase is one or more terms that follow one another. With Prefix, the last
// one stands for every term that begins with it.
type Phrase struct {
	Terms  []string
	Prefix bool
}

// Clause is one thing a query asks for: any of its phrases satisfies it.
type Clause struct {
	Any    []Phrase // the most exact first, at least one
	Weight float64  // 1 = normal, smaller for the parts of an identifier
	Must   bool     // was quoted: hits without it are to be left out
	Stop   bool     // English stop words only; to be left out when the query has anything else
	Text   string   // as typed
}

// Query is what a person's query asks for.
type Query struct {
	Clauses []Clause // in the order typed, without repetitions
	Not     []Phrase // hits with any of these are to be left out
}

// Empty reports whether the query asks for nothing that can be looked up.
func (q Query) Empty() bool { return len(q.Clauses) == 0 }

const (
	queryMax   = 16 << 10 // bytes of a query that are read
	clausesMax = 2048     // clauses of a query, and phrases that must not be there
	partWeight = 0.75     // of an identifier's parts when they are not together
)
