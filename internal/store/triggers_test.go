package store

import (
	"context"
	"testing"
)

// What a chunk's coming and going sets off must not grow with the index: each
// statement that the triggers run finds its rows by their keys.
func TestAChunkComesAndGoesWithoutALookAtAllOthers(t *testing.T) {
	s := open(t)
	ctx := context.Background()
	tables := map[int64]string{}
	rows, err := s.conn.QueryContext(ctx, "SELECT rootpage, name FROM sqlite_master WHERE name IN ('chunks', 'documents', 'chunk_vectors', 'vectors', 'vector_pending', 'vector_garbage', 'chunk_contexts')")
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		var page int64
		var name string
		if err := rows.Scan(&page, &name); err != nil {
			t.Fatal(err)
		}
		tables[page] = name
	}
	if err := rows.Err(); err != nil || len(tables) != 7 {
		t.Fatal(tables, err)
	}
	for _, statement := range []string{
		"DELETE FROM chunks WHERE id = 1", "UPDATE chunks SET active = 1 WHERE id = 1", "UPDATE chunks SET active = 0 WHERE id = 1",
		"INSERT INTO chunks (id, document_id, revision_id, active, hash, place) VALUES (1, 1, 1, 1, x'', x'')",
	} {
		for _, name := range scanned(t, s, statement, tables) {
			t.Errorf("%s reads all of %s", statement, name)
		}
	}
	if got := scanned(t, s, "DELETE FROM vector_pending WHERE changed + 1 = 2", tables); len(got) != 1 {
		t.Errorf("a scan is not recognised: %v", got)
	}
}

// scanned are the tables that a statement, or a trigger of it, reads from one
// end on; tables are those of interest by their first page.
func scanned(t *testing.T, s *Store, statement string, tables map[int64]string) (names []string) {
	t.Helper()
	rows, err := s.conn.QueryContext(context.Background(), "EXPLAIN "+statement)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	opened := map[int64]string{}
	for rows.Next() {
		var addr, p1, p2, p3 int64
		var code string
		var p4, p5, comment any
		if err := rows.Scan(&addr, &code, &p1, &p2, &p3, &p4, &p5, &comment); err != nil {
			t.Fatal(err)
		}
		switch code {
		case "Init": // of the statement, or of the next trigger
			opened = map[int64]string{}
		case "OpenRead", "OpenWrite":
			opened[p1] = tables[p2]
		case "Rewind", "Last":
			if name := opened[p1]; name != "" {
				names = append(names, name)
			}
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return names
}
