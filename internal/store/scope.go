package store

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

const retiredTerm = markScope + "retired"

// typeTerm is the scope term of a document type; types are any text, so they
// go in hashed.
func typeTerm(typ string) string {
	sum := sha256.Sum256([]byte(typ))
	return markScope + "t" + hex.EncodeToString(sum[:8])
}

// standing is what filters ask about a document's status.
type standing uint8

const (
	standingOther standing = iota
	standingPublished
	standingRetired // left out of search unless asked for
)

func standingOf(status string) standing {
	switch status {
	case "", "published", "canon":
		return standingPublished
	case "closed", "superseded":
		return standingRetired
	}
	return standingOther
}

// publishedSQL is the same for documents d.
const publishedSQL = "d.status IN ('', 'published', 'canon')"

// titleScope marks the terms of a document's title in its first chunk. So the
// documents that have a very common word in their title can be found without
// walking through all that merely contain it.
func titleScope(terms string) string {
	var b strings.Builder
	seen := map[string]bool{}
	for t := range strings.FieldsSeq(terms) {
		if !seen[t] && len(seen) < 64 {
			seen[t] = true
			b.WriteByte(' ')
			b.WriteString(markTitle)
			b.WriteString(t)
		}
	}
	return b.String()
}
