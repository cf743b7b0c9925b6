package mcpserver

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ragd/internal/search"
	"ragd/kbroot"
)

var (
	_ Files    = (*kbroot.Set)(nil)
	_ Searcher = (*search.Searcher)(nil)
)

// realDisk is a world whose files are behind the real containment and rules.
func realDisk(t *testing.T, o Options, mounts ...kbroot.MountSpec) (*world, *client) {
	t.Helper()
	w := newWorld(t, "notes")
	set, err := kbroot.New(kbroot.Options{Roots: []kbroot.RootSpec{{Name: "main", Dir: w.root}}, Mounts: mounts})
	if err != nil {
		t.Fatal(err)
	}
	w.files = set
	_, addr := startServer(t, w, o)
	return w, dial(t, addr)
}

func TestNothingIsWrittenReadOrDeletedOutsideTheKB(t *testing.T) {
	w, c := realDisk(t, Options{})
	outside := t.TempDir()
	secret := filepath.Join(outside, "secret.md")
	if err := os.WriteFile(secret, []byte("secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{"notes/up": "..", "notes/out": outside, "notes/file.md": secret, "notes/loop": "."} {
		if err := os.Symlink(target, filepath.Join(w.root, link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range []string{"out/secret.md", "out/new.md", "up/notes2/x.md", "file.md", ".git/hooks/pre-commit", ".env", ".ragdignore", "node_modules/x.md", "id_rsa", "a.md~"} {
		for _, tool := range []string{"rag_add_document", "rag_read", "rag_delete_document"} {
			args := m{"kb": "notes", "path": p}
			if tool == "rag_add_document" {
				args["content"] = "evil"
			}
			r := c.tool(tool, args)
			if !r.IsError && !strings.Contains(string(r.Data), `"existed":false`) && !(tool == "rag_delete_document" && p == "file.md") {
				t.Errorf("%s %s: %s", tool, p, r.Data)
			}
			if strings.Contains(string(r.raw), outside) {
				t.Errorf("%s %s tells of a path outside: %s", tool, p, r.raw)
			}
		}
	}
	if b, err := os.ReadFile(secret); err != nil || string(b) != "secret" {
		t.Errorf("outside: %q %v", b, err)
	}
	if entries, err := os.ReadDir(outside); err != nil || len(entries) != 1 {
		t.Errorf("outside: %v %v", entries, err)
	}
	for _, p := range []string{".git", ".env", ".ragdignore", "node_modules", "id_rsa"} {
		if _, err := os.Lstat(filepath.Join(w.root, "notes", p)); err == nil {
			t.Errorf("%s was written", p)
		}
	}
	for _, kb := range []string{".hidden", "..", ".", "a/b", "/etc", "node_modules"} {
		if r := c.tool("rag_add_document", m{"kb": kb, "path": "x.md", "content": "x"}); !r.IsError {
			t.Errorf("kb %q: %s", kb, r.Data)
		}
	}
}

func TestMountedFilesAreOnlyChangedWhereAllowed(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.md"), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	w, c := realDisk(t, Options{}, kbroot.MountSpec{Name: "mnt", Dir: dir})
	w.mu.Lock()
	w.addKB("mnt").info.Mounted = true
	if err := os.Remove(filepath.Join(w.root, "mnt")); err != nil {
		t.Fatal(err)
	}
	w.mu.Unlock()
	for tool, args := range map[string]m{"rag_add_document": {"path": "b.md", "content": "x"}, "rag_delete_document": {"path": "a.md"}} {
		args["kb"] = "mnt"
		c.refused(tool, args, "read_only_kb")
	}
	if out, _ := ok[deleteKBOut](c, "rag_delete_kb", m{"kb": "mnt", "confirm": true}); !out.Existed || out.Note == "" {
		t.Errorf("%+v", out)
	}
	if _, err := os.Stat(filepath.Join(dir, "a.md")); err != nil {
		t.Error(err)
	}
}

func TestRealWritesAreAtomicAndRoundTripAnyName(t *testing.T) {
	w, c := realDisk(t, Options{})
	for _, p := range []string{"plain.md", "sub/dir/ü 日本.md", "100% sure?#.md", "-dash.md", "caf�E9.md"} {
		out, _ := ok[addOut](c, "rag_add_document", m{"kb": "notes", "path": p, "content": "text of " + p})
		if !out.Queued || out.Replaced || out.Path != p {
			t.Errorf("%+v", out)
		}
		if b, err := os.ReadFile(filepath.Join(w.root, "notes", decodeName(p))); err != nil || string(b) != "text of "+p {
			t.Errorf("%s: %q %v", p, b, err)
		}
		read, _ := ok[readOut](c, "rag_read", m{"kb": "notes", "path": p})
		if read.Content != "text of "+p || read.Stale {
			t.Errorf("%+v", read)
		}
		if del, _ := ok[deleteOut](c, "rag_delete_document", m{"kb": "notes", "path": p}); !del.Existed {
			t.Errorf("%+v", del)
		}
	}
}
