package blackbox

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestNamesThatLookAlikeAreDifferentDocuments(t *testing.T) {
	t.Parallel()
	h := sharedDaemon(t)
	kb := h.newKB(t)
	names := []string{"a b.md", "a_b.md", "a-b.md", "a%b.md", "A_B.md", "a*b.md", "a?b.md", "[a]b.md", "a\\b.md", "a'b.md", `a"b.md`, "..foo", "..foo.md", "line\nbreak.md", "\u00e9.md", "e\u0301.md", "🎈.md", strings.Repeat("x", 240) + ".md"}
	for i, n := range names {
		h.write(t, kb+"/"+n, fmt.Sprintf("lookalike own%d", i))
	}
	h.synced(t, kb, "lookalike")
	for i, n := range names {
		if !strings.HasSuffix(n, ".md") {
			continue
		}
		if strings.HasPrefix(n, "..") {
			continue // hidden, which is another promise
		}
		h.finds(t, kb, fmt.Sprintf("own%d", i), n)
		if got := h.read(t, kb, n); !strings.Contains(got.Content, fmt.Sprintf("own%d", i)) {
			t.Errorf("%q reads as %q", n, got.Content)
		}
	}
	h.remove(t, kb+"/a_b.md")
	h.finds(t, kb, "own1")
	h.finds(t, kb, "own0", "a b.md")
	h.finds(t, kb, "own2", "a-b.md")
}

func TestANameThatIsNotTextIsADocumentLikeAnyOther(t *testing.T) {
	t.Parallel()
	h := sharedDaemon(t)
	kb := h.newKB(t)
	h.write(t, kb+"/bad\xff\xfename.md", "wombat with odd bytes")
	f := h.synced(t, kb, "wombat")
	if len(f.Results) != 1 {
		t.Fatalf("%+v", f)
	}
	if got := h.read(t, kb, f.Results[0].Path); !strings.Contains(got.Content, "wombat") {
		t.Errorf("%q", got.Content)
	}
}

func TestTwinsLiveAndDieAlone(t *testing.T) {
	t.Parallel()
	h := sharedDaemon(t)
	kb := h.newKB(t)
	h.write(t, kb+"/one.md", "identical platypus twins")
	h.write(t, kb+"/two.md", "identical platypus twins")
	h.finds(t, kb, "platypus", "one.md", "two.md")
	h.remove(t, kb+"/one.md")
	h.finds(t, kb, "platypus", "two.md")
	h.rename(t, kb+"/two.md", kb+"/three.md")
	h.finds(t, kb, "platypus", "three.md")
}

func TestLinksEndAndNothingOutsideIsRead(t *testing.T) {
	t.Parallel()
	h := sharedDaemon(t)
	kb := h.newKB(t)
	secret := filepath.Join(t.TempDir(), "secret.md")
	must(t, os.WriteFile(secret, []byte("topsecretword outside"), 0o644))
	h.write(t, kb+"/real/in.md", "lemur inside")
	for link, to := range map[string]string{
		"loop": ".", "real/up": "..", "out": filepath.Dir(secret), "h.md": secret, "up": "../..", "dead.md": "nowhere.md", "self.md": "self.md", "etc": "/etc",
	} {
		must(t, os.Symlink(to, h.path(kb+"/"+link)))
	}
	f := h.synced(t, kb, "lemur")
	if len(f.Results) == 0 || f.Results[0].Path != "real/in.md" {
		t.Errorf("%+v", f.paths())
	}
	if len(f.paths()) > 2 {
		t.Errorf("one file is many documents: %q", f.paths())
	}
	if f := h.synced(t, kb, "topsecretword"); len(f.Results) > 0 {
		t.Errorf("read from outside: %+v", f.Results)
	}
	// A folder inside the KB swapped for a link that leads out.
	h.rename(t, kb+"/real", kb+"/was")
	must(t, os.Symlink(filepath.Dir(secret), h.path(kb+"/real")))
	if f := h.synced(t, kb, "topsecretword"); len(f.Results) > 0 {
		t.Errorf("read through a swapped folder: %+v", f.Results)
	}
	h.finds(t, kb, "lemur", "was/in.md")
}

func TestWhatIsNoFileIsSkipped(t *testing.T) {
	t.Parallel()
	h := sharedDaemon(t)
	kb := h.newKB(t)
	must(t, syscall.Mkfifo(h.path(kb+"/pipe.md"), 0o644))
	l, err := net.Listen("unix", filepath.Join(h.root, kb, "s.md"))
	if err == nil {
		defer func() { _ = l.Close() }()
	}
	must(t, os.Symlink("/dev/zero", h.path(kb+"/zero.md")))
	h.write(t, kb+"/plain.md", "ibex on a plain")
	h.finds(t, kb, "ibex", "plain.md")
	// The same under a name that was a file before.
	h.write(t, kb+"/turns.md", "turncoat text")
	h.finds(t, kb, "turncoat", "turns.md")
	h.remove(t, kb+"/turns.md")
	must(t, syscall.Mkfifo(h.path(kb+"/turns.md"), 0o644))
	h.finds(t, kb, "turncoat")
	h.write(t, kb+"/after.md", "ibex after all")
	h.finds(t, kb, "ibex", "after.md", "plain.md")
}

func TestTouchedFilesAreNotIndexedAgain(t *testing.T) {
	t.Parallel()
	h := sharedDaemon(t)
	kb := h.newKB(t)
	for i := range 150 {
		h.write(t, fmt.Sprintf("%s/f%d.md", kb, i), fmt.Sprintf("# Touch\n\nunmoved text %d", i))
	}
	h.synced(t, kb, "unmoved")
	stamps := func() map[string]string {
		list, err := h.admin().Documents(context.Background(), kb, "", 1000)
		must(t, err)
		out := map[string]string{}
		for _, d := range list.Documents {
			out[d.Path] = fmt.Sprint(d.RevisionID, d.IndexedAt)
		}
		return out
	}
	first := stamps()
	for round := range 3 {
		for i := range 150 {
			file := h.path(fmt.Sprintf("%s/f%d.md", kb, i))
			must(t, os.Chmod(file, os.FileMode(0o600+0o44*(round%2))))
			data, err := os.ReadFile(file)
			must(t, err)
			must(t, os.WriteFile(file, data, 0o644))
		}
		h.synced(t, kb, "unmoved")
	}
	if len(first) != 150 {
		t.Fatalf("%d documents listed", len(first))
	}
	after := stamps()
	for p, was := range first {
		if after[p] != was {
			t.Errorf("%s was %v and is %v after a touch", p, was, after[p])
		}
	}
}
