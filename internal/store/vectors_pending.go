package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"ragd/internal/fault"
)

// jobEmbed is the op of a job that stands for chunks which could not be embedded.
const jobEmbed = 1

// PendingChunks returns up to limit chunks that wait for vectors of the
// target, those of the newest files first.
func (s *Store) PendingChunks(ctx context.Context, limit int) (out []EmbedChunk, err error) {
	err = s.read(ctx, "read chunks to embed", func(r *reader) error {
		ids := []int64{}
		err := r.each(func(rows *sql.Rows) error {
			var id int64
			err := rows.Scan(&id)
			ids = append(ids, id)
			return err
		}, "SELECT chunk_id FROM vector_pending ORDER BY changed DESC, chunk_id LIMIT ?", limit)
		if err != nil || len(ids) == 0 {
			return err
		}
		list, err := json.Marshal(ids)
		if err != nil {
			return err
		}
		origins, err := originsOf(r, string(list))
		if err != nil {
			return err
		}
		texts := &textReader{s: s, r: r}
		for _, id := range ids {
			recs, err := readChunks(r, texts, chunkSelect+"c.id = ?", id)
			if err != nil {
				return err
			}
			for _, c := range recs {
				e := EmbedChunk{ID: c.ID, KB: c.KB, Path: c.Path, Title: c.Title, Headings: c.Headings, Content: c.Content, Code: origins[c.ID].code}
				if origins[c.ID].named {
					e.Title = ""
				}
				out = append(out, e)
			}
		}
		return nil
	})
	return out, err
}

// origin is what a chunk's document says of how to embed it.
type origin struct {
	named bool // the title is only the file's name
	code  bool
}

// sourceType is the media type of source code.
const sourceType = "text/x-source"

// originsOf looks chunks up, a JSON list of ids.
func originsOf(r *reader, ids string) (map[int64]origin, error) {
	out := map[int64]origin{}
	err := r.each(func(rows *sql.Rows) error {
		var id int64
		var o origin
		var mediaType string
		err := rows.Scan(&id, &o.named, &mediaType)
		o.code = mediaType == sourceType
		out[id] = o
		return err
	}, `SELECT c.id, coalesce(json_extract(t.meta, '$.n'), 0), coalesce(t.media_type, '')
		FROM chunks c JOIN revisions v ON v.id = c.revision_id JOIN contents t ON t.id = v.content_id
		WHERE c.id IN (SELECT value FROM json_each(?))`, ids)
	return out, err
}

// KnownVectors says for which texts a generation has vectors.
func (s *Store) KnownVectors(ctx context.Context, generation int64, hashes []VectorHash) (map[VectorHash]bool, error) {
	known := map[VectorHash]bool{}
	err := s.read(ctx, "look up vectors", func(r *reader) error {
		for _, h := range hashes {
			var n int
			if err := r.row("SELECT EXISTS (SELECT 1 FROM vectors WHERE generation = ? AND hash = ?)", generation, h[:]).Scan(&n); err != nil {
				return err
			}
			if n == 1 {
				known[h] = true
			}
		}
		return nil
	})
	return known, err
}

// PutVectors writes what became of embedding chunks, all in one transaction.
// A vector that is none (of another length, zero, not finite) refuses the
// call before anything is written. Chunks that do not wait any more are
// skipped; so are those whose known vector has gone meanwhile: they wait on.
func (s *Store) PutVectors(ctx context.Context, generation int64, list []EmbeddedChunk) error {
	if len(list) == 0 {
		return nil
	}
	packed := make([][][]byte, len(list))
	dim, err := s.generationDim(ctx, generation)
	if err != nil {
		return err
	}
	for i, c := range list {
		if len(c.Windows) > maxWindows {
			return fault.New(fault.Permanent, "too_many_windows", "a chunk has %d windows; at most %d are kept", len(c.Windows), maxWindows)
		}
		packed[i] = make([][]byte, len(c.Windows))
		for k, w := range c.Windows {
			if w.Vector == nil {
				continue
			}
			v, err := unit(w.Vector, dim)
			if err != nil {
				return err
			}
			packed[i][k] = packVector(v)
		}
	}
	defer s.vec.seq.Add(1)
	return s.write(ctx, "store vectors", func(t *wtx) error {
		for i := range list {
			if err := t.putChunk(generation, dim, &list[i], packed[i]); err != nil {
				return err
			}
		}
		return ctx.Err()
	})
}

func (s *Store) generationDim(ctx context.Context, id int64) (dim int, err error) {
	err = s.read(ctx, "look up vector generation", func(r *reader) error {
		return notFound(r.row("SELECT dim FROM generations WHERE id = ? AND target", id).Scan(&dim), "generation_not_found",
			"the vectors are of a model that is not in use any more")
	})
	return dim, err
}

