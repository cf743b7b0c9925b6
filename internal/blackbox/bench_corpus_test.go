package blackbox

import (
	"archive/tar"
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// retrievalSets lie beside the repository where somebody measures with them;
// without them the texts are generated.
const retrievalSets = "../../../shared/ir"

// readSet calls fn with each line of a file of a retrieval set.
func readSet(b testing.TB, set, file string, fn func(line []byte)) bool {
	b.Helper()
	f, err := os.Open(filepath.Join(retrievalSets, set+".tar.zst"))
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	z, err := zstd.NewReader(f)
	must(b, err)
	defer z.Close()
	for r := tar.NewReader(z); ; {
		head, err := r.Next()
		if errors.Is(err, io.EOF) {
			return false
		}
		must(b, err)
		if filepath.Base(head.Name) != file {
			continue
		}
		lines := bufio.NewScanner(r)
		lines.Buffer(nil, 64<<20)
		for lines.Scan() {
			fn(lines.Bytes())
		}
		must(b, lines.Err())
		return true
	}
}

// markdown writes a corpus of Markdown into a folder: technical documents and
// scientific abstracts of two public retrieval sets where they are there, and
// copies with the copy's number in each paragraph, so that no two files are
// equal, until there are so many bytes.
func markdown(b testing.TB, dir string, atLeast int64) (files int, bytes int64) {
	b.Helper()
	type doc struct{ Title, Text string }
	var docs []doc
	for _, set := range []string{"k8s_docs", "scifact"} {
		readSet(b, set, "corpus.jsonl", func(line []byte) {
			var d doc
			must(b, json.Unmarshal(line, &d))
			if d.Text != "" {
				docs = append(docs, d)
			}
		})
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for i := 0; len(docs) == 0 || i < 1500 && len(docs) < 1500; i++ {
		docs = append(docs, doc{prose(rng, 4), prose(rng, 900)})
	}
	for i := 0; i < len(docs) || bytes < atLeast; i++ {
		d := docs[i%len(docs)]
		text := fmt.Sprintf("# %s\n\n%s\n", d.Title, d.Text)
		if copy := i / len(docs); copy > 0 {
			text = strings.ReplaceAll(text, "\n\n", fmt.Sprintf(" (edition %d)\n\n", copy))
		}
		name := filepath.Join(dir, fmt.Sprintf("d%03d", i/100), fmt.Sprintf("f%05d.md", i))
		if i%100 == 0 {
			must(b, os.MkdirAll(filepath.Dir(name), 0o755))
		}
		must(b, os.WriteFile(name, []byte(text), 0o644))
		files, bytes = files+1, bytes+int64(len(text))
	}
	return files, bytes
}

// prose is text whose words are as unevenly common as those of a language.
func prose(rng *rand.Rand, words int) string {
	z := rand.NewZipf(rng, 1.1, 8, 60_000)
	var b strings.Builder
	for i := range words {
		n := z.Uint64()
		for v := n + 17; v > 0; v /= 23 {
			b.WriteString([]string{"ba", "ke", "li", "mo", "nu", "ra", "se", "ti", "vo", "wu", "za", "che", "dri", "flo", "gra", "hin", "jo", "pla", "qui", "sta", "tre", "un", "ex"}[v%23])
		}
		switch {
		case i%90 == 89:
			b.WriteString(".\n\n")
		case i%12 == 11:
			b.WriteString(". ")
		default:
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// realText fills a folder with text that lies on every machine that can build
// this: the sources and documents of Go and of the modules, up to a size.
func realText(b testing.TB, dir string, atMost int64) (files int, bytes int64) {
	b.Helper()
	for _, set := range []string{"scifact", "cranfield", "cosqa", "chunkeval", "k8s_docs", "codebase"} {
		readSet(b, set, "corpus.jsonl", func(line []byte) {
			var d struct{ Title, Text string }
			must(b, json.Unmarshal(line, &d))
			put(b, dir, files, "md", []byte("# "+d.Title+"\n\n"+d.Text+"\n"))
			files, bytes = files+1, bytes+int64(len(d.Text))
		})
	}
	for _, key := range []string{"GOROOT", "GOMODCACHE"} {
		out, err := exec.Command("go", "env", key).Output()
		must(b, err)
		_ = filepath.WalkDir(strings.TrimSpace(string(out)), func(p string, e fs.DirEntry, err error) error {
			if err != nil || bytes > atMost {
				return fs.SkipAll
			}
			ext := strings.TrimPrefix(filepath.Ext(p), ".")
			if e.IsDir() || ext != "go" && ext != "md" && ext != "c" && ext != "h" && ext != "html" {
				return nil
			}
			data, err := os.ReadFile(p)
			if err == nil && len(data) < 1<<20 {
				put(b, dir, files, ext, data)
				files, bytes = files+1, bytes+int64(len(data))
			}
			return nil
		})
	}
	return files, bytes
}

func put(b testing.TB, dir string, i int, ext string, data []byte) {
	name := filepath.Join(dir, fmt.Sprintf("d%03d", i/200), fmt.Sprintf("f%06d.%s", i, ext))
	must(b, os.MkdirAll(filepath.Dir(name), 0o755))
	must(b, os.WriteFile(name, data, 0o644))
}

// questions are what people asked of these documents.
func questions(b testing.TB) (out []string) {
	for _, set := range []string{"k8s_docs", "scifact", "cosqa", "cranfield"} {
		n := 0
		readSet(b, set, "queries.jsonl", func(line []byte) {
			var q struct{ Text string }
			must(b, json.Unmarshal(line, &q))
			if n++; n <= 150 {
				out = append(out, q.Text)
			}
		})
	}
	if len(out) == 0 {
		for _, what := range []string{"a file is closed twice", "the scheduler steals work", "a connection is reset by the peer", "a slice grows", "the certificate has expired", "a template is parsed", "a goroutine leaks", "the header is too long"} {
			out = append(out, "what happens when "+what+"?", "how do I find out whether "+what, "where is it decided that "+what)
		}
	}
	return out
}
