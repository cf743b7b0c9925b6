package extract

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/simplifiedchinese"

	"ragd/internal/chunk"
	"ragd/internal/fault"
)

func newRegistry(t testing.TB) *Registry {
	t.Helper()
	r, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func mustExtract(t testing.TB, path string, data []byte) *Document {
	t.Helper()
	doc, err := newRegistry(t).Extract(context.Background(), Source{Path: path, Data: data})
	if err != nil {
		t.Fatalf("extract %s: %v", path, err)
	}
	checkDocument(t, doc)
	return doc
}

// checkDocument holds what chunk.Text promises.
func checkDocument(t testing.TB, doc *Document) {
	t.Helper()
	body := doc.Text.Body
	if !utf8.ValidString(body) {
		t.Fatalf("body is not valid UTF-8: %q", clip(body, 200))
	}
	for i, r := range body {
		if (r < 0x20 && r != '\n' && r != '\t') || (r >= 0x7f && r < 0xa0) {
			t.Fatalf("control character %U at %d", r, i)
		}
	}
	lines := strings.Count(body, "\n") + 1
	for _, m := range [][]int64{doc.Text.Source.Bytes, doc.Text.Source.Chars} {
		if m != nil && len(m) != lines {
			t.Fatalf("source map has %d lines, body has %d", len(m), lines)
		}
		for i := 1; i < len(m); i++ {
			if m[i] < m[i-1] {
				t.Fatalf("source map goes back at line %d: %d after %d", i, m[i], m[i-1])
			}
		}
	}
	end := 0
	for i, s := range doc.Text.Sections {
		if s.Start < end || s.End < s.Start || s.End > len(body) {
			t.Fatalf("section %d is %d..%d after %d in a body of %d", i, s.Start, s.End, end, len(body))
		}
		if !utf8.ValidString(body[s.Start:s.End]) {
			t.Fatalf("section %d splits a character", i)
		}
		end = s.End
	}
	for _, p := range doc.Parts {
		checkDocument(t, p.Document)
	}
}

// lineStarts returns the file's line starts by code unit, computed apart from
// the code under test.
func lineStarts(s chunk.SourceMap, body string) (lines []string, at []int64) {
	off := int64(0)
	for i, l := range strings.Split(body, "\n") {
		lines = append(lines, l)
		if s.Bytes != nil {
			at = append(at, s.Bytes[i])
		} else {
			at = append(at, off)
		}
		off += int64(len(l) + 1)
	}
	return lines, at
}

func TestTextKeepsEveryLinesPlaceInTheFile(t *testing.T) {
	t.Parallel()
	const content = "first line\nsecond über line\n\nfourth 日本語\nlast"
	encode := func(e encoding.Encoding, s string) []byte {
		b, err := e.NewEncoder().String(s)
		if err != nil {
			t.Fatal(err)
		}
		return []byte(b)
	}
	utf16le := func(s string, mark bool) []byte {
		var b bytes.Buffer
		if mark {
			b.WriteString("\xff\xfe")
		}
		for _, u := range utf16.Encode([]rune(s)) {
			b.WriteByte(byte(u))
			b.WriteByte(byte(u >> 8))
		}
		return b.Bytes()
	}
	utf16be := func(s string) []byte {
		b := utf16le(s, true)
		for i := 0; i+1 < len(b); i += 2 {
			b[i], b[i+1] = b[i+1], b[i]
		}
		return b
	}
	cases := []struct {
		name string
		data []byte
		line string // of the file, encoded: must stand where the map says
	}{
		{"plain", []byte(content), "fourth 日本語"},
		{"byte order mark", []byte("\xef\xbb\xbf" + content), "fourth 日本語"},
		{"CRLF", []byte(strings.ReplaceAll(content, "\n", "\r\n")), "fourth 日本語"},
		{"CR only", []byte(strings.ReplaceAll(content, "\n", "\r")), "fourth 日本語"},
		{"BOM and CRLF", []byte("\xef\xbb\xbf" + strings.ReplaceAll(content, "\n", "\r\n")), "fourth 日本語"},
		{"UTF-16LE", utf16le(content, true), string(utf16le("fourth 日本語", false))},
		{"UTF-16BE CRLF", utf16be(strings.ReplaceAll(content, "\n", "\r\n")), string(utf16be("fourth 日本語")[2:])},
		{"UTF-16LE without mark", utf16le(content, false), string(utf16le("fourth 日本語", false))},
		{"Shift JIS", encode(japanese.ShiftJIS, strings.Repeat("これは日本語の文章です。\r\n", 20)+"fourth 日本語"), string(encode(japanese.ShiftJIS, "fourth 日本語"))},
		{"ISO-2022-JP", encode(japanese.ISO2022JP, "これは日本語の文章です。\nfourth 日本語"), "fourth "},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			doc := mustExtract(t, "a.txt", c.data)
			lines, at := lineStarts(doc.Text.Source, doc.Text.Body)
			found := false
			for i, l := range lines {
				if l == "fourth 日本語" {
					found = true
					if got := c.data[at[i]:]; !bytes.HasPrefix(got, []byte(c.line)) {
						t.Errorf("line %d said to be at %d, where %q stands", i, at[i], clip(string(got), 40))
					}
				}
			}
			if !found {
				t.Fatalf("line lost in %q", doc.Text.Body)
			}
		})
	}
}

