package blackbox

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"ragd/internal/wire"
)

type qualityRow struct {
	Path    string
	Status  string
	Quality *wire.Quality
}

// qualities lists a KB's documents with what is said of their texts.
func (h *home) qualities(t testing.TB, kb string) map[string]*wire.Quality {
	t.Helper()
	l, err := get[struct{ Documents []qualityRow }](h.client(t), "rag_list_documents", args{"kb": kb})
	must(t, err)
	out := map[string]*wire.Quality{}
	for _, d := range l.Documents {
		out[d.Path] = d.Quality
	}
	return out
}

func TestTheQualityOfATextIsToldEverywhere(t *testing.T) {
	t.Parallel()
	h := withDaemon(t)
	h.write(t, "kb/fine.md", "# Heizung\n\nDer Kessler ist für die Heizung zuständig, und er kommt nicht vor dem Winter in das Haus, weil es noch nicht kalt ist.\n")
	h.write(t, "kb/noise.txt", strings.Repeat("kessler \uFFFD\uFFFD ", 30)+"\n")
	h.write(t, "kb/mail.eml", "From: a@example.org\r\nSubject: Kessler\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n"+
		"--b\r\nContent-Type: text/plain\r\n\r\nThe kessler is attached.\r\n--b\r\nContent-Type: application/pdf; name=\"kessler.pdf\"\r\n"+
		"Content-Disposition: attachment; filename=\"kessler.pdf\"\r\n\r\nnot a pdf\r\n--b--\r\n")
	h.holds(t, "kb", "fine.md", "mail.eml", "noise.txt")

	q := h.qualities(t, "kb")
	if f := q["fine.md"]; f == nil || f.Language != "de" || f.Chars < 100 || f.Flag != "" || f.BadShare != 0 {
		t.Errorf("fine.md: %+v", f)
	}
	if n := q["noise.txt"]; n == nil || n.BadShare < 0.1 || !strings.Contains(n.Flag, "unreadable") {
		t.Errorf("noise.txt: %+v", n)
	}
	if m := q["mail.eml"]; m == nil || !strings.Contains(m.Note, "kessler.pdf was not read") || m.Flag != "" {
		t.Errorf("mail.eml: %+v", m)
	}

	found, err := get[struct {
		Results []struct{ Path, Poor string }
	}](h.client(t), "rag_search", args{"query": "kessler", "kb": "kb"})
	must(t, err)
	poor := map[string]string{}
	for _, r := range found.Results {
		poor[r.Path] = r.Poor
	}
	if len(poor) != 3 || poor["fine.md"] != "" || poor["mail.eml"] != "" || !strings.Contains(poor["noise.txt"], "unreadable") {
		t.Errorf("search flags %v", poor)
	}
	if st := h.status(t); st.Poor != 1 {
		t.Errorf("status counts %d poor documents", st.Poor)
	}
	if out := h.ok(t, "status"); !strings.Contains(out, "the text of 1 document is poor") {
		t.Errorf("ragd status:\n%s", out)
	}
	if out := h.ok(t, "search", "kessler"); !strings.Contains(out, "poor text: ") {
		t.Errorf("ragd search:\n%s", out)
	}
	h.write(t, "kb/noise.txt", "the kessler is mended\n")
	eventually(t, "nothing is poor any more", func() string {
		if n := h.status(t).Poor; n != 0 {
			return fmt.Sprint(n)
		}
		return ""
	})
}

func TestCodeIsCitedByItsFunction(t *testing.T) {
	t.Parallel()
	h := sharedDaemon(t)
	kb := h.newKB(t)
	h.write(t, kb+"/shelf.py", "import os\n\nclass Shelf:\n    \"\"\"Holds things.\"\"\"\n\n    # Finds the zanzibar.\n    def find(self, name):\n        return self.all[name]\n\n    def drop(self):\n        self.all = {}\n")
	h.write(t, kb+"/shelf.go", "package shelf\n\n// Lift raises the quokka.\nfunc (s *Shelf) Lift() int {\n\treturn s.up\n}\n\nfunc other() {\n\tprintln()\n}\n")
	h.write(t, kb+"/broken.py", "class Broken(((\n  def wombat(self:\n")
	for _, c := range []struct {
		query, path string
		first, last int
		headings    []string
	}{
		{"zanzibar", "shelf.py", 6, 8, []string{"Shelf", "find"}},
		{"quokka", "shelf.go", 3, 6, []string{"Shelf", "Lift"}},
	} {
		f := h.synced(t, kb, c.query)
		if len(f.Results) != 1 || f.Results[0].Path != c.path || f.Results[0].Lines.First != c.first || f.Results[0].Lines.Last != c.last || !slices.Equal(f.Results[0].Headings, c.headings) {
			t.Errorf("%q: %+v", c.query, f.Results)
		}
	}
	if f := h.synced(t, kb, "wombat"); len(f.Results) != 1 || f.Results[0].Path != "broken.py" {
		t.Errorf("what cannot be parsed is not found: %+v", f.Results)
	}
}

