// Package analysis turns text into index terms, the same way for documents
// and for queries: NFKC, case and accent folding, stemming (English for words of
// a–z, Russian for words of а–я), identifiers both whole and in parts, pairs
// of characters for Han, Kana and Hangul, threes for Thai, Lao, Khmer and
// Burmese. It also reads a person's query into clauses of such terms.
//
// It is pure: no I/O, no clock, the same text gives the same terms. It owns
// the rules and their Version; it does not know how an index stores terms,
// how common a term is, or how hits are ranked.
package analysis

// Version is part of a document's staleness key: raise it whenever the same
// text would give other terms.
const Version = 1
