package store

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
)

// revisionUID is what the outside calls a revision's id. It comes from the
// content, so an index built anew gives the same one.
func revisionUID(kb, path string, hash [32]byte, key string, variant int64) []byte {
	h := sha256.New()
	h.Write([]byte(kb))
	h.Write([]byte{0})
	h.Write([]byte(path))
	h.Write([]byte{0})
	h.Write(hash[:])
	h.Write([]byte(key))
	if variant > 0 {
		h.Write([]byte{0})
		h.Write([]byte(strconv.FormatInt(variant, 10)))
	}
	return h.Sum(nil)[:16]
}

func uidText(uid []byte) string { return hex.EncodeToString(uid) }

// metaJSON is a document's metadata as stored with its content. A title that
// is only the file's name is left out: the same bytes may lie elsewhere.
func metaJSON(m DocMeta) ([]byte, error) {
	if m.TitleFromName {
		m.Title = ""
	}
	b, err := json.Marshal(m)
	if err != nil {
		// Front matter may hold what JSON cannot: .nan, keys that are no text.
		m.Front = plainMap(m.Front)
		b, err = json.Marshal(m)
	}
	return b, err
}

func plainMap(m map[string]any) map[string]any {
	out := make(map[string]any, len(m))
	for k, v := range m {
		if _, err := json.Marshal(v); err != nil {
			v = fmt.Sprint(v)
		}
		out[k] = v
	}
	return out
}

// digest tells whether an extraction gave the same as an earlier one.
func digest(in *Indexed, meta []byte) []byte {
	h := sha256.New()
	h.Write([]byte(in.Text))
	h.Write(meta)
	var buf []byte
	for _, c := range in.Chunks {
		buf = packPlace(buf[:0], c.Chunk)
		h.Write(buf)
		h.Write([]byte(c.Prefix))
		for _, head := range c.Headings {
			h.Write([]byte(head))
			h.Write([]byte{0})
		}
	}
	return h.Sum(nil)[:16]
}

// chunksHash is SHA-256 over the chunks' hashes in order.
func chunksHash(chunks []ChunkInput) []byte {
	h := sha256.New()
	for i := range chunks {
		h.Write(chunks[i].Hash[:])
	}
	return h.Sum(nil)
}
