package extract

import (
	"context"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"testing"
	"time"
	"unicode"
)

// scoreFloors are the mean shares of a peer's words that must be found in
// order, by format.
var scoreFloors = map[string]float64{
	"pdf": 0.94, "docx": 0.90, "pptx": 0.80, "xlsx": 0.92, "odt": 0.92, "odp": 0.90, "epub": 0.98, "html": 0.95, "latex": 0.95,
	"csv": 0.98, "subtitles": 0.98, "markdown": 0.98, "xml": 0.90,
}

// TestScores prints, for each real file, how much of a peer's expected output
// is found in order, and of a tool's reference text beside it.
// Run it alone with: go test ./internal/extract -run TestScores -v
func TestScores(t *testing.T) {
	if raceEnabled {
		t.Skip("measures, and takes long under the race detector")
	}
	dir := sharedFiles(t)
	manifest, err := os.ReadFile(filepath.Join(dir, "MANIFEST.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := New(Options{Pool: newPool(t, WorkerLimits{CacheDir: t.TempDir(), Helpers: true})})
	if err != nil {
		t.Fatal(err)
	}
	sum, count := map[string]float64{}, map[string]int{}
	for _, row := range strings.Split(string(manifest), "\n")[1:] {
		f := strings.Split(row, "\t")
		if len(f) < 12 || !strings.HasPrefix(f[1], os.Getenv("SCORE")) {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, f[1]))
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		doc, err := r.Extract(context.Background(), Source{Path: f[1], Data: data})
		took := time.Since(start).Round(time.Millisecond)
		if err != nil {
			t.Logf("%-10s %-45s %8v %v", f[0], filepath.Base(f[1]), took, err)
			continue
		}
		checkDocument(t, doc)
		got := allText(doc)
		line := fmt.Sprintf("%-10s %-45s %8v %7d chars", f[0], filepath.Base(f[1]), took, doc.Quality.Chars)
		if f[8] != "" {
			s := scoreFile(t, filepath.Join(dir, f[8]), got, f[0] == "xlsx")
			sum[f[0]] += s
			count[f[0]]++
			line += fmt.Sprintf("  peer %.3f", s)
		}
		if ref := strings.TrimSpace(f[11]); ref != "" {
			line += fmt.Sprintf("  tool %.3f", scoreFile(t, filepath.Join(dir, ref), got, false))
		}
		t.Log(line)
		if out := os.Getenv("SCORE_OUT"); out != "" {
			if err := os.WriteFile(filepath.Join(out, filepath.Base(f[1])+".txt"), []byte(doc.Title+"\n=====\n"+got), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	formats := make([]string, 0, len(sum))
	for f := range sum {
		formats = append(formats, f)
	}
	sort.Strings(formats)
	for _, f := range formats {
		mean := sum[f] / float64(count[f])
		t.Logf("mean %-10s %.3f over %d files", f, mean, count[f])
		if floor := scoreFloors[f]; mean < floor {
			t.Errorf("%s: mean %.3f is below %.2f", f, mean, floor)
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

// scoreFile compares with a file. Cells of a workbook count wherever they
// are: tools differ in the order of a sheet's parts.
func scoreFile(t *testing.T, path, got string, anyOrder bool) float64 {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := scoreWords(string(b))
	if len(want) == 0 {
		return 1
	}
	words := scoreWords(got)
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
