package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"ragd/internal/fault"
	"ragd/kbroot"
	"ragd/mcpserver"
)

// auditEntry is one line of the audit log: a write by an agent.
type auditEntry struct {
	At      time.Time `json:"at"`
	Agent   string    `json:"agent"` // "" = the main socket
	Client  string    `json:"client,omitempty"`
	Action  string    `json:"action"`
	KB      string    `json:"kb,omitempty"`
	Path    string    `json:"path,omitempty"`
	Before  string    `json:"before,omitempty"` // SHA-256 of the file
	After   string    `json:"after,omitempty"`
	Outcome string    `json:"outcome"`
}

const (
	auditName  = "audit.jsonl"
	auditBytes = 4 << 20 // of one file; then it is rotated
	auditKept  = 3       // rotated files kept: audit.jsonl.1 is the newest
	maxLine    = 64 << 10
)

// auditLog appends to the log in a folder; it holds no file open.
type auditLog struct {
	mu   sync.Mutex
	path string
	max  int64
}

func auditIn(dir string) *auditLog {
	return &auditLog{path: filepath.Join(dir, auditName), max: auditBytes}
}

// auditWrite implements mcpserver.Deps.Audit.
func (d *daemon) auditWrite(a mcpserver.Audit) {
	err := d.audit.append(auditEntry{
		At: a.At.UTC(), Agent: a.Agent, Client: a.Client, Action: a.Action, KB: kbroot.DisplayPath(a.KB), Path: kbroot.DisplayPath(a.Path),
		Before: a.Before, After: a.After, Outcome: a.Outcome,
	})
	if err != nil {
		d.log.Error("a write by an agent could not be noted in the audit log", "error", err)
	}
}

func (l *auditLog) append(e auditEntry) (err error) {
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if info, err := os.Lstat(l.path); err == nil && info.Size()+int64(len(line)) >= l.max {
		if err := l.rotate(); err != nil {
			return err
		}
	}
	f, err := os.OpenFile(l.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	// One write of a whole line: a crash leaves no half one before the next. It
	// is as durable as the document, which is brought to the disk, too.
	_, err = f.Write(append(line, '\n'))
	return errors.Join(err, f.Sync())
}

func (l *auditLog) numbered(n int) string {
	if n == 0 {
		return l.path
	}
	return fmt.Sprintf("%s.%d", l.path, n)
}

func (l *auditLog) rotate() error {
	for n := auditKept; n > 0; n-- {
		if err := os.Rename(l.numbered(n-1), l.numbered(n)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// read returns the newest limit entries that keep accepts, oldest first, and
// how many lines could not be read.
func (l *auditLog) read(limit int, keep func(auditEntry) bool) (entries []auditEntry, bad int, err error) {
	for n := 0; n <= auditKept && len(entries) < limit; n++ {
		data, err := os.ReadFile(l.numbered(n))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, 0, fault.New(fault.Unavailable, "audit_unreadable", "the audit log %s cannot be read", l.numbered(n)).Because(err)
		}
		var older []auditEntry
		lines := bufio.NewScanner(bytes.NewReader(data))
		lines.Buffer(nil, maxLine)
		for lines.Scan() {
			var e auditEntry
			if json.Unmarshal(lines.Bytes(), &e) != nil {
				bad++
			} else if keep(e) {
				older = append(older, e)
			}
		}
		if lines.Err() != nil {
			bad++
		}
		entries = append(older, entries...)
	}
	return entries[max(0, len(entries)-limit):], bad, nil
}
