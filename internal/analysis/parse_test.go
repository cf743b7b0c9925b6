package analysis

import (
	"fmt"
	"strings"
	"testing"
)

// showQuery returns a query in short: alternatives with |, "…" for what must
// be there, ~ for stop words, * for prefixes, weights other than 1, ! for
// what must not be there.
func showQuery(q Query) string {
	var out []string
	for _, c := range q.Clauses {
		var any []string
		for _, p := range c.Any {
			any = append(any, showPhrase(p))
		}
		s := strings.Join(any, "|")
		if c.Must {
			s = `"` + s + `"`
		}
		if c.Stop {
			s = "~" + s
		}
		if c.Weight != 1 {
			s += fmt.Sprintf("^%g", c.Weight)
		}
		out = append(out, s)
	}
	for _, p := range q.Not {
		out = append(out, "!"+showPhrase(p))
	}
	return strings.Join(out, ", ")
}

func showPhrase(p Phrase) string {
	s := strings.Join(p.Terms, " ")
	if p.Prefix {
		s += "*"
	}
	return s
}

func TestWhateverIsTypedIsAQuery(t *testing.T) {
	t.Parallel()
	cases := []struct{ query, want string }{
		{"kubernetes pods", "kubernet, pod"},
		{"How do I restart the pods?", "~how, ~do, ~i, restart, ~the, pod"},
		{`"rolling update" strategy`, `"roll updat", strategi`},
		{"“rolling update”", `"roll updat"`},
		{`say "one two" and "three`, `say, "one two", ~and, three`},
		{`5" disk`, "5, disk"},
		{`""`, ""}, {`"`, ""}, {`" "`, ""},
		{"C++", "c++"}, {"C#", "c#"}, {".NET", ".net|net"},
		{"don't", "~dont"},
		{"a::b", "a::b|a b"},
		{"std::vector", "std::vector|std vector, std^0.75, vector^0.75"},
		{"state-of-the-art", "state-of-the-art|state of the art, state^0.75, art^0.75"},
		{"getUserName", "getusername|get user name, user^0.75, name^0.75"},
		{"sha256", "sha256|sha 256"},
		{"TODO: fix", "todo, fix"},
		{"38.101", "38.101|38 101"}, {`"1.0.21"`, `"1.0.21|1 0 21"`}, {"1,000", "1000"},
		{"--flag", "flag"}, {"--error-on-warnings", "error-on-warnings|error on warn, error^0.75, warn^0.75"},
		{"-5", "5"}, {"at -5 degrees", "~at, 5, degre"},
		{"-", ""}, {"...", ""}, {"?!", ""}, {"", ""}, {"- item", "item"},
		{"apple -pie", "appl, !pie"},
		{`apple -"apple pie"`, "appl, !appl pie"},
		{"apple -getUserName", "appl, !get user name"},
		{"-apple", "appl"}, {"-apple -pie", "appl, pie"}, {`-"apple pie"`, `"appl pie"`},
		{"well-known", "well-known|well known, known^0.75"},
		{"ls -la", "ls, !la"},
		{"(-draft) final", "final, !draft"},
		{"dog dogs Dog", "dog"},
		{"合約", "合約"}, {"梅", "梅*"}, {"黑豹队", "黑豹, 豹队"},
		{`"黑豹队"`, `"黑豹 豹队"`}, {`"重跑gen后"`, `"重跑 gen 后*"`},
		{"ภาษา", "ภาษ, าษา"}, {"มา", "มา*"},
		{"IT support", "it, support"}, {"it support", "~it, support"}, {"WHAT IS IT", "~what, ~is, ~it"},
		{"哪些IT组织", "哪些, it, 组织"},
		{`col:"x" NEAR(a b) OR * ^y`, "col, x, near, ~a, b, ~or, y"},
	}
	a := New()
	for _, c := range cases {
		if got := showQuery(ParseQuery(a, c.query)); got != c.want {
			t.Errorf("%q is\n\t%s, want\n\t%s", c.query, got, c.want)
		}
	}
}

func TestALongQueryIsBounded(t *testing.T) {
	t.Parallel()
	var words strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&words, "word%c%c%c ", 'a'+i%26, 'a'+i/26%26, 'a'+i/676%26)
	}
	for name, s := range map[string]string{
		"words": words.String(), "one word": strings.Repeat("x", 4096), "Chinese": strings.Repeat("合約書類検索", 5000),
		"quotes": strings.Repeat(`"a b" `, 5000), "minus": "x " + strings.Repeat("-y ", 5000), "invalid": "x" + strings.Repeat("\xff", 20_000),
	} {
		q := ParseQuery(New(), s)
		if n := len(q.Clauses); n == 0 || n > clausesMax || len(q.Not) > clausesMax {
			t.Errorf("%s: %d clauses, %d that must not be there", name, n, len(q.Not))
		}
	}
}

func FuzzParseQuery(f *testing.F) {
	for _, s := range []string{`a "b c" -d -"e f"`, `-a`, `"“”"`, "C++ 梅 -", "\xff\"-", "-.net --x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		q := ParseQuery(New(), s)
		if len(q.Clauses) == 0 && len(q.Not) > 0 {
			t.Fatalf("%q only says what must not be there", s)
		}
		phrases := q.Not
		for _, c := range q.Clauses {
			if len(c.Any) == 0 || c.Weight <= 0 {
				t.Fatalf("%q has the clause %+v", s, c)
			}
			phrases = append(phrases, c.Any...)
		}
		for _, p := range phrases {
			if len(p.Terms) == 0 {
				t.Fatalf("%q has an empty phrase", s)
			}
			for _, term := range p.Terms {
				if term == "" || strings.ContainsAny(term, " \"\n\x00") {
					t.Fatalf("%q has the term %q", s, term)
				}
			}
		}
	})
}

func TestNonLatinShare(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]float64{"": 0, "12 .": 0, "abc": 0, "éß": 0, "漢字": 1, "ab漢字": 0.5, "Привет": 1} {
		if got := NonLatinShare(text); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

func TestStopWordsAreInAnalysedForm(t *testing.T) {
	t.Parallel()
	for w := range stopWords {
		if got := termsOf(w); got != w || !IsStop(got) {
			t.Errorf("%q is analysed to %q", w, got)
		}
	}
	for _, w := range []string{"kubernet", "doe", "C", ""} {
		if IsStop(w) {
			t.Errorf("%q is a stop word", w)
		}
	}
}
