package embed

import (
	"context"
	"fmt"
	"strings"

	"ragd/internal/embed/wordpiece"
)

// Embedder turns texts into unit vectors. Implementations are safe for
// concurrent use.
type Embedder interface {
	// Identity says which vectors may be compared with this embedder's. It does
	// not change in the embedder's lifetime, except that a server's dimension is
	// 0 until its first answer if none was configured.
	Identity() Identity

	// EmbedQuery returns the vector of a question. It overtakes passages.
	EmbedQuery(ctx context.Context, text string) ([]float32, error)

	// EmbedPassages returns one vector for each text, in their order. A text
	// longer than the model is embedded in windows, whose vectors are averaged.
	// A text without words has no vector: it, and every other text that cannot
	// be embedded, is named in a *BatchError, and the vectors of the rest are
	// returned beside it (nil at the failed indexes). Any other error means
	// that no vector is returned.
	EmbedPassages(ctx context.Context, texts []string) ([][]float32, error)

	// CountTokens returns the tokens of text: exact for local models, an
	// estimate from above for servers.
	CountTokens(text string) int

	// Windows splits a text into parts of at most limit tokens (0 or more than
	// the model takes: as many as it takes) that share about overlap tokens.
	Windows(text string, limit, overlap int) []Window

	// Close frees what the embedder holds. Calls in flight end first.
	Close() error
}

// Window is a part of a text: bytes [Start, End) and its tokens.
type Window = wordpiece.Window

// Identity names a vector space. Vectors of different identities are never compared.
type Identity struct {
	Name          string // "all-MiniLM-L6-v2"
	Revision      string // of the weights: a hash, or a server's name for the model
	Dim           int
	Pooling       string // "mean", "cls", or "" where the server decides
	QueryPrefix   string // put in front of a question
	PassagePrefix string // put in front of a passage
	MaxTokens     int    // of one window, with the model's two special tokens
}

// Key returns a text that is equal exactly for equal identities; it may be
// stored. MaxTokens is not part of it: it says what fits, not what a vector means.
func (id Identity) Key() string {
	parts := []string{id.Name, id.Revision, fmt.Sprint(id.Dim), id.Pooling, id.QueryPrefix, id.PassagePrefix}
	for i, p := range parts {
		parts[i] = strings.NewReplacer(`\`, `\\`, "|", `\|`).Replace(p)
	}
	return strings.Join(parts, "|")
}
