package extract

import (
	"context"
	"fmt"
	"html"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"
	"unicode"
)

// scoreFloors are the mean shares of a peer's words that must be found in
// order, by format; of mail, of the words of its bodies.
var scoreFloors = map[string]float64{
	"pdf": 0.94, "docx": 0.90, "pptx": 0.80, "xlsx": 0.92, "odt": 0.92, "odp": 0.92, "epub": 0.98, "html": 0.95, "latex": 0.95,
	"eml": 1, "mbox": 1, "csv": 0.98, "subtitles": 0.98, "markdown": 0.98, "xml": 0.90,
}

// score is what came of one file. Shares are negative where there is nothing
// to compare with.
type score struct {
	format, name, peer string
	chars              int
	took               time.Duration
	ours, tool         float64 // share of the peer's words found by us, and by pdftotext
	bodies             float64 // share of the words of a mail's bodies
	note               string
}

// TestScores holds the readers against other tools' output. REALFILES names a
// folder with a MANIFEST.tsv: format, file, …, expected output. SCORE limits
// it to the files whose name begins so, SCORE_OUT writes what was read.
func TestScores(t *testing.T) {
	if raceEnabled {
		t.Skip("measures, and takes long under the race detector")
	}
	dir := realFiles(t)
	manifest, err := os.ReadFile(filepath.Join(dir, "MANIFEST.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := New(Options{Pool: newPool(t, WorkerLimits{CacheDir: t.TempDir(), Helpers: true})})
	if err != nil {
		t.Fatal(err)
	}
	var scores []score
	for _, row := range strings.Split(string(manifest), "\n")[1:] {
		f := strings.Split(row, "\t")
		if len(f) >= 12 && strings.HasPrefix(f[1], os.Getenv("SCORE")) {
			scores = append(scores, scoreOf(t, r, dir, f))
		}
	}
	sums := meanScores(scores)
	if testing.Verbose() {
		printScores(t.Output(), scores, sums)
	}
	for _, m := range sums {
		if floor := scoreFloors[m.format]; m.files > 0 && m.ours < floor {
			t.Errorf("%s: mean %.3f is below %.2f", m.format, m.ours, floor)
		}
	}
}

// scoreOf reads the file of a row of the manifest.
func scoreOf(t *testing.T, r *Registry, dir string, f []string) score {
	t.Helper()
	file := filepath.Join(dir, f[1])
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s := score{format: f[0], name: filepath.Base(f[1]), peer: path.Base(f[4]), ours: -1, tool: -1, bodies: -1}
	start := time.Now()
	doc, err := r.Extract(context.Background(), Source{Path: f[1], Data: data})
	s.took = time.Since(start).Round(time.Millisecond)
	if err != nil {
		s.note = err.Error()
		return s
	}
	checkDocument(t, doc)
	got := allText(doc)
	s.chars, s.note = doc.Quality.Chars, strings.Join(strings.Fields(doc.Quality.Language+" "+doc.Quality.Flag), " ")
	if f[8] != "" {
		want, err := os.ReadFile(filepath.Join(dir, f[8]))
		if err != nil {
			t.Fatal(err)
		}
		s.ours = wordsFound(string(want), got, f[0] == "xlsx")
		if text, ok := pdfToText(file); ok && f[0] == "pdf" {
			s.tool = wordsFound(string(want), text, false)
		}
	}
	if f[0] == "eml" || f[0] == "mbox" {
		s.bodies = leastBody(t, data, f[0] == "mbox", got)
	}
	if out := os.Getenv("SCORE_OUT"); out != "" {
		if err := os.WriteFile(filepath.Join(out, s.name+".txt"), []byte(doc.Title+"\n=====\n"+got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// pdfToText is the text of a PDF by a well-known tool, where it is installed.
func pdfToText(file string) (string, bool) {
	out, err := exec.Command("pdftotext", "-enc", "UTF-8", file, "-").Output()
	return string(out), err == nil
}

// meanScore is a format's.
type meanScore struct {
	format     string
	files      int
	ours, tool float64
}

func meanScores(scores []score) (means []meanScore) {
	for _, s := range scores {
		if s.bodies >= 0 {
			s.ours = s.bodies
		}
		if s.ours < 0 {
			continue
		}
		i := slices.IndexFunc(means, func(m meanScore) bool { return m.format == s.format })
		if i < 0 {
			i, means = len(means), append(means, meanScore{format: s.format})
		}
		means[i].files++
		means[i].ours += s.ours
		means[i].tool += s.tool
	}
	for i := range means {
		means[i].ours /= float64(means[i].files)
		means[i].tool /= float64(means[i].files)
	}
	return means
}

func printScores(out io.Writer, scores []score, means []meanScore) {
	share := func(v float64) string {
		if v < 0 {
			return "    -"
		}
		return fmt.Sprintf("%.3f", v)
	}
	fmt.Fprintf(out, "%-10s %-42s %8s %8s  %-14s %5s  %9s  %6s  %s\n", "format", "file", "ms", "chars", "peer", "ragd", "pdftotext", "bodies", "note")
	for _, s := range scores {
		fmt.Fprintf(out, "%-10s %-42s %8d %8d  %-14s %s  %9s  %6s  %s\n", s.format, clip(s.name, 42), s.took.Milliseconds(), s.chars, s.peer, share(s.ours), share(s.tool), share(s.bodies), clip(s.note, 60))
	}
	fmt.Fprintf(out, "\n%-10s %5s  %5s  %9s  %s\n", "format", "files", "ragd", "pdftotext", "at least")
	for _, m := range means {
		floor := "-"
		if v, ok := scoreFloors[m.format]; ok {
			floor = fmt.Sprintf("%.2f", v)
		}
		fmt.Fprintf(out, "%-10s %5d  %s  %9s  %s\n", m.format, m.files, share(m.ours), share(m.tool), floor)
	}
}

// leastBody is the share of the words of the bodies of mails that were found;
// the bodies are taken apart by the standard library alone.
func leastBody(t *testing.T, data []byte, box bool, got string) float64 {
	t.Helper()
	mails := []string{string(data)}
	if box {
		mails = regexp.MustCompile(`(?m)^From .*\n`).Split(string(data), -1)[1:]
	}
	least := 1.0
	for _, m := range mails {
		msg, err := mail.ReadMessage(strings.NewReader(m))
		if err != nil {
			t.Fatal(err)
		}
		body, err := plainBody(msg.Header.Get("Content-Type"), msg.Header.Get("Content-Transfer-Encoding"), msg.Body)
		if err != nil {
			t.Fatal(err)
		}
		least = min(least, wordsFound(body, got, false))
	}
	return least
}

// plainBody is the first plain text in a part.
func plainBody(kind, encoding string, body io.Reader) (string, error) {
	media, params, err := mime.ParseMediaType(kind)
	if err != nil {
		media = "text/plain"
	}
	if !strings.HasPrefix(media, "multipart/") {
		if strings.EqualFold(encoding, "quoted-printable") {
			body = quotedprintable.NewReader(body)
		}
		b, err := io.ReadAll(body)
		return string(b), err
	}
	for r := multipart.NewReader(body, params["boundary"]); ; {
		p, err := r.NextRawPart()
		if err != nil {
			return "", err
		}
		if kind := p.Header.Get("Content-Type"); strings.HasPrefix(kind, "text/plain") || strings.HasPrefix(kind, "multipart/") {
			return plainBody(kind, p.Header.Get("Content-Transfer-Encoding"), p)
		}
	}
}

func allText(doc *Document) string {
	var b strings.Builder
	b.WriteString(doc.Title + "\n" + doc.Text.Body)
	for _, p := range doc.Parts {
		b.WriteString("\n" + p.Name + "\n" + allText(p.Document))
	}
	return b.String()
}

// wordsFound is the share of the words of a text that are found in order in
// another. Cells of a workbook count wherever they are: tools differ in the
// order of a sheet's parts.
func wordsFound(expected, got string, anyOrder bool) float64 {
	want, words := scoreWords(expected), scoreWords(got)
	if len(want) == 0 {
		return 1
	}
	if anyOrder {
		sort.Strings(want)
		sort.Strings(words)
	}
	return float64(commonInOrder(want, words)) / float64(len(want))
}

var (
	scoreComment = regexp.MustCompile(`<!--[^>]*-->`)
	scoreTarget  = regexp.MustCompile(`\]\([^)]*\)`)
)

// scoreWords gives the words of a text without Markdown's marks, comments
// and link targets.
func scoreWords(s string) []string {
	s = scoreComment.ReplaceAllString(s, " ")
	s = scoreTarget.ReplaceAllString(s, "] ")
	s = html.UnescapeString(strings.ReplaceAll(s, "\\", ""))
	return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) })
}

// commonInOrder is the length of the longest common subsequence, by the
// bit-parallel method.
func commonInOrder(a, b []string) int {
	words := (len(a) + 63) / 64
	at := map[string][]uint64{}
	for i, w := range a {
		if at[w] == nil {
			at[w] = make([]uint64, words)
		}
		at[w][i/64] |= 1 << (i % 64)
	}
	row := make([]uint64, words)
	for i := range row {
		row[i] = ^uint64(0)
	}
	for _, w := range b {
		match := at[w]
		if match == nil {
			continue
		}
		carry := uint64(0)
		for i, v := range row {
			u := v & match[i]
			sum := v + u
			c := uint64(0)
			if sum < v {
				c = 1
			}
			sum += carry
			if sum < carry {
				c = 1
			}
			carry = c
			row[i] = sum | (v &^ u)
		}
	}
	n := 0
	for i := range a {
		if row[i/64]&(1<<(i%64)) == 0 {
			n++
		}
	}
	return n
}

func TestCommonInOrder(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"a b c", "a b c", 3}, {"a b c", "c b a", 1}, {"a b c d", "x a y c d", 3}, {"", "a", 0},
		{strings.Repeat("a b ", 100), strings.Repeat("b a ", 100), 199},
	} {
		if got := commonInOrder(strings.Fields(c.a), strings.Fields(c.b)); got != c.want {
			t.Errorf("%q in %q: %d, want %d", clip(c.a, 20), clip(c.b, 20), got, c.want)
		}
	}
}