func (t *wtx) putChunk(generation int64, dim int, c *EmbeddedChunk, packed [][]byte) error {
	op := vectorOp{gen: generation, meta: chunkMeta{id: c.ID}}
	var path, status string
	ok, err := t.get([]any{&op.meta.doc, &op.meta.kb, &path, &op.meta.typ, &status},
		`SELECT d.id, d.kb_id, d.path, d.type, d.status FROM vector_pending w JOIN chunks c ON c.id = w.chunk_id
		JOIN documents d ON d.id = c.document_id JOIN generations g ON g.target AND g.id = ? WHERE w.chunk_id = ?`, generation, c.ID)
	if err != nil || !ok {
		return err
	}
	op.meta.standing = standingOf(status)
	windows := make([]byte, 0, len(c.Windows)*64)
	for i, w := range c.Windows {
		id, code, ok, err := t.vector(generation, w.Hash, packed[i])
		if err != nil || !ok || len(code) != 4+dim {
			return err
		}
		bits := make([]uint64, codeWords(dim))
		signsOfPacked(bits, code)
		windows = appendWindow(windows, window{id, w.Start, w.End, bits})
	}
	// Only now, since a chunk that waits on must not hold references.
	err = eachWindow(windows, func(w window) error {
		return t.run("UPDATE vectors SET refs = refs + 1 WHERE id = ?", w.vector)
	})
	if err != nil {
		return err
	}
	if err := t.dropWindows(generation, c.ID); err != nil {
		return err
	}
	err = t.run("INSERT OR REPLACE INTO chunk_vectors (generation, chunk_id, failed, windows) VALUES (?, ?, ?, ?)",
		generation, c.ID, c.Failed != nil, windows)
	if err != nil {
		return err
	}
	if err := t.run("DELETE FROM vector_pending WHERE chunk_id = ?", c.ID); err != nil {
		return err
	}
	if len(windows) > 0 {
		op.windows = windows
	}
	t.vectors = append(t.vectors, op)
	if c.Failed != nil {
		return t.parkEmbedding(op.meta.kb, path, c.Failed)
	}
	return nil
}

// dropWindows gives back the windows that a chunk had, if it is embedded once more.
func (t *wtx) dropWindows(generation, chunk int64) error {
	return t.run(`INSERT INTO vector_garbage (windows) SELECT windows FROM chunk_vectors
		WHERE generation = ? AND chunk_id = ? AND length(windows) > 0`, generation, chunk)
}

// vector finds or stores a vector; ok is false when a known one is gone.
func (t *wtx) vector(generation int64, hash VectorHash, packed []byte) (id int64, code []byte, ok bool, err error) {
	ok, err = t.get([]any{&id, &code}, "SELECT id, code FROM vectors WHERE generation = ? AND hash = ?", generation, hash[:])
	if err != nil || ok || packed == nil {
		return id, code, ok, err
	}
	id, err = t.insert("INSERT INTO vectors (generation, hash, refs, code) VALUES (?, ?, 0, ?)", generation, hash[:], packed)
	return id, packed, err == nil, err
}

// parkEmbedding lists a document's text as failed, as a job of the embed stage.
func (t *wtx) parkEmbedding(kb int64, path string, f *fault.Error) error {
	var id int64
	have, err := t.get([]any{&id}, "SELECT id FROM jobs WHERE kb_id = ? AND path = ? AND op = ?", kb, path, jobEmbed)
	if err != nil || have {
		return err
	}
	t.counters(kb).jobs[jobFailed]++
	message := fmt.Sprintf("a part of the document is found by keyword only: %s", f.Message)
	return t.run(`INSERT INTO jobs (kb_id, path, op, reason, state, priority, attempts, size, mtime_ns, ctime_ns, inode,
		stage, class, code, message, hint, created_ms, updated_ms)
		SELECT d.kb_id, d.path, ?1, 'new', 3, 0, 1, d.size, d.mtime_ns, d.ctime_ns, d.inode, 'embed', ?2, ?3, ?4, ?5, ?6, ?6
		FROM documents d WHERE d.kb_id = ?7 AND d.path = ?8`,
		jobEmbed, f.Kind.String(), f.Code, message, f.Hint, t.now, kb, path)
}

// dropEmbedFailure takes such a job away with the text it was about.
func (t *wtx) dropEmbedFailure(kb int64, path string) error {
	var id int64
	var state int
	ok, err := t.get([]any{&id, &state}, "SELECT id, state FROM jobs WHERE kb_id = ? AND path = ? AND op = ?", kb, path, jobEmbed)
	if err != nil || !ok || state == jobProcessing {
		return err
	}
	t.counters(kb).jobs[state]--
	return t.run("DELETE FROM jobs WHERE id = ?", id)
}
