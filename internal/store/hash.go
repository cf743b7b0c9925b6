package store

import (
	"crypto/sha256"
	"encoding/binary"
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

// storedMeta is a document's metadata as stored with its content, in few
// bytes. The title is the revision's.
type storedMeta struct {
	FromName bool              `json:"n,omitempty"`
	Type     string            `json:"t,omitempty"`
	Status   string            `json:"s,omitempty"`
	Tags     []string          `json:"g,omitempty"`
	Canon    bool              `json:"c,omitempty"`
	Artifact string            `json:"a,omitempty"`
	Created  string            `json:"cr,omitempty"`
	Updated  string            `json:"up,omitempty"`
	Front    map[string]any    `json:"f,omitempty"`
	FrontErr string            `json:"fe,omitempty"`
	Meta     map[string]string `json:"m,omitempty"`
	Quality  json.RawMessage   `json:"q,omitempty"`
}

func metaJSON(m DocMeta) ([]byte, error) {
	st := storedMeta{m.TitleFromName, m.Type, m.Status, m.Tags, m.Canon, m.ArtifactID, m.Created, m.Updated, m.Front, m.FrontError, m.Meta, m.Quality}
	b, err := json.Marshal(st)
	if err != nil {
		// Front matter may hold what JSON cannot: .nan, keys that are no text.
		st.Front = plainMap(m.Front)
		if !json.Valid(m.Quality) {
			st.Quality = nil
		}
		b, err = json.Marshal(st)
	}
	return b, err
}

func parseMeta(b []byte, title string) (DocMeta, error) {
	var s storedMeta
	if err := json.Unmarshal(b, &s); err != nil {
		return DocMeta{}, fmt.Errorf("store: stored metadata: %w", err)
	}
	return DocMeta{
		Title: title, TitleFromName: s.FromName, Type: s.Type, Status: s.Status, Tags: s.Tags, Canon: s.Canon,
		ArtifactID: s.Artifact, Created: s.Created, Updated: s.Updated, Front: s.Front, FrontError: s.FrontErr,
		Meta: s.Meta, Quality: s.Quality,
	}, nil
}

// hashHead is what the index of contents is made of.
func hashHead(hash [32]byte) int64 { return int64(binary.BigEndian.Uint64(hash[:8])) }

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
	if !in.Meta.TitleFromName {
		h.Write([]byte(in.Meta.Title))
	}
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
