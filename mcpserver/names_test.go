package mcpserver

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

func TestNamesOfAnyBytesRoundTrip(t *testing.T) {
	for name, want := range map[string]string{
		"plain.md": "plain.md", "caf\xe9.md": "caf�E9.md", "\xff\xfe": "�FF�FE", "a\uFFFDb": "a�EF�BF�BDb", "日本\x93": "日本�93",
		"new\nline": "new\nline", "\uFFFDE9": "�EF�BF�BDE9", "%41": "%41", "": "", "\xed\xa0\x80": "�ED�A0�80",
	} {
		got := encodeName(name)
		if got != want || decodeName(got) != name {
			t.Errorf("%q → %q (want %q) → %q", name, got, want, decodeName(got))
		}
	}
	for in, want := range map[string]string{"\uFFFD": "\uFFFD", "a�e9": "a�e9", "�E": "�E", "��E9": "�\xe9"} {
		if got := decodeName(in); got != want {
			t.Errorf("decode %q: %q, want %q", in, got, want)
		}
	}
}

func FuzzNames(f *testing.F) {
	for _, s := range []string{"a", "\xff", "\uFFFD", "�E9", "a\x00b", "caf\xe9/\xf0\x9f"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		enc := encodeName(name)
		if !utf8.ValidString(enc) || decodeName(enc) != name {
			t.Fatalf("%q → %q → %q", name, enc, decodeName(enc))
		}
		b, err := json.Marshal(enc)
		var back string
		if err != nil || json.Unmarshal(b, &back) != nil || back != enc {
			t.Fatalf("%q does not survive JSON", enc)
		}
		if s := showName(name); strings.ContainsFunc(s, unicode.IsControl) || !utf8.ValidString(s) {
			t.Fatalf("control characters in %q", s)
		}
		if s := showText(name); strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }) {
			t.Fatalf("control characters in %q", s)
		}
		if name == "" || len(name) > maxPathBytes {
			return
		}
		path, err := docPath(enc)
		if err != nil {
			return
		}
		kb, back2, _, err := parseURI(docURI("kb "+path[:1], path))
		if err != nil || back2 != path || kb != "kb "+path[:1] {
			t.Fatalf("uri of %q: %q %q %v", path, kb, back2, err)
		}
	})
}

func TestCutsKeepCharactersWholeAndTheMatchInside(t *testing.T) {
	family, e := "👨‍👩‍👧‍👦", "e\u0301"
	for name, s := range map[string]string{
		"families": strings.Repeat(family, 50), "accents": strings.Repeat(e, 200), "mixed": strings.Repeat("ab "+family+e+" 日本", 40), "words": strings.Repeat("lorem ipsum ", 60),
		"one endless grapheme": "a" + strings.Repeat("\u0301", 500),
	} {
		for _, n := range []int{1, 7, 8, 50, 119} {
			part := cutFront(s, n)
			if runes(part) > n || !strings.HasPrefix(s, part) || !utf8.ValidString(part) {
				t.Errorf("%s at %d: %d characters", name, n, runes(part))
			}
			if name != "one endless grapheme" && strings.HasSuffix(part, "\u200d") {
				t.Errorf("%s at %d: a family was split", name, n)
			}
		}
	}
	s := strings.Repeat("lorem ipsum dolor ", 30) + "NEEDLE one NEEDLE two " + strings.Repeat("sit amet "+family+" ", 30)
	at := strings.Index(s, "NEEDLE")
	marks := [][2]int{{2, 7}, {at, at + 6}, {at + 11, at + 17}}
	for _, n := range []int{60, 120, 300} {
		part, cut := window(s, marks, n)
		if !cut || runes(part) > n || strings.Count(part, "NEEDLE") != 2 || !strings.Contains(s, part) {
			t.Errorf("window of %d: %q", n, part)
		}
	}
	if part, cut := window("short", nil, 10); part != "short" || cut {
		t.Errorf("%q %v", part, cut)
	}
}

func FuzzCutFront(f *testing.F) {
	f.Add("hello w\u0301rld 👨‍👩‍👧 🇩🇪🇫🇷\r\nend", 9)
	f.Add("\r\n\u0301", 1)
	f.Fuzz(func(t *testing.T, s string, n int) {
		if !utf8.ValidString(s) || n < 0 || n > 1<<16 {
			return
		}
		want, used := "", 0 // the plain way
		for g := uniseg.NewGraphemes(s); g.Next(); {
			if used += len(g.Runes()); used > n {
				break
			}
			want += g.Str()
		}
		got := cutFront(s, n)
		if want == "" && s != "" { // the first grapheme is too long: cut inside
			want = string([]rune(s)[:min(n, runes(s))])
		}
		if got != want {
			t.Fatalf("cutFront(%q, %d) = %q, want %q", s, n, got, want)
		}
	})
}

func FuzzWindow(f *testing.F) {
	f.Add("hello wörld 👨‍👩‍👧 end", 6, 11, 5)
	f.Add("a\u0301\u0301\u0301", 0, 1, 2)
	f.Fuzz(func(t *testing.T, s string, a, b, n int) {
		if !utf8.ValidString(s) || n > 1<<16 {
			return
		}
		part, cut := window(s, [][2]int{{a, b}, {-5, 1 << 40}, {b, a}}, n)
		if runes(part) > max(n, 0) && cut || !utf8.ValidString(part) || !strings.Contains(s, part) || !cut && part != s {
			t.Fatalf("%q %v", part, cut)
		}
	})
}
