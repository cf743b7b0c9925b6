package watcher

import (
	"errors"
	"syscall"

	"github.com/fsnotify/fsnotify"
)

// backend is one notification instance of the operating system. Its channels
// are closed when it dies or is closed.
type backend interface {
	Add(dir string) error
	Remove(dir string) error
	Events() <-chan fsnotify.Event
	Errors() <-chan error
	Close() error
}

// eventBuffer is how many events wait between the reader of the system's
// queue and the collector. The collector never blocks for long; this takes
// the edge off scheduling.
const eventBuffer = 4096

type fsnotifyBackend struct{ w *fsnotify.Watcher }

func newFSNotify() (backend, error) {
	w, err := fsnotify.NewBufferedWatcher(eventBuffer)
	if err != nil {
		return nil, err
	}
	return fsnotifyBackend{w}, nil
}

func (b fsnotifyBackend) Add(dir string) error          { return b.w.Add(dir) }
func (b fsnotifyBackend) Remove(dir string) error       { return b.w.Remove(dir) }
func (b fsnotifyBackend) Events() <-chan fsnotify.Event { return b.w.Events }
func (b fsnotifyBackend) Errors() <-chan error          { return b.w.Errors }
func (b fsnotifyBackend) Close() error                  { return b.w.Close() }

// overLimit reports whether an error says that a limit of the system is
// reached, and what to raise.
func overLimit(err error) (advice string, over bool) {
	switch {
	case errors.Is(err, syscall.ENOSPC):
		return "raise the number of watches: sudo sysctl fs.inotify.max_user_watches=1048576 " +
			"(to keep it: echo fs.inotify.max_user_watches=1048576 | sudo tee /etc/sysctl.d/60-ragd.conf)", true
	case errors.Is(err, syscall.EMFILE):
		return "raise the number of watch instances: sudo sysctl fs.inotify.max_user_instances=1024, " +
			"or the limit of open files (ulimit -n)", true
	case errors.Is(err, syscall.ENFILE), errors.Is(err, syscall.ENOMEM):
		return "the system is out of file handles or kernel memory", true
	}
	return "", false
}
