package analysis

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func termsOf(text string) string { return string(New().AppendTerms(nil, text)) }

func TestTerms(t *testing.T) {
	t.Parallel()
	cases := []struct{ name, text, want string }{
		{"English is stemmed", "The running dogs were connected", "the run dog were connect"},
		{"stop words keep their endings", "does this", "does this"},
		{"punctuation is nothing", "Hello, world! (really) … — “quoted”", "hello world realli quot"},
		{"contractions", "don't can’t user's we'll it's", "dont cant user we it"},
		{"French elision", "l'utilisateur d’État qu'il", "l utilisateur d etat qu il"},
		{"other apostrophes", "O'Reilly", "o reilli o'reilly"},
		{"accents are folded", "Café NAÏVE Zürich Ångström", "cafe naiv zurich angstrom"},
		{"accents written apart", "Cafe\u0301", "cafe"},
		{"letters spelled out", "Straße Ærø Łódź œuvre", "strass aero lodz oeuvr"},
		{"compatibility forms", "ＦＵＬＬ ﬁne ① Ⅳ", "full fine 1 iv"},
		{"Greek tonos and final sigma", "Άνθρωπος", "ανθρωποσ"},
		{"Russian is stemmed", "собаки собака", "собак собак"},
		{"yo is ye, short i stays", "ёлка йод", "елк йод"},
		{"stress marks go", "за\u0301мок", "замок"},
		{"Ukrainian yi stays", "їжа", "їжа"},
		{"dakuten stays", "かが ﾊﾞｽ", "かが バス が ス"},
		{"Hangul stays in syllables", "\u1112\u1161\u11ab글", "한글 글"},
		{"Arabic points and alef forms", "أَحْمَد", "احمد"},
		{"Devanagari marks stay", "हिन्दी", "हिन्दी"},
		{"digits of other scripts", "٣٤ १२", "34 12"},
		{"soft hyphens and joiners", "co\u00adop zero\u200bwidth", "coop zerowidth"},

		{"camelCase", "getUserName", "get user name getusername"},
		{"acronym before a word", "HTTPServer APIs", "http server api httpserver"},
		{"snake_case", "max_retry_count", "max retri count max_retry_count"},
		{"kebab-case", "state-of-the-art", "state of the art state-of-the-art"},
		{"dotted.names", "os.path.join", "os path join os.path.join"},
		{"paths", "cmd/ragd/main.go", "cmd ragd main go cmd/ragd/main.go"},
		{"versions", "v1.2.3", "v 1 2 3 v1.2.3"},
		{"error codes", "E0308", "e 0308 e0308"},
		{"letters and digits", "sha256 SHA-256 utf8 10MB", "sha 256 sha 256 utf 8 10 mb sha256 sha-256 utf8 10mb"},
		{"mixed many times", "k8s i18n", "k8s i18n"},
		{"namespaces", "std::vector a::b::c", "std vector a b c std::vector a::b::c"},
		{"dunder", "__init__ _private trailing_", "init privat trail __init__"},
		{"mail addresses", "joe@example.com", "joe exampl com joe@example.com"},
		{"C++, C#, .NET", "C++ C# .NET F# C/C++ C++17", "c++ c# net f# c c++ c++ 17 .net c/c++ c++17"},
		{"increments are no language", "count++ a+b a#b", "count a b a b"},
		{"ampersand between capitals", "AT&T a&b", "at t a b at&t"},
		{"flags", "--error-on-warnings -5", "error on warn 5 error-on-warnings"},
		{"typographic hyphen", "state‐of", "state of state-of"},

		{"numbers", "42 38.101 3.14", "42 38 101 3 14 38.101 3.14"},
		{"thousands", "1,000 1,000,000 1,00 1,0000", "1000 1000000 1 00 1 0000"},
		{"dates", "2024-01-15 12:30", "2024 01 15 12 30 2024-01-15"},
		{"fractions", "½", "1 2"},

		{"Chinese", "黑豹队", "黑豹 豹队 队"},
		{"one character", "梅", "梅"},
		{"Latin glued to Chinese", "重跑gen-itgc后", "重跑 gen itgc 后 跑 gen-itgc"},
		{"number glued to Chinese", "在308分", "在 308 分"},
		{"Chinese punctuation cuts", "天。地", "天 地"},
		{"Kana with a long vowel", "データ", "デー ータ タ"},
		{"Thai", "ภาษา", "ภาษ าษา ษา า"},
		{"short Thai", "มา", "มา า"},
		{"Khmer", "ភាសា", "ភាស ាសា សា ា"},
		{"emoji", "ok 🎉 fine", "ok 🎉 fine"},
		{"nothing", " \n\t.,;!", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := termsOf(c.text); got != c.want {
				t.Errorf("terms of %q are\n%q, want\n%q", c.text, got, c.want)
			}
		})
	}
}