func TestCharsOfTheMapCountTheFilesCodePoints(t *testing.T) {
	t.Parallel()
	doc := mustExtract(t, "a.txt", []byte("\xef\xbb\xbfäö\r\nx\x00y\r\nz"))
	want := []int64{0, 4, 9}
	if len(doc.Text.Source.Chars) != 3 {
		t.Fatalf("chars = %v", doc.Text.Source.Chars)
	}
	for i, w := range want {
		if doc.Text.Source.Chars[i] != w {
			t.Fatalf("chars = %v, want %v", doc.Text.Source.Chars, want)
		}
	}
	if want := []int64{3, 9, 14}; doc.Text.Source.Bytes[1] != want[1] || doc.Text.Source.Bytes[2] != want[2] {
		t.Fatalf("bytes = %v, want %v", doc.Text.Source.Bytes, want)
	}
}

func TestCharsetIsFoundAndSaid(t *testing.T) {
	t.Parallel()
	german := strings.Repeat("Die Bäume wachsen über die Straße hinaus, und die Vögel hören es früh. ", 8)
	czech := strings.Repeat("Všichni lidé se rodí svobodní a sobě rovní co do důstojnosti a práv. Jsou nadáni rozumem a svědomím a mají spolu jednat v duchu bratrství. Každý má všechna práva a všechny svobody. ", 8)
	russian := strings.Repeat("Съешь же ещё этих мягких французских булок, да выпей чаю. ", 8)
	chinese := strings.Repeat("今天天气很好，我们一起去公园散步，看到了很多花。", 8)
	cases := []struct {
		name, charset, text string
		enc                 encoding.Encoding
	}{
		{"German", "windows-1252", german, charmap.Windows1252},
		{"Czech", "windows-1250", czech, charmap.Windows1250},
		{"Russian", "windows-1251", russian, charmap.Windows1251},
		{"KOI8", "koi8-r", russian, charmap.KOI8R},
		{"Chinese", "gb18030", chinese, simplifiedchinese.GBK},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			data, err := c.enc.NewEncoder().String(c.text)
			if err != nil {
				t.Fatal(err)
			}
			doc := mustExtract(t, "a.txt", []byte(data))
			if doc.Text.Body != c.text {
				t.Errorf("charset %q (sure %v): %q", doc.Quality.Charset, doc.Quality.CharsetSure, clip(doc.Text.Body, 80))
			}
			if doc.Quality.Charset == "" {
				t.Error("quality does not name the charset")
			}
		})
	}
	t.Run("a guess is marked", func(t *testing.T) {
		t.Parallel()
		doc := mustExtract(t, "a.txt", []byte("caf\xe9"))
		if doc.Quality.CharsetSure || doc.Quality.Note == "" {
			t.Errorf("quality %+v claims to be sure of four bytes", doc.Quality)
		}
	})
	t.Run("damaged UTF-8 stays UTF-8", func(t *testing.T) {
		t.Parallel()
		doc := mustExtract(t, "a.txt", []byte(german+"\xff"+german))
		if doc.Quality.Charset != "" || doc.Text.Body != german+"\uFFFD"+german || doc.Quality.BadShare == 0 {
			t.Errorf("quality %+v", doc.Quality)
		}
	})
}

func TestControlCharactersAreBlankedAndCounted(t *testing.T) {
	t.Parallel()
	doc := mustExtract(t, "a.log", []byte("\x1b[31mERROR\x1b[0m a\bb\u009bc "+strings.Repeat("fine ", 60)+"\n"))
	if !strings.HasPrefix(doc.Text.Body, " [31mERROR [0m a b\u00a0c ") {
		t.Errorf("body %q", clip(doc.Text.Body, 60))
	}
	if doc.Quality.BadShare <= 0 {
		t.Error("not counted")
	}
	if doc.Text.Source.Bytes[0] != 0 || len(doc.Text.Body) != len("\x1b[31mERROR\x1b[0m a\bb\u009bc \n")+60*5 {
		t.Errorf("length changed to %d", len(doc.Text.Body))
	}
}

