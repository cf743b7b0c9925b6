// Package kbroot is a root on disk: its knowledge bases (first-level folders
// and mounts), document paths, containment, ignore rules, the ordered walk,
// and the Change hint. It owns the question "is this path a document, and if
// not, which rule says so"; it does not watch (watcher), does not know file
// formats (extract) and keeps no state about documents (store).
package kbroot

import (
	"io/fs"
	"time"
)

// DocPath addresses a file in a KB. Path is relative to the KB's folder, has
// "/" between elements, never ".." or an empty element, and holds the bytes as
// the filesystem has them (any encoding, any normal form).
type DocPath struct {
	KB   string
	Path string
}

// KB is a knowledge base: a first-level folder of a root, or a mount.
// Names are unique over all roots: where two roots have a folder of one name,
// the later root's is called "folder@root".
type KB struct {
	Name    string
	Root    string // name of the root (the tenant) it belongs to; a mount has its own name here
	Dir     string // absolute
	Mounted bool
}

// Entry is one file met by Walk or Stat.
type Entry struct {
	DocPath
	Size    int64
	ModTime time.Time // nanoseconds where the filesystem has them
	CTime   time.Time // status change; catches a content change behind an old mtime
	Dev     uint64
	Inode   uint64
	Mode    fs.FileMode
	Verdict Verdict
}

// Verdict says whether a file is to be indexed.
type Verdict struct {
	Code   Code
	Reason string // a sentence for a person; empty when OK
	Rule   string // the ignore rule that decided, "docs/.gitignore:3: *.log"; or the setting's name
}

// Code classifies a verdict.
type Code string

// The verdict codes. Files with an Ignored* code are left out of listings;
// those with an Excluded* code are listed with the reason.
const (
	OK              Code = "ok"
	IgnoredRule     Code = "ignored_rule"     // .gitignore, .ignore, .ragdignore, configured pattern
	IgnoredBuiltin  Code = "ignored_builtin"  // built-in excludes, the daemon's own data
	IgnoredHidden   Code = "ignored_hidden"   // hidden, and hidden files are not configured in
	ExcludedSize    Code = "excluded_size"    // over the size cap
	ExcludedSpecial Code = "excluded_special" // FIFO, socket, device
	ExcludedSymlink Code = "excluded_symlink" // leads out of the root, dangles, or was followed already
	ExcludedAccess  Code = "excluded_access"  // no permission to read
	Missing         Code = "missing"          // no such file
)

// Listed reports whether files with this code appear in document listings.
func (c Code) Listed() bool {
	switch c {
	case OK, ExcludedSize, ExcludedSpecial, ExcludedSymlink, ExcludedAccess:
		return true
	}
	return false
}

// ChangeKind says how much of the disk a hint is about.
type ChangeKind uint8

const (
	// ChangePath: this file or folder may have appeared, changed or gone.
	ChangePath ChangeKind = iota
	// ChangeTree: everything below this folder of the KB may have changed (Path "" = the whole KB).
	ChangeTree
	// ChangeRoot: everything below this root may have changed, its list of KBs included.
	ChangeRoot
	// ChangeBarrier carries no path: all hints for changes made before it was asked for precede it.
	ChangeBarrier
)

// Change is a hint that something on disk may differ from the index. It
// carries no content: whoever gets it looks at the disk again.
type Change struct {
	Kind ChangeKind
	Root string // name of the root, for ChangeRoot
	DocPath
	Live bool          // seen by the watcher just now, as opposed to by a scan or poll
	Ack  chan struct{} // for ChangeBarrier: the receiver closes it once all earlier hints are planned
}

// RootState is what is known of a root just now.
type RootState struct {
	Name      string
	Dir       string
	Mounted   bool
	Available bool
	Reason    string   // why not available
	Notes     []string // e.g. "3 files lie directly in the root and belong to no knowledge base"
}
