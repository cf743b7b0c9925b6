package blackbox

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestARootThatGoesAwayIsHeldAndComesBack(t *testing.T) {
	t.Parallel()
	h := withDaemon(t)
	for i := range 5 {
		h.write(t, fmt.Sprintf("kb/f%d.md", i), "tapir in the root")
	}
	all := []string{"f0.md", "f1.md", "f2.md", "f3.md", "f4.md"}
	h.finds(t, "kb", "tapir", all...)
	must(t, os.Rename(h.root, h.root+".away"))
	eventually(t, "the missing root is told", func() string {
		f := h.search(t, "", "tapir")
		if len(f.Results) == 0 {
			t.Fatal("the documents of a root that cannot be read were purged")
		}
		if len(f.Freshness.Degraded) == 0 {
			return "nothing degraded"
		}
		return ""
	})
	// An empty folder in its place is not a deletion either.
	must(t, os.Mkdir(h.root, 0o700))
	eventually(t, "the empty root is told", func() string {
		st := h.status(t)
		if strings.Contains(strings.Join(st.Warnings, "\n"), "empty") {
			return ""
		}
		return strings.Join(st.Warnings, "; ")
	})
	if f := h.search(t, "", "tapir"); len(f.paths()) != 5 {
		t.Errorf("an empty root emptied the index: %q", f.paths())
	}
	must(t, os.Remove(h.root))
	must(t, os.Rename(h.root+".away", h.root))
	eventually(t, "the root is back", func() string {
		if f := h.search(t, "", "tapir"); len(f.Freshness.Degraded) > 0 || len(f.paths()) != 5 {
			return fmt.Sprint(f.Freshness.Degraded, f.paths())
		}
		return ""
	})
	h.write(t, "kb/f5.md", "tapir after the return")
	h.finds(t, "kb", "tapir", append(all, "f5.md")...)
}

func TestAKBReplacedByAnotherFolderIsTheNewOne(t *testing.T) {
	t.Parallel()
	h := withDaemon(t)
	h.write(t, "kb/old.md", "gibbon of old")
	h.write(t, "other/stays.md", "gibbon that stays")
	h.finds(t, "kb", "gibbon", "old.md")
	h.rename(t, "kb", "kb2")
	h.write(t, "kb/n.md", "gibbon anew")
	h.finds(t, "kb", "gibbon", "n.md")
	h.finds(t, "kb2", "gibbon", "old.md")
	h.write(t, "kb/later.md", "gibbon later on")
	h.finds(t, "kb", "gibbon", "later.md", "n.md")
}

func TestARootReplacedByAnotherIsTheNewOne(t *testing.T) {
	t.Parallel()
	h := withDaemon(t)
	h.write(t, "kb/a.md", "marmot of the first root")
	h.finds(t, "kb", "marmot", "a.md")
	fresh := filepath.Join(h.dir, "fresh")
	must(t, os.MkdirAll(filepath.Join(fresh, "kb"), 0o700))
	must(t, os.WriteFile(filepath.Join(fresh, "kb", "b.md"), []byte("marmot of the second root"), 0o600))
	must(t, os.Rename(h.root, h.root+".old"))
	must(t, os.Rename(fresh, h.root))
	h.finds(t, "kb", "marmot", "b.md")
	h.write(t, "kb/c.md", "marmot that came later")
	h.finds(t, "kb", "marmot", "b.md", "c.md")
}

func TestTheLastFileAndTheLastKBCanGo(t *testing.T) {
	t.Parallel()
	h := withDaemon(t)
	h.write(t, "kb/only.md", "the sole axolotl")
	h.finds(t, "", "axolotl", "only.md")
	h.remove(t, "kb/only.md")
	h.finds(t, "", "axolotl")
	h.write(t, "kb/only.md", "the sole axolotl")
	h.finds(t, "", "axolotl", "only.md")
	h.remove(t, "kb")
	h.finds(t, "", "axolotl")
}

