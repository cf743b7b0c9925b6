package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/zstd"
	sqlite3 "github.com/mattn/go-sqlite3"

	"ragd/internal/fault"
	"ragd/internal/store/ftsrank"
)

// quickCheckMax is the size up to which a file is checked whole when it is
// opened. Larger ones are only probed, unless damage was noted before.
const quickCheckMax = 64 << 20

// Open opens the index, or makes it. A damaged file is set aside, never
// deleted, and a new one is made; a file that cannot be read, is not an index
// or has a newer schema is left alone and the error says so.
func Open(ctx context.Context, o Options) (*Store, OpenReport, error) {
	o.defaults()
	var rep OpenReport
	if err := ftsrank.Register(); err != nil {
		return nil, rep, err
	}
	if err := os.MkdirAll(filepath.Dir(o.Path), 0o700); err != nil {
		return nil, rep, unreadable(o.Path, err)
	}
	s, err := openExisting(ctx, o, &rep)
	if damage := new(damageError); errors.As(err, &damage) {
		if rep.Quarantined, err = setAside(o.Path, o.Now()); err != nil {
			return nil, rep, err
		}
		o.Logger.Warn("the index was damaged and has been set aside; it is built anew from the files",
			"kept", rep.Quarantined, "damage", damage.Error())
		s, err = openExisting(ctx, o, &rep)
	}
	if err != nil {
		return nil, rep, err
	}
	return s, rep, nil
}

// damageError says that a file is a damaged index.
type damageError struct{ err error }

func (e *damageError) Error() string { return e.err.Error() }
func (e *damageError) Unwrap() error { return e.err }

func unreadable(path string, err error) error {
	return fault.New(fault.Permanent, "index_unreadable", "the index %s cannot be opened", path).
		WithHint("Check the path and its permissions, or name another file.").Because(err)
}

func openExisting(ctx context.Context, o Options, rep *OpenReport) (*Store, error) {
	exists, err := inspect(o.Path)
	if err != nil {
		return nil, err
	}
	rep.Created = !exists
	s := &Store{opt: o, log: o.Logger, turn: make(chan struct{}, 1), slots: make(chan struct{}, o.Readers), stmt: map[string]*statement{}}
	s.gen.Store(1)
	if err := s.connect(ctx, exists, rep); err != nil {
		s.abandon()
		if exists && damaging(err) {
			return nil, &damageError{err}
		}
		return nil, s.classify(ctx, "open", err)
	}
	return s, nil
}

// connect opens the pools, checks the file and brings it up to date.
func (s *Store) connect(ctx context.Context, exists bool, rep *OpenReport) (err error) {
	// One encoder and one decoder: texts are short, and each holds memory.
	s.enc, err = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
		zstd.WithWindowSize(segmentWindow), zstd.WithEncoderCRC(false), zstd.WithSingleSegment(true))
	if err != nil {
		return err
	}
	s.dec, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(2), zstd.WithDecoderMaxMemory(4*segmentWindow), zstd.WithDecoderLowmem(true))
	if err != nil {
		return err
	}
	if s.writers, err = openWriter(s.opt.Path); err != nil {
		return err
	}
	if s.conn, err = s.writers.Conn(ctx); err != nil {
		return err
	}
	if s.raw, err = rawConn(s.conn); err != nil {
		return err
	}
	if exists {
		if err := s.verify(ctx); err != nil {
			return err
		}
	}
	from, to, err := migrate(ctx, s.conn)
	if err != nil {
		return err
	}
	rep.Migrated = exists && from > 0 && to > from
	if s.readers, err = openReaders(s.opt.Path, s.opt.Readers); err != nil {
		return err
	}
	if s.file, err = os.Stat(s.opt.Path); err != nil {
		return err
	}
	if err := s.load(ctx, rep); err != nil {
		return err
	}
	return s.finishRebuild(ctx)
}

// finishRebuild builds the full-text index anew when a rebuild was cut off,
// or when verify has found it broken.
func (s *Store) finishRebuild(ctx context.Context) error {
	var due bool
	err := s.conn.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM settings WHERE key = ?)", rebuildFlag).Scan(&due)
	if err != nil || !(due || s.ftsBroken) {
		return err
	}
	if s.opt.Reanalyse == nil {
		return &damageError{errors.New("the full-text index is not complete")}
	}
	s.log.Warn("the full-text index was damaged and is built anew from the stored texts", "index", s.opt.Path)
	n, err := s.rebuildFTS(ctx)
	if err == nil {
		s.log.Info("the full-text index is complete again", "chunks", n)
	}
	return err
}

// load reads what the store keeps in memory, and touches every table so that
// a file which lost one is found out now.
func (s *Store) load(ctx context.Context, rep *OpenReport) error {
	var top sql.NullInt64
	if err := s.conn.QueryRowContext(ctx, "SELECT max(id) FROM chunks").Scan(&top); err != nil {
		return err
	}
	s.seq = top.Int64>>seqShift + 1
	err := s.conn.QueryRowContext(ctx, "SELECT count(*) FROM jobs WHERE state = ?", jobProcessing).Scan(&rep.Rescued)
	if err != nil {
		return err
	}
	for _, table := range []string{"settings", "kbs", "documents", "contents", "texts", "revisions", "chunks", "jobs", "fts_docsize"} {
		var n int
		if err := s.conn.QueryRowContext(ctx, "SELECT count(*) FROM (SELECT 1 FROM "+table+" LIMIT 1)").Scan(&n); err != nil {
			return fmt.Errorf("%s: %w", table, err)
		}
	}
	var n int
	err = s.conn.QueryRowContext(ctx, "SELECT count(*) FROM (SELECT 1 FROM fts WHERE fts MATCH 'a' LIMIT 1)").Scan(&n)
	if isCorrupt(err) {
		s.ftsBroken, err = true, nil
	}
	return err
}

// abandon closes what a failed Open has opened.
func (s *Store) abandon() {
	s.closed.Store(true)
	if s.readers != nil {
		_ = s.readers.Close()
	}
	if s.conn != nil {
		_ = s.conn.Close()
	}
	if s.writers != nil {
		_ = s.writers.Close()
	}
	if s.dec != nil {
		s.dec.Close()
	}
}

// damaging tells errors that mean "this file is broken" from those of the
// moment or of another program's making.
func damaging(err error) bool {
	if _, ok := fault.As(err); ok {
		return false
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, fs.ErrPermission) {
		return false
	}
	var se sqlite3.Error
	if errors.As(err, &se) {
		switch se.Code {
		case sqlite3.ErrBusy, sqlite3.ErrLocked, sqlite3.ErrPerm, sqlite3.ErrReadonly, sqlite3.ErrFull,
			sqlite3.ErrNomem, sqlite3.ErrCantOpen, sqlite3.ErrAuth, sqlite3.ErrInterrupt:
			return false
		case sqlite3.ErrIoErr:
			return se.ExtendedCode == sqlite3.ErrIoErrShortRead
		}
	}
	return true
}