func TestContentThatIsNotTextIsRefused(t *testing.T) {
	t.Parallel()
	noise := make([]byte, 4096)
	for i := range noise {
		noise[i] = byte(i*i*31 + i>>3)
	}
	cases := []struct {
		name, path string
		data       []byte
		code       string
	}{
		{"PNG named Markdown", "a.md", append([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"), noise...), "wrong_type"},
		{"PDF named text", "a.txt", []byte("%PDF-1.4\n%abc\n"), "wrong_type"},
		{"noise named Go", "a.go", noise, "binary"},
		{"program without extension", "tool", append([]byte("\x7fELF\x02\x01\x01"), make([]byte, 100)...), "wrong_type"},
		{"zip named HTML", "a.html", append([]byte("PK\x03\x04\x14\x00"), noise...), "wrong_type"},
		{"NUL bytes", "a.txt", make([]byte, 100), "binary"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := newRegistry(t).Extract(context.Background(), Source{Path: c.path, Data: c.data})
			f, ok := fault.As(err)
			if !ok || f.Kind != fault.Permanent || f.Code != c.code || !strings.Contains(f.Message, c.path) {
				t.Fatalf("error %v, want permanent %s that names the file", err, c.code)
			}
		})
	}
}

func TestExtractOfEmptyFilesSucceeds(t *testing.T) {
	t.Parallel()
	for _, p := range []string{"a.md", "a.txt", "a.html", "a.go", "a.csv", "a.json"} {
		doc := mustExtract(t, p, nil)
		if doc.Text.Body != "" || doc.Front.Type != "note" || doc.Front.Status != "published" {
			t.Errorf("%s: %+v", p, doc)
		}
	}
}

func TestLookupSaysWhatIsNotReadAndWhy(t *testing.T) {
	t.Parallel()
	r, err := New(Options{TextExtensions: []string{".foo", "BAR", "md"}})
	if err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		path, format, reason string
	}{
		{"a/b.md", "markdown", ""},
		{"A.MD", "markdown", ""},
		{"x.foo", "text", ""},
		{"x.Bar", "text", ""},
		{"notes", "text", ""},
		{"README", "text", ""},
		{"Makefile", "code", ""},
		{"Dockerfile.dev", "code", ""},
		{"CMakeLists.txt", "code", ""},
		{".gitignore", "code", ""},
		{".hidden", "text", ""},
		{"syslog.1", "text", ""},
		{"a.tar.gz", "", "archives"},
		{"a.mp3", "", "sound"},
		{"a.xyzzy", "", "unknown type .xyzzy"},
		{"a.\xff\xfe", "", "unknown type"},
		{"a..", "text", ""},
		{"", "text", ""},
	}
	for _, c := range cases {
		t.Run(c.path, func(t *testing.T) {
			f, reason, ok := r.Lookup(c.path)
			if ok != (c.format != "") || f.Name != c.format || !strings.Contains(reason, c.reason) || !utf8.ValidString(reason) {
				t.Fatalf("Lookup(%q) = %+v, %q, %v", c.path, f, reason, ok)
			}
			if ok && f.Version < 1 {
				t.Errorf("version %d", f.Version)
			}
		})
	}
	for _, bad := range []string{"a/b", "tar.gz", "*.md", "a b", "."} {
		if _, err := New(Options{TextExtensions: []string{bad}}); err == nil || fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), bad) {
			t.Errorf("extension %q: %v", bad, err)
		}
	}
}

func TestCodeKnowsItsLanguage(t *testing.T) {
	t.Parallel()
	for path, language := range map[string]string{
		"a.go": "go", "b.py": "python", "c.tsx": "typescript", "d.rs": "rust", "e.h": "c", "f.hpp": "cpp", "Makefile": "make", "g.sh": "bash", "h.cs": "c-sharp",
	} {
		doc := mustExtract(t, path, []byte("x = 1\n"))
		if doc.Text.Language != language || doc.Text.Format != chunk.FormatCode {
			t.Errorf("%s: language %q, format %q", path, doc.Text.Language, doc.Text.Format)
		}
	}
}

func TestCancelledExtractReturnsTheContextsError(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := newRegistry(t).Extract(ctx, Source{Path: "a.md", Data: []byte("# x")}); err != context.Canceled {
		t.Fatal(err)
	}
}

func FuzzText(f *testing.F) {
	f.Add([]byte("a\r\nb\rc\x00\xff\xfe"))
	f.Add([]byte("\xff\xfea\x00\n\x00"))
	f.Add([]byte("\x00\x00\xfe\xff\x00\x00\x00a"))
	f.Add([]byte("\x1b$B%3%l\x1b(B"))
	f.Add([]byte("caf\xe9 \x93quoted\x94\n"))
	r, err := New(Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		doc, err := r.Extract(context.Background(), Source{Path: "a.txt", Data: data})
		if err != nil {
			if _, ok := fault.As(err); !ok {
				t.Fatal(err)
			}
			return
		}
		checkDocument(t, doc)
		if m := doc.Text.Source.Bytes; m != nil && m[len(m)-1] > int64(len(data)) {
			t.Fatalf("line at %d in a file of %d", m[len(m)-1], len(data))
		}
	})
}

func BenchmarkMarkdown(b *testing.B) {
	line := "Some *Markdown* text with `code`, and now and then an ümlaut or two — that is all.\n"
	bodies := map[string]string{
		"clean":       "# Title\n\n" + strings.Repeat(line, 12000),
		"frontmatter": "---\ntitle: T\n---\n" + strings.Repeat(line, 12000),
		"crlf":        strings.Repeat(strings.ReplaceAll(line, "\n", "\r\n"), 12000),
	}
	r, err := New(Options{})
	if err != nil {
		b.Fatal(err)
	}
	for name, body := range bodies {
		b.Run(name, func(b *testing.B) {
			data := []byte(body)
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := r.Extract(context.Background(), Source{Path: "a.md", Data: data}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
