package store

import (
	"context"
	"database/sql"
	"slices"

	"ragd/internal/chunk"
)

const chunkSelect = `SELECT c.id, (c.id >> 5) - v.first_seq, k.name, d.path, d.id, v.uid, v.title, d.type, d.status, d.canon,
	k.id, v.content_id, c.place, coalesce(c.headings, ''), coalesce(c.prefix, '')
	FROM chunks c JOIN revisions v ON v.id = c.revision_id JOIN documents d ON d.id = c.document_id JOIN kbs k ON k.id = d.kb_id
	WHERE c.active AND `

// rawChunk is a row before its text is fetched.
type rawChunk struct {
	rec     ChunkRecord
	kb      int64
	content int64
	place   chunk.Chunk
	prefix  string
}

func scanChunk(rows *sql.Rows) (c rawChunk, err error) {
	var uid, place []byte
	var headings string
	r := &c.rec
	err = rows.Scan(&r.ID, &r.Index, &r.KB, &r.Path, &r.DocumentID, &uid, &r.Title, &r.Type, &r.Status, &r.Canon,
		&c.kb, &c.content, &place, &headings, &c.prefix)
	if err != nil {
		return c, err
	}
	r.RevisionID, r.Headings = uidText(uid), splitHeadings(headings)
	if c.place, err = unpackPlace(place); err != nil {
		return c, err
	}
	p := c.place
	r.FirstLine, r.LastLine, r.Page, r.CharStart, r.CharEnd = p.FirstLine, p.LastLine, p.Page, p.CharStart, p.CharEnd
	return c, nil
}

// fill fetches the text.
func (c *rawChunk) fill(texts *textReader) error {
	body, err := texts.slice(c.content, c.place.Start, c.place.End)
	if err != nil {
		return err
	}
	c.rec.Content, c.rec.PrefixLen = c.prefix+body, len(c.prefix)
	return nil
}

// Chunks returns chunks in the order of ids. Ones that are not there, or no
// longer current, are skipped.
func (s *Store) Chunks(ctx context.Context, ids []int64) ([]ChunkRecord, error) {
	spans := make([]ChunkSpan, len(ids))
	for i := range ids {
		spans[i] = ChunkSpan{ID: ids[i], All: ids[i : i+1]}
	}
	return s.Spans(ctx, spans)
}

