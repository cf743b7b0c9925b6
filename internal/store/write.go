package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
)

// wtx is a write transaction. Its statements run without a context, since a
// transaction is bounded and must not end half done; who opens it looks at
// the context between steps.
type wtx struct {
	s       *Store
	now     int64 // ms; one value per transaction
	deltas  map[int64]*counters
	changed bool       // what a search sees
	vectors []vectorOp // changes of the codes in memory
	fts     []ftsOp    // changes of the full-text index, written at the end
	bg      context.Context
}

// write runs fn in a transaction of the writing connection; an error of fn
// rolls it back.
func (s *Store) write(ctx context.Context, what string, fn func(t *wtx) error) (err error) {
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-s.turn }()
	if s.closed.Load() {
		return s.classify(ctx, what, sql.ErrConnDone)
	}
	seq := s.seq
	t := &wtx{s: s, now: s.opt.Now().UnixMilli(), deltas: map[int64]*counters{}, bg: context.Background()}
	if err := t.run("BEGIN IMMEDIATE"); err != nil {
		return s.classify(ctx, what, err)
	}
	done := false
	defer func() {
		if !done {
			s.seq = seq
			s.rollback()
		}
	}()
	if err := fn(t); err != nil {
		return s.classify(ctx, what, err)
	}
	if err := t.writeFTS(); err != nil {
		return s.classify(ctx, what, err)
	}
	if err := t.writeCounters(); err != nil {
		return s.classify(ctx, what, err)
	}
	if err := t.run("COMMIT"); err != nil {
		return s.classify(ctx, what, err)
	}
	done = true
	s.vec.apply(t.vectors)
	if t.changed {
		s.gen.Add(1)
	}
	return nil
}

// rollback ends a failed transaction. SQLite may have done so itself already
// (disk full), which is an error here and means nothing.
func (s *Store) rollback() {
	if _, err := s.conn.ExecContext(context.Background(), "ROLLBACK"); err != nil {
		s.log.Debug("rollback", "error", err)
	}
}

func (t *wtx) hook(point string) error {
	if h := t.s.opt.Hook; h != nil {
		return h(point)
	}
	return nil
}

// prepare returns the statement for query, kept for the store's life.
func (t *wtx) prepare(query string) (*statement, error) {
	if st, ok := t.s.stmt[query]; ok {
		return st, nil
	}
	st, err := newStatement(t.s.raw, query)
	if err == nil {
		t.s.stmt[query] = st
	}
	return st, err
}

func (t *wtx) exec(query string, args ...any) (driver.Result, error) {
	if err := t.hook(query); err != nil {
		return nil, err
	}
	st, err := t.prepare(query)
	if err != nil {
		return nil, err
	}
	return st.exec(args)
}

func (t *wtx) run(query string, args ...any) error {
	_, err := t.exec(query, args...)
	return err
}

// insert returns the new row's id.
func (t *wtx) insert(query string, args ...any) (int64, error) {
	r, err := t.exec(query, args...)
	if err != nil {
		return 0, err
	}
	return r.LastInsertId()
}

// count returns how many rows were changed.
func (t *wtx) count(query string, args ...any) (int64, error) {
	r, err := t.exec(query, args...)
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

// get scans the first row; false when there is none.
func (t *wtx) get(dest []any, query string, args ...any) (found bool, err error) {
	st, err := t.prepare(query)
	if err != nil {
		return false, err
	}
	err = st.query(args, func(row []driver.Value) (bool, error) {
		if len(row) != len(dest) {
			return false, fmt.Errorf("store: %d columns for %d variables in: %s", len(row), len(dest), query)
		}
		for i, v := range row {
			if err := assign(dest[i], v); err != nil {
				return false, fmt.Errorf("%w in: %s", err, query)
			}
		}
		found = true
		return false, nil
	})
	return found && err == nil, err
}

// each reads all rows; fn scans. No other statement may run inside fn.
func (t *wtx) each(fn func(rows *sql.Rows) error, query string, args ...any) error {
	rows, err := t.s.conn.QueryContext(t.bg, query, args...)
	if err != nil {
		return err
	}
	return eachRow(rows, fn)
}

// ids reads a column of integers.
func (t *wtx) ids(query string, args ...any) (out []int64, err error) {
	st, err := t.prepare(query)
	if err != nil {
		return nil, err
	}
	err = st.query(args, func(row []driver.Value) (bool, error) {
		var id int64
		err := assign(&id, row[0])
		out = append(out, id)
		return true, err
	})
	return out, err
}
