//go:build !sqlite_fts5

package store

// The full-text index needs SQLite built with FTS5. Without the tag it would
// only fail at run time, so it fails here instead.
var _ = build_with_the_tag_sqlite_fts5
