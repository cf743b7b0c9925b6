package store

import (
	"strconv"
	"strings"

	"ragd/internal/fault"
	"ragd/internal/store/ftsrank"
)

// prepared is an Indexed with what can be made before the transaction.
type prepared struct {
	in     *Indexed
	meta   []byte
	digest []byte
	segs   []segment
	chars  int
	hash   []byte // over the chunks' hashes
	parts  []prepared
}

// Prepare does what can be done of Commit for an outcome outside the
// transaction, where it holds nobody up: it packs texts and makes digests.
// Commit does it for outcomes that were not prepared.
func (s *Store) Prepare(o *Outcome) {
	if o.Indexed == nil {
		return
	}
	p, err := s.prepareIndexed(o.Indexed)
	if err == nil { // else Commit finds the error once more and tells of it
		o.prepared = &p
	}
}

func (s *Store) prepareIndexed(in *Indexed) (p prepared, err error) {
	p.in = in
	if p.meta, err = metaJSON(in.Meta); err != nil {
		return p, err
	}
	p.hash = chunksHash(in.Chunks)
	if in.ContentID == 0 {
		p.digest = digest(in, p.meta)
		p.segs, p.chars = s.pack(in.Text)
	}
	for i := range in.Parts {
		part, err := s.prepareIndexed(&in.Parts[i])
		if err != nil {
			return p, err
		}
		p.parts = append(p.parts, part)
	}
	return p, nil
}

// kbRow names the KB a document goes to.
type kbRow struct {
	id   int64
	name string
}

