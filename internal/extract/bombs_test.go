package extract

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"compress/zlib"
	"context"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ragd/internal/fault"
)

// bomb is a file built to cost more than it is worth. codes are the reasons
// that are right; "ok" stands for text that was read.
type bomb struct {
	name, path string
	data       []byte
	codes      string
}

// pack makes a zip of names and contents in turn.
func pack(t testing.TB, parts ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := 0; i+1 < len(parts); i += 2 {
		f, err := w.Create(parts[i])
		if err == nil {
			_, err = f.Write([]byte(parts[i+1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// packBomb is like pack, with one more part that unpacks to mib MiB of filler
// between begin and end.
func packBomb(t testing.TB, name, begin, filler, end string, mib int, parts ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := 0; i+1 < len(parts); i += 2 {
		f, err := w.Create(parts[i])
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte(parts[i+1])); err != nil {
			t.Fatal(err)
		}
	}
	var raw bytes.Buffer
	c, err := flate.NewWriter(&raw, flate.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	sum := crc32.NewIEEE()
	block := []byte(strings.Repeat(filler, (1<<20)/len(filler)))
	size := 0
	for i := -1; i <= mib; i++ {
		chunk := block
		if i < 0 {
			chunk = []byte(begin)
		} else if i == mib {
			chunk = []byte(end)
		}
		size += len(chunk)
		if _, err := c.Write(chunk); err != nil {
			t.Fatal(err)
		}
		sum.Write(chunk)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := w.CreateRaw(&zip.FileHeader{Name: name, Method: zip.Deflate, CRC32: sum.Sum32(), CompressedSize64: uint64(raw.Len()), UncompressedSize64: uint64(size)})
	if err == nil {
		_, err = f.Write(raw.Bytes())
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

const (
	wordNS  = `<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>`
	wordEnd = `</w:body></w:document>`
	laughs  = `<!DOCTYPE x [<!ENTITY a "lol"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;"><!ENTITY d "&c;&c;&c;&c;&c;&c;&c;&c;">]>`
)

func rep(s string, n int) string { return strings.Repeat(s, n) }

func wordBombs(t testing.TB) []bomb {
	doc := func(body string) []byte { return pack(t, "word/document.xml", wordNS+body+wordEnd) }
	p := "<w:p><w:r><w:t>word</w:t></w:r></w:p>"
	return []bomb{
		{"zip bomb of text", "a.docx", packBomb(t, "word/document.xml", wordNS+"<w:p><w:r><w:t>", "lorem ipsum ", "</w:t></w:r></w:p>"+wordEnd, 100), "too_large"},
		{"zip bomb of spaces", "a.docx", packBomb(t, "word/document.xml", wordNS, "            ", wordEnd, 100), "too_large"},
		{"zip bomb of empty paragraphs", "a.docx", packBomb(t, "word/document.xml", wordNS, "<w:p/>", wordEnd, 20), "ok too_large"},
		{"zip bomb of styles", "a.docx", packBomb(t, "word/styles.xml", "<s>", `<style styleId="abc"/>`, "</s>", 100, "word/document.xml", wordNS+p+wordEnd), "too_large ok"},
		{"deep elements", "a.docx", doc(rep("<w:x>", 500_000)), "too_large corrupt"},
		{"deep tables", "a.docx", doc(rep("<w:tbl><w:tr><w:tc>", 900) + p), "too_large corrupt"},
		{"deep closed tables", "a.docx", doc(rep("<w:tbl><w:tr><w:tc>", 200) + p + rep("</w:tc></w:tr></w:tbl>", 200)), "ok"},
		{"deep text boxes", "a.docx", doc(rep("<w:p><w:r><w:txbxContent>", 300) + p + rep("</w:txbxContent></w:r></w:p>", 300)), "ok"},
		{"giant spans", "a.docx", doc(`<w:tbl>` + rep(`<w:tr><w:tc><w:tcPr><w:gridSpan w:val="2000000000"/></w:tcPr>`+p+`</w:tc></w:tr>`, 1000) + `</w:tbl>`), "ok"},
		{"giant offset", "a.docx", doc(`<w:tbl><w:tr><w:trPr><w:gridBefore w:val="2000000000"/></w:trPr><w:tc>` + p + `</w:tc></w:tr></w:tbl>`), "ok"},
		{"vertical merges", "a.docx", doc(`<w:tbl><w:tr><w:tc><w:p><w:r><w:t>` + rep("long ", 200) + `</w:t></w:r></w:p></w:tc></w:tr>` + rep(`<w:tr><w:tc><w:tcPr><w:vMerge/></w:tcPr><w:p/></w:tc></w:tr>`, 60_000) + `</w:tbl>`), "too_large"},
		{"entities", "a.docx", pack(t, "word/document.xml", laughs+wordNS+"<w:p><w:r><w:t>&d;</w:t></w:r></w:p>"+wordEnd), "ok corrupt"},
		{"styles in a ring", "a.docx", pack(t, "word/document.xml", wordNS+p+wordEnd, "word/styles.xml", `<s><style styleId="a"><basedOn val="b"/></style><style styleId="b"><basedOn val="a"/></style></s>`), "ok"},
		{"a million list levels", "a.docx", pack(t, "word/document.xml", wordNS+`<w:p><w:pPr><w:numPr><w:ilvl w:val="999999"/><w:numId w:val="1"/></w:numPr></w:pPr><w:r><w:t>x</w:t></w:r></w:p>`+wordEnd, "word/numbering.xml", `<n><abstractNum abstractNumId="0"><lvl ilvl="0"><start val="2000000000"/><numFmt val="lowerLetter"/><lvlText val="`+rep("%1", 50)+`"/></lvl></abstractNum><num numId="1"><abstractNumId val="0"/></num></n>`), "ok"},
		{"formula in formula", "a.docx", doc("<w:p>" + rep("<m:oMath><m:sup>", 300) + "x" + rep("</m:sup></m:oMath>", 300) + "</w:p>"), "ok"},
		{"many parts", "a.docx", pack(t, manyParts(25_000)...), "too_large"},
		{"no end", "a.docx", doc("")[:60], "corrupt"},
		{"a zip of text", "a.docx", pack(t, "readme.txt", "hello"), "wrong_type"},
		{"HTML inside", "a.docx", []byte("<html><body>hello</body></html>"), "wrong_type"},
		{"nothing", "a.docx", nil, "corrupt"},
		{"blanks", "a.docx", []byte("   \n"), "corrupt"},
	}
}

func manyParts(n int) []string {
	var parts []string
	for i := range n {
		parts = append(parts, fmt.Sprintf("word/%d.xml", i), "")
	}
	return parts
}

func sheetBombs(t testing.TB) []bomb {
	book := func(sheet string, more ...string) []byte {
		return pack(t, append([]string{
			"[Content_Types].xml", `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>`,
			"xl/workbook.xml", `<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="S" sheetId="1" r:id="rId1"/></sheets></workbook>`,
			"xl/_rels/workbook.xml.rels", `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.xml"/></Relationships>`,
			"_rels/.rels", `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
			"xl/worksheets/sheet1.xml", `<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>` + sheet + `</sheetData></worksheet>`,
		}, more...)...)
	}
	var rows strings.Builder
	for i := 1; i <= 20_000; i++ {
		fmt.Fprintf(&rows, `<row r="%d"><c r="XFD%d"><v>1</v></c></row>`, i, i)
	}
	return []bomb{
		{"a cell at the end of every row", "a.xlsx", book(rows.String()), "too_large"},
		{"a cell in the last row", "a.xlsx", book(`<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>`), "ok too_large"},
		{"a cell out of range", "a.xlsx", book(`<row r="1"><c r="ZZZZZZ99999999999"><v>1</v></c></row>`), "ok corrupt"},
		{"row numbers out of range", "a.xlsx", book(`<row r="2000000000"><c r="A2000000000"><v>1</v></c></row>`), "ok too_large corrupt"},
		{"deep elements", "a.xlsx", book(rep("<x>", 300_000)), "ok corrupt too_large"},
		{"shared string out of range", "a.xlsx", book(`<row r="1"><c r="A1" t="s"><v>999999999</v></c></row>`), "ok"},
		{"merged everything", "a.xlsx", book(`<row r="1"><c r="A1"><v>1</v></c></row></sheetData><mergeCells><mergeCell ref="A1:XFD1048576"/></mergeCells><sheetData>`), "ok"},
		{"zip bomb of shared strings", "a.xlsx", packBomb(t, "xl/sharedStrings.xml", "<sst>", "<si><t>lorem ipsum</t></si>", "</sst>", 300, "xl/workbook.xml", "<workbook/>"), "too_large corrupt ok"},
		{"a presentation inside", "a.xlsx", pack(t, "ppt/presentation.xml", "<x/>"), "wrong_type"},
	}
}

func packageBombs(t testing.TB) []bomb {
	odf := func(body string) []byte {
		return pack(t, "mimetype", "application/vnd.oasis.opendocument.spreadsheet", "content.xml",
			`<office:document-content xmlns:office="o" xmlns:table="t" xmlns:text="x"><office:body>`+body+`</office:body></office:document-content>`)
	}
	cell := `<table:table-cell %s><text:p>word</text:p></table:table-cell>`
	chapter := `<html xmlns="http://www.w3.org/1999/xhtml"><body><p>` + rep("chapter ", 2000) + `</p></body></html>`
	epub := func(spine, more string) []byte {
		return pack(t, "META-INF/container.xml", `<container><rootfiles><rootfile full-path="c.opf"/></rootfiles></container>`,
			"c.opf", `<package><manifest><item id="a" href="a.xhtml"/>`+more+`</manifest><spine>`+spine+`</spine></package>`, "a.xhtml", chapter)
	}
	slide := func(body string) []byte {
		return pack(t, "ppt/presentation.xml", `<p:presentation xmlns:p="p"/>`, "ppt/slides/slide1.xml", `<p:sld xmlns:p="p" xmlns:a="a">`+body+`</p:sld>`)
	}
	return []bomb{
		{"repeated rows and cells", "a.ods", odf(`<office:spreadsheet><table:table><table:table-row table:number-rows-repeated="2000000000">` + fmt.Sprintf(cell, `table:number-columns-repeated="2000000000"`) + `</table:table-row></table:table></office:spreadsheet>`), "ok too_large"},
		{"repeated empty rows", "a.ods", odf(`<office:spreadsheet><table:table>` + rep(`<table:table-row table:number-rows-repeated="1048576"><table:table-cell table:number-columns-repeated="16384"/></table:table-row>`, 1000) + `</table:table></office:spreadsheet>`), "ok"},
		{"many repeated rows", "a.ods", odf(`<office:spreadsheet><table:table>` + rep(`<table:table-row table:number-rows-repeated="1048576">`+fmt.Sprintf(cell, `table:number-columns-repeated="16384"`)+`</table:table-row>`, 200) + `</table:table></office:spreadsheet>`), "too_large"},
		{"deep lists", "a.odt", odf(`<office:text>` + rep("<text:list><text:list-item>", 450) + "<text:p>word</text:p>" + rep("</text:list-item></text:list>", 450) + `</office:text>`), "ok"},
		{"deep frames", "a.odt", odf(`<office:text>` + rep("<text:p><text:note>", 450) + "word" + rep("</text:note></text:p>", 450) + `</office:text>`), "ok"},
		{"deep elements", "a.odt", odf(`<office:text>` + rep("<text:x>", 200_000)), "too_large corrupt"},
		{"a billion spaces", "a.odt", odf(`<office:text><text:p>a` + rep(`<text:s text:c="2000000000"/>`, 1000) + `b</text:p></office:text>`), "ok"},
		{"deep tables", "a.odt", odf(`<office:text>` + rep(`<table:table><table:table-row><table:table-cell>`, 300) + rep(`</table:table-cell></table:table-row></table:table>`, 300) + `</office:text>`), "ok"},
		{"zip bomb of content", "a.odt", packBomb(t, "content.xml", `<d><office:body xmlns:office="o"><text:p xmlns:text="x">`, "lorem ipsum ", "</text:p></office:body></d>", 100), "too_large"},
		{"encrypted", "a.odt", pack(t, "content.xml", "noise", "META-INF/manifest.xml", `<m><file-entry><encryption-data/></file-entry></m>`), "encrypted"},
		{"entities", "a.fodt", []byte(laughs + `<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"><office:body><text:p xmlns:text="x">&d;</text:p></office:body></office:document>`), "ok corrupt"},
		{"one chapter a hundred thousand times", "a.epub", epub(rep(`<itemref idref="a"/>`, 100_000), ""), "too_large"},
		{"a book that points outside", "a.epub", epub(`<itemref idref="b"/>`, `<item id="b" href="../../../../etc/passwd"/>`), "ok"},
		{"a book without its document", "a.epub", pack(t, "META-INF/container.xml", `<c><rootfile full-path="x.opf"/></c>`), "corrupt"},
		{"a book with rights", "a.epub", pack(t, "META-INF/container.xml", `<c/>`, "META-INF/encryption.xml", `<e><EncryptedData><CipherReference URI="a.xhtml"/></EncryptedData></e>`), "encrypted"},
		{"zip bomb of a chapter", "a.epub", packBomb(t, "a.xhtml", "<html>", "<p>lorem</p>", "</html>", 100, "META-INF/container.xml", `<c><rootfile full-path="c.opf"/></c>`, "c.opf", `<p><item id="a" href="a.xhtml"/><itemref idref="a"/></p>`), "too_large"},
		{"deep groups of shapes", "a.pptx", slide(rep("<p:grpSp>", 900) + "<p:sp><a:p><a:t>word</a:t></a:p></p:sp>" + rep("</p:grpSp>", 900)), "ok"},
		{"deep shapes", "a.pptx", slide(rep("<p:sp>", 200_000)), "too_large corrupt"},
		{"zip bomb of a slide", "a.pptx", packBomb(t, "ppt/slides/slide1.xml", `<s xmlns:a="a"><sp><a:p>`, "<a:t>lorem</a:t>", "</a:p></sp></s>", 100, "ppt/presentation.xml", "<p/>"), "too_large"},
	}
}

func mailBombs(testing.TB) []bomb {
	nest := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "Content-Type: multipart/mixed; boundary=b%d\r\n\r\n--b%d\r\n", i, i)
		}
		return "From: a@b.c\r\nSubject: x\r\n" + b.String() + "Content-Type: text/plain\r\n\r\nword\r\n"
	}
	forward := func(n int) string {
		s := "Subject: inner\r\nFrom: a@b.c\r\n\r\nword\r\n"
		for i := range n {
			s = fmt.Sprintf("Subject: level %d\r\nContent-Type: multipart/mixed; boundary=q%d\r\n\r\n--q%d\r\nContent-Type: message/rfc822\r\n\r\n%s\r\n--q%d--\r\n", i, i, i, s, i)
		}
		return s
	}
	return []bomb{
		{"ten thousand multiparts", "a.eml", []byte(nest(10_000)), "ok corrupt"},
		{"a million boundaries", "a.eml", []byte("Subject: x\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n" + rep("--b\r\n", 1_000_000)), "ok corrupt"},
		{"a hundred mails in mails", "a.eml", []byte(forward(100)), "ok corrupt"},
		{"seven mails in mails", "a.eml", []byte(forward(7)), "ok"},
		{"a giant header", "a.eml", []byte("Subject: " + rep("x", 20<<20) + "\r\n\r\nbody"), "ok corrupt"},
		{"a million headers", "a.eml", []byte("Subject: x\r\n" + rep("X-A: b\r\n", 1_000_000) + "\r\nbody"), "ok corrupt"},
		{"a folded header", "a.eml", []byte("Subject: x\r\n" + rep(" x\r\n", 1_000_000) + "\r\nbody"), "ok corrupt"},
		{"encoded words", "a.eml", []byte("Subject: " + rep("=?utf-8?B?QUFB?= ", 100_000) + "\r\n\r\nbody"), "ok corrupt"},
		{"bad base64", "a.eml", []byte("Subject: x\r\nContent-Transfer-Encoding: base64\r\n\r\n" + rep("=====!!!\r\n", 200_000)), "ok corrupt"},
		{"no mail at all", "a.eml", []byte("hello world\n"), "wrong_type"},
		{"a mailbox of empty mails", "a.mbox", []byte(rep("From a\nSubject: x\n\n\n", 60_000)), "too_large"},
		{"a mailbox of From lines", "a.mbox", []byte(rep("From a\n\n", 300_000)), "ok"},
		{"noise in a container", "a.msg", append([]byte("\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"), bytes.Repeat([]byte{1, 0, 0, 0}, 50_000)...), "corrupt wrong_type"},
		{"a container that loops", "a.msg", loopingOLE(), "corrupt wrong_type ok"},
	}
}

// loopingOLE is a container whose directory sector follows itself.
func loopingOLE() []byte {
	b := make([]byte, 512*4)
	copy(b, "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1")
	put := func(at int, v uint32) {
		b[at], b[at+1], b[at+2], b[at+3] = byte(v), byte(v>>8), byte(v>>16), byte(v>>24)
	}
	put(24, 0x0003003E)
	put(28, 0x0009FFFE)
	put(32, 6)
	put(44, 1)          // one sector of allocation table
	put(48, 1)          // the directory begins at sector 1
	put(56, 4096)       // cutoff
	put(60, 0xFFFFFFFE) // no small sectors
	put(68, 0xFFFFFFFE)
	for i := range 109 {
		put(76+4*i, 0xFFFFFFFF)
	}
	put(76, 0)
	put(512, 0xFFFFFFFD)
	put(512+4, 1) // sector 1 follows itself
	copy(b[1024:], "R\x00o\x00o\x00t\x00")
	b[1024+64], b[1024+66] = 10, 5
	put(1024+68, 1)
	put(1024+72, 1)
	put(1024+76, 1)
	return b
}

func pdfBombs(t testing.TB) []bomb {
	file := func(objects ...string) []byte {
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
	stream := func(s, more string) string {
		return fmt.Sprintf("<</Length %d%s>>\nstream\n%s\nendstream", len(s), more, s)
	}
	flated := func(begin, filler string, mib int) string {
		var z bytes.Buffer
		w := zlib.NewWriter(&z)
		block := []byte(rep(filler, (1<<20)/len(filler)))
		_, err := w.Write([]byte(begin))
		for i := 0; i < mib && err == nil; i++ {
			_, err = w.Write(block)
		}
		if err == nil {
			err = w.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		return stream(z.String(), "/Filter/FlateDecode")
	}
	font := `<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>`
	page := `<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>/XObject<</X 6 0 R>>>>>>`
	one := func(content string, more ...string) []byte {
		return file(append([]string{`<</Type/Catalog/Pages 2 0 R>>`, `<</Type/Pages/Kids[3 0 R]/Count 1>>`, page, content, font}, more...)...)
	}
	text := stream("BT /F 12 Tf 72 700 Td (A page with some words on it to be found) Tj ET", "")
	mapped := func(toUnicode string) []byte {
		return file(`<</Type/Catalog/Pages 2 0 R>>`, `<</Type/Pages/Kids[3 0 R]/Count 1>>`, page, text,
			strings.Replace(font, ">>", "/ToUnicode 6 0 R>>", 1), stream(toUnicode, ""))
	}
	return []bomb{
		{"a good page", "a.pdf", one(text), "ok"},
		{"nothing", "a.pdf", nil, "corrupt"},
		{"only a head", "a.pdf", []byte("%PDF-1.7\n"), "corrupt"},
		{"cut in the middle", "a.pdf", one(text)[:300], "corrupt ok needs_tesseract"},
		{"bad references", "a.pdf", bytes.ReplaceAll(one(text), []byte("startxref\n"), []byte("startxref\n9")), "ok corrupt"},
		{"HTML inside", "a.pdf", []byte("<!doctype html><p>hello"), "wrong_type"},
		{"pages in a ring", "a.pdf", file(`<</Type/Catalog/Pages 2 0 R>>`, `<</Type/Pages/Kids[2 0 R 2 0 R]/Count 2>>`), "ok corrupt needs_tesseract no_text"},
		{"a billion pages", "a.pdf", file(`<</Type/Catalog/Pages 2 0 R>>`, `<</Type/Pages/Kids[3 0 R]/Count 1000000000>>`, page, text, font), "ok corrupt too_large needs_tesseract"},
		{"deep arrays", "a.pdf", file(`<</Type/Catalog/Pages 2 0 R/X `+rep("[", 500_000)+`>>`, `<</Type/Pages/Kids[3 0 R]/Count 1>>`, page, text, font), "ok corrupt needs_tesseract"},
		{"deep dictionaries", "a.pdf", file(`<</Type/Catalog/Pages 2 0 R/X `+rep("<</A ", 200_000)+`>>`, `<</Type/Pages/Kids[3 0 R]/Count 1>>`, page, text, font), "ok corrupt needs_tesseract"},
		{"a form that draws itself", "a.pdf", one(stream("/X Do BT /F 12 Tf (some words on the page to be found) Tj ET", ""), stream("/X Do /X Do", "/Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</X 6 0 R>>>>")), "out_of_memory corrupt ok needs_tesseract"},
		{"a stream of a gigabyte", "a.pdf", one(flated("BT /F 12 Tf 1 1 Td (x) Tj ", "(word) Tj ", 1024)), "ok too_large timeout out_of_memory corrupt needs_tesseract no_text"},
		{"nested states", "a.pdf", one(stream(rep("q ", 1_000_000)+"BT /F 12 Tf (some words on the page to be found) Tj ET", "")), "out_of_memory corrupt ok needs_tesseract"},
		{"bookmarks in a ring", "a.pdf", file(`<</Type/Catalog/Pages 2 0 R/Outlines 6 0 R>>`, `<</Type/Pages/Kids[3 0 R]/Count 1>>`, page, text, font, `<</First 7 0 R/Last 7 0 R>>`, `<</Title(x)/Dest[3 0 R/Fit]/Next 7 0 R/First 7 0 R>>`), "ok"},
		{"no text", "a.pdf", one(stream("0 0 10 10 re f", "")), "needs_tesseract no_text ok"},
		{"garbled text", "a.pdf", one(stream("BT /F 12 Tf 10 10 Td ("+rep("\\001\\002\\003\\004\\005", 40)+") Tj ET", "")), "no_text needs_tesseract"},
		{"a broken character map", "a.pdf", mapped("/CIDInit /ProcSet findresource begin begincmap 1 beginbfrange <00> <ff> <"), "ok"},
		{"a character map to private characters", "a.pdf", mapped("/CIDInit /ProcSet findresource begin begincmap 1 begincodespacerange <00> <ff> endcodespacerange 1 beginbfrange <00> <ff> <E000> endbfrange endcmap end"), "no_text"},
		{"a broken hex string", "a.pdf", one(stream("BT /F 12 Tf 10 10 Td (some words on the page to be found) Tj <4g1zz Tj (and more", "")), "ok"},
		{"a page without its stream", "a.pdf", file(`<</Type/Catalog/Pages 2 0 R>>`, `<</Type/Pages/Kids[3 0 R]/Count 1>>`, strings.Replace(page, "4 0 R", "40 0 R", 1), text, font), "needs_tesseract"},
		{"a filter chain", "a.pdf", one(stream("x", "/Filter["+rep("/ASCIIHexDecode", 10_000)+"]")), "ok needs_tesseract corrupt"},
		{"a giant predictor", "a.pdf", one(stream("x\x9c\x03\x00\x00\x00\x00\x01", "/Filter/FlateDecode/DecodeParms<</Predictor 12/Columns 2000000000/Colors 255>>")), "ok needs_tesseract corrupt"},
	}
}

func textBombs(testing.TB) []bomb {
	return []bomb{
		{"groups", "a.rtf", []byte("{\\rtf1 " + rep("{", 2_000_000) + "word"), "ok"},
		{"binary length", "a.rtf", []byte("{\\rtf1 word\\bin999999999999 x}"), "ok"},
		{"control words", "a.rtf", []byte("{\\rtf1 " + rep("\\b0", 2_000_000) + " word}"), "ok"},
		{"empty rows", "a.rtf", []byte("{\\rtf1 " + rep("\\intbl\\cell\\row", 300_000) + " word}"), "ok"},
		{"fonts", "a.rtf", []byte("{\\rtf1{\\fonttbl" + rep("{\\f1\\fcharset128 a;}", 300_000) + "}word}"), "ok"},
		{"surrogates", "a.rtf", []byte("{\\rtf1 " + rep("\\u-10179 ?", 100_000) + "word}"), "ok"},
		{"braces", "a.tex", []byte(rep("\\textbf{", 300_000) + "word"), "ok"},
		{"closed braces", "a.tex", []byte(rep("\\textbf{", 20_000) + "word" + rep("}", 20_000)), "ok"},
		{"dollars", "a.tex", []byte(rep("$", 1_000_001) + "word"), "ok"},
		{"environments", "a.tex", []byte(rep("\\begin{verbatim}", 5_000) + "word"), "ok"},
		{"deep JSON", "a.ipynb", []byte(`{"cells":` + rep("[", 5_000_000)), "corrupt"},
		{"deep closed JSON", "a.ipynb", []byte(`{"x":` + rep("[", 9_000) + rep("]", 9_000) + `,"cells":[]}`), "ok"},
		{"entities", "a.xml", []byte(laughs + `<rss><channel><item><title>&d;</title></item></channel></rss>`), "ok"},
		{"deep XML", "a.xml", []byte("<rss>" + rep("<item>", 1_000_000)), "ok"},
		{"one line of JSON", "a.json", []byte(`{"a":"` + rep("word ", 1_000_000) + `"}`), "ok"},
		{"escapes", "a.json", []byte(`"` + rep(`\u005c`, 1_000_000)), "ok"},
		{"quotes", "a.csv", []byte(rep(`"`, 5_000_000)), "ok"},
		{"folds", "a.ics", []byte("A:b\n" + rep(" x\n", 1_000_000)), "ok"},
		{"underlines", "a.rst", []byte(rep("====\n", 500_000)), "ok"},
		{"titles of all kinds", "a.rst", []byte(rep("ab\n==\n\ncd\n--\n\n", 100_000)), "ok"},
		{"links", "a.org", []byte(rep("[[", 1_000_000)), "ok"},
		{"cues", "a.vtt", []byte("WEBVTT\n\n" + rep("<v ", 1_000_000)), "ok"},
	}
}

func codeBombs(testing.TB) []bomb {
	return []bomb{
		{"brackets", "a.c", []byte(rep("(", 900_000)), "ok"},
		{"braces", "a.js", []byte(rep("{", 900_000)), "ok"},
		{"functions in functions", "a.js", []byte(rep("function f() {\n", 60_000)), "ok"},
		{"classes in classes", "a.java", []byte(rep("class A {\n", 80_000) + rep("}\n", 50_000)), "ok"},
		{"indentation", "a.py", indented(1200), "ok"},
		{"templates", "a.cpp", []byte(rep("a<b<c<d(", 110_000)), "ok"},
		{"less than", "a.cs", []byte("class A { int x = " + rep("a < ", 200_000) + "b; }"), "ok"},
		{"generics", "a.ts", []byte("let x = " + rep("f<g<h>>(", 100_000)), "ok"},
		{"JSX", "a.tsx", []byte("let x = " + rep("<a>{", 200_000)), "ok"},
		{"strings in strings", "a.sh", []byte("f() {\n" + rep("\"$(", 200_000)), "ok"},
		{"here documents", "a.rb", []byte(rep("<<A + <<B + ", 80_000)), "ok"},
		{"raw strings", "a.rs", []byte("fn f() {\n" + rep("r###\"", 150_000)), "ok"},
		{"tags", "a.php", []byte(rep("<?php if (a): ?>", 60_000)), "ok"},
		{"one line", "a.min.js", []byte(rep("var a=function(b){return b+1};", 30_000)), "ok"},
		{"a million lines", "a.go", []byte("package a\n" + rep("\n", 1_000_000)), "ok"},
	}
}

// indented is Python whose blocks stand in each other.
func indented(depth int) []byte {
	var b strings.Builder
	for i := range depth {
		b.WriteString(rep(" ", i) + "if a:\n")
	}
	return []byte(b.String() + rep(" ", depth) + "x\n")
}

// allBombs are those of every kind. Under the race detector only making the
// packages and compiling the PDF engine would take minutes: a few small ones
// of the other kinds do there, and make test runs all of them without it.
func allBombs(t testing.TB) (bombs []bomb) {
	kinds := []func(testing.TB) []bomb{wordBombs, sheetBombs, packageBombs, mailBombs, pdfBombs, textBombs, codeBombs}
	if raceEnabled || testing.Short() {
		kinds = []func(testing.TB) []bomb{mailBombs, textBombs, codeBombs}
	}
	for _, f := range kinds {
		bombs = append(bombs, f(t)...)
	}
	return bombs
}

const underRace = "|seven mails in mails|noise in a container|a container that loops|no mail at all|groups|dollars|deep closed JSON|brackets|indentation|"

// TestBombsEndInTheirOwnJob runs every bomb through one pool and, after each,
// a good file. BOMBS=list prints a table; BOMBS=DIR writes the bombs into a
// folder instead, to be set before a daemon.
func TestBombsEndInTheirOwnJob(t *testing.T) {
	bombs := allBombs(t)
	if dir := os.Getenv("BOMBS"); filepath.IsAbs(dir) {
		writeBombs(t, dir, bombs)
		return
	}
	if raceEnabled || testing.Short() {
		bombs = slices.DeleteFunc(bombs, func(b bomb) bool { return !strings.Contains(underRace, "|"+b.name+"|") })
	}
	pool := newPool(t, WorkerLimits{Workers: 1, Timeout: 4 * time.Minute, CacheDir: t.TempDir()})
	r, err := New(Options{Pool: pool})
	if err != nil {
		t.Fatal(err)
	}
	good := func(after string) {
		if doc, err := r.Extract(context.Background(), Source{Path: "good.rtf", Data: []byte("{\\rtf1 good}")}); err != nil || doc.Text.Body != "good\n" {
			t.Fatalf("after %s the next file: %v", after, err)
		}
	}
	good("nothing")
	for _, b := range bombs {
		before := useOf(pool)
		before.begin()
		doc, err := r.Extract(context.Background(), Source{Path: b.path, Data: b.data})
		took, peak := useOf(pool).since(before)
		code, text := "ok", ""
		if f, ok := fault.As(err); ok {
			code, text = f.Code, f.Message
		} else if err != nil {
			t.Errorf("%s %s: %v is no fault", b.path, b.name, err)
		} else {
			checkDocument(t, doc)
			text = fmt.Sprintf("%d bytes of text", outputSize(doc))
		}
		if !strings.Contains(" "+b.codes+" ", " "+code+" ") {
			t.Errorf("%s %s: %s (%v), want one of %s", b.path, b.name, code, err, b.codes)
		}
		if os.Getenv("BOMBS") != "" {
			fmt.Fprintf(t.Output(), "| %s | %s | %d | %s | %s | %s | %s |\n", b.name, strings.TrimPrefix(filepath.Ext(b.path), "."), len(b.data), took, peak, code, clip(text, 90))
		}
		good(b.path + " " + b.name)
	}
	t.Logf("%d bombs", len(bombs))
}

// writeBombs names each file after its bomb.
func writeBombs(t *testing.T, dir string, bombs []bomb) {
	for i, b := range bombs {
		name := fmt.Sprintf("%03d %s%s", i+1, b.name, filepath.Ext(b.path))
		if err := os.WriteFile(filepath.Join(dir, name), b.data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d bombs in %s", len(bombs), dir)
}
