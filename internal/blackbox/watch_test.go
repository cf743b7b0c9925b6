package blackbox

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestAFileIsFoundEditedAndForgotten(t *testing.T) {
	t.Parallel()
	h := sharedDaemon(t)
	kb := h.newKB(t)
	h.write(t, kb+"/a/b/c/note.md", "the walrus sings")
	h.finds(t, kb, "walrus", "a/b/c/note.md")
	h.write(t, kb+"/a/b/c/note.md", "the penguin sings")
	h.finds(t, kb, "penguin", "a/b/c/note.md")
	h.finds(t, kb, "walrus")
	h.remove(t, kb+"/a/b/c/note.md")
	h.finds(t, kb, "penguin")
	if r, err := h.client(t).call("rag_read", args{"kb": kb, "path": "a/b/c/note.md"}); err != nil || !r.IsError {
		t.Errorf("a deleted document is still read: %s %v", r.Data, err)
	}
}

func TestAFileMadeRightAfterItsFoldersIsNotMissed(t *testing.T) {
	t.Parallel()
	h := sharedDaemon(t)
	kb := h.newKB(t)
	var want []string
	for i := range 40 {
		p := fmt.Sprintf("n%d/x/y/z/deep.md", i)
		h.write(t, kb+"/"+p, "quokka at once")
		want = append(want, p)
	}
	h.finds(t, kb, "quokka", want...)
}

func TestSavesOfEditorsAreFollowed(t *testing.T) {
	t.Parallel()
	h := sharedDaemon(t)
	kb := h.newKB(t)
	dir := h.path(kb)
	put := func(name, text string) { must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644)) }
	move := func(from, to string) { must(t, os.Rename(filepath.Join(dir, from), filepath.Join(dir, to))) }
	gone := func(name string) { must(t, os.Remove(filepath.Join(dir, name))) }
	for _, save := range []struct {
		name string
		do   func(text string)
	}{
		{"in place", func(text string) { put("a.md", text) }},
		{"rename over", func(text string) { put(".a.md.tmp123", text); move(".a.md.tmp123", "a.md") }},
		{"vim", func(text string) {
			put(".a.md.swp", "b0VIM "+text)
			put("4913", "")
			gone("4913")
			move("a.md", "a.md~")
			put("a.md", text)
			gone("a.md~")
			gone(".a.md.swp")
		}},
		{"emacs", func(text string) {
			_ = os.Symlink("me@host.1:2", filepath.Join(dir, ".#a.md"))
			put("#a.md#", text)
			move("a.md", "a.md~")
			put("a.md", text)
			gone("#a.md#")
			gone(".#a.md")
			gone("a.md~")
		}},
		{"LibreOffice", func(text string) {
			put(".~lock.a.md#", ",me,host,01.01.2026,file:///x;")
			put("lu12345abc.tmp", text)
			move("lu12345abc.tmp", "a.md")
			gone(".~lock.a.md#")
		}},
		{"delete and create", func(text string) { gone("a.md"); time.Sleep(30 * time.Millisecond); put("a.md", text) }},
		{"truncate then write", func(text string) {
			f, err := os.OpenFile(filepath.Join(dir, "a.md"), os.O_WRONLY|os.O_TRUNC, 0)
			must(t, err)
			time.Sleep(20 * time.Millisecond)
			_, err = f.WriteString(text)
			must(t, err)
			must(t, f.Close())
		}},
	} {
		word := "saved" + strings.ReplaceAll(strings.ReplaceAll(save.name, " ", ""), "-", "")
		save.do("text " + word)
		h.finds(t, kb, word, "a.md")
	}
	h.finds(t, kb, "text", "a.md")
	if docs := h.documents(t, kb); len(docs) != 1 {
		t.Errorf("left behind: %v", docs)
	}
}

