package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/klauspost/compress/zstd"
)

// Texts are stored in segments, so that reading a chunk unpacks one or two.
const (
	segmentBytes  = 32 << 10
	segmentWindow = 64 << 10
	textShift     = 16 // segments of a content: 1<<16 at most, 2 GiB
)

// segment is a packed piece of a text.
type segment struct {
	start, charStart int
	packed           []byte
}

// pack cuts a text on borders of code points and compresses the pieces. It
// needs no transaction.
func (s *Store) pack(text string) (segs []segment, chars int) {
	for start := 0; start < len(text); {
		end := min(start+segmentBytes, len(text))
		for end < len(text) && end > start+segmentBytes-utf8.UTFMax && !utf8.RuneStart(text[end]) {
			end--
		}
		piece := text[start:end]
		segs = append(segs, segment{start, chars, s.enc.EncodeAll([]byte(piece), nil)})
		chars += utf8.RuneCountInString(piece)
		start = end
	}
	return segs, chars
}

func (t *wtx) insertTexts(content int64, segs []segment) error {
	if len(segs) > 1<<textShift {
		return fmt.Errorf("store: text of %d segments", len(segs))
	}
	for i, g := range segs {
		err := t.run("INSERT INTO texts (id, start, char_start, zstd) VALUES (?, ?, ?, ?)",
			content<<textShift|int64(i), g.start, g.charStart, g.packed)
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) unpack(packed []byte) (string, error) {
	out, err := s.dec.DecodeAll(packed, make([]byte, 0, segmentBytes))
	if errors.Is(err, zstd.ErrDecoderClosed) {
		return "", sql.ErrConnDone
	}
	if err != nil {
		s.noteDamage()
		return "", fmt.Errorf("store: a stored text cannot be unpacked: %w", err)
	}
	return string(out), nil
}

// textReader reads slices of texts within one snapshot and remembers the
// segment it unpacked last, since neighbouring chunks share it.
type textReader struct {
	s       *Store
	r       querier
	content int64
	start   int
	text    string
}

// querier is a snapshot or a write transaction.
type querier interface {
	each(fn func(rows *sql.Rows) error, query string, args ...any) error
}

// slice returns bytes start to end of a content's text.
func (tr *textReader) slice(content int64, start, end int) (string, error) {
	if start >= end {
		return "", nil
	}
	if tr.content == content && start >= tr.start && end <= tr.start+len(tr.text) {
		return tr.text[start-tr.start : end-tr.start], nil
	}
	first := content << textShift
	var b strings.Builder
	var begin int
	err := tr.r.each(func(rows *sql.Rows) error {
		var at int
		var packed sql.RawBytes
		if err := rows.Scan(&at, &packed); err != nil {
			return err
		}
		piece, err := tr.s.unpack(packed)
		if err != nil {
			return err
		}
		if b.Len() == 0 {
			begin = at
		}
		b.WriteString(piece)
		tr.content, tr.start, tr.text = content, at, piece
		return nil
	}, `SELECT start, zstd FROM texts WHERE id BETWEEN
			(SELECT max(id) FROM texts WHERE id BETWEEN ?1 AND ?2 AND start <= ?3)
			AND ?2 AND start < ?4 ORDER BY id`, first, first|(1<<textShift-1), start, end)
	if err != nil {
		return "", err
	}
	if begin > start || begin+b.Len() < end || b.Len() == 0 {
		tr.s.noteDamage()
		return "", fmt.Errorf("store: text of content %d misses bytes %d to %d", content, start, end)
	}
	return b.String()[start-begin : end-begin], nil
}

// ReadText returns the code points charOffset up to charOffset+charLimit of a
// revision's text (charLimit < 0: to its end) and how many it has in all. It
// unpacks no more than that needs. An offset behind the end gives "".
func (s *Store) ReadText(ctx context.Context, revision int64, charOffset, charLimit int) (text string, totalChars int, err error) {
	err = s.read(ctx, "read text", func(r *reader) error {
		var content int64
		err := r.row("SELECT c.id, c.chars FROM revisions v JOIN contents c ON c.id = v.content_id WHERE v.id = ?", revision).
			Scan(&content, &totalChars)
		if err != nil {
			return notFound(err, "revision_not_found", "the revision is not kept any more")
		}
		from := min(max(charOffset, 0), totalChars)
		to := totalChars
		if charLimit >= 0 && charLimit < totalChars-from {
			to = from + charLimit
		}
		text, err = s.readChars(r, content, from, to)
		return err
	})
	return text, totalChars, err
}

func (s *Store) readChars(r *reader, content int64, from, to int) (string, error) {
	if from >= to {
		return "", nil
	}
	var b strings.Builder
	begin := -1
	first := content << textShift
	err := r.each(func(rows *sql.Rows) error {
		var at int
		var packed sql.RawBytes
		if err := rows.Scan(&at, &packed); err != nil {
			return err
		}
		if begin < 0 {
			begin = at
		}
		piece, err := s.unpack(packed)
		b.WriteString(piece)
		return err
	}, `SELECT char_start, zstd FROM texts WHERE id BETWEEN
			(SELECT max(id) FROM texts WHERE id BETWEEN ?1 AND ?2 AND char_start <= ?3)
			AND ?2 AND char_start < ?4 ORDER BY id`, first, first|(1<<textShift-1), from, to)
	if err != nil {
		return "", err
	}
	text := b.String()
	text = text[byteOf(text, from-begin):]
	return strings.Clone(text[:byteOf(text, to-from)]), nil
}

// byteOf is the byte where code point n begins.
func byteOf(s string, n int) int {
	if n <= 0 {
		return 0
	}
	at := 0
	for ; n > 0 && at < len(s); n-- {
		if s[at] < utf8.RuneSelf {
			at++
			continue
		}
		_, size := utf8.DecodeRuneInString(s[at:])
		at += size
	}
	return at
}
