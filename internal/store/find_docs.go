package store

import (
	"context"
	"database/sql"
	"strings"
)

// DocFilter selects documents; empty fields select all.
type DocFilter struct {
	Glob   string // SQLite GLOB over the path: * crosses /, case-sensitive
	Type   string
	Status string
}

// FindDocs returns a KB's searchable documents in order of path bytes, at
// most limit of them.
func (s *Store) FindDocs(ctx context.Context, kb int64, f DocFilter, limit int) (docs []DocRecord, err error) {
	from, where, args := docRecordFrom, "d.kb_id = ?", []any{kb}
	if f.Glob != "" {
		lead := globLead(f.Glob)
		where, args = pathRange("d", kb, lead)
		where, args = where+" AND d.path GLOB ?", append(args, f.Glob)
	}
	for _, field := range []struct{ column, want, unset string }{
		{"d.type", f.Type, "note"}, {"d.status", f.Status, "published"},
	} {
		switch field.want {
		case "":
		case field.unset:
			where, args = where+" AND "+field.column+" IN (?, '')", append(args, field.want)
		default:
			from = strings.Replace(docRecordFrom, "documents d", "documents d INDEXED BY documents_marked", 1)
			where, args = where+" AND "+field.column+" = ? AND (d.type NOT IN ('', 'note') OR d.status NOT IN ('', 'published'))", append(args, field.want)
		}
	}
	err = s.read(ctx, "find documents", func(r *reader) error {
		return r.each(func(rows *sql.Rows) error {
			d, err := scanDoc(rows.Scan)
			docs = append(docs, d)
			return err
		}, "SELECT "+docRecordColumns+from+" WHERE "+where+
			" AND d.revision_id IS NOT NULL ORDER BY d.path LIMIT ?", append(args, min(max(limit, 0), maxPage))...)
	})
	return docs, err
}

// globLead is the literal start of a pattern.
func globLead(glob string) string {
	for i := range len(glob) {
		switch glob[i] {
		case '*', '?', '[':
			return glob[:i]
		}
	}
	return glob
}
