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