func TestFilesOfEditorsAreNeverDocuments(t *testing.T) {
	t.Parallel()
	h := sharedDaemon(t)
	kb := h.newKB(t)
	for _, name := range []string{".a.md.swp", ".a.md.swo", "4913", "a.md~", ".#a.md", "#a.md#", ".~lock.a.docx#", "x.pdf.crdownload", "y.md.part", ".env", "id_rsa", "key.pem", ".DS_Store", "Thumbs.db", "node_modules/x/readme.md", ".git/notes.md", "__pycache__/z.md"} {
		h.write(t, kb+"/"+name, "narwhal in hiding")
	}
	h.write(t, kb+"/real.md", "narwhal in sight")
	f := h.synced(t, kb, "narwhal")
	if p := f.paths(); len(p) != 1 || p[0] != "real.md" {
		t.Errorf("%q", p)
	}
	if f.Freshness.Failed > 0 {
		t.Errorf("parked jobs: %+v", f.Freshness)
	}
}

func TestAFolderMovedInOutAndAboutIsFollowed(t *testing.T) {
	t.Parallel()
	h := sharedDaemon(t)
	kb := h.newKB(t)
	out := t.TempDir() // on the same file system as the root, or the test moves by rename in vain
	src := filepath.Join(out, "tree")
	for i := range 25 {
		must(t, os.MkdirAll(filepath.Join(src, fmt.Sprint(i%5)), 0o755))
		must(t, os.WriteFile(filepath.Join(src, fmt.Sprint(i%5), fmt.Sprintf("f%d.md", i)), fmt.Appendf(nil, "moved okapi number %d", i), 0o644))
	}
	count := func(n int, prefix string) {
		t.Helper()
		eventually(t, fmt.Sprintf("%d documents below %s", n, prefix), func() string {
			f := h.search(t, kb, "okapi", args{"top_k": 100})
			for _, p := range f.paths() {
				if !strings.HasPrefix(p, prefix) {
					return "still " + p
				}
			}
			if len(f.paths()) != n {
				return fmt.Sprint(len(f.paths()))
			}
			return ""
		})
	}
	must(t, os.Rename(src, h.path(kb+"/in")))
	count(25, "in/")
	h.rename(t, kb+"/in", kb+"/about")
	count(25, "about/")
	h.write(t, kb+"/about/0/new.md", "another okapi after the move")
	count(26, "about/")
	must(t, os.Rename(h.path(kb+"/about"), src))
	count(0, "")
}

func TestGitCheckoutBackAndForthEndsInTheBranchThatIsThere(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	h := sharedDaemon(t)
	kb := h.newKB(t)
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "init.defaultBranch=main"}, args...)...)
		cmd.Dir = h.path(kb)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	fill := func(word string, n int) {
		for i := range n {
			h.write(t, fmt.Sprintf("%s/doc%02d.md", kb, i), fmt.Sprintf("%s text of document %d", word, i))
		}
		git("add", "-A")
		git("commit", "-qm", word)
	}
	git("init", "-q")
	fill("mainland", 20)
	git("checkout", "-qb", "other")
	fill("otherland", 30)
	git("checkout", "-q", "main")
	git("checkout", "-q", "other")
	git("checkout", "-q", "main")
	var want []string
	for i := range 20 {
		want = append(want, fmt.Sprintf("doc%02d.md", i))
	}
	h.finds(t, kb, "mainland", want...)
	h.finds(t, kb, "otherland")
	h.holds(t, kb, want...)
}

func TestAFileThatIsAlwaysWrittenToIsVisibleAllTheWhile(t *testing.T) {
	t.Parallel()
	h := sharedDaemon(t)
	kb := h.newKB(t)
	file := h.write(t, kb+"/live.log.md", "begin\n")
	f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
	must(t, err)
	defer func() { _ = f.Close() }()
	worst := time.Duration(0)
	for round := range 3 {
		word := fmt.Sprintf("appended%dround", round)
		_, err := fmt.Fprintf(f, "%s\n", word)
		must(t, err)
		since := time.Now()
		for i := 0; ; i++ {
			if len(h.search(t, kb, word).Results) > 0 {
				break
			}
			if time.Since(since) > patience {
				t.Fatalf("%q is not visible while the file is written to", word)
			}
			time.Sleep(50 * time.Millisecond)
			_, err := fmt.Fprintf(f, "line %d of the endless log\n", i)
			must(t, err)
		}
		worst = max(worst, time.Since(since))
	}
	// The promise is 5 s on a machine of its own; this one is shared.
	if worst > 20*time.Second {
		t.Errorf("an appended line was visible only after %s", worst)
	}
}

