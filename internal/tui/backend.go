package tui

import (
	"context"

	"ragd/internal/wire"
)

// Backend is what the pages need of the daemon. Paths are passed as bytes the
// file system has (see rawPath); errors that a person can act on are *fault.Error.
type Backend interface {
	// Events follows the daemon until ctx ends. It reconnects by itself; events
	// of type "link" tell its state, and a "hello" carries the whole status.
	Events(ctx context.Context) <-chan wire.Event

	Status(ctx context.Context) (wire.Status, error)
	KBs(ctx context.Context) ([]wire.KB, error)
	Documents(ctx context.Context, kb, cursor string, limit int) (wire.Documents, error)
	Document(ctx context.Context, kb, path string, offset, limit int) (wire.DocumentView, error)
	// JobsAfter lists jobs from behind the job with the id after; 0 = from the first.
	JobsAfter(ctx context.Context, state string, after int64, limit int) (wire.Jobs, error)
	RetryJob(ctx context.Context, id int64) error
	RetryAll(ctx context.Context) (int, error)
	IgnoreJob(ctx context.Context, id int64) (wire.IgnoredJob, error)
	Search(ctx context.Context, query, kb, mode string, topK int, explain bool) (wire.SearchResult, error)
	Reindex(ctx context.Context, kb string, force bool) (wire.ReindexCounts, error)
	Pause(ctx context.Context, kb string) error
	Resume(ctx context.Context, kb string) error
	Bump(ctx context.Context, kb, path string) (bool, error)
	Ignored(ctx context.Context, path string) (wire.Verdict, error)
	Log(ctx context.Context, limit int) ([]wire.LogLine, error)
}

// Desk is the machine the person sits at: everything outside the daemon.
type Desk interface {
	// Editor returns the command line that opens file at a 1-based line in the
	// person's editor, or an error that says what to set.
	Editor(file string, line int) ([]string, error)
	// Open hands a file or folder to the system's opener.
	Open(ctx context.Context, path string) error
	// Copy puts text on the clipboard.
	Copy(ctx context.Context, text string) error
	// Head returns the first bytes (at most limit) of a regular file and its size.
	Head(path string, limit int) ([]byte, int64, error)
	// AddFolder makes the absolute path dir a KB called name ("" = as the
	// folder) in the settings, and has the running daemon take it up.
	AddFolder(ctx context.Context, dir, name string) error
	// History returns earlier queries, oldest first; Remember stores one.
	History() ([]string, error)
	Remember(query string) error
}

func rawPath(shown string, raw []byte) string {
	if len(raw) > 0 {
		return string(raw)
	}
	return shown
}
