package extract

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

// mailOf makes a mail with one attachment.
func mailOf(subject, name, kind, body string) string {
	return "From: a@example.org\r\nSubject: " + subject + "\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=" + subject + "b\r\n\r\n" +
		"--" + subject + "b\r\nContent-Type: text/plain\r\n\r\nThe text of " + subject + ".\r\n" +
		"--" + subject + "b\r\nContent-Type: " + kind + "; name=\"" + name + "\"\r\nContent-Disposition: attachment; filename=\"" + name + "\"\r\n\r\n" + body + "\r\n--" + subject + "b--\r\n"
}

// TestNothingNestedIsDroppedWithoutANote holds every reader of files in files
// to it.
func TestNothingNestedIsDroppedWithoutANote(t *testing.T) {
	t.Parallel()
	deep := mailOf("m0", "x.txt", "text/plain", "the innermost")
	for i := 1; i <= mailDepthMax+2; i++ {
		deep = mailOf(fmt.Sprintf("m%d", i), "inner.eml", "message/rfc822", deep)
	}
	var many strings.Builder
	many.WriteString("From: a@example.org\r\nSubject: many\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=bb\r\n\r\n")
	for i := range mailPartsMax + 5 {
		fmt.Fprintf(&many, "--bb\r\nContent-Type: application/x-nothing; name=f%d.bin\r\nContent-Disposition: attachment; filename=f%d.bin\r\n\r\nx\r\n", i, i)
	}
	many.WriteString("--bb--\r\n")
	for _, c := range []struct {
		name, path, data string
		note             string
	}{
		{"mails in mails", "deep.eml", deep, "nested deeper than 8"},
		{"too many attachments", "many.eml", many.String(), "Only the first 1000 parts were read."},
		{"a damaged attachment", "bad.eml", mailOf("m", "report.pdf", "application/pdf", "no pdf at all"), "report.pdf was not read: "},
		{"a fine attachment", "good.eml", mailOf("m", "notes.txt", "text/plain", "some notes"), ""},
		{"an attachment of no known type", "bin.eml", mailOf("m", "disk.iso", "application/octet-stream", "x"), ""},
		{"a damaged file in an archive", "a.zip", string(pack(t, "a.txt", "fine", "b.pdf", "no pdf")), "1 of 2 files were not read"},
		{"an archive in an archive", "a.zip", string(pack(t, "a.txt", "fine", "b.zip", string(pack(t, "c.txt", "inner")))), "Archives inside of it (1) are not opened."},
		{"deep tables", "a.docx", string(pack(t, "word/document.xml", wordNS+rep("<w:tbl><w:tr><w:tc>", 200)+"<w:p/>"+rep("</w:tc></w:tr></w:tbl>", 200)+wordEnd)), "nested too deep"},
		{"deep lists", "a.odt", string(pack(t, "content.xml", "<d><body>"+rep("<list><list-item>", 100)+"<p>x</p>"+rep("</list-item></list>", 100)+"</body></d>")), "nested too deep"},
		{"an archive of other types", "a.zip", string(pack(t, "a.txt", "fine", "b.exe", "x")), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			doc, err := inProcess(t, Options{Archives: true}).Extract(context.Background(), Source{Path: c.path, Data: []byte(c.data)})
			if err != nil {
				t.Fatal(err)
			}
			note := notes(doc)
			if c.note == "" && note != "" || !strings.Contains(note, c.note) {
				t.Errorf("the note is %q, want %q", note, c.note)
			}
		})
	}
}

// notes are those of a document and all inside of it.
func notes(doc *Document) string {
	out := doc.Quality.Note
	for _, p := range doc.Parts {
		out += notes(p.Document)
	}
	return out
}
