package blackbox

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestAnyTextThatPeopleTypeWorks(t *testing.T) {
	t.Parallel()
	h := sharedDaemon(t)
	kb := h.newKB(t)
	for name, text := range map[string]string{
		"flag.md":    "Run the linter with --error-on-warnings to fail early.",
		"art.md":     "This is a state-of-the-art boiler.",
		"spec.md":    "See 3GPP TS 38.101 for radio; Ubuntu 20.04 has version 1.0.21.",
		"cpp.md":     "Templates in C++ and std::vector<int> and a::b.",
		"dont.md":    "Please don't panic; the naïve café is open.",
		"todo.md":    "TODO: fix the frobnicator in camelCaseName and snake_case_name.",
		"cjk.md":     "我們昨天簽了合約並且重跑gen-itgc后提交。日本語の文章も検索できます。",
		"thai.md":    "ภาษาไทยไม่มีช่องว่างระหว่างคำ",
		"wide.md":    "The ＦＵＬＬＷＩＤＴＨ letters and the ﬁne ligature.",
		"melanie.md": "Melanie painted a beautiful sunrise over the lake in 2022, as she told us.",
		"path.md":    "Look into /etc/nginx/nginx.conf and error E0308 at line 7.",
		"noise.md":   "Nothing of the kind is written here, only filler about when and how a thing did.",
	} {
		h.write(t, kb+"/"+name, text)
	}
	h.synced(t, kb, "filler")
	for _, c := range []struct{ query, first string }{
		{`"--error-on-warnings"`, "flag.md"}, {`--error-on-warnings`, "flag.md"}, {`state-of-the-art`, "art.md"}, {`"state-of-the-art"`, "art.md"},
		{`38.101`, "spec.md"}, {`"38.101"`, "spec.md"}, {`20.04`, "spec.md"}, {`"1.0.21"`, "spec.md"}, {`1.0.21`, "spec.md"},
		{`C++`, "cpp.md"}, {`a::b`, "cpp.md"}, {`std::vector<int>`, "cpp.md"}, {`don't`, "dont.md"}, {`don’t panic`, "dont.md"}, {`naive cafe`, "dont.md"},
		{`TODO: fix`, "todo.md"}, {`camelCaseName`, "todo.md"}, {`snake_case_name`, "todo.md"}, {`snake case`, "todo.md"},
		{`合約`, "cjk.md"}, {`itgc`, "cjk.md"}, {`gen-itgc`, "cjk.md"}, {`検索`, "cjk.md"}, {`ช่องว่าง`, "thai.md"},
		{`ＦＵＬＬＷＩＤＴＨ`, "wide.md"}, {`fullwidth`, "wide.md"}, {`fine ligature`, "wide.md"}, {`FULLWIDTH`, "wide.md"},
		{`When did Melanie paint a sunrise?`, "melanie.md"}, {`"beautiful sunrise"`, "melanie.md"},
		{`nginx.conf`, "path.md"}, {`/etc/nginx/nginx.conf`, "path.md"}, {`E0308`, "path.md"},
		{`melanie AND NOT OR NEAR(`, "melanie.md"}, {`title:melanie`, "melanie.md"}, {`melanie*`, "melanie.md"}, {`(melanie`, "melanie.md"}, {`"melanie`, "melanie.md"}, {`melanie"`, "melanie.md"},
		{`melanie -boiler`, "melanie.md"}, {`'; DROP TABLE chunks; -- melanie`, "melanie.md"}, {"melanie\n\tsunrise", "melanie.md"},
	} {
		f := h.search(t, kb, c.query)
		if len(f.Results) == 0 || f.Results[0].Path != c.first {
			t.Errorf("%q finds %q first, want %q", c.query, f.paths(), c.first)
		}
	}
}

func TestAWordThatIsLeftOutIsLeftOut(t *testing.T) {
	t.Parallel()
	h := sharedDaemon(t)
	kb := h.newKB(t)
	h.write(t, kb+"/a.md", "pangolin with scales")
	h.write(t, kb+"/b.md", "pangolin without armour")
	h.synced(t, kb, "pangolin")
	h.finds(t, kb, "pangolin -scales", "b.md")
	h.finds(t, kb, `pangolin -"without armour"`, "a.md")
	h.search(t, kb, "-pangolin") // an answer, whatever it is
	h.search(t, kb, "- -- -")
}

