package store

import (
	"context"
	"database/sql"
	"slices"
	"unicode/utf8"
)

// ChunkContexts returns the sentences that are kept for chunks. A chunk takes
// over that of an equal one under the same headings, in another revision of
// its document or in a document of the same bytes, and keeps it: so an edit
// elsewhere in the document, a rename and a copy ask for none anew.
func (s *Store) ChunkContexts(ctx context.Context, model string, chunks []int64) (map[int64]string, error) {
	out, taken := map[int64]string{}, map[int64]string{}
	err := s.read(ctx, "look up contexts", func(r *reader) error {
		for _, id := range chunks {
			var sentence string
			own := true
			err := r.row("SELECT sentence FROM chunk_contexts WHERE chunk_id = ? AND model = ?", id, model).Scan(&sentence)
			if err == sql.ErrNoRows {
				own = false
				err = r.row(`SELECT x.sentence FROM chunks me JOIN revisions mine ON mine.id = me.revision_id
					JOIN revisions v ON v.content_id = mine.content_id OR v.document_id = me.document_id
					JOIN chunks c ON c.id BETWEEN v.first_seq << 5 AND ((v.first_seq + v.chunks) << 5) - 1
						AND c.hash = me.hash AND c.headings IS me.headings
					JOIN chunk_contexts x ON x.chunk_id = c.id AND x.model = ?2
					WHERE me.id = ?1 ORDER BY c.id DESC LIMIT 1`, id, model).Scan(&sentence)
			}
			if err == sql.ErrNoRows {
				continue
			}
			if err != nil {
				return err
			}
			if out[id] = sentence; !own {
				taken[id] = sentence
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, s.PutContexts(ctx, model, taken)
}

// PutContexts keeps sentences for chunks; chunks that are gone are skipped.
func (s *Store) PutContexts(ctx context.Context, model string, sentences map[int64]string) error {
	if len(sentences) == 0 {
		return nil
	}
	return s.write(ctx, "store contexts", func(t *wtx) error {
		for id, sentence := range sentences {
			err := t.run(`INSERT OR REPLACE INTO chunk_contexts (chunk_id, model, sentence)
				SELECT ?1, ?2, ?3 WHERE EXISTS (SELECT 1 FROM chunks WHERE id = ?1)`, id, model, sentence)
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// Surroundings returns the beginning of a chunk's document and what stands
// around the chunk, together at most most bytes; all of the document if it
// fits. "" when the chunk is gone.
func (s *Store) Surroundings(ctx context.Context, chunk int64, most int) (text string, err error) {
	err = s.read(ctx, "read around a chunk", func(r *reader) error {
		var content int64
		var size int
		var place []byte
		err := r.row(`SELECT t.id, t.bytes, c.place FROM chunks c JOIN revisions v ON v.id = c.revision_id
			JOIN contents t ON t.id = v.content_id WHERE c.id = ?`, chunk).Scan(&content, &size, &place)
		if err == sql.ErrNoRows {
			return nil
		}
		if err != nil {
			return err
		}
		p, err := unpackPlace(place)
		if err != nil {
			return err
		}
		texts := &textReader{s: s, r: r}
		if size <= most {
			text, err = texts.slice(content, 0, size)
			return err
		}
		head, err := texts.slice(content, 0, most/3)
		if err != nil {
			return err
		}
		rest := most - most/3
		from := min(max(most/3, p.Start-rest/4), size-rest)
		around, err := texts.slice(content, from, from+rest)
		text = wholeRunes(head) + "\n…\n" + wholeRunes(around)
		return err
	})
	return text, err
}

// wholeRunes drops the parts of characters at the ends of a slice of a text.
func wholeRunes(s string) string {
	for len(s) > 0 && !utf8.RuneStart(s[0]) {
		s = s[1:]
	}
	for n := 1; n <= utf8.UTFMax && n <= len(s); n++ {
		if b := s[len(s)-n:]; utf8.RuneStart(b[0]) {
			if !utf8.FullRuneInString(b) {
				return s[:len(s)-n]
			}
			break
		}
	}
	return s
}

// EmbedAgain lets the chunks of a KB that could not be embedded wait once more,
// or all of them; those that have vectors keep them until then. It returns how
// many wait that did not before.
func (s *Store) EmbedAgain(ctx context.Context, kb int64, all bool) (n int64, err error) {
	defer s.vec.seq.Add(1)
	if n, err = s.retryFailedEmbedding(ctx, kb); err != nil || !all {
		return n, err
	}
	docs, err := s.documentIDs(ctx, kb)
	if err != nil {
		return n, err
	}
	for batch := range slices.Chunk(docs, 200) {
		err := s.write(ctx, "embed again", func(t *wtx) error {
			for _, id := range batch {
				more, err := t.count(`INSERT OR IGNORE INTO vector_pending (chunk_id, changed, again)
					SELECT c.id, max(d.mtime_ns, coalesce(p.mtime_ns, 0)), 1
					FROM documents d JOIN revisions v ON v.id = d.revision_id LEFT JOIN documents p ON p.id = d.parent_id
					JOIN chunks c ON c.id BETWEEN v.first_seq << 5 AND ((v.first_seq + v.chunks) << 5) - 1 AND c.active
					WHERE d.id = ?1`, id)
				if err != nil {
					return err
				}
				n += more
			}
			return ctx.Err()
		})
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// retryFailedEmbedding starts a KB's parked embedding jobs fresh.
func (s *Store) retryFailedEmbedding(ctx context.Context, kb int64) (n int64, err error) {
	err = s.write(ctx, "embed failed texts again", func(t *wtx) error {
		paths := map[int64]string{}
		err := t.each(func(rows *sql.Rows) error {
			var id int64
			var path string
			err := rows.Scan(&id, &path)
			paths[id] = path
			return err
		}, "SELECT id, path FROM jobs WHERE kb_id = ? AND op = ? AND state = ?", kb, jobEmbed, jobFailed)
		if err != nil {
			return err
		}
		for id, path := range paths {
			if _, err := t.retryEmbedding(id, kb, path); err != nil {
				return err
			}
			n++
		}
		return ctx.Err()
	})
	return n, err
}

func (s *Store) documentIDs(ctx context.Context, kb int64) (ids []int64, err error) {
	err = s.read(ctx, "list documents", func(r *reader) error {
		return r.each(func(rows *sql.Rows) error {
			var id int64
			err := rows.Scan(&id)
			ids = append(ids, id)
			return err
		}, "SELECT id FROM documents WHERE kb_id = ? AND revision_id IS NOT NULL", kb)
	})
	return ids, err
}

// HasContexts reports whether sentences are kept for any chunk.
func (s *Store) HasContexts(ctx context.Context) (yes bool, err error) {
	err = s.read(ctx, "look up contexts", func(r *reader) error {
		return r.row("SELECT EXISTS (SELECT 1 FROM chunk_contexts)").Scan(&yes)
	})
	return yes, err
}