func TestSameWordsInOtherClothesShareATerm(t *testing.T) {
	t.Parallel()
	for _, pair := range [][2]string{
		{"café", "cafe\u0301"}, {"ﬁle", "file"}, {"ｶﾞ", "ガ"}, {"STRASSE", "straße"}, {"don’t", "don't"}, {"Connections", "connected"},
		{"１２", "12"}, {"елка", "ёлка"}, {"user’s", "users"}, {"co\u2011op", "co-op"}, {"각", "\u1100\u1161\u11a8"}, {"Å", "Å"},
	} {
		if a, b := termsOf(pair[0]), termsOf(pair[1]); a != b {
			t.Errorf("%q gives %q, %q gives %q", pair[0], a, pair[1], b)
		}
	}
	for _, pair := range [][2]string{{"か", "が"}, {"は", "ば"}, {"й", "и"}, {"C", "C++"}, {"1.5", "15"}} {
		if a, b := termsOf(pair[0]), termsOf(pair[1]); a == b {
			t.Errorf("%q and %q both give %q", pair[0], pair[1], a)
		}
	}
}

func TestAppendTermsExtendsWhatIsThere(t *testing.T) {
	t.Parallel()
	a := New()
	got := a.AppendTerms([]byte("title"), "")
	if string(got) != "title" {
		t.Errorf("nothing more gives %q", got)
	}
	got = a.AppendTerms(a.AppendTerms([]byte("title"), "userName dogs"), "cats")
	if string(got) != "title user name dog username cat" {
		t.Errorf("got %q", got)
	}
}

func TestJunkGivesFewTerms(t *testing.T) {
	t.Parallel()
	cases := map[string]string{
		"base64":           strings.Repeat("aGVsbG8gV29ybGQ+/iVBORw0KGgo", 40_000),
		"hexadecimal":      strings.Repeat("d41d8cd98f00b204e9800998ecf8427e", 30_000),
		"one letter":       strings.Repeat("a", 1_000_000),
		"mixed case":       strings.Repeat("aB", 500_000),
		"underscores":      strings.Repeat("_", 1_000_000),
		"dashes and words": strings.Repeat("ab-", 300_000),
		"Cyrillic":         strings.Repeat("ж", 500_000),
	}
	for name, text := range cases {
		terms := strings.Fields(termsOf("zebra " + text + " omega"))
		if limit := 40 + len(text)/stretchMax*2; len(terms) > limit {
			t.Errorf("%s: %d bytes gave %d terms, more than %d", name, len(text), len(terms), limit)
		}
		if !slices.Contains(terms, "zebra") || !slices.Contains(terms, "omega") {
			t.Errorf("%s: the words around it are lost", name)
		}
	}
}

func TestALongTermIsCutAndStillItself(t *testing.T) {
	t.Parallel()
	a, b := strings.Repeat("x", 70), strings.Repeat("x", 71)
	if termsOf(a) == termsOf(b) {
		t.Errorf("%q and %q share a term", a, b)
	}
	if got := termsOf(a); len(got) > termMax || termsOf(strings.ToUpper(a)) != got {
		t.Errorf("got %q", got)
	}
	if got := termsOf("token d41d8cd98f00b204e9800998ecf8427e"); got != "token d41d8cd98f00b204e9800998ecf8427e" {
		t.Errorf("a digest gives %q", got)
	}
}

var textBits = []string{
	"the", "word", "User", "NAME", "x", "C", "42", "1", "000", " ", " ", " ", "\n", "\t", ".", "-", "_", "/", "::", ":", ",", "'", "’", "@", "&", "+", "++", "#", "\"",
	"é", "e\u0301", "ё", "й", "漢字", "か", "ｶﾞ", "한", "ไทย", "مَ", "हि", "🎉", "👩‍👩‍👧", "\u00ad", "\u200d", "ß", "İ", "ı", "½", "ﬁ", "Ａ", "…", "—", "\u0301", "ǅ", "\u3000",
	strings.Repeat("a", 70), strings.Repeat("aB3", 30), strings.Repeat("q", 300),
}

