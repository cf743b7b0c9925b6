package store

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"ragd/internal/fault"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// applicationID marks a file as an index of ragd ("ragd" in ASCII).
const applicationID = 0x72616764

type migration struct {
	number int
	name   string
	sql    string
}

func migrations() ([]migration, error) {
	names, err := fs.Glob(migrationFiles, "migrations/*.sql")
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	out := make([]migration, len(names))
	for i, name := range names {
		base := strings.TrimPrefix(name, "migrations/")
		n, err := strconv.Atoi(base[:4])
		if err != nil || n != i+1 {
			return nil, fmt.Errorf("store: migration %s is not number %d", base, i+1)
		}
		text, err := migrationFiles.ReadFile(name)
		if err != nil {
			return nil, err
		}
		out[i] = migration{n, base, string(text)}
	}
	return out, nil
}

// migrate brings the schema to the newest version, one transaction a step.
// A schema newer than this program knows is refused.
func migrate(ctx context.Context, c *sql.Conn) (from, to int, err error) {
	list, err := migrations()
	if err != nil {
		return 0, 0, err
	}
	if err := c.QueryRowContext(ctx, "PRAGMA user_version").Scan(&from); err != nil {
		return 0, 0, err
	}
	if from > len(list) {
		return from, from, fault.New(fault.Permanent, "index_newer",
			"the index has schema %d, this program knows %d at most", from, len(list)).
			WithHint("Use the newer program, or name another index file.")
	}
	for _, m := range list[from:] {
		if err := step(ctx, c, m); err != nil {
			return from, from, fmt.Errorf("store: migration %s: %w", m.name, err)
		}
	}
	return from, len(list), nil
}

func step(ctx context.Context, c *sql.Conn, m migration) error {
	tx, err := c.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // does nothing after a commit
	if _, err := tx.ExecContext(ctx, m.sql); err != nil {
		return err
	}
	stamp := fmt.Sprintf("PRAGMA user_version = %d; PRAGMA application_id = %d", m.number, applicationID)
	if _, err := tx.ExecContext(ctx, stamp); err != nil {
		return err
	}
	return tx.Commit()
}