// Spans returns the chunk of each span, in order, with the text and the lines
// of all of it. Spans whose chunk is not there, or no longer current, are
// skipped, and so are such neighbours.
func (s *Store) Spans(ctx context.Context, spans []ChunkSpan) ([]ChunkRecord, error) {
	out := make([]ChunkRecord, 0, len(spans))
	err := s.read(ctx, "read chunks", func(r *reader) error {
		texts := &textReader{s: s, r: r}
		for _, sp := range spans {
			var raw []rawChunk
			for _, id := range sp.All {
				err := r.each(func(rows *sql.Rows) error {
					c, err := scanChunk(rows)
					raw = append(raw, c)
					return err
				}, chunkSelect+"c.id = ?", id)
				if err != nil {
					return err
				}
			}
			c, ok := joined(raw, sp.ID)
			if !ok {
				continue
			}
			if err := c.fill(texts); err != nil {
				return err
			}
			out = append(out, c.rec)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// joined is the chunk id with the range of its neighbours among raw.
func joined(raw []rawChunk, id int64) (c rawChunk, ok bool) {
	at := slices.IndexFunc(raw, func(c rawChunk) bool { return c.rec.ID == id })
	if at < 0 {
		return c, false
	}
	c = raw[at]
	first, last := at, at
	for first > 0 && raw[first-1].content == c.content && raw[first-1].rec.Index == raw[first].rec.Index-1 {
		first--
	}
	for last+1 < len(raw) && raw[last+1].content == c.content && raw[last+1].rec.Index == raw[last].rec.Index+1 {
		last++
	}
	if first < at {
		c.rec.Before = c.place.Start - raw[first].place.Start + len(raw[first].prefix) - len(c.prefix)
		c.prefix, c.place.Start = raw[first].prefix, raw[first].place.Start
		c.rec.FirstLine, c.rec.CharStart = raw[first].rec.FirstLine, raw[first].rec.CharStart
	}
	c.place.End = raw[last].place.End
	c.rec.LastLine, c.rec.CharEnd = raw[last].rec.LastLine, raw[last].rec.CharEnd
	return c, true
}

// DocumentChunks returns all chunks of a document's current revision in order.
func (s *Store) DocumentChunks(ctx context.Context, docID int64) (out []ChunkRecord, err error) {
	err = s.read(ctx, "read chunks", func(r *reader) error {
		texts := &textReader{s: s, r: r}
		out, err = readChunks(r, texts, chunkSelect+`c.id BETWEEN
			(SELECT v.first_seq << 5 FROM revisions v JOIN documents d ON d.revision_id = v.id WHERE d.id = ?1) AND
			(SELECT ((v.first_seq + v.chunks) << 5) - 1 FROM revisions v JOIN documents d ON d.revision_id = v.id WHERE d.id = ?1)
			ORDER BY c.id`, docID)
		return err
	})
	return out, err
}

func readChunks(r *reader, texts *textReader, query string, args ...any) ([]ChunkRecord, error) {
	var raw []rawChunk
	err := r.each(func(rows *sql.Rows) error {
		c, err := scanChunk(rows)
		raw = append(raw, c)
		return err
	}, query, args...)
	if err != nil {
		return nil, err
	}
	out := make([]ChunkRecord, len(raw))
	for i := range raw {
		if err := raw[i].fill(texts); err != nil {
			return nil, err
		}
		out[i] = raw[i].rec
	}
	return out, nil
}

// ContentFor returns an earlier extraction of the same bytes with the same
// staleness key. Not of files that hold other documents: their parts are
// extracted anew.
func (s *Store) ContentFor(ctx context.Context, hash [32]byte, key string) (*StoredContent, bool, error) {
	if err := s.loadSeen(ctx); err != nil {
		return nil, false, err
	}
	if s.seen.missing(hashHead(hash)) {
		return nil, false, nil
	}
	var c StoredContent
	found := false
	err := s.read(ctx, "look up content", func(r *reader) error {
		var meta []byte
		var title string
		var size int
		var firstSeq, chunks int64
		err := r.row(`SELECT c.id, c.format, c.media_type, c.meta, c.bytes, v.title, v.first_seq, v.chunks
			FROM contents c JOIN skeys k ON k.id = c.skey_id JOIN revisions v ON v.content_id = c.id
			WHERE c.hash_head = ? AND c.hash = ? AND k.skey = ? AND c.parts = 0 ORDER BY c.variant DESC, v.id LIMIT 1`, hashHead(hash), hash[:], key).
			Scan(&c.ID, &c.Format, &c.MediaType, &meta, &size, &title, &firstSeq, &chunks)
		if err == sql.ErrNoRows {
			return nil
		}
		if err != nil {
			return err
		}
		if c.Meta, err = parseMeta(meta, title); err != nil {
			return err
		}
		if c.Meta.TitleFromName {
			c.Meta.Title = "" // of another path, perhaps
		}
		texts := &textReader{s: s, r: r}
		if c.Text, err = texts.slice(c.ID, 0, size); err != nil {
			return err
		}
		if c.Chunks, err = layout(r, firstSeq, chunks); err != nil {
			return err
		}
		found = int64(len(c.Chunks)) == chunks
		return nil
	})
	if err != nil || !found {
		return nil, false, err
	}
	return &c, true, nil
}

// layout reads the places of a revision's chunks.
func layout(r *reader, firstSeq, n int64) (out []chunk.Chunk, err error) {
	err = r.each(func(rows *sql.Rows) error {
		var place []byte
		var headings, prefix string
		if err := rows.Scan(&place, &headings, &prefix); err != nil {
			return err
		}
		c, err := unpackPlace(place)
		c.Index, c.Prefix, c.Headings = len(out), prefix, splitHeadings(headings)
		out = append(out, c)
		return err
	}, "SELECT place, coalesce(headings, ''), coalesce(prefix, '') FROM chunks WHERE id BETWEEN ? AND ? ORDER BY id",
		firstSeq<<seqShift, (firstSeq+n)<<seqShift-1)
	return out, err
}

// activeChunks reads the next chunks behind an id, without their texts.
func (t *wtx) activeChunks(after int64) (out []rawChunk, err error) {
	err = t.each(func(rows *sql.Rows) error {
		c, err := scanChunk(rows)
		out = append(out, c)
		return err
	}, chunkSelect+"c.id > ? ORDER BY c.id LIMIT ?", after, rebuildBatch)
	return out, err
}
