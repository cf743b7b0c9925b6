package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	sqlite3 "github.com/mattn/go-sqlite3"
)

// connector opens connections of one kind. All settings go into the DSN or
// the hook, so that every connection of a pool has them.
type connector struct {
	driver *sqlite3.SQLiteDriver
	dsn    string
}

func (c *connector) Connect(context.Context) (driver.Conn, error) { return c.driver.Open(c.dsn) }
func (c *connector) Driver() driver.Driver                        { return c.driver }

func newConnector(path string, params, pragmas []string, more ...string) (*connector, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	name := (&url.URL{Path: abs}).EscapedPath()
	return &connector{
		dsn: "file:" + name + "?" + strings.Join(params, "&"),
		driver: &sqlite3.SQLiteDriver{ConnectHook: func(c *sqlite3.SQLiteConn) error {
			for _, p := range pragmas {
				if _, err := c.Exec("PRAGMA "+p, nil); err != nil {
					return err
				}
			}
			for _, st := range more {
				if _, err := c.Exec(st, nil); err != nil {
					return err
				}
			}
			return nil
		}},
	}, nil
}

// openWriter opens the pool of the one writing connection. Creating sets what
// can only be set on an empty file; WAL mode is entered after that.
func openWriter(path string) (*sql.DB, error) {
	c, err := newConnector(path, []string{
		"_mutex=no", "_txlock=immediate", "_busy_timeout=10000", "_synchronous=NORMAL",
		"_foreign_keys=on", "_cache_size=-16384", "_stmt_cache_size=64",
	}, []string{
		"page_size = 4096", "auto_vacuum = INCREMENTAL",
		"journal_mode = WAL", "wal_autocheckpoint = 4000", "journal_size_limit = 33554432",
		"temp_store = MEMORY", "cell_size_check = ON", "mmap_size = 0",
	})
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(c)
	db.SetMaxOpenConns(1)
	return db, nil
}

// readerIdle is how long a connection that nobody needs keeps its pages.
const readerIdle = 20 * time.Second

// openReaders opens the pool for reads; its connections cannot write.
func openReaders(path string, n int) (*sql.DB, error) {
	c, err := newConnector(path, []string{
		"mode=ro", "_mutex=no", "_query_only=on", "_busy_timeout=5000", "_cache_size=-8192", "_stmt_cache_size=48",
	}, []string{"temp_store = MEMORY", "cell_size_check = ON", "mmap_size = 0"},
		"PRAGMA query_only = OFF", createWordsSQL, "PRAGMA query_only = ON")
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(c)
	db.SetMaxOpenConns(n)
	db.SetMaxIdleConns(n)
	db.SetConnMaxIdleTime(readerIdle)
	return db, nil
}