// check reports what is wrong with the terms of text.
func check(t interface{ Fatalf(string, ...any) }, text string) {
	a := New()
	joined := string(a.AppendTerms(nil, text))
	if !utf8.ValidString(joined) {
		t.Fatalf("terms of %q are not UTF-8: %q", text, joined)
	}
	var terms []string
	if joined != "" {
		terms = strings.Split(joined, " ")
	}
	for _, term := range terms {
		if term == "" || len(term) > termMax || strings.ContainsFunc(term, func(r rune) bool { return r <= ' ' || r == 0x7f || r == '"' }) {
			t.Fatalf("%q has the term %q", text, term)
		}
	}
	var running, rest []string
	last := 0
	for _, tok := range a.Tokens(text) {
		if tok.Start < last || tok.End <= tok.Start || tok.End > len(text) || text[tok.Start:tok.End] != tok.Text || len(tok.Terms) == 0 {
			t.Fatalf("%q has the token %+v after %d", text, tok, last)
		}
		last = tok.Start
		switch {
		case tok.tail:
			rest = append(rest, tok.Terms...)
		case tok.Whole:
			rest = append(rest, tok.Terms[0])
			running = append(running, tok.Parts()...)
		default:
			running = append(running, tok.Terms...)
		}
	}
	slices.Sort(rest)
	if n := len(running); n > len(terms) || !slices.Equal(terms[:n], running) {
		t.Fatalf("%q: running terms %q, tokens have %q", text, terms, running)
	}
	slices.Sort(terms[len(running):])
	if !slices.Equal(terms[len(running):], rest) {
		t.Fatalf("%q: terms after the text are %q, tokens have %q", text, terms[len(running):], rest)
	}
}

func TestTokensHaveTheTermsOfAppendTerms(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		check(t, strings.Join(rapid.SliceOfN(rapid.SampledFrom(textBits), 0, 40).Draw(t, "text"), ""))
	})
}

// A soft hyphen stands for nothing, but keeps a word from the fast scan.
func TestTheFastScanGivesTheTermsOfTheSlowRules(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		bits := slices.DeleteFunc(slices.Clone(textBits), func(s string) bool { return len(s) > 60 }) // no blobs
		parts := rapid.SliceOfN(rapid.SampledFrom(bits), 0, 12).Draw(t, "text")
		fast := strings.Join(parts, "")
		var slow strings.Builder
		for i := range len(fast) {
			slow.WriteByte(fast[i])
			wordy := asciiClass[fast[i]].wordy() && fast[i] < 0x80
			if wordy && (i+1 == len(fast) || !asciiClass[fast[i+1]].wordy() && fast[i+1] < 0x80) {
				slow.WriteString("\u00ad")
			}
		}
		if a, b := termsOf(fast), termsOf(slow.String()); a != b {
			t.Fatalf("%q gives\n%q, slowly\n%q", fast, a, b)
		}
	})
}

func FuzzTerms(f *testing.F) {
	f.Add("getUserName C++ 漢字 don't 1,000 ﬁ")
	f.Add(strings.Repeat("\u0301", 50))
	f.Add("\u1100\u1161 ｶﾞ \u0e33 \U0001F1E9\U0001F1EA")
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) < 1<<14 {
			check(t, strings.ToValidUTF8(text, "?"))
			New().AppendTerms(nil, text) // invalid UTF-8 must not panic either
		}
	})
}

func TestSharesOfScripts(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		text         string
		other, pairs float64
	}{
		{"plain words", 0, 0}, {"", 0, 0}, {"123 !", 0, 0}, {"日本", 1, 1}, {"ab日本", 0.5, 0.5}, {"한글 ひら", 1, 1}, {"баня", 1, 0}, {"naïve", 0, 0},
	} {
		if o, p := NonLatinShare(tc.text), PairShare(tc.text); o != tc.other || p != tc.pairs {
			t.Errorf("%q: %v and %v, want %v and %v", tc.text, o, p, tc.other, tc.pairs)
		}
	}
}
