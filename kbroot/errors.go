package kbroot

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"ragd/internal/fault"
)

// IncompleteError ends a walk that could not look everywhere. What lies under
// the subtrees named here was not reported and is not known to be gone.
type IncompleteError struct {
	KB   string
	Subs []string // paths relative to the KB; "" is the whole KB
	Err  error    // the first cause
}

// Error names the subtrees, the first few at least.
func (e *IncompleteError) Error() string {
	first := "the whole folder"
	if len(e.Subs) > 0 && e.Subs[0] != "" {
		first = DisplayPath(e.Subs[0])
	}
	if n := len(e.Subs); n > 1 {
		first = fmt.Sprintf("%s and %d more", first, n-1)
	}
	return fmt.Sprintf("knowledge base %q: %s could not be read: %v", e.KB, first, e.Err)
}

// Unwrap returns the first cause.
func (e *IncompleteError) Unwrap() error { return e.Err }

func rootUnavailable(t *top, err error) error {
	what := "root"
	if t.mounted {
		what = "mounted folder"
	}
	return fault.New(fault.Unavailable, "root_unavailable", "%s %q cannot be read: %s", what, t.name, causeOf(err)).
		WithHint("nothing of it is removed from the index; it is taken up again when the folder is back")
}

func folderUnreadable(path string, err error) error {
	return fault.New(fault.Unavailable, "folder_unreadable", "folder %s cannot be read: %s", clip(DisplayPath(path)), causeOf(err))
}

func unknownKB(name string) error {
	return fault.New(fault.NotFound, "kb_not_found", "no knowledge base is named %s", clip(name)).
		WithHint("a knowledge base is a folder directly below a root, or a mounted folder")
}

// causeOf words the cause of a file error without the path in it.
func causeOf(err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "the folder does not exist"
	case errors.Is(err, syscall.ENOTDIR):
		return "it is not a folder"
	case errors.Is(err, fs.ErrPermission):
		return "permission denied"
	}
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}

// isGone reports whether an error means that there is no such file now.
func isGone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}
