package eval

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"ragd/internal/fault"
)

// Document of a corpus.
type Document struct {
	ID    string `json:"_id"`
	Title string `json:"title"`
	Text  string `json:"text"`
}

// Query with its judgments (document id → grade).
type Query struct {
	ID     string
	Text   string
	Judged map[string]int
}

// Set is a judged retrieval set.
type Set struct {
	Name    string
	Corpus  []Document // nil when the questions are about a live index
	Queries []Query    // only those with a judgment
}

const maxLine = 64 << 20

// Load reads a set: a folder in BEIR layout (corpus.jsonl, queries.jsonl,
// qrels.tsv or qrels/test.tsv), or a file with a line "question<TAB>path" for
// each question, where path is kb/path of the document that answers it.
func Load(path string) (*Set, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fault.New(fault.NotFound, "set_not_found", "no evaluation set at %q", path).Because(err)
	}
	if info.IsDir() {
		return loadBEIR(path)
	}
	return loadQuestions(path)
}

func loadBEIR(dir string) (*Set, error) {
	s := &Set{Name: filepath.Base(dir)}
	judged, err := loadQrels(dir)
	if err != nil {
		return nil, err
	}
	err = eachLine(filepath.Join(dir, "corpus.jsonl"), func(line []byte) error {
		var d Document
		if err := json.Unmarshal(line, &d); err != nil {
			return err
		}
		s.Corpus = append(s.Corpus, d)
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = eachLine(filepath.Join(dir, "queries.jsonl"), func(line []byte) error {
		var q struct {
			ID   string `json:"_id"`
			Text string `json:"text"`
		}
		if err := json.Unmarshal(line, &q); err != nil {
			return err
		}
		if j := judged[q.ID]; len(j) > 0 {
			s.Queries = append(s.Queries, Query{ID: q.ID, Text: q.Text, Judged: j})
		}
		return nil
	})
	return s, err
}

func loadQrels(dir string) (map[string]map[string]int, error) {
	path := filepath.Join(dir, "qrels.tsv")
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		path = filepath.Join(dir, "qrels", "test.tsv")
	}
	judged := map[string]map[string]int{}
	first := true
	err := eachLine(path, func(line []byte) error {
		f := strings.Split(strings.TrimRight(string(line), "\r\n"), "\t")
		if len(f) < 3 {
			return fmt.Errorf("want query-id, corpus-id and score, got %d fields", len(f))
		}
		grade, err := strconv.Atoi(f[2])
		if err != nil && first {
			first = false
			return nil // the header line
		}
		first = false
		if err != nil {
			return err
		}
		if judged[f[0]] == nil {
			judged[f[0]] = map[string]int{}
		}
		judged[f[0]][f[1]] = grade
		return nil
	})
	return judged, err
}

func loadQuestions(path string) (*Set, error) {
	s := &Set{Name: filepath.Base(path)}
	at := map[string]int{}
	err := eachLine(path, func(line []byte) error {
		q, doc, ok := strings.Cut(strings.TrimRight(string(line), "\r\n"), "\t")
		if !ok || q == "" || doc == "" {
			return errors.New("want question<TAB>kb/path")
		}
		i, seen := at[q]
		if !seen {
			i = len(s.Queries)
			at[q] = i
			s.Queries = append(s.Queries, Query{ID: strconv.Itoa(i + 1), Text: q, Judged: map[string]int{}})
		}
		s.Queries[i].Judged[doc] = 1
		return nil
	})
	return s, err
}

// eachLine calls fn for every line that is not blank; its errors come back
// with the place.
func eachLine(path string, fn func([]byte) error) error {
	f, err := os.Open(path)
	if err != nil {
		return fault.New(fault.NotFound, "set_incomplete", "%s cannot be read", path).
			WithHint("A set in BEIR layout has corpus.jsonl, queries.jsonl and qrels.tsv.").Because(err)
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, 1<<20)
	for n := 1; ; n++ {
		line, err := readLine(r)
		if len(strings.TrimSpace(string(line))) > 0 {
			if e := fn(line); e != nil {
				return fault.New(fault.Invalid, "set_malformed", "%s, line %d: %v", path, n, e)
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > maxLine {
			return nil, fmt.Errorf("a line is longer than %d bytes", maxLine)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}
