package indexer

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"ragd/internal/embed"
	"ragd/internal/store"
)

// How a chunk is cut for embedding. A change of these changes windowVersion,
// and with it the identity of the vectors.
const (
	windowVersion = "windows/2"
	windowTokens  = 110 // of one window, its head apart: about 80 words
	codeTokens    = 240 // the same for source code: a function says what it does only as a whole
	windowOverlap = 16
	headBytes     = 240 // of title and headings in front of each window
	windowsMost   = 255 // of one chunk
)

// VectorKey names the vectors of a model as this stage makes them.
func VectorKey(id embed.Identity) string {
	return fmt.Sprintf("%s|%s/%d/%d/%d/%d", id.Key(), windowVersion, windowTokens, codeTokens, windowOverlap, headBytes)
}

// windowText is one text to embed: a part of a chunk under the title and the
// headings it stands under.
type windowText struct {
	start, end int // bytes of the chunk's content
	text       string
	hash       store.VectorHash
}

// windowsOf cuts a chunk. A chunk without words has no windows. sentence, if
// there is one, stands in front of each window, and so is part of its hash.
func windowsOf(e Embedder, c store.EmbedChunk, sentence string) []windowText {
	head := headOf(c)
	if sentence != "" {
		head += sentence + "\n"
	}
	limit := windowTokens
	if c.Code {
		limit = codeTokens
	}
	if most := e.Identity().MaxTokens; most > 0 {
		limit = max(min(limit, most-e.CountTokens(head)-2), 16)
	}
	parts := e.Windows(c.Content, limit, windowOverlap)
	for len(parts) > windowsMost {
		limit *= 2
		parts = e.Windows(c.Content, limit, windowOverlap)
	}
	out := make([]windowText, len(parts))
	for i, p := range parts {
		text := head + c.Content[p.Start:p.End]
		sum := sha256.Sum256([]byte(text))
		out[i] = windowText{p.Start, p.End, text, store.VectorHash(sum[:16])}
	}
	return out
}

// headOf is the title and the headings, each once, on a line of their own. A
// definition is not said again in front of its own code.
func headOf(c store.EmbedChunk) string {
	var parts []string
	for _, p := range append([]string{c.Title}, c.Headings...) {
		if p = strings.TrimSpace(p); p != "" && !slices.Contains(parts, p) && !(c.Code && strings.Contains(c.Content, p)) {
			parts = append(parts, p)
		}
	}
	head := strings.Join(parts, ": ")
	if len(head) > headBytes {
		cut := headBytes
		for !utf8.RuneStart(head[cut]) {
			cut--
		}
		head = head[:cut]
	}
	if head == "" {
		return ""
	}
	return head + "\n"
}
