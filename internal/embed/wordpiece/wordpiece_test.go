package wordpiece

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func uncased(t testing.TB) *Tokenizer {
	t.Helper()
	vocab, err := os.ReadFile("../model/vocab.txt")
	if err != nil {
		t.Fatal(err)
	}
	tok, err := New(string(vocab), Uncased())
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

// The fixture was written by compare/compare.py from the reference tokeniser.
func TestIdsAreTheReferencesInManyScripts(t *testing.T) {
	t.Parallel()
	tok := uncased(t)
	data, err := os.ReadFile("testdata/ids.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 1<<20)
	n := 0
	for ; lines.Scan(); n++ {
		var row struct {
			Text string  `json:"text"`
			IDs  []int32 `json:"ids"`
		}
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		if got := tok.Append([]int32{}, row.Text); !slices.Equal(got, row.IDs) {
			t.Errorf("%q:\n got %v\nwant %v", row.Text, got, row.IDs)
		}
	}
	if n < 100 {
		t.Fatalf("only %d rows in the fixture", n)
	}
}

func TestVocabularyWithoutItsSpecialEntriesIsRefused(t *testing.T) {
	t.Parallel()
	for _, vocab := range []string{"", "a\nb\n", "[UNK]\n[CLS]\n"} {
		if _, err := New(vocab, Uncased()); err == nil {
			t.Errorf("%q was accepted", vocab)
		}
	}
}

func TestHostileTextIsCounted(t *testing.T) {
	t.Parallel()
	tok := uncased(t)
	for name, c := range map[string]struct {
		text string
		want int
	}{
		"10 MB of one letter": {strings.Repeat("a", 10<<20), 1},
		"only control":        {strings.Repeat("\x00\x01\u200b", 1000), 0},
		"only emoji":          {strings.Repeat("😀 ", 500), 500},
		"broken UTF-8":        {"a\xff\xfeb \xc3", 1},
		"empty":               {"", 0},
	} {
		if got := tok.Count(c.text); got != c.want {
			t.Errorf("%s: %d tokens, want %d", name, got, c.want)
		}
	}
}

func checkWindows(t *testing.T, tok *Tokenizer, text string, limit, overlap int) {
	t.Helper()
	ws := tok.Windows(text, limit, overlap)
	prev, prevStart := 0, -1
	for i, w := range ws {
		if w.Start < 0 || w.End > len(text) || w.Start >= w.End || w.Start <= prevStart {
			t.Fatalf("window %d is %+v of %d bytes", i, w, len(text))
		}
		if w.Start > prev && tok.Count(text[prev:w.Start]) != 0 {
			t.Fatalf("%q is in no window", text[prev:w.Start])
		}
		if w.Tokens > max(limit, 8) {
			t.Fatalf("window %d has %d tokens, limit %d", i, w.Tokens, limit)
		}
		if got := tok.Count(text[w.Start:w.End]); got != w.Tokens && utf8.ValidString(text) {
			t.Fatalf("window %d says %d tokens, has %d: %q", i, w.Tokens, got, text[w.Start:w.End])
		}
		prev, prevStart = w.End, w.Start
	}
	if tok.Count(text[prev:]) != 0 {
		t.Fatalf("the end %q is in no window", text[prev:])
	}
}

func TestWindowsHoldEveryWordWithinTheLimit(t *testing.T) {
	t.Parallel()
	tok := uncased(t)
	prose := strings.Repeat("The watcher coalesces events. A scan is the truth, whatever the events said!\n", 60)
	for _, text := range []string{prose, "one", "", strings.Repeat("日本語の文章。", 300), strings.Repeat("[SEP]", 50),
		strings.Repeat("x1y2z3", 16), strings.Repeat("각", 99), strings.Repeat("a", 101)} {
		for _, limit := range []int{8, 32, 254} {
			for _, overlap := range []int{0, 4, 16} {
				checkWindows(t, tok, text, limit, overlap)
			}
		}
	}
	ws := tok.Windows(prose, 254, 0)
	if tok.Count(prose) > 900 && len(ws) > tok.Count(prose)/200+1 {
		t.Errorf("%d windows for %d tokens", len(ws), tok.Count(prose))
	}
	for _, w := range ws {
		if !strings.ContainsAny(prose[w.End-1:w.End], ".!") {
			t.Errorf("a window ends inside a sentence: …%q", prose[w.End-20:w.End])
		}
	}
}

func FuzzWindows(f *testing.F) {
	tok := uncased(f)
	f.Add("Hello, wörld! [SEP] 日本語", 8, 2)
	f.Add("a\u0344;\u037e\u0301b\U0001d165", 9, 0)
	f.Fuzz(func(t *testing.T, text string, limit, overlap int) {
		if len(text) > 1<<14 {
			return
		}
		ids := tok.Append(nil, text)
		if len(ids) != tok.Count(text) {
			t.Fatal("Append and Count differ")
		}
		for _, id := range ids {
			if id < 0 || int(id) >= tok.Size() {
				t.Fatalf("id %d of %d", id, tok.Size())
			}
		}
		checkWindows(t, tok, text, limit%512, overlap%512)
	})
}

func BenchmarkAppend(b *testing.B) {
	tok := uncased(b)
	text := strings.Repeat("Retrieval of passages by their meaning needs a tokenizer first. ", 100)
	b.SetBytes(int64(len(text)))
	var ids []int32
	for b.Loop() {
		ids = tok.Append(ids[:0], text)
	}
}