// zipOf packs files; one whose name ends in "!" goes on for 80 MiB.
func zipOf(t testing.TB, parts ...string) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := 0; i+1 < len(parts); i += 2 {
		f, err := w.Create(strings.TrimSuffix(parts[i], "!"))
		must(t, err)
		_, err = f.Write([]byte(parts[i+1]))
		must(t, err)
		if strings.HasSuffix(parts[i], "!") {
			for range 80 {
				_, err := f.Write(bytes.Repeat([]byte("x"), 1<<20))
				must(t, err)
			}
		}
	}
	must(t, w.Close())
	return b.String()
}

func TestABombCostsItsOwnJobAndNothingElse(t *testing.T) {
	t.Parallel()
	h := withDaemon(t)
	h.write(t, "kb/first.md", "the first of the good ones")
	h.holds(t, "kb", "first.md")
	before := memory(h.pid(), "VmHWM")

	word := `<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>`
	want := map[string]string{
		"bomb.docx":   "too_large",
		"deep.docx":   "too_large",
		"deep.ipynb":  "corrupt",
		"html.pdf":    "wrong_type",
		"text.docx":   "wrong_type",
		"locked.odt":  "encrypted",
		"nothing.pdf": "corrupt",
		"broken.xlsx": "corrupt",
	}
	h.write(t, "kb/bomb.docx", zipOf(t, "word/document.xml!", word+"<w:p><w:r><w:t>"))
	h.write(t, "kb/deep.docx", zipOf(t, "word/document.xml", word+strings.Repeat("<w:x>", 300_000)))
	h.write(t, "kb/deep.ipynb", `{"cells":`+strings.Repeat("[", 2_000_000))
	h.write(t, "kb/html.pdf", "<!doctype html><p>no pdf")
	h.write(t, "kb/text.docx", zipOf(t, "readme.txt", "no document"))
	h.write(t, "kb/locked.odt", zipOf(t, "content.xml", "noise", "META-INF/manifest.xml", "<m><file-entry><encryption-data/></file-entry></m>"))
	h.write(t, "kb/nothing.pdf", "")
	h.write(t, "kb/broken.xlsx", "PK\x03\x04 and no more")
	sparse := h.write(t, "kb/sparse.pdf", "%PDF-1.7\n")
	must(t, os.Truncate(sparse, 3<<30))
	h.write(t, "kb/brackets.c", strings.Repeat("(", 500_000))
	good := []string{"first.md", "brackets.c"}
	for i := range 10 {
		good = append(good, fmt.Sprintf("good%d.md", i))
		h.write(t, "kb/"+good[len(good)-1], "a good one beside the bombs")
	}

	eventually(t, "every bomb has ended as a parked job, and the files beside them are in", func() string {
		jobs, err := h.admin().Jobs(context.Background(), "failed", 100)
		must(t, err)
		got := map[string]string{}
		for _, j := range jobs.Jobs {
			got[j.Path] = j.Code
		}
		for path, code := range want {
			if got[path] != code {
				return fmt.Sprintf("%s: %q of %v", path, got[path], got)
			}
		}
		in := h.indexed(t, "kb")
		slices.Sort(good)
		if !slices.Equal(in, good) {
			return fmt.Sprintf("indexed: %q", in)
		}
		return ""
	})
	if d := h.documents(t, "kb")["sparse.pdf"]; d.Status != "excluded" || !strings.Contains(d.Reason, "are not indexed") {
		t.Errorf("the sparse file: %+v", d)
	}
	if grown := memory(h.pid(), "VmHWM") - before; grown > 50 && !raceBuild {
		t.Errorf("the daemon grew by %.0f MB", grown)
	}
}

func TestArchivesAreOpenedWhereTheOwnerWantsIt(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.serve(t)
	h.write(t, "kb/box.zip", zipOf(t, "in/a.txt", "a numbat in a box", "b.md", "# B\n\nmore numbats", "inner.zip", zipOf(t, "c.txt", "a hidden numbat")))
	h.write(t, "kb/plain.md", "a numbat outside")
	h.holds(t, "kb", "plain.md")
	if d := h.documents(t, "kb")["box.zip"]; d.Status != "excluded" || d.Reason == "" {
		t.Errorf("closed by default: %+v", d)
	}
	h.stop(t)
	h.env = append(h.env, "RAGD_ARCHIVES=true")
	h.serve(t)
	h.holds(t, "kb", "plain.md", "box.zip", "box.zip › b.md", "box.zip › in/a.txt")
	h.finds(t, "kb", "numbat", "box.zip › b.md", "box.zip › in/a.txt", "plain.md")
	if q := h.qualities(t, "kb")["box.zip"]; q == nil || !strings.Contains(q.Note, "Archives inside of it (1) are not opened.") {
		t.Errorf("the archive in the archive is dropped without a note: %+v", q)
	}
}
