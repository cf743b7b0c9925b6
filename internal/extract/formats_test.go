package extract

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"ragd/internal/chunk"
	"ragd/internal/fault"
)

// inProcess is a registry that runs every reader here, as the worker does.
func inProcess(t testing.TB, o Options) *Registry {
	t.Helper()
	o.InProcess = true
	r, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

func workbook(t testing.TB) []byte {
	t.Helper()
	f := excelize.NewFile()
	defer f.Close()
	set := func(sheet, cell string, v any) {
		if err := f.SetCellValue(sheet, cell, v); err != nil {
			t.Fatal(err)
		}
	}
	for i, row := range [][]any{{"Name", "Born", "Share"}, {"Ada", 1815, 0.25}, {"Alan", 1912, 0.5}} {
		for k, v := range row {
			cell, err := excelize.CoordinatesToCellName(k+1, i+1)
			if err != nil {
				t.Fatal(err)
			}
			set("Sheet1", cell, v)
		}
	}
	if _, err := f.NewSheet("Second"); err != nil {
		t.Fatal(err)
	}
	set("Second", "B2", "lone cell")
	percent, err := f.NewStyle(&excelize.Style{NumFmt: 9})
	if err == nil {
		err = f.SetCellStyle("Sheet1", "C2", "C3", percent)
	}
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := f.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

type formatCase struct {
	path  string
	data  []byte
	title string
	want  []string // in the text
	not   []string // not in the text
}

func formatCases(t testing.TB) []formatCase {
	s := func(text string) []byte { return []byte(text) }
	run := func(text string) string { return "<w:r><w:t>" + text + "</w:t></w:r>" }
	return []formatCase{
		{"a.docx", pack(t, "word/document.xml", wordNS+
			`<w:p><w:pPr><w:pStyle w:val="berschrift1"/></w:pPr>`+run("Chapter")+`</w:p>`+
			`<w:p>`+run("Kept ")+`<w:ins>`+run("inserted")+`</w:ins><w:del><w:r><w:delText>removed</w:delText></w:r></w:del></w:p>`+
			`<w:p><w:pPr><w:numPr><w:ilvl w:val="1"/><w:numId w:val="3"/></w:numPr></w:pPr>`+run("numbered")+`</w:p>`+
			`<w:tbl><w:tr><w:tc><w:p>`+run("h1")+`</w:p></w:tc><w:tc><w:p>`+run("h2")+`</w:p></w:tc></w:tr><w:tr><w:tc><w:p>`+run("a|b")+`</w:p></w:tc><w:tc><w:p>`+run("c")+`</w:p></w:tc></w:tr></w:tbl>`+
			`<w:p><m:oMath><m:r><m:t>x</m:t></m:r><m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:oMath></w:p>`+wordEnd,
			"word/styles.xml", `<w:styles><w:style w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style></w:styles>`,
			"word/numbering.xml", `<n><abstractNum abstractNumId="7"><lvl ilvl="0"><start val="2"/><numFmt val="decimal"/><lvlText val="%1."/></lvl><lvl ilvl="1"><start val="1"/><numFmt val="lowerRoman"/><lvlText val="%1.%2"/></lvl></abstractNum><num numId="3"><abstractNumId val="7"/></num></n>`,
			"word/footnotes.xml", `<w:f><w:footnote w:type="separator"><w:p>`+run("line")+`</w:p></w:footnote><w:footnote><w:p>`+run("a note")+`</w:p></w:footnote></w:f>`,
			"word/comments.xml", `<w:c><w:p>`+run("a remark")+`</w:p></w:c>`,
			"docProps/core.xml", `<c xmlns:dc="d"><dc:title>The Title</dc:title><dc:creator>Ann</dc:creator></c>`),
			"The Title", []string{"# Chapter\n", "Kept inserted\n", "2.i numbered", "| h1 | h2 |\n| --- | --- |\n| a\\|b | c |", "x^{2}", "a note", "a remark"}, []string{"removed", "line"}},
		{"a.pptx", pack(t, "ppt/presentation.xml", `<p:presentation xmlns:p="p" xmlns:r="r"><p:sldIdLst><p:sldId id="256" r:id="rId2"/><p:sldId id="257" r:id="rId1"/></p:sldIdLst></p:presentation>`,
			"ppt/_rels/presentation.xml.rels", `<R><Relationship Id="rId1" Type="x/slide" Target="slides/slide1.xml"/><Relationship Id="rId2" Type="x/slide" Target="slides/slide2.xml"/></R>`,
			"ppt/slides/slide1.xml", `<p:sld><p:sp><p:txBody><a:p><a:r><a:t>second slide</a:t></a:r></a:p></p:txBody></p:sp></p:sld>`,
			"ppt/slides/slide2.xml", `<p:sld><p:sp><p:txBody><a:p><a:t>body text</a:t></a:p></p:txBody></p:sp><p:sp><p:nvPr><p:ph type="title"/></p:nvPr><a:p><a:t>First title</a:t></a:p></p:sp></p:sld>`,
			"ppt/slides/_rels/slide2.xml.rels", `<R><Relationship Id="rId1" Type="x/notesSlide" Target="../notesSlides/n.xml"/></R>`,
			"ppt/notesSlides/n.xml", `<p:notes><p:sp><a:p><a:t>say this</a:t></a:p></p:sp></p:notes>`),
			"First title", []string{"# First title\n\nbody text\n", "Notes: say this\n\nsecond slide"}, nil},
		{"a.xlsx", workbook(t), "", []string{"| Name | Born | Share |\n| --- | --- | --- |\n| Ada | 1815 | 25% |", "lone cell"}, nil},
		{"a.odt", pack(t, "content.xml", `<o:d xmlns:o="o" xmlns:t="t"><o:body><o:text><t:h t:outline-level="2">Part</t:h><t:p>one<t:s t:c="2"/>two<t:note><t:note-citation>1</t:note-citation><t:note-body><t:p>foot</t:p></t:note-body></t:note></t:p><t:list><t:list-item><t:p>point</t:p></t:list-item></t:list></o:text></o:body></o:d>`,
			"meta.xml", `<m xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>ODF title</dc:title></m>`),
			"ODF title", []string{"## Part", "one  two", "foot", "- point"}, []string{"1\n"}},
		{"a.ods", pack(t, "content.xml", `<o:d xmlns:o="o" xmlns:t="t"><o:body><o:spreadsheet><t:table t:name="Costs"><t:table-row><t:table-cell><t:p>item</t:p></t:table-cell><t:table-cell><t:p>price</t:p></t:table-cell></t:table-row><t:table-row><t:table-cell><t:p>tea</t:p></t:table-cell><t:table-cell><t:p>3</t:p></t:table-cell></t:table-row></t:table></o:spreadsheet></o:body></o:d>`),
			"", []string{"| item | price |", "| tea | 3 |"}, nil},
		{"a.epub", pack(t, "META-INF/container.xml", `<c><rootfile full-path="O/c.opf"/></c>`, "O/c.opf", `<p xmlns:dc="d"><dc:title>A Book</dc:title><dc:creator>Bo</dc:creator><item id="n" href="t.ncx" media-type="application/x-dtbncx+xml"/><item id="b" href="two%20.xhtml"/><item id="a" href="one.xhtml"/><itemref idref="a"/><itemref idref="b"/></p>`,
			"O/one.xhtml", `<html><body><h1>Start</h1><p>once upon</p></body></html>`, "O/two .xhtml", `<html><body><p>the end</p></body></html>`,
			"O/t.ncx", `<n><navPoint><navLabel><text>Last chapter</text></navLabel><content src="two%20.xhtml#x"/></navPoint></n>`),
			"A Book", []string{"# Start\n\nonce upon\n", "# Last chapter\n\nthe end"}, nil},
		{"a.rtf", s(`{\rtf1\ansi\ansicpg1250{\fonttbl{\f0\fcharset238 A;}{\f1\fcharset128 M;}}{\info{\title Titul}}{\*\generator x}\pard\f0 P\'f8\'edli\'9a \u382?lu\par{\f1\'93\'fa\'96\'7b}\par\trowd\intbl a\cell b\cell\row\pard after}`),
			"Titul", []string{"Příliš žlu\n", "日本", "| a | b |", "after"}, []string{"generator"}},
		{"a.eml", s("From: =?utf-8?Q?Andr=C3=A9?= <a@b.c>\r\nTo: x@y.z\r\nSubject: =?utf-8?B?w5xiZXI=?=\r\nDate: Mon, 02 Jan 2006 15:04:05 +0100\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=q\r\n\r\n--q\r\nContent-Type: multipart/alternative; boundary=r\r\n\r\n--r\r\nContent-Type: text/plain; charset=iso-8859-1\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\nthe caf=E9 body\r\n--r\r\nContent-Type: text/html\r\n\r\n<p>the caf&eacute; body</p>\r\n--r--\r\n--q\r\nContent-Type: text/csv; name=t.csv\r\nContent-Disposition: attachment; filename=t.csv\r\n\r\na,b\r\n1,2\r\n--q\r\nContent-Type: application/x-thing\r\nContent-Disposition: attachment; filename=t.thing\r\n\r\nnoise\r\n--q--\r\n"),
			"Über", []string{"From: André <a@b.c>", "Date: 2006-01-02T15:04:05+01:00", "the café body\n", "t.csv\n", "a,b\n1,2", "Attachment: t.thing"}, []string{"noise"}},
		{"a.mbox", s("From a@b Mon\nSubject: one\nFrom: a@b\n\nfirst\n>From here on\nFrom there it is\n\nFrom c@d Tue\nSubject: two\nFrom: c@d\n\nsecond\n"),
			"", []string{"1. one", "2. two", "first\nFrom here on\nFrom there it is", "second"}, nil},
		{"a.ipynb", s(`{"cells":[{"cell_type":"markdown","source":["# Note\n","text"]},{"cell_type":"code","source":"print(1)","outputs":[{"text":["1\n"]},{"data":{"text/plain":"plot","image/png":"iVBORw0KGgo"}}]}],"metadata":{"language_info":{"name":"python"}}}`),
			"Note", []string{"# Note\ntext", "```python\nprint(1)\n```", "```\n1\n```", "plot"}, []string{"iVBOR"}},
		{"a.xml", s(`<?xml version="1.0"?><rss><channel><title>Feed</title><item><title>News</title><description>&lt;p&gt;Hello &lt;b&gt;you&lt;/b&gt;&lt;/p&gt;</description></item></channel></rss>`),
			"Feed", []string{"# Feed", "## News", "Hello **you**"}, []string{"<p>"}},
		{"b.xml", s("<config>\n  <a b=\"c\"/>\n</config>\n"), "", []string{"<config>\n  <a b=\"c\"/>\n"}, nil},
		{"a.tex", s("\\documentclass{article}\n\\title{My \\emph{Paper}}\n\\begin{document}\n\\section{Intro}\nText \\textbf{bold} na\\\"ive~\\cite{x} $a^2$. % gone\n\\begin{itemize}\n\\item one\n\\end{itemize}\n\\end{document}\n"),
			"My Paper", []string{"## Intro\nText bold naïve  $a^2$.\n", "- one"}, []string{"gone", "cite", "itemize", "article"}},
		{"a.rst", s("Title\n=====\n\nPart\n----\n\ntext\n\n====\nOver\n====\n"), "Title", []string{"# Title\n\n\n## Part", "### Over"}, nil},
		{"a.org", s("#+TITLE: Org\n* TODO One :tag:\n** Two\n#+BEGIN_SRC go\n* not\n#+END_SRC\nsee [[http://x][the link]]\n"), "Org", []string{"# TODO One\n## Two\n```go\n* not\n```\nsee the link"}, nil},
		{"a.adoc", s("= Doc\n:toc:\n\n== Part\n[source,go]\n----\nx := 1\n----\n"), "Doc", []string{"# Doc\n", "## Part\n", "```go\nx := 1\n```"}, []string{":toc:"}},
		{"a.typ", s("= Head\ntext\n== Sub\n"), "Head", []string{"# Head\ntext\n## Sub"}, nil},
		{"a.srt", s("1\n00:00:01,000 --> 00:00:02,000\n<i>Hello</i> you\n\n2\n00:00:03,000 --> 00:00:04,000\nBye &amp; bye\n"), "", []string{"\n\nHello you\n\n\n\nBye & bye\n"}, []string{"-->", "00:"}},
		{"a.json", s("{\"a\": \"caf\\u00e9 \\ud83d\\ude00\\nnext\"}\n"), "", []string{"café 😀  next"}, nil},
		{"a.po", s("#: x.c:1\nmsgid \"Open \\\"it\\\"\"\nmsgstr \"Öffnen\"\n"), "", []string{"\nOpen \\\"it\\\"\nÖffnen\n"}, []string{"msgid"}},
		{"a.ics", s("BEGIN:VEVENT\nSUMMARY:Long\n er\\, indeed\nEND:VEVENT\n"), "", []string{"SUMMARY:Longer, indeed\n\nEND"}, nil},
	}
}

func TestFormatsYieldTheirText(t *testing.T) {
	t.Parallel()
	r := inProcess(t, Options{})
	for _, c := range formatCases(t) {
		t.Run(c.path, func(t *testing.T) {
			doc, err := r.Extract(context.Background(), Source{Path: c.path, Data: c.data})
			if err != nil {
				t.Fatal(err)
			}
			checkDocument(t, doc)
			if doc.Title != c.title {
				t.Errorf("title %q, want %q", doc.Title, c.title)
			}
			text := allText(doc)
			for _, w := range c.want {
				if !strings.Contains(text, w) {
					t.Errorf("no %q in\n%s", w, text)
				}
			}
			for _, n := range c.not {
				if strings.Contains(text, n) {
					t.Errorf("%q is in\n%s", n, text)
				}
			}
		})
	}
}

func TestLinesOfTextFormatsStayTheFiles(t *testing.T) {
	t.Parallel()
	r := inProcess(t, Options{})
	for _, c := range formatCases(t) {
		f, _, _ := r.Lookup(c.path)
		if f.Worker {
			continue
		}
		doc, err := r.Extract(context.Background(), Source{Path: c.path, Data: c.data})
		if err != nil {
			t.Fatal(err)
		}
		if got, want := strings.Count(doc.Text.Body, "\n"), bytes.Count(c.data, []byte("\n")); got != want {
			t.Errorf("%s: %d line ends, the file has %d", c.path, got, want)
		}
		lines := bytes.Split(c.data, []byte("\n"))
		at := 0
		for i, l := range lines {
			if m := doc.Text.Source.Bytes; m != nil && m[i] != int64(at) {
				t.Errorf("%s: line %d said to be at %d, it is at %d", c.path, i+1, m[i], at)
			}
			at += len(l) + 1
		}
	}
}

func TestPagesSlidesAndSheetsAreSections(t *testing.T) {
	t.Parallel()
	r := inProcess(t, Options{})
	sections := func(path string, data []byte) []chunk.Section {
		doc, err := r.Extract(context.Background(), Source{Path: path, Data: data})
		if err != nil {
			t.Fatal(err)
		}
		checkDocument(t, doc)
		return doc.Text.Sections
	}
	cases := map[string][]byte{}
	for _, c := range formatCases(t) {
		cases[c.path] = c.data
	}
	if s := sections("a.pptx", cases["a.pptx"]); len(s) != 2 || s[0].Page != 1 || s[1].Page != 2 {
		t.Errorf("slides: %+v", s)
	}
	if s := sections("a.xlsx", cases["a.xlsx"]); len(s) != 2 || s[0].Headings[0] != "Sheet1" || s[1].Headings[0] != "Second" {
		t.Errorf("sheets: %+v", s)
	}
	if s := sections("a.csv", []byte("name;age\nBo;7\n")); len(s) != 1 || s[0].Headings[0] != "name, age" {
		t.Errorf("columns: %+v", s)
	}
}

// pages makes a PDF of pages of lines, with bookmarks to each page.
func pages(t testing.TB, bookmarks bool, texts ...[]string) []byte {
	t.Helper()
	objects := []string{"", "", "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"}
	var kids, outline []string
	for i, lines := range texts {
		var s strings.Builder
		for k, l := range lines {
			size := 11
			if strings.HasPrefix(l, "# ") {
				l, size = l[2:], 20
			}
			fmt.Fprintf(&s, "BT /F %d Tf 72 %d Td (%s) Tj ET\n", size, 720-30*k, l)
		}
		objects = append(objects,
			fmt.Sprintf("<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents %d 0 R/Resources<</Font<</F 3 0 R>>>>>>", len(objects)+2),
			fmt.Sprintf("<</Length %d>>\nstream\n%s\nendstream", s.Len(), s.String()))
		kids = append(kids, fmt.Sprintf("%d 0 R", len(objects)-1))
		outline = append(outline, fmt.Sprintf("/Title(Chapter %d)/Dest[%d 0 R/Fit]", i+1, len(objects)-1))
	}
	catalog := "<</Type/Catalog/Pages 2 0 R"
	if bookmarks {
		root := len(objects) + 1
		catalog += fmt.Sprintf("/Outlines %d 0 R", root)
		objects = append(objects, fmt.Sprintf("<</First %d 0 R/Last %d 0 R>>", root+1, root+len(outline)))
		for i, o := range outline {
			if i+1 < len(outline) {
				o += fmt.Sprintf("/Next %d 0 R", root+i+2)
			}
			objects = append(objects, fmt.Sprintf("<<%s/Parent %d 0 R>>", o, root))
		}
	}
	objects[0] = catalog + ">>"
	objects[1] = fmt.Sprintf("<</Type/Pages/Kids[%s]/Count %d>>", strings.Join(kids, " "), len(kids))
	var b bytes.Buffer
	b.WriteString("%PDF-1.7\n")
	var at []int
	for i, o := range objects {
		at = append(at, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	x := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(at)+1)
	for _, o := range at {
		fmt.Fprintf(&b, "%010d 00000 n \n", o)
	}
	fmt.Fprintf(&b, "trailer\n<</Root 1 0 R/Size %d>>\nstartxref\n%d\n%%%%EOF\n", len(at)+1, x)
	return b.Bytes()
}

func TestPDFPagesHeadingsAndRunningLines(t *testing.T) {
	t.Parallel()
	if raceEnabled {
		t.Skip("compiling the PDF engine takes half a minute under the race detector")
	}
	r := inProcess(t, Options{})
	page := func(n int) []string {
		return []string{"The Running Header", fmt.Sprintf("# Chapter %d", n), fmt.Sprintf("Words of page %d that are to be found.", n),
			"More words on a line of their own.", "And a third line, so that there is more text than heading.", fmt.Sprintf("%d", n)}
	}
	texts := [][]string{page(1), page(2), page(3), page(4)}
	for _, bookmarks := range []bool{true, false} {
		doc, err := r.Extract(context.Background(), Source{Path: "a.pdf", Data: pages(t, bookmarks, texts...)})
		if err != nil {
			t.Fatal(err)
		}
		checkDocument(t, doc)
		if n := strings.Count(doc.Text.Body, "The Running Header"); n != 1 {
			t.Errorf("the header is there %d times in\n%s", n, doc.Text.Body)
		}
		found := map[int]bool{}
		for _, s := range doc.Text.Sections {
			if part := doc.Text.Body[s.Start:s.End]; strings.Contains(part, fmt.Sprintf("Words of page %d ", s.Page)) {
				found[s.Page] = len(s.Headings) == 1 && s.Headings[0] == fmt.Sprintf("Chapter %d", s.Page)
			}
		}
		for n := 1; n <= 4; n++ {
			if !found[n] {
				t.Errorf("bookmarks %v: page %d has no section under its heading: %+v", bookmarks, n, doc.Text.Sections)
			}
		}
		if doc.Quality.Pages != 4 || doc.Quality.EmptyPages != 0 {
			t.Errorf("quality %+v", doc.Quality)
		}
	}
}

func TestArchivesAreOpenedOnlyWhenAsked(t *testing.T) {
	t.Parallel()
	inner := pack(t, "deep.md", "# not opened")
	data := pack(t, "a/one.md", "# One", "../../two.txt", "two", "three.bin", "\x00\x01", "inner.zip", string(inner), "bad.docx", "no zip")
	if _, reason, ok := inProcess(t, Options{}).Lookup("a.zip"); ok || reason == "" {
		t.Error("opened without being asked")
	}
	r := inProcess(t, Options{Archives: true})
	doc, err := r.Extract(context.Background(), Source{Path: "a.zip", Data: data})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range doc.Parts {
		names = append(names, p.Name)
	}
	if got := strings.Join(names, " "); got != "a/one.md two.txt" {
		t.Errorf("parts %q", got)
	}
	if !strings.Contains(doc.Text.Body, "inner.zip") || strings.Contains(allText(doc), "not opened") {
		t.Errorf("list %q", doc.Text.Body)
	}
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	if _, err := w.Write([]byte("# Packed\n")); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	doc, err = r.Extract(context.Background(), Source{Path: "notes.md.gz", Data: z.Bytes()})
	if err != nil || len(doc.Parts) != 1 || doc.Parts[0].Document.Title != "Packed" {
		t.Errorf("gzip: %v %+v", err, doc)
	}
}

// lock sets the mark of encryption on a packed file, in its header and in the
// directory.
func lock(t testing.TB, data []byte, name string) []byte {
	t.Helper()
	data = bytes.Clone(data)
	marked := 0
	for _, h := range []struct {
		magic      string
		flags, len int
	}{{"PK\x03\x04", 6, 30}, {"PK\x01\x02", 8, 46}} {
		for at := 0; ; {
			i := bytes.Index(data[at:], []byte(h.magic))
			if i < 0 {
				break
			}
			if at += i; bytes.HasPrefix(data[at+h.len:], []byte(name)) {
				data[at+h.flags] |= 1
				marked++
			}
			at += 4
		}
	}
	if marked != 2 {
		t.Fatalf("%s is in the package %d times", name, marked)
	}
	return data
}

func TestALockedFileInAnArchiveDoesNotCostTheOthers(t *testing.T) {
	t.Parallel()
	r := inProcess(t, Options{Archives: true})
	mixed := lock(t, pack(t, "open.txt", "open", "shut.txt", "shut"), "shut.txt")
	doc, err := r.Extract(context.Background(), Source{Path: "a.zip", Data: mixed})
	if err != nil || len(doc.Parts) != 1 || doc.Parts[0].Name != "open.txt" || !strings.Contains(doc.Quality.Note, "1 of 2 files were not read") {
		t.Errorf("one of two is locked: %v %+v", err, doc)
	}
	_, err = r.Extract(context.Background(), Source{Path: "a.zip", Data: lock(t, pack(t, "shut.txt", "shut"), "shut.txt")})
	if f, ok := fault.As(err); !ok || f.Code != "encrypted" {
		t.Errorf("all are locked: %v", err)
	}
}

func TestImagesNeverReachTesseractAsTheyAre(t *testing.T) {
	t.Parallel()
	r := inProcess(t, Options{Helpers: true})
	_, err := r.Extract(context.Background(), Source{Path: "list.png", Data: []byte("/etc/passwd\n")})
	if f, ok := fault.As(err); !ok || f.Code != "wrong_type" {
		t.Errorf("a list of paths named .png: %v", err)
	}
	huge := image.NewPaletted(image.Rect(0, 0, 8000, 8000), color.Palette{color.White})
	var b bytes.Buffer
	if err := png.Encode(&b, huge); err != nil {
		t.Fatal(err)
	}
	_, err = r.Extract(context.Background(), Source{Path: "huge.png", Data: b.Bytes()})
	if f, ok := fault.As(err); !ok || f.Code != "too_large" {
		t.Errorf("64 megapixels: %v", err)
	}
	if findHelper("tesseract") == "" {
		small := image.NewGray(image.Rect(0, 0, 10, 10))
		b.Reset()
		if err := png.Encode(&b, small); err != nil {
			t.Fatal(err)
		}
		_, err = r.Extract(context.Background(), Source{Path: "small.png", Data: b.Bytes()})
		if f, ok := fault.As(err); !ok || f.Code != "needs_tesseract" || f.Hint == "" {
			t.Errorf("without tesseract: %v", err)
		}
	}
}

// FuzzFormats gives every reader that runs in Go the bytes as they are, and as
// the main part of its package.
func FuzzFormats(f *testing.F) {
	names := []string{"docx", "pptx", "xlsx", "odt", "ods", "fodt", "epub", "rtf", "eml", "mbox", "msg", "ipynb", "xml", "tex", "rst", "org", "adoc", "typ", "srt", "vtt", "json", "po", "ics", "csv", "tsv", "zip", "tar"}
	index := map[string]byte{}
	for i, n := range names {
		index[n] = byte(i)
	}
	for _, c := range formatCases(f) {
		if i, ok := index[c.path[strings.LastIndexByte(c.path, '.')+1:]]; ok {
			f.Add(i, c.data)
		}
	}
	f.Add(index["docx"], []byte(wordNS+"<w:p><w:r><w:t>x</w:t></w:r></w:p>"+wordEnd))
	f.Add(index["odt"], []byte(`<d><body><p>x<s c="9"/></p></body></d>`))
	f.Add(index["msg"], loopingOLE())
	r := inProcess(f, Options{Archives: true})
	mainPart := map[string]string{"docx": "word/document.xml", "pptx": "ppt/slides/slide1.xml", "xlsx": "xl/workbook.xml", "odt": "content.xml", "ods": "content.xml", "epub": "c.opf"}
	f.Fuzz(func(t *testing.T, which byte, data []byte) {
		name := names[int(which)%len(names)]
		if part := mainPart[name]; part != "" && !bytes.HasPrefix(data, []byte("PK")) {
			data = pack(t, "META-INF/container.xml", `<c><rootfile full-path="c.opf"/></c>`, "ppt/presentation.xml", "<p/>", part, string(data))
		}
		doc, err := r.Extract(context.Background(), Source{Path: "a." + name, Data: data})
		if err != nil {
			if fe, ok := fault.As(err); !ok {
				t.Fatal(err)
			} else if fe.Err != nil && strings.HasPrefix(fe.Err.Error(), "panic:") {
				t.Fatal(fe.Err)
			}
			return
		}
		checkDocument(t, doc)
	})
}

func FuzzWorkerFrame(f *testing.F) {
	f.Add([]byte{0, 0, 0, 2, '{', '}'})
	f.Add([]byte{255, 255, 255, 255})
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := readFrame(bytes.NewReader(data), 1<<16)
		if err == nil && len(b) != len(data)-4 && len(b) > len(data) {
			t.Fatal("more bytes than there are")
		}
	})
}
