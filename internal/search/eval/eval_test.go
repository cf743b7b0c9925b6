package eval

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestScoreOfKnownRankings(t *testing.T) {
	judged := map[string]int{"a": 1, "b": 2}
	ideal := 2/math.Log2(2) + 1/math.Log2(3)
	for _, tc := range []struct {
		name    string
		ranking []string
		want    Scores
	}{
		{"ideal order scores one", []string{"b", "a"}, Scores{1, 1, 1}},
		{"nothing found scores zero", []string{"x", "y"}, Scores{}},
		{"empty ranking scores zero", nil, Scores{}},
		{"relevant at two", []string{"x", "a"}, Scores{(1 / math.Log2(3)) / ideal, 0.5, 0.5}},
		{"beyond ten does not count", append(strings.Split("1 2 3 4 5 6 7 8 9 10", " "), "a"), Scores{}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := Score(tc.ranking, judged)
			if math.Abs(got.NDCG10-tc.want.NDCG10) > 1e-12 || got.Recall10 != tc.want.Recall10 || got.MRR10 != tc.want.MRR10 {
				t.Errorf("got %+v, want %+v", got, tc.want)
			}
		})
	}
}

func TestIntervalHoldsTheMean(t *testing.T) {
	values := []float64{0, 1, 1, 0, 1, 0.5, 0.2, 0.9, 1, 1}
	low, high := Interval(values)
	if !(low < 0.66 && 0.66 < high) || low < 0.2 || high > 1 {
		t.Errorf("interval %.3f–%.3f", low, high)
	}
	if l, h := Interval([]float64{0.5, 0.5}); l != 0.5 || h != 0.5 {
		t.Errorf("constant values gave %.3f–%.3f", l, h)
	}
}

func TestLoadReadsBEIRAndNamesTheBadLine(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("corpus.jsonl", `{"_id":"d1","title":"T","text":"hello"}`+"\n\n"+`{"_id":"d2","title":"","text":"x"}`)
	write("queries.jsonl", `{"_id":"q1","text":"hi"}`+"\n"+`{"_id":"q2","text":"unjudged"}`)
	write("qrels.tsv", "query-id\tcorpus-id\tscore\nq1\td1\t1\n")
	s, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Corpus) != 2 || len(s.Queries) != 1 || s.Queries[0].Judged["d1"] != 1 {
		t.Errorf("loaded %+v", s)
	}
	write("qrels.tsv", "query-id\tcorpus-id\tscore\nq1\td1\tone\n")
	if _, err := Load(dir); err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("a bad grade gave %v", err)
	}
}

func TestLoadReadsQuestionLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "q.tsv")
	if err := os.WriteFile(path, []byte("how?\tnotes/a.md\nhow?\tnotes/b.md\nwhy?\tnotes/c.md\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Queries) != 2 || len(s.Queries[0].Judged) != 2 {
		t.Errorf("loaded %+v", s.Queries)
	}
}

func TestCompareFindsLosses(t *testing.T) {
	run := func(v float64) []Report {
		return []Report{{Set: "s", Legs: []Leg{{Name: "keyword", Scores: Scores{NDCG10: v}}, {Name: fmt.Sprint(v)}}}}
	}
	for _, tc := range []struct {
		before, after float64
		lost          bool
	}{{.5, .48, true}, {.5, .495, false}, {.5, .6, false}} {
		changes := Compare(run(tc.before), run(tc.after))
		if len(changes) != 1 || changes[0].Lost(.01) != tc.lost {
			t.Errorf("%v: %+v", tc, changes)
		}
		var out strings.Builder
		if err := WriteChanges(&out, changes, .01); err != nil || strings.Contains(out.String(), "worse") != tc.lost {
			t.Errorf("%v: %v\n%s", tc, err, out.String())
		}
	}
}

func TestSummaryHasALineForEachSetAndTheMeans(t *testing.T) {
	leg := func(name string, v float64) Leg { return Leg{Name: name, Scores: Scores{NDCG10: v}} }
	var out strings.Builder
	err := Summary(&out, []Report{
		{Set: "one", Documents: 5, Queries: 7, Legs: []Leg{leg("keyword", .5), leg("hybrid", .75)}},
		{Set: "two", Legs: []Leg{leg("keyword", .25)}},
	})
	want := "nDCG@10  documents  queries  keyword  hybrid\none      5          7        0.500    0.750\ntwo      0          0        0.250    -\nmean                         0.375    -\n"
	if err != nil || out.String() != want {
		t.Errorf("%v\n%s\nwant\n%s", err, out.String(), want)
	}
}

func TestACorpusOfCodeIsTold(t *testing.T) {
	const (
		code     = "def wait(self, timeout=None):\n    return self._queue.join(timeout)\n"
		prose    = "The boiler is serviced in spring (by a plumber), before the heating season ends."
		markdown = "# Setup\n\nRun `make`:\n\n```\nx = [1, 2]; y = {a: b}; z = f(x)[0]\n```\n"
	)
	for _, tc := range []struct {
		name  string
		texts []string
		want  bool
	}{
		{"code", []string{code, code, prose}, true},
		{"prose", []string{prose, prose, code}, false},
		{"Markdown with code in it", []string{markdown, markdown, code}, false},
		{"nothing", nil, false},
		{"empty texts", []string{"", " "}, false},
	} {
		var corpus []Document
		for _, x := range tc.texts {
			corpus = append(corpus, Document{Text: x})
		}
		if got := IsCode(corpus); got != tc.want {
			t.Errorf("%s: %v", tc.name, got)
		}
	}
}
