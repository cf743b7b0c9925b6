package blackbox

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ragd/internal/wire"
)

// doctor requires that `ragd doctor` finds the index consistent.
func (h *home) doctor(t testing.TB) {
	t.Helper()
	code, out, errOut := h.ragd("doctor", "--json")
	var check wire.Check
	if err := json.Unmarshal([]byte(out), &check); err != nil {
		t.Fatalf("doctor: exit code %d: %v\n%s%s", code, err, out, errOut)
	}
	if code != 0 || !check.OK {
		t.Errorf("doctor: exit code %d: %+v", code, check.Problems)
	}
}

// equalsDisk waits until the index holds exactly the Markdown files of a KB's
// folder, with the text that they have.
func (h *home) equalsDisk(t testing.TB, kb string) {
	t.Helper()
	want := map[string]string{}
	must(t, filepath.WalkDir(h.path(kb), func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(p, ".md") {
			return err
		}
		data, err := os.ReadFile(p)
		rel, rerr := filepath.Rel(h.path(kb), p)
		if rerr != nil {
			return rerr
		}
		want[rel] = string(data)
		return err
	}))
	eventually(t, "the index equals the disk", func() string {
		got := h.indexed(t, kb)
		if len(got) != len(want) {
			return fmt.Sprintf("%d documents of %d", len(got), len(want))
		}
		for _, p := range got {
			if text, ok := want[p]; !ok {
				return p + " is not on disk"
			} else if read := h.read(t, kb, p); strings.TrimSpace(read.Content) != strings.TrimSpace(text) {
				return fmt.Sprintf("%s reads %.80q, is %.80q", p, read.Content, text)
			}
		}
		return ""
	})
}