func TestPunctuationAloneFindsNothingAndSaysSo(t *testing.T) {
	t.Parallel()
	h := sharedDaemon(t)
	kb := h.newKB(t)
	h.write(t, kb+"/a.md", "aardvark, alone.")
	h.synced(t, kb, "aardvark")
	for _, q := range []string{`"`, `""`, `'`, `*`, `-`, `--`, `?`, `???`, `()`, `\`, `^`, `:`, `{}`, `.`, "\u200b", "🎈"} {
		f := h.search(t, kb, q)
		if len(f.Results) > 0 || f.Reason == "" {
			t.Errorf("%q: %d results, reason %q", q, len(f.Results), f.Reason)
		}
	}
	for _, q := range []string{"", "  ", "\n"} {
		if r, err := h.client(t).call("rag_search", args{"query": q}); err != nil || !r.IsError {
			t.Errorf("%q: %s %v", q, r.Data, err)
		}
	}
}

func TestAQueryMayBeLongButNotTooLong(t *testing.T) {
	t.Parallel()
	h := sharedDaemon(t)
	kb := h.newKB(t)
	h.write(t, kb+"/a.md", "the rare word zyzzyva in a text")
	h.synced(t, kb, "zyzzyva")
	var b strings.Builder
	for i := 0; b.Len() < 4200; i++ {
		fmt.Fprintf(&b, "word%d ", i)
	}
	for name, q := range map[string]string{
		"words": b.String()[:4087] + " zyzzyva", "one run": strings.Repeat("x", 4087) + " zyzzyva", "CJK": strings.Repeat("漢字", 2043) + " zyzzyva",
		"quotes": strings.Repeat(`"`, 4087) + " zyzzyva", "minus": strings.Repeat("-a ", 1362) + "-zyzz",
	} {
		if f := h.search(t, kb, q); name != "minus" && len(f.Results) != 1 {
			t.Errorf("%s: %d characters: %d results", name, len([]rune(q)), len(f.Results))
		}
	}
	r, err := h.client(t).call("rag_search", args{"query": strings.Repeat("é", 4097)})
	if err != nil || !r.IsError || !strings.Contains(string(r.Data), "4096") && !strings.Contains(string(r.Data), "4,096") {
		t.Errorf("%s %v", r.Data, err)
	}
}

func TestLinesAreThoseOfTheFile(t *testing.T) {
	t.Parallel()
	h := sharedDaemon(t)
	kb := h.newKB(t)
	for _, c := range []struct {
		name, bom, eol string
		front          bool
	}{{"plain", "", "\n", false}, {"crlf", "", "\r\n", false}, {"bom", "\ufeff", "\n", false}, {"front", "", "\n", true}, {"all", "\ufeff", "\r\n", true}, {"mac", "", "\r", false}} {
		var lines []string
		if c.front {
			lines = append(lines, "---", "title: Lines of "+c.name, "tags: [a, b]", "---", "")
		}
		var at int
		for i := range 200 {
			if i == 150 {
				at = len(lines) + 3
			}
			lines = append(lines, fmt.Sprintf("## Section %d", i), "", fmt.Sprintf("The %s speaks of marker%s%d here.", c.name, c.name, i), "", strings.Repeat("Filler goes on and on. ", 20), "")
		}
		h.write(t, kb+"/"+c.name+".md", c.bom+strings.Join(lines, c.eol))
		f := h.synced(t, kb, "marker"+c.name+"150")
		if len(f.Results) == 0 {
			t.Errorf("%s: nothing found", c.name)
			continue
		}
		if l := f.Results[0].Lines; c.name != "mac" && (at < l.First || at > l.Last || l.Last-l.First > 30) {
			t.Errorf("%s: lines %d-%d, the word is in line %d", c.name, l.First, l.Last, at)
		}
		if heads := f.Results[0].Headings; !slices.Contains(heads, "Section 150") && c.name != "mac" && l1(f.Results[0]) != at-2 {
			t.Logf("%s: headings %q", c.name, heads)
		}
	}
}

