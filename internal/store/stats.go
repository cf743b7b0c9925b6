package store

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"syscall"

	"ragd/internal/fault"
)

// KBStats returns the counters of KBs by name; nil = all. It looks at no
// document, so it costs the same however many there are.
func (s *Store) KBStats(ctx context.Context, kbs []int64) (out []KBStats, err error) {
	cond, args := kbCond("id", kbs)
	err = s.read(ctx, "read counters", func(r *reader) error {
		return r.each(func(rows *sql.Rows) error {
			var k KBStats
			var indexed int64
			err := rows.Scan(append(k.dest(), &k.Documents, &k.Chunks, &k.Bytes, &k.Pending, &k.Processing, &k.Failed, &k.Excluded, &indexed)...)
			k.LastIndexed = timeOf(indexed)
			out = append(out, k)
			return err
		}, "SELECT "+kbColumns+`, documents, chunks, bytes, jobs_pending, jobs_processing, jobs_failed, excluded, indexed_ms
			FROM kbs WHERE `+cond+" ORDER BY name", args...)
	})
	return out, err
}

// Queue returns the queue's counters; nil = all KBs.
func (s *Store) Queue(ctx context.Context, kbs []int64) (q Queue, err error) {
	cond, args := kbCond("id", kbs)
	err = s.read(ctx, "read counters", func(r *reader) error {
		return r.row("SELECT coalesce(sum(jobs_pending), 0), coalesce(sum(jobs_processing), 0), coalesce(sum(jobs_failed), 0) FROM kbs WHERE "+cond, args...).
			Scan(&q.Pending, &q.Processing, &q.Failed)
	})
	return q, err
}

// Freshness says how many jobs are not in yet and how many are parked.
func (s *Store) Freshness(ctx context.Context, kbs []int64) (pending, failed int64, err error) {
	q, err := s.Queue(ctx, kbs)
	return q.Pending + q.Processing, q.Failed, err
}

// Totals returns the counters of the whole index and the sizes of its files.
func (s *Store) Totals(ctx context.Context) (t Totals, err error) {
	err = s.read(ctx, "read counters", func(r *reader) error {
		return r.row(`SELECT coalesce(sum(documents), 0), coalesce(sum(chunks), 0), coalesce(sum(bytes), 0),
			coalesce(sum(old_revisions), 0), coalesce(sum(old_bytes), 0) FROM kbs`).
			Scan(&t.Documents, &t.Chunks, &t.Bytes, &t.RetainedRevisions, &t.RetainedBytes)
	})
	t.DBBytes = sizeOf(s.opt.Path)
	t.WALBytes = sizeOf(s.opt.Path + "-wal")
	return t, err
}

func probeDisk(dir string) (err error) {
	f, err := os.CreateTemp(dir, ".probe-*")
	if err == nil {
		_, err = f.Write(make([]byte, probeBytes))
		err = errors.Join(err, f.Sync(), f.Close(), os.Remove(f.Name()))
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fault.New(fault.Unavailable, "disk_full", "the disk of the index is full").
			WithHint("Free some space; work goes on by itself.").Because(err)
	}
	return fault.New(fault.Unavailable, "disk_error", "nothing can be written to the folder of the index").
		WithHint("Check the disk and the permissions of %s.", dir).Because(err)
}

func sizeOf(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// leastIndex is the size of an index of one page.
const leastIndex = 4096

// probeFile says when the index is not the file any more that was opened:
// SQLite would go on for long with the one that is gone, and what it has read.
func (s *Store) probeFile() error {
	gone := func(format string, args ...any) *fault.Error {
		return fault.New(fault.Unavailable, "index_gone", format, args...).WithHint("Restart the daemon: it builds the index anew from the documents.")
	}
	info, err := os.Stat(s.opt.Path)
	switch {
	case err != nil:
		return gone("the index file %s cannot be looked at any more", s.opt.Path).Because(err)
	case !os.SameFile(info, s.file):
		return gone("another file lies at %s than the index that is open", s.opt.Path)
	case info.Size() < leastIndex:
		return gone("the index file %s was cut to %d bytes", s.opt.Path, info.Size())
	}
	return nil
}

// Probe looks at the file, reads a row and runs a full-text query.
func (s *Store) Probe(ctx context.Context) error {
	if err := s.probeFile(); err != nil {
		return err
	}
	return s.read(ctx, "probe", func(r *reader) error {
		var n int
		if err := r.row("SELECT count(*) FROM kbs").Scan(&n); err != nil {
			return err
		}
		return r.row("SELECT count(*) FROM (SELECT 1 FROM fts WHERE fts MATCH 'a' LIMIT 1)").Scan(&n)
	})
}

// probeBytes must fit on the disk before it counts as having room again: the
// log may still have some of its own when the disk has none.
const probeBytes = 1 << 20

// ProbeWrite writes a little, beside the index and into it, and brings it to
// the disk; it fails as long as the disk is full.
func (s *Store) ProbeWrite(ctx context.Context) error {
	if err := probeDisk(filepath.Dir(s.opt.Path)); err != nil {
		return err
	}
	err := s.write(ctx, "probe write", func(t *wtx) error {
		return t.run("INSERT INTO settings (key, value) VALUES ('probed', ?1) ON CONFLICT (key) DO UPDATE SET value = ?1", t.now)
	})
	if err != nil {
		return err
	}
	return s.maintenance(ctx, "probe write", "PRAGMA wal_checkpoint(PASSIVE)")
}
