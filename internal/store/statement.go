package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"reflect"

	sqlite3 "github.com/mattn/go-sqlite3"
)

// statement is a prepared statement of the writing connection, used without
// database/sql between: bringing in a document takes dozens of them, and the
// bookkeeping of a pool costs more than most. Only who holds the turn uses it.
type statement struct {
	st   *sqlite3.SQLiteStmt
	args []driver.NamedValue
	row  []driver.Value
}

// rawConn returns the driver's connection under a *sql.Conn. It stays valid as
// long as the *sql.Conn does, since that is never given back to its pool.
func rawConn(c *sql.Conn) (raw *sqlite3.SQLiteConn, err error) {
	err = c.Raw(func(dc any) error {
		var ok bool
		if raw, ok = dc.(*sqlite3.SQLiteConn); !ok {
			return fmt.Errorf("store: %T is no connection of SQLite", dc)
		}
		return nil
	})
	return raw, err
}

func newStatement(raw *sqlite3.SQLiteConn, query string) (*statement, error) {
	st, err := raw.Prepare(query)
	if err != nil {
		return nil, fmt.Errorf("%w in: %s", err, query)
	}
	s, ok := st.(*sqlite3.SQLiteStmt)
	if !ok {
		return nil, fmt.Errorf("store: %T is no statement of SQLite", st)
	}
	return &statement{st: s}, nil
}

func (s *statement) bind(args []any) ([]driver.NamedValue, error) {
	if n := s.st.NumInput(); n >= 0 && n != len(args) {
		return nil, fmt.Errorf("store: %d arguments for a statement that takes %d", len(args), n)
	}
	s.args = s.args[:0]
	for i, a := range args {
		v, err := value(a)
		if err != nil {
			return nil, err
		}
		s.args = append(s.args, driver.NamedValue{Ordinal: i + 1, Value: v})
	}
	return s.args, nil
}

func value(a any) (driver.Value, error) {
	switch v := a.(type) {
	case int:
		return int64(v), nil
	case nil, int64, string, []byte, bool, float64:
		return v, nil
	}
	return driver.DefaultParameterConverter.ConvertValue(a)
}

func (s *statement) exec(args []any) (driver.Result, error) {
	named, err := s.bind(args)
	if err != nil {
		return nil, err
	}
	return s.st.ExecContext(context.Background(), named)
}

// query calls fn for every row, whose values are valid until it returns.
func (s *statement) query(args []any, fn func(row []driver.Value) (more bool, err error)) (err error) {
	named, err := s.bind(args)
	if err != nil {
		return err
	}
	rows, err := s.st.QueryContext(context.Background(), named)
	if err != nil {
		return err
	}
	defer func() {
		if e := rows.Close(); err == nil {
			err = e
		}
	}()
	if n := len(rows.Columns()); len(s.row) != n {
		s.row = make([]driver.Value, n)
	}
	for more := true; more; {
		if err := rows.Next(s.row); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		if more, err = fn(s.row); err != nil {
			return err
		}
	}
	return nil
}

// assign puts a value of a row where dest points to.
func assign(dest any, v driver.Value) error {
	switch d := dest.(type) {
	case *int64:
		if n, ok := v.(int64); ok {
			*d = n
			return nil
		}
	case *int:
		if n, ok := v.(int64); ok {
			*d = int(n)
			return nil
		}
	case *bool:
		if n, ok := v.(int64); ok {
			*d = n != 0
			return nil
		}
	case *string:
		if s, ok := v.(string); ok {
			*d = s
			return nil
		}
	case *[]byte:
		switch b := v.(type) {
		case nil:
			*d = nil
			return nil
		case []byte:
			*d = b
			return nil
		case string:
			*d = []byte(b)
			return nil
		}
	case sql.Scanner:
		return d.Scan(v)
	}
	return assignOther(dest, v)
}

// assignOther serves the rarer kinds: floats, named strings and integers.
func assignOther(dest any, v driver.Value) error {
	to := reflect.ValueOf(dest)
	from := reflect.ValueOf(v)
	if to.Kind() == reflect.Pointer && from.IsValid() && from.CanConvert(to.Elem().Type()) &&
		(from.Kind() == to.Elem().Kind() || from.CanInt() && (to.Elem().CanInt() || to.Elem().CanFloat())) {
		to.Elem().Set(from.Convert(to.Elem().Type()))
		return nil
	}
	return fmt.Errorf("store: %T cannot be read into %T", v, dest)
}
