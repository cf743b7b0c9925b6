package store

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"ragd/internal/fault"
)

const fileMagic = "SQLite format 3\x00"

// inspect looks at the file without SQLite, which would take a file of a few
// bytes for an empty database and write over it.
func inspect(path string) (exists bool, err error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, unreadable(path, err)
	}
	if !info.Mode().IsRegular() {
		return false, unreadable(path, fmt.Errorf("it is %s, not a file", info.Mode().Type()))
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return false, unreadable(path, err)
	}
	defer func() { _ = f.Close() }()
	if info.Size() == 0 {
		return false, nil
	}
	var head [100]byte
	if _, err := io.ReadFull(f, head[:]); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return true, &damageError{fmt.Errorf("only %d bytes long", info.Size())}
		}
		return false, unreadable(path, err)
	}
	if string(head[:16]) != fileMagic {
		return true, &damageError{errors.New("no SQLite file")}
	}
	page := int64(binary.BigEndian.Uint16(head[16:]))
	if page == 1 {
		page = 65536
	}
	pages := int64(binary.BigEndian.Uint32(head[28:]))
	wal, err := os.Stat(path + "-wal")
	logged := err == nil && wal.Size() > 32
	if info.Size() < page || (!logged && info.Size() < page*pages) {
		return true, &damageError{fmt.Errorf("%d bytes long instead of %d", info.Size(), page*pages)}
	}
	return true, nil
}

// verify refuses what is not an index, and finds damage.
func (s *Store) verify(ctx context.Context) error {
	var app, version, tables int64
	if err := s.conn.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&tables); err != nil {
		return err
	}
	if err := s.conn.QueryRowContext(ctx, "PRAGMA application_id").Scan(&app); err != nil {
		return err
	}
	if err := s.conn.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return err
	}
	if tables == 0 {
		return nil // made and not filled: a crash right after creation
	}
	if app != applicationID {
		return fault.New(fault.Permanent, "index_foreign", "%s is a database of another program", s.opt.Path).
			WithHint("Name another file for the index.")
	}
	list, err := migrations()
	if err != nil {
		return err
	}
	if version > int64(len(list)) {
		return nil // migrate refuses it
	}
	info, err := os.Stat(s.opt.Path)
	if err != nil {
		return err
	}
	_, err = os.Stat(s.damageMark())
	if marked := err == nil; !marked && info.Size() > quickCheckMax {
		return nil
	}
	if err := s.quickCheck(ctx); err != nil {
		return err
	}
	return s.removeDamageMark()
}

// quickCheck reads every page and lets FTS5 check its tables. Damage of those
// alone is only noted, since they can be built anew from the texts.
func (s *Store) quickCheck(ctx context.Context) (err error) {
	rows, err := s.conn.QueryContext(ctx, "PRAGMA quick_check(100)")
	if err != nil {
		return err
	}
	err = eachRow(rows, func(rows *sql.Rows) error {
		var answer string
		if err := rows.Scan(&answer); err != nil {
			return err
		}
		switch {
		case answer == "ok":
			return nil
		case ftsComplaint(answer):
			s.ftsBroken = true
			return nil
		}
		return fmt.Errorf("quick_check: %s", answer)
	})
	if err != nil || s.ftsBroken {
		return err
	}
	var chunks, rowsOfFTS int64
	err = s.conn.QueryRowContext(ctx, "SELECT (SELECT count(*) FROM chunks WHERE active), (SELECT count(*) FROM fts_docsize)").Scan(&chunks, &rowsOfFTS)
	s.ftsBroken = chunks != rowsOfFTS
	return err
}

// damageMark is a file beside the index that says damage was met while running,
// so that the next start checks the whole file.
func (s *Store) damageMark() string { return s.opt.Path + ".damaged" }

func (s *Store) noteDamage() {
	if s.damaged.Swap(true) {
		return
	}
	s.log.Error("the index is damaged; the next start checks it and builds it anew if need be", "index", s.opt.Path)
	if err := os.WriteFile(s.damageMark(), nil, 0o600); err != nil {
		s.log.Warn("the damage could not be noted", "error", err)
	}
}

func (s *Store) removeDamageMark() error {
	s.damaged.Store(false)
	if err := os.Remove(s.damageMark()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// setAside renames the file and its log so that they stay one database, and
// returns the new name.
func setAside(path string, now time.Time) (string, error) {
	kept := path + ".corrupt-" + now.UTC().Format("20060102T150405")
	for n := 2; ; n++ {
		if _, err := os.Lstat(kept); errors.Is(err, fs.ErrNotExist) {
			break
		}
		kept = fmt.Sprintf("%s.corrupt-%s-%d", path, now.UTC().Format("20060102T150405"), n)
	}
	if err := os.Rename(path, kept); err != nil {
		return "", unreadable(path, err)
	}
	for _, suffix := range []string{"-wal", "-shm", ".damaged"} {
		if err := os.Rename(path+suffix, kept+suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return kept, unreadable(path+suffix, err)
		}
	}
	return kept, nil
}