func l1(h hit) int { return h.Lines.First }

func TestTheSameQuestionGetsTheSameAnswer(t *testing.T) {
	t.Parallel()
	h := withDaemon(t) // of its own: what others add changes how rare a word is
	kb := h.newKB(t)
	for i := range 120 {
		h.write(t, fmt.Sprintf("%s/tie%03d.md", kb, i), "equal chances for every mongoose")
	}
	h.synced(t, kb, "mongoose")
	first := h.search(t, kb, "mongoose", args{"top_k": 100})
	if len(first.Results) != 100 {
		t.Fatalf("%d results", len(first.Results))
	}
	for _, k := range []int{1, 10, 37, 100} {
		for range 3 {
			again := h.search(t, kb, "mongoose", args{"top_k": k})
			if !slices.EqualFunc(again.Results, first.Results[:k], func(a, b hit) bool { return a.Path == b.Path && a.Chunk == b.Chunk && a.Score == b.Score }) {
				t.Fatalf("top %d is not the head of top 100", k)
			}
		}
	}
}

func TestScoresFallAndTheExactMatchLeads(t *testing.T) {
	t.Parallel()
	h := sharedDaemon(t)
	kb := h.newKB(t)
	h.write(t, kb+"/exact.md", "# Reset the flux capacitor\n\nHold the button to reset the flux capacitor.")
	h.write(t, kb+"/near.md", "The capacitor is a part. There is some flux in the solder.")
	h.write(t, kb+"/far.md", "A reset of the clock is done in spring.")
	f := h.synced(t, kb, "how do I reset the flux capacitor?")
	if len(f.Results) == 0 || f.Results[0].Path != "exact.md" {
		t.Fatalf("%q", f.paths())
	}
	last := 1.0
	for _, r := range f.Results {
		if r.Score > last || r.Score <= 0 || r.Score > 1 {
			t.Errorf("score %v after %v", r.Score, last)
		}
		last = r.Score
	}
}

func TestASmallKBIsNotDrownedByALargeOne(t *testing.T) {
	t.Parallel()
	h := sharedDaemon(t)
	kb := h.newKB(t)
	small := kb + " small"
	must2(t, h, small)
	for i := range 600 {
		h.write(t, fmt.Sprintf("%s/f%d.md", kb, i), "# Ocelot\n\nocelot ocelot ocelot")
	}
	for i := range 3 {
		h.write(t, fmt.Sprintf("%s/s%d.md", small, i), fmt.Sprintf("a long text in which, late, the ocelot is named in passing, number %d of it", i))
	}
	h.synced(t, kb, "ocelot")
	h.synced(t, small, "ocelot")
	h.finds(t, small, "ocelot", "s0.md", "s1.md", "s2.md")
}

func TestOneDocumentDoesNotCrowdOutTheOthers(t *testing.T) {
	t.Parallel()
	h := sharedDaemon(t)
	kb := h.newKB(t)
	var b strings.Builder
	for i := range 100 {
		fmt.Fprintf(&b, "## Part %d\n\nThe tamarin is here. %s\n\n", i, strings.Repeat("The tamarin is small and lives in trees. ", 30))
	}
	h.write(t, kb+"/long.md", b.String())
	for i := range 6 {
		h.write(t, fmt.Sprintf("%s/short%d.md", kb, i), fmt.Sprintf("One tamarin, %d words about it, and no more of that.", i))
	}
	h.synced(t, kb, "tamarin")
	if f := h.search(t, kb, "tamarin", args{"top_k": 5}); len(f.paths()) < 3 {
		t.Errorf("%q", f.paths())
	}
	if f := h.search(t, kb, "tamarin", args{"top_k": 20}); len(f.paths()) != 7 {
		t.Errorf("%q", f.paths())
	}
}

func must2(t *testing.T, h *home, kb string) {
	t.Helper()
	h.write(t, kb+"/.keep", "")
	t.Cleanup(func() { h.remove(t, kb) })
}
