package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ragd/internal/search/eval"
)

// goldenSet is our own: notes of a household and an office, and questions in
// the notes' words, in other words, and in other languages.
const goldenSet = "testdata/eval/notes"

// goldenFloors are what the set gave, less a little.
var goldenFloors = map[string]float64{"keyword": 0.67, "meaning": 0.91, "hybrid": 0.935, "rrf": 0.86}

func TestQuestionsOfTheGoldenSetFindTheirNotes(t *testing.T) {
	b := newBox(t)
	var reports []eval.Report
	must(t, json.Unmarshal([]byte(b.ok("eval", "--json", goldenSet)), &reports))
	if len(reports) != 1 || reports[0].Queries < 70 || len(reports[0].Legs) != len(goldenFloors) {
		t.Fatalf("%+v", reports)
	}
	got := map[string]float64{}
	for _, l := range reports[0].Legs {
		got[l.Name] = l.Scores.NDCG10
		if floor := goldenFloors[l.Name]; l.Scores.NDCG10 < floor {
			t.Errorf("%s: nDCG@10 %.3f, at least %.3f is wanted", l.Name, l.Scores.NDCG10, floor)
		}
		if l.NDCGLow > l.Scores.NDCG10 || l.NDCGHigh < l.Scores.NDCG10 || l.NDCGLow == l.NDCGHigh || l.P50 <= 0 || l.P50 > l.P95 || l.P95 > l.P99 {
			t.Errorf("%s: interval %.3f–%.3f, %.2f %.2f %.2f ms", l.Name, l.NDCGLow, l.NDCGHigh, l.P50, l.P95, l.P99)
		}
	}
	if got["hybrid"] < max(got["keyword"], got["meaning"], got["rrf"]) {
		t.Errorf("hybrid is not the best: %v", got)
	}
}

func TestEvalComparesWithAnEarlierRun(t *testing.T) {
	b := newBox(t)
	before := b.ok("eval", "--json", "--mode", "keyword", goldenSet)
	same, better, other := filepath.Join(b.home, "same.json"), filepath.Join(b.home, "better.json"), filepath.Join(b.home, "other.json")
	must(t, os.WriteFile(same, []byte(before), 0o600))
	if out := b.ok("eval", "--mode", "keyword", "--against", same, goldenSet); !strings.Contains(out, "+0.000") || !strings.Contains(out, "worst queries") {
		t.Errorf("%s", out)
	}
	var reports []eval.Report
	must(t, json.Unmarshal([]byte(before), &reports))
	write := func(path string) {
		data, err := json.Marshal(reports)
		must(t, err)
		must(t, os.WriteFile(path, data, 0o600))
	}
	reports[0].Legs[0].Scores.NDCG10 += 0.01
	write(better)
	code, out, errOut := b.ragd("eval", "--mode", "keyword", "--against", better, goldenSet)
	if code != exitFailed || !strings.Contains(errOut, "quality_lost") || !strings.Contains(out, "worse") {
		t.Errorf("exit code %d\n%s%s", code, out, errOut)
	}
	reports[0].Set = "something else"
	write(other)
	if code, _, errOut := b.ragd("eval", "--mode", "keyword", "--against", other, goldenSet); code != exitUsage || !strings.Contains(errOut, "nothing_to_compare") {
		t.Errorf("exit code %d\n%s", code, errOut)
	}
}