func TestAHiddenRootWorks(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	hidden := filepath.Join(h.dir, ".hidden", ".x")
	must(t, os.MkdirAll(filepath.Join(hidden, "kb"), 0o700))
	h.root = hidden
	h.env = append(h.env, "KB_ROOT="+hidden)
	h.serve(t)
	h.write(t, "kb/a.md", "numbat below a hidden root")
	h.write(t, "kb/.b.md", "numbat hidden itself")
	h.finds(t, "kb", "numbat", "a.md")
}

func TestTheDaemonsOwnDataIsNeverIndexed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		env  string
		want []string
	}{
		"data folder in a KB": {"XDG_DATA_HOME=%s/kb/own", []string{"a.md", "own/beside.md"}},
		"index file in a KB":  {"DB_PATH=%s/kb/own/ragd/index.db", []string{"a.md", "own/beside.md", "own/ragd/notes.md"}},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t)
			must(t, os.MkdirAll(h.path("kb/own/ragd"), 0o700))
			h.env = append(h.env, fmt.Sprintf(c.env, h.root))
			must(t, os.WriteFile(h.path("kb/own/ragd/index.db"), []byte("what is no index is set aside"), 0o600))
			h.serve(t)
			if kept, err := filepath.Glob(h.path("kb/own/ragd/index.db.corrupt-*")); err != nil || len(kept) == 0 {
				t.Error("nothing was set aside", err)
			}
			must(t, os.WriteFile(h.path("kb/own/ragd/audit.jsonl.1"), []byte("{}"), 0o600))
			h.write(t, "kb/own/ragd/notes.md", "dugong in the data folder")
			h.write(t, "kb/own/beside.md", "dugong beside it")
			h.write(t, "kb/a.md", "dugong outside of it")
			h.finds(t, "kb", "dugong", c.want...)
			if f := h.synced(t, "kb", "dugong"); len(f.paths()) != len(c.want) {
				t.Errorf("%q", f.paths())
			}
			for p := range h.documents(t, "kb") {
				if !slices.Contains(c.want, p) {
					t.Errorf("%s is listed", p)
				}
			}
			eventually(t, "the daemon comes to rest beside its own writes", func() string {
				if st := h.status(t); st.Phase != "idle" {
					return st.Phase
				}
				return ""
			})
		})
	}
}

func TestSeveralRootsAreAllWatched(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	var roots []string
	for i := range 3 {
		r := filepath.Join(h.dir, fmt.Sprintf("r%d", i))
		must(t, os.MkdirAll(filepath.Join(r, fmt.Sprintf("kb%d", i)), 0o700))
		roots = append(roots, r)
	}
	h.env = append(h.env, "KB_ROOT="+strings.Join(roots, ":"))
	h.serve(t)
	for i, r := range roots {
		must(t, os.WriteFile(filepath.Join(r, fmt.Sprintf("kb%d", i), "e.md"), []byte("civet in each root"), 0o600))
	}
	for i := range roots {
		h.finds(t, fmt.Sprintf("kb%d", i), "civet", "e.md")
	}
	if w := h.status(t).Watchers; len(w) != 3 {
		t.Errorf("%+v", w)
	}
}

func TestAddAndRemoveTakeEffectWhileTheDaemonRuns(t *testing.T) {
	t.Parallel()
	h := withDaemon(t)
	notes := filepath.Join(h.dir, "my notes")
	must(t, os.Mkdir(notes, 0o700))
	must(t, os.WriteFile(filepath.Join(notes, "a.md"), []byte("serval in a mount"), 0o600))
	h.ok(t, "add", notes, "--name", "field notes")
	h.finds(t, "field notes", "serval", "a.md")
	must(t, os.WriteFile(filepath.Join(notes, "b.md"), []byte("serval again"), 0o600))
	h.finds(t, "field notes", "serval", "a.md", "b.md")
	// Gone and back again: a mount is a root of its own.
	must(t, os.Rename(notes, notes+".away"))
	eventually(t, "the missing mount is told", func() string {
		f := h.search(t, "", "serval")
		if len(f.paths()) != 2 {
			t.Fatalf("purged: %q", f.paths())
		}
		if len(f.Freshness.Degraded) == 0 {
			return "nothing degraded"
		}
		return ""
	})
	must(t, os.Rename(notes+".away", notes))
	eventually(t, "the mount is back", func() string {
		return strings.Join(h.search(t, "", "serval").Freshness.Degraded, "; ")
	})
	h.ok(t, "remove", "field notes")
	h.finds(t, "", "serval")
	if _, err := os.Stat(filepath.Join(notes, "a.md")); err != nil {
		t.Errorf("remove touched the files: %v", err)
	}
	eventually(t, "the KB is gone", func() string {
		kbs, err := h.admin().KBs(context.Background())
		must(t, err)
		if len(kbs) > 0 {
			return fmt.Sprint(kbs)
		}
		return ""
	})
	h.ok(t, "add", notes, "--name", "field notes")
	h.finds(t, "field notes", "serval", "a.md", "b.md")
}

