package store

import (
	"context"
	"database/sql"
	"time"

	"ragd/internal/store/trim"
)

// maintenance runs statements on the writing connection outside a transaction.
func (s *Store) maintenance(ctx context.Context, what string, statements ...string) error {
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-s.turn }()
	for _, st := range statements {
		if s.closed.Load() {
			return s.classify(ctx, what, sql.ErrConnDone)
		}
		if h := s.opt.Hook; h != nil {
			if err := h(st); err != nil {
				return s.classify(ctx, what, err)
			}
		}
		// As a query, and read to its end: some of these work row by row.
		rows, err := s.conn.QueryContext(context.WithoutCancel(ctx), st)
		if err == nil {
			err = eachRow(rows, func(*sql.Rows) error { return nil })
		}
		if err != nil {
			return s.classify(ctx, what, err)
		}
	}
	return nil
}

const (
	mergePages = 400             // of the full-text index, merged in one transaction
	vacuumKeep = 256             // free pages not worth the work
	mergeMost  = 2 * time.Minute // of one Maintain
)

// Maintain tidies the file when there is nothing better to do: it merges
// segments of the full-text index, brings the log into the file, and gives
// free pages and memory back. It works in short steps with the writer's turn given up in
// between, so it may be stopped at any time.
func (s *Store) Maintain(ctx context.Context) error {
	if err := s.merge(ctx); err != nil {
		return err
	}
	if err := s.checkpoint(ctx); err != nil {
		return err
	}
	if err := s.vacuum(ctx); err != nil {
		return err
	}
	if err := s.checkpoint(ctx); err != nil {
		return err
	}
	if err := s.maintenance(ctx, "tidy", "PRAGMA shrink_memory"); err != nil {
		return err
	}
	trim.Memory()
	return nil
}

// checkpoint brings the log into the file and empties it. A long read keeps
// it from being emptied; then it waits no longer than it may hold up writers.
func (s *Store) checkpoint(ctx context.Context) error {
	return s.maintenance(ctx, "checkpoint", "PRAGMA busy_timeout = 200", "PRAGMA wal_checkpoint(TRUNCATE)", "PRAGMA busy_timeout = 10000")
}

// merge goes on as long as a step changes something. Only levels with four or
// more segments, or many deletions, are merged, so that a small change never
// costs the rewriting of the whole index.
func (s *Store) merge(ctx context.Context) error {
	for end := time.Now().Add(mergeMost); time.Now().Before(end); {
		if err := ctx.Err(); err != nil {
			return err
		}
		var before, after int64
		err := s.write(ctx, "merge", func(t *wtx) error {
			if _, err := t.get([]any{&before}, "SELECT total_changes()"); err != nil {
				return err
			}
			if err := t.run("INSERT INTO fts (fts, rank) VALUES ('merge', ?)", mergePages); err != nil {
				return err
			}
			_, err := t.get([]any{&after}, "SELECT total_changes()")
			return err
		})
		if err != nil {
			return err
		}
		if after-before < 2 {
			return nil
		}
	}
	return nil
}

func (s *Store) vacuum(ctx context.Context) error {
	for last := int64(-1); ; {
		var free int64
		err := s.read(ctx, "count free pages", func(r *reader) error {
			return r.row("PRAGMA freelist_count").Scan(&free)
		})
		if err != nil || free <= vacuumKeep || free == last {
			return err
		}
		last = free
		if err := s.maintenance(ctx, "vacuum", "PRAGMA incremental_vacuum(2000)"); err != nil {
			return err
		}
	}
}

// Rest gives back the memory of reading connections that were closed because
// nobody has needed them for a while. It is cheap when there were none.
func (s *Store) Rest() {
	if n := s.readers.Stats().MaxIdleTimeClosed; s.rested.Swap(n) != n {
		trim.Memory()
	}
}
