package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	sqlite3 "github.com/mattn/go-sqlite3"

	"ragd/internal/fault"
)

// classify turns an error of SQLite into a fault where a caller can do
// something about it. what names the operation.
func (s *Store) classify(ctx context.Context, what string, err error) error {
	if err == nil {
		return nil
	}
	if _, ok := fault.As(err); ok {
		return err
	}
	if ctx != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	if errors.Is(err, sql.ErrConnDone) || (errors.Is(err, sql.ErrTxDone)) || s.closed.Load() {
		return fault.New(fault.Unavailable, "index_closed", "the index is closed").Because(err)
	}
	var se sqlite3.Error
	if !errors.As(err, &se) {
		return fmt.Errorf("store: %s: %w", what, err)
	}
	switch se.Code {
	case sqlite3.ErrFull:
		return fault.New(fault.Unavailable, "disk_full", "the disk of the index is full").
			WithHint("Free some space; work goes on by itself.").Because(err)
	case sqlite3.ErrIoErr, sqlite3.ErrReadonly, sqlite3.ErrCantOpen:
		return fault.New(fault.Unavailable, "disk_error", "the index cannot be read or written").
			WithHint("Check the disk and the permissions of %s.", s.opt.Path).Because(err)
	case sqlite3.ErrBusy, sqlite3.ErrLocked:
		return fault.New(fault.Transient, "index_busy", "the index is busy").Because(err)
	case sqlite3.ErrCorrupt, sqlite3.ErrNotADB:
		s.noteDamage()
		return fault.New(fault.Unavailable, "index_corrupt", "the index is damaged").
			WithHint("Run \"ragd doctor --repair\", or restart the daemon: a damaged index is set aside and built anew from the files.").Because(err)
	case sqlite3.ErrInterrupt:
		return fault.New(fault.Cancelled, "cancelled", "the query was stopped").Because(err)
	}
	return fmt.Errorf("store: %s: %w", what, err)
}

func isCorrupt(err error) bool {
	var se sqlite3.Error
	return errors.As(err, &se) && (se.Code == sqlite3.ErrCorrupt || se.Code == sqlite3.ErrNotADB)
}

// Error names the first outcome that was not written.
func (e *OutcomeError) Error() string {
	if len(e.Failed) == 0 {
		return "no outcome failed"
	}
	return fmt.Sprintf("%d outcomes could not be written, the first: %v", len(e.Failed), e.Failed[0].Err)
}

// Unwrap returns the first error, so that its kind can be asked for.
func (e *OutcomeError) Unwrap() error {
	if len(e.Failed) == 0 {
		return nil
	}
	return e.Failed[0].Err
}

// notFound turns "no rows" into a fault.
func notFound(err error, code, message string) error {
	if errors.Is(err, sql.ErrNoRows) {
		return fault.New(fault.NotFound, code, "%s", message)
	}
	return err
}
