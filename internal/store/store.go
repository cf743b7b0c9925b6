package store

import (
	"context"
	"database/sql"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/klauspost/compress/zstd"
	sqlite3 "github.com/mattn/go-sqlite3"
)

// Store is the index. It is safe for concurrent use.
//
// Reads take a connection of the readers' pool and see one snapshot. Writes
// go through one connection, guarded by turn; a read never waits for them.
type Store struct {
	opt     Options
	log     *slog.Logger
	readers *sql.DB
	slots   chan struct{} // as many as reading connections; the pool would serve those that wait at random
	file    os.FileInfo   // of the index, when it was opened
	writers *sql.DB

	turn chan struct{}       // holds one token; who takes it owns the fields below
	conn *sql.Conn           // the writing connection
	raw  *sqlite3.SQLiteConn // the same, for statements
	stmt map[string]*statement
	seq  int64 // the next chunk's sequence number
	last int64 // KB that got the last claim, for fairness

	gen     atomic.Uint64
	closed  atomic.Bool
	reading atomic.Int64 // reads under way
	rested  atomic.Int64 // idle connections closed until the last Rest
	damaged atomic.Bool

	ftsBroken bool // found by Open, before anybody else uses the store

	enc *zstd.Encoder
	dec *zstd.Decoder
	dfs dfCache
	vec vectorIndex

	seen     seenContents
	seenOnce sync.Mutex // held while seen is filled
}

// closeWait is how long Close waits for reads under way.
const closeWait = 3 * time.Second

// Generation rises with every commit that changes what a search sees.
func (s *Store) Generation() uint64 { return s.gen.Load() }

// Close waits for the write under way and closes the file. A last checkpoint
// empties the log.
func (s *Store) Close() error {
	s.turn <- struct{}{}
	defer func() { <-s.turn }()
	if s.closed.Swap(true) {
		return nil
	}
	// Reads under way may end; who stops the daemon has cancelled the long ones.
	for end := time.Now().Add(closeWait); s.reading.Load() > 0 && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	err := s.readers.Close()
	for _, st := range s.stmt {
		if e := st.st.Close(); err == nil {
			err = e
		}
	}
	s.stmt = nil
	if s.conn != nil {
		if e := s.conn.Close(); err == nil {
			err = e
		}
	}
	if e := s.writers.Close(); err == nil {
		err = e
	}
	s.dec.Close()
	if e := s.enc.Close(); err == nil {
		err = e
	}
	return err
}

// read runs fn on one snapshot of the index.
func (s *Store) read(ctx context.Context, what string, fn func(r *reader) error) error {
	s.reading.Add(1)
	defer s.reading.Add(-1)
	if s.closed.Load() {
		return s.classify(ctx, what, sql.ErrConnDone)
	}
	select {
	case s.slots <- struct{}{}:
	case <-ctx.Done():
		return s.classify(ctx, what, ctx.Err())
	}
	defer func() { <-s.slots }()
	c, err := s.readers.Conn(ctx)
	if err != nil {
		return s.classify(ctx, what, err)
	}
	defer func() { _ = c.Close() }() // gives it back to the pool
	bg := context.WithoutCancel(ctx) // taking and ending a snapshot is a matter of microseconds
	if _, err := c.ExecContext(bg, "BEGIN"); err != nil {
		return s.classify(ctx, what, err)
	}
	err = fn(&reader{ctx, c})
	if _, e := c.ExecContext(bg, "COMMIT"); err == nil {
		err = e
	}
	return s.classify(ctx, what, err)
}

// reader is a snapshot.
type reader struct {
	ctx context.Context // of this one read; it lives no longer
	c   *sql.Conn
}

func (r *reader) row(query string, args ...any) *sql.Row {
	return r.c.QueryRowContext(r.ctx, query, args...)
}

// each calls fn for every row; fn scans.
func (r *reader) each(fn func(rows *sql.Rows) error, query string, args ...any) error {
	rows, err := r.c.QueryContext(r.ctx, query, args...)
	if err != nil {
		return err
	}
	return eachRow(rows, fn)
}

func eachRow(rows *sql.Rows, fn func(rows *sql.Rows) error) (err error) {
	defer func() {
		if e := rows.Close(); err == nil {
			err = e
		}
	}()
	for rows.Next() {
		if err := fn(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}
