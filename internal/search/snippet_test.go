package search

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"ragd/internal/analysis"
	"ragd/internal/store"
)

func marked(query, text string) []string {
	a := analysis.New()
	var out []string
	for _, m := range wantedOf(analysis.ParseQuery(a, query)).find(a, text) {
		out = append(out, text[m.start:m.end])
	}
	return out
}

func TestMarksAreWhatMatchedAndNoMore(t *testing.T) {
	for _, tc := range []struct{ name, query, text, want string }{
		{"words and their forms", "pump valves", "Pumps and a valve, pumping.", "Pumps|valve|pumping"},
		{"an identifier, not its parts alone", "sha256", "SHA256, sha 256, sha512 and 256 bits", "SHA256|sha 256"},
		{"an identifier with parts of meaning", "getUserName", "getUserName or get_user_name of a user", "getUserName|get_user_name|user"},
		{"a phrase only whole", `"red fox"`, "A red hen, a fox, the red fox, a red-fox.", "red fox|red-fox"},
		{"stop words only when there is nothing else", "to be or not to be", "To be, or to have.", "To|be|or|to"},
		{"stop words beside others", "the pump", "The pump of the house.", "pump"},
		{"Chinese", "合約", "本合約的內容", "合約"},
		{"one Chinese character", "約", "本合約的內容", "約的"},
		{"nothing", "zebra", "No such animal.", ""},
	} {
		got := strings.Join(marked(tc.query, tc.text), "|")
		if got != tc.want {
			t.Errorf("%s: marked %q, want %q", tc.name, got, tc.want)
		}
	}
}

func TestMarksAreInOrderWithoutOverlap(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	words := []string{"pump", "getUserName", "user", "name", "sha256", "合約書", "約", "v1.2", "a", "ﬁne", "名前"}
	pick := func(n int, sep string) string {
		var b strings.Builder
		for range n {
			b.WriteString(words[rng.IntN(len(words))] + sep)
		}
		return b.String()
	}
	for range 500 {
		query, text := pick(1+rng.IntN(4), " "), pick(20, []string{" ", "", ", "}[rng.IntN(3)])
		a := analysis.New()
		last := 0
		for _, m := range wantedOf(analysis.ParseQuery(a, query)).find(a, text) {
			if m.start < last || m.end <= m.start || m.end > len(text) {
				t.Fatalf("%q in %q: mark %v after %d", query, text, m, last)
			}
			last = m.end
		}
	}
}

// TestTheSnippetIsTheDensestWindow compares the sliding window with trying all.
func TestTheSnippetIsTheDensestWindow(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	for range 2000 {
		text := strings.Repeat("aé日😀 ", 40)
		var marks []mark
		for at := 0; at < len(text); {
			end := advance(text, at, 1+rng.IntN(6))
			if rng.IntN(4) == 0 && end > at {
				marks = append(marks, mark{at, end, rng.IntN(3)})
			}
			at = end
		}
		span := 1 + rng.IntN(60)
		want, kinds, most := -1, 0, 0
		for i := range marks {
			stop := advance(text, marks[i].start, span)
			seen, n := map[int]bool{}, 0
			for _, m := range marks[i:] {
				if m.end <= stop {
					seen[m.what] = true
					n++
				}
			}
			if len(seen) > kinds || len(seen) == kinds && n > most {
				want, kinds, most = i, len(seen), n
			}
		}
		if got := densest(text, marks, span); got != want {
			t.Fatalf("densest of %v in %d = %d, want %d", marks, span, got, want)
		}
	}
}

func TestTheSnippetShowsThePhraseNotItsWords(t *testing.T) {
	var b strings.Builder
	for i := range 300 {
		fmt.Fprintf(&b, "word%d ", i)
	}
	b.WriteString("and here word 500 stands. ")
	text := b.String() + strings.Repeat("Then nothing more. ", 60)
	a := analysis.New()
	hit := Hit{}
	cutSnippet(a, &hit, store.ChunkRecord{Content: text, FirstLine: 1, LastLine: 1}, wantedOf(analysis.ParseQuery(a, "word500")), 400, [2]int{})
	if !strings.Contains(hit.Content, "word 500") || utf8.RuneCountInString(hit.Content) > 400 || len(hit.Marks) != 1 || !hit.Truncated {
		t.Errorf("%q, marks %v", hit.Content, hit.Marks)
	}
	if !slices.ContainsFunc(hit.Marks, func(m [2]int) bool { return hit.Content[m[0]:m[1]] == "word 500" }) {
		t.Errorf("marks %v", hit.Marks)
	}
}