func TestAChangedIgnoreRuleTakesDocumentsOutAndBrings(t *testing.T) {
	t.Parallel()
	h := sharedDaemon(t)
	kb := h.newKB(t)
	h.write(t, kb+"/keep.md", "bilby kept")
	h.write(t, kb+"/drafts/d.md", "bilby drafted")
	h.write(t, kb+"/deep/er/x.md", "bilby deep down")
	h.finds(t, kb, "bilby", "keep.md", "drafts/d.md", "deep/er/x.md")
	h.write(t, kb+"/.gitignore", "drafts/\n")
	h.finds(t, kb, "bilby", "keep.md", "deep/er/x.md")
	h.write(t, kb+"/deep/.ragdignore", "*.md\n")
	h.finds(t, kb, "bilby", "keep.md")
	h.write(t, kb+"/deep/.ragdignore", "*.md\n!x.md\n")
	h.finds(t, kb, "bilby", "keep.md", "deep/er/x.md")
	h.remove(t, kb+"/.gitignore")
	h.finds(t, kb, "bilby", "keep.md", "drafts/d.md", "deep/er/x.md")
	h.write(t, kb+"/.dockerignore", "*\n")
	h.write(t, kb+"/new.md", "bilby in a container")
	h.finds(t, kb, "bilby", "keep.md", "drafts/d.md", "deep/er/x.md", "new.md")
}

func TestAReloadAppliesNewRulesAndRefusesBadOnes(t *testing.T) {
	t.Parallel()
	h := withDaemon(t)
	h.write(t, "kb/a.md", "kudu stays")
	h.write(t, "kb/b.tmp.md", "kudu goes")
	h.finds(t, "kb", "kudu", "a.md", "b.tmp.md")
	must(t, os.MkdirAll(filepath.Dir(h.config()), 0o700))
	must(t, os.WriteFile(h.config(), []byte("exclude = [\"*.tmp.md\"]\n"), 0o600))
	if out := h.ok(t, "reload"); !strings.Contains(out, "exclude") {
		t.Errorf("%q", out)
	}
	h.finds(t, "kb", "kudu", "a.md")
	must(t, os.WriteFile(h.config(), []byte("exclude = [\"*.tmp.md\"]\nsearch_snippet_max_chars = 1\n"), 0o600))
	if code, _, errOut := h.ragd("reload"); code == 0 || !strings.Contains(errOut, "search_snippet_max_chars") {
		t.Errorf("a bad file was taken: %d %q", code, errOut)
	}
	h.finds(t, "kb", "kudu", "a.md")
	must(t, os.Remove(h.config()))
	h.ok(t, "reload")
	h.finds(t, "kb", "kudu", "a.md", "b.tmp.md")
}

func TestARemovalThatWasCutShortIsFinishedAtTheNextStart(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	left := ".ragd-tmp-ABCDEFGHIJKLMNOPQRSTUVWX27"
	h.write(t, left+"/deep/a.md", "half removed")
	h.write(t, "notes/a.md", "kept heron")
	h.serve(t)
	h.finds(t, "notes", "heron", "a.md")
	eventually(t, "the rest is gone", func() string {
		if _, err := os.Stat(h.path(left)); !os.IsNotExist(err) {
			return fmt.Sprint(err)
		}
		return ""
	})
}
