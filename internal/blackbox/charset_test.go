package blackbox

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/unicode"

	"ragd/internal/wire"
)

func TestWordsAreFoundInEveryCharset(t *testing.T) {
	t.Parallel()
	h := sharedDaemon(t)
	kb := h.newKB(t)
	const (
		czech   = "Příliš žluťoučký kůň úpěl ďábelské ódy. Všichni lidé se rodí svobodní a sobě rovní.\n"
		german  = "Die Bäume wachsen über die Straße, und größere Vögel hören früh am Morgen Geräusche.\n"
		russian = "Съешь же ещё этих мягких французских булок, да выпей чаю.\n"
		haiku   = "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。\n"
	)
	for _, c := range []struct {
		file, text, query string
		enc               encoding.Encoding
	}{
		{"little-mark.txt", czech, "žluťoučký", unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)},
		{"big-mark.md", russian, "французских", unicode.UTF16(unicode.BigEndian, unicode.UseBOM)},
		{"little.txt", german, "Straße", unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)},
		{"big.csv", haiku, "名前", unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)},
		{"sjis.txt", haiku + haiku, "見当", japanese.ShiftJIS},
		{"cp1250.txt", czech, "ďábelské", charmap.Windows1250},
		{"latin1.txt", german, "Vögel", charmap.ISO8859_1},
		{"koi8.txt", russian, "булок", charmap.KOI8R},
	} {
		data, err := c.enc.NewEncoder().String(c.text)
		must(t, err)
		h.write(t, kb+"/"+c.file, data)
		f := h.synced(t, kb, c.query)
		found := false
		for _, r := range f.Results {
			found = found || r.Path == c.file
		}
		if !found {
			t.Errorf("%q is not found in %s: %+v", c.query, c.file, f.Results)
		}
	}
}

func TestLockedFilesWaitUntilTheyChange(t *testing.T) {
	t.Parallel()
	h := withDaemon(t)
	files := []string{"locked.docx", "locked.pdf"}
	for _, name := range files {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		must(t, err)
		h.write(t, "kb/"+name, string(data))
	}
	parked := func() map[string]wire.Job {
		jobs, err := h.admin().Jobs(context.Background(), "failed", 100)
		must(t, err)
		out := map[string]wire.Job{}
		for _, j := range jobs.Jobs {
			out[j.Path] = j
		}
		return out
	}
	eventually(t, "both are parked", func() string {
		for _, name := range files {
			if got := parked()[name].Code; got != "encrypted" {
				return name + ": " + got
			}
		}
		return ""
	})
	for _, name := range files {
		now := time.Now()
		must(t, os.Chtimes(h.path("kb/"+name), now, now))
	}
	h.ok(t, "reindex")
	h.write(t, "kb/later.md", "what came later")
	h.holds(t, "kb", "later.md") // what was touched before was looked at
	for _, name := range files {
		if j := parked()[name]; j.Code != "encrypted" || j.Attempts != 1 {
			t.Errorf("%s after it was touched: %+v", name, j)
		}
	}
	h.write(t, "kb/locked.docx", zipOf(t, "word/document.xml",
		`<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:p><w:r><w:t>an open quokka</w:t></w:r></w:p></w:body></w:document>`))
	h.holds(t, "kb", "later.md", "locked.docx")
	h.finds(t, "kb", "quokka", "locked.docx")
}