func TestAFileWrittenSlowlyEndsWhole(t *testing.T) {
	t.Parallel()
	h := sharedDaemon(t)
	kb := h.newKB(t)
	h.write(t, kb+"/slow.md", "oldversion before")
	h.finds(t, kb, "oldversion", "slow.md")
	var b strings.Builder
	for i := range 4000 {
		fmt.Fprintf(&b, "Paragraph %d of the slowly written file speaks of item%d.\n\n", i, i)
	}
	whole := b.String() + "theveryend\n"
	f, err := os.Create(h.path(kb + "/slow.md"))
	must(t, err)
	for n := 0; n < len(whole); n += 4096 {
		_, err := f.WriteString(whole[n:min(n+4096, len(whole))])
		must(t, err)
		time.Sleep(10 * time.Millisecond)
	}
	must(t, f.Close())
	h.finds(t, kb, "theveryend", "slow.md")
	h.finds(t, kb, "item0", "slow.md")
	h.finds(t, kb, "item3999", "slow.md")
	h.finds(t, kb, "oldversion")
}

func TestManyFilesAtOnceAreAllFound(t *testing.T) {
	h := withDaemon(t)
	n := 5000
	if raceBuild || testing.Short() {
		n = 1200
	}
	paths := h.many(t, "bulk", n, func(i int) string { return fmt.Sprintf("# Note %d\n\ncapybara serial%d", i, i) })
	h.holds(t, "bulk", paths...)
	h.finds(t, "bulk", fmt.Sprintf("serial%d", n-1), paths[n-1])
	h.remove(t, "bulk/d001")
	h.finds(t, "bulk", "serial150")
	h.finds(t, "bulk", "serial250", paths[250])
	h.doctor(t)
}

// What is written through a mapping raises no event that a watcher could see.
func TestAChangeWithoutAnEventIsFoundByTheNextScan(t *testing.T) {
	t.Parallel()
	h := withDaemon(t, "SCAN_INTERVAL=5")
	file := h.write(t, "kb/mapped.md", "the marmot sings")
	h.finds(t, "kb", "marmot", "mapped.md")
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	must(t, err)
	defer func() { _ = f.Close() }()
	text, err := syscall.Mmap(int(f.Fd()), 0, len("the marmot sings"), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	must(t, err)
	copy(text[len("the "):], "ermine")
	must(t, syscall.Munmap(text))
	must(t, f.Sync()) // the time of change is noted with the pages
	h.finds(t, "kb", "ermine", "mapped.md")
	h.finds(t, "kb", "marmot")
}

// An edit of a file that a scan has passed already is not lost, neither to
// the scan nor to the daemon's end.
func TestAnEditBehindAScanThatIsStillUnderWayIsNotLost(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.many(t, "kb", 800, func(i int) string { return fmt.Sprintf("lemming number %d", i) })
	h.write(t, "kb/0first.md", "lemming before")
	h.start(t)
	eventually(t, "a part is indexed", func() string {
		s, err := h.admin().Status(context.Background())
		if err != nil {
			return err.Error()
		}
		if s.Documents == 0 {
			return "nothing yet"
		}
		return ""
	})
	h.write(t, "kb/0first.md", "lemming after")
	h.kill(t)
	h.serve(t)
	h.finds(t, "kb", "after", "0first.md")
	h.finds(t, "kb", "before")
	h.equalsDisk(t, "kb")
}
