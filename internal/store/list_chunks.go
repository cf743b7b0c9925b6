package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"time"
)

// ChunkEntry is one document's chunks.
type ChunkEntry struct {
	Path       string
	Chunks     int64 // of all retained revisions, superseded ones included
	Active     int64 // of the current revision
	LastSynced time.Time
	Hash       [32]byte // SHA-256 over the SHA-256 of each active chunk, in order
	ArtifactID string
}

// ListChunks returns the documents whose path starts with prefix (literally,
// by bytes) in order of path bytes, at most limit of them, and how many there
// are in all. A document without an active chunk is among them only with
// deprecated, and one that never had a chunk never is.
func (s *Store) ListChunks(ctx context.Context, kb int64, prefix string, deprecated bool, limit int) (entries []ChunkEntry, total int64, err error) {
	where, args := pathRange("d", kb, prefix)
	// Among very many documents it is quick to count those without an active
	// chunk, which have an index of their own, and all, by the index of paths.
	const retained = "EXISTS (SELECT 1 FROM revisions o WHERE o.document_id = d.id AND o.chunks > 0)"
	none, wanted := where+" AND d.chunks = 0", where+" AND d.chunks > 0"
	if deprecated {
		none, wanted = none+" AND NOT "+retained, where+" AND (d.chunks > 0 OR "+retained+")"
	}
	err = s.read(ctx, "list chunks", func(r *reader) error {
		err := r.row("SELECT (SELECT count(*) FROM documents d INDEXED BY documents_path WHERE "+where+
			") - (SELECT count(*) FROM documents d INDEXED BY documents_chunkless WHERE "+none+")", append(args[:len(args):len(args)], args...)...).Scan(&total)
		if err != nil || total == 0 || limit <= 0 {
			return err
		}
		return r.each(func(rows *sql.Rows) error {
			e, err := scanChunkEntry(rows)
			entries = append(entries, e)
			return err
		}, `SELECT d.path, d.chunks, d.indexed_ms, d.chunks_hash, c.meta,
			(SELECT coalesce(sum(o.chunks), 0) FROM revisions o WHERE o.document_id = d.id), coalesce(v.created_ms, 0)
			FROM documents d INDEXED BY documents_path
			LEFT JOIN revisions v ON v.id = coalesce(d.revision_id, (SELECT max(o.id) FROM revisions o WHERE o.document_id = d.id))
			LEFT JOIN contents c ON c.id = v.content_id
			WHERE `+wanted+" ORDER BY d.path LIMIT ?", append(args[:len(args):len(args)], min(limit, maxPage))...)
	})
	return entries, total, err
}

func scanChunkEntry(rows *sql.Rows) (e ChunkEntry, err error) {
	var synced, created int64
	var hash, meta []byte
	if err := rows.Scan(&e.Path, &e.Active, &synced, &hash, &meta, &e.Chunks, &created); err != nil {
		return e, err
	}
	if synced == 0 {
		synced = created
	}
	e.LastSynced = timeOf(synced)
	if len(hash) == len(e.Hash) {
		copy(e.Hash[:], hash)
	} else {
		e.Hash = sha256.Sum256(nil) // of no chunk
	}
	if meta != nil {
		m, err := parseMeta(meta, "")
		if err != nil {
			return e, err
		}
		e.ArtifactID = m.ArtifactID
	}
	return e, nil
}

// pathRange is the condition for a KB's paths that start with prefix.
func pathRange(table string, kb int64, prefix string) (where string, args []any) {
	where, args = table+".kb_id = ? AND "+table+".path >= ?", []any{kb, prefix}
	if end, ok := after(prefix); ok {
		where, args = where+" AND "+table+".path < ?", append(args, end)
	}
	return where, args
}

// after is the least string greater than all that start with prefix; false
// when there is none.
func after(prefix string) (string, bool) {
	b := []byte(prefix)
	for i := len(b) - 1; i >= 0; i-- {
		if b[i] < 0xff {
			b[i]++
			return string(b[:i+1]), true
		}
	}
	return "", false
}