// index makes p the current revision of d, with its parts. force writes its
// rows of the full-text index anew even when nothing changed.
func (t *wtx) index(kb kbRow, d *docRow, p *prepared, force bool) error {
	if err := t.indexOne(kb, d, p, force); err != nil {
		return err
	}
	old, err := t.parts(d.id)
	if err != nil {
		return err
	}
	keep := make(map[string]bool, len(p.parts))
	for i := range p.parts {
		path := p.parts[i].in.Path
		if keep[path] {
			continue // two parts of one name: the first counts
		}
		keep[path] = true
		if err := t.indexPart(kb, d, &p.parts[i], force); err != nil {
			return err
		}
	}
	for i := range old {
		if !keep[old[i].path] {
			if err := t.remove(&old[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (t *wtx) indexPart(kb kbRow, parent *docRow, p *prepared, force bool) error {
	d, ok, err := t.doc(kb.id, p.in.Path)
	if err != nil {
		return err
	}
	if !ok {
		d, err = t.newDoc(kb.id, p.in.Path, parent.id, docIndexed, Stat{})
	} else {
		d.parent = parent.id
		err = t.run("UPDATE documents SET parent_id = ? WHERE id = ?", parent.id, d.id)
	}
	if err != nil {
		return err
	}
	return t.indexOne(kb, &d, p, force)
}

func (t *wtx) indexOne(kb kbRow, d *docRow, p *prepared, force bool) error {
	in := p.in
	skey, err := t.skey(in.Key)
	if err != nil {
		return err
	}
	content, variant, err := t.content(p, skey)
	if err != nil {
		return err
	}
	uid := revisionUID(kb.name, d.path, in.Hash, in.Key, variant)
	var rev int64
	if _, err := t.get([]any{&rev}, "SELECT id FROM revisions WHERE document_id = ? AND uid = ?", d.id, uid); err != nil {
		return err
	}
	switch {
	case rev != 0 && rev == d.revision:
		if force {
			err = t.reindexRows(kb, d, p)
		}
	default:
		if err := t.retire(d); err != nil {
			return err
		}
		if rev != 0 {
			err = t.bringBack(kb, d, p, rev)
		} else {
			err = t.newRevision(kb, d, p, uid, content)
		}
	}
	if err != nil {
		return err
	}
	return t.finishDoc(d, p, skey)
}

// content finds or stores what was extracted.
func (t *wtx) content(p *prepared, skey int64) (id, variant int64, err error) {
	in := p.in
	if in.ContentID > 0 {
		ok, err := t.get([]any{&variant}, "SELECT variant FROM contents WHERE id = ? AND hash = ? AND skey_id = ?", in.ContentID, in.Hash[:], skey)
		if err != nil {
			return 0, 0, err
		}
		if ok {
			return in.ContentID, variant, nil
		}
		if in.Text == "" && len(in.Chunks) > 0 {
			return 0, 0, fault.New(fault.Transient, "content_gone", "the text that was to be reused has been dropped meanwhile")
		}
		p.digest = digest(in, p.meta)
		p.segs, p.chars = t.s.pack(in.Text)
	}
	var have []byte
	ok, err := t.get([]any{&id, &variant, &have}, `SELECT id, variant, digest FROM contents
		WHERE hash_head = ? AND hash = ? AND skey_id = ? ORDER BY variant DESC LIMIT 1`, hashHead(in.Hash), in.Hash[:], skey)
	if err != nil {
		return 0, 0, err
	}
	if ok && string(have) == string(p.digest) {
		return id, variant, nil
	}
	if ok {
		variant++
	}
	t.s.seen.add(hashHead(in.Hash))
	id, err = t.insert(`INSERT INTO contents (hash, hash_head, skey_id, variant, digest, format, media_type, meta, chars, bytes, parts)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, in.Hash[:], hashHead(in.Hash), skey, variant, p.digest, in.Format, in.MediaType,
		string(p.meta), p.chars, len(in.Text), len(p.parts))
	if err != nil {
		return 0, 0, err
	}
	return id, variant, t.insertTexts(id, p.segs)
}

// skey returns the number of a staleness key.
func (t *wtx) skey(key string) (id int64, err error) {
	ok, err := t.get([]any{&id}, "SELECT id FROM skeys WHERE skey = ?", key)
	if err != nil || ok {
		return id, err
	}
	return t.insert("INSERT INTO skeys (skey) VALUES (?)", key)
}

func (t *wtx) newRevision(kb kbRow, d *docRow, p *prepared, uid []byte, content int64) error {
	first := t.s.seq
	n := int64(len(p.in.Chunks))
	t.s.seq += n
	var terms int64
	ids := make([]int64, n)
	for i := range p.in.Chunks {
		length := countTerms(p.in.Chunks[i].BodyTerms)
		terms += int64(length)
		ids[i] = (first+int64(i))<<seqShift | int64(ftsrank.Bucket(length))
	}
	rev, err := t.insert(`INSERT INTO revisions (uid, document_id, content_id, title, first_seq, chunks, terms, created_ms)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?)`, uid, d.id, content, p.in.Meta.Title, first, n, terms, t.now)
	if err != nil {
		return err
	}
	var place []byte
	for i := range p.in.Chunks {
		c := &p.in.Chunks[i]
		place = packPlace(place[:0], c.Chunk)
		err := t.run("INSERT INTO chunks (id, document_id, revision_id, active, hash, place, headings, prefix) VALUES (?, ?, ?, 1, ?, ?, ?, ?)",
			ids[i], d.id, rev, c.Hash[:], place, joinHeadings(c.Headings), orNullText(c.Prefix))
		if err != nil {
			return err
		}
	}
	return t.current(kb, d, p, rev, ids, terms)
}

func orNullText(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func (t *wtx) bringBack(kb kbRow, d *docRow, p *prepared, rev int64) error {
	r, ids, err := t.revive(d, rev)
	if err != nil {
		return err
	}
	if len(ids) != len(p.in.Chunks) {
		return fault.New(fault.Internal, "chunks_differ", "%d chunks are stored of a revision that has %d", len(ids), len(p.in.Chunks))
	}
	return t.current(kb, d, p, rev, ids, r.terms)
}

// current makes a revision whose chunks are active the document's, and writes
// its rows of the full-text index; finishDoc writes the document.
func (t *wtx) current(kb kbRow, d *docRow, p *prepared, rev int64, ids []int64, terms int64) error {
	t.insertFTS(kb, p.in, ids)
	d.revision, d.chunks = rev, int64(len(ids))
	c := t.counters(kb.id)
	c.documents++
	c.chunks += d.chunks
	c.terms += terms
	t.changed = true
	return nil
}

// reindexRows writes the rows of the full-text index of an unchanged revision anew.
func (t *wtx) reindexRows(kb kbRow, d *docRow, p *prepared) error {
	r, err := t.revision(d.revision)
	if err != nil {
		return err
	}
	ids, err := t.chunkIDs(r)
	if err != nil {
		return err
	}
	if len(ids) != len(p.in.Chunks) {
		return fault.New(fault.Internal, "chunks_differ", "%d chunks are stored of a revision that has %d", len(ids), len(p.in.Chunks))
	}
	if err := t.unindex(r); err != nil {
		return err
	}
	t.changed = true
	t.insertFTS(kb, p.in, ids)
	return nil
}

// finishDoc writes what is known of a document that is now indexed.
func (t *wtx) finishDoc(d *docRow, p *prepared, skey int64) error {
	in := p.in
	c := t.counters(d.kb)
	c.bytes += in.Stat.Size - d.bytes
	d.bytes = in.Stat.Size
	c.indexed = max(c.indexed, t.now)
	t.countState(d, docIndexed)
	return t.run(`UPDATE documents SET state = 1, code = '', reason = '', deleted_ms = NULL, revision_id = ?, chunks = ?, chunks_hash = ?,
		size = ?, mtime_ns = ?, ctime_ns = ?, inode = ?, hash = ?, skey_id = ?, type = ?, status = ?, canon = ?,
		bytes = ?, indexed_ms = ? WHERE id = ?`,
		d.revision, d.chunks, p.hash,
		in.Stat.Size, in.Stat.MTimeNS, in.Stat.CTimeNS, int64(in.Stat.Inode), in.Hash[:], skey,
		in.Meta.Type, in.Meta.Status, in.Meta.Canon, d.bytes, t.now, d.id)
}

// countTerms counts space-separated terms.
func countTerms(s string) int {
	if s == "" {
		return 0
	}
	n := strings.Count(s, " ")
	if s[0] == ' ' {
		n--
	}
	if s[len(s)-1] == ' ' {
		n--
	}
	return n + 1
}

// Marks in front of the terms of the scope column. They are private-use code
// points, which no term of a text or query begins with.
const (
	markScope = "\uE000"
	markTitle = "\uE001"
)

func kbTerm(kb int64) string { return markScope + "k" + strconv.FormatInt(kb, 10) }

func scopeTerms(kb int64, typ, status string) string {
	s := kbTerm(kb) + " " + typeTerm(typ)
	if standingOf(status) == standingRetired {
		s += " " + retiredTerm
	}
	return s
}
