package extract

import (
	"bytes"
	"context"
	"fmt"

	"ragd/internal/chunk"
	"ragd/internal/fault"
)

// readMbox reads each mail of a mailbox as a document of its own; the mailbox
// itself lists them.
func readMbox(ctx context.Context, src Source, t fileType) (*Document, error) {
	if !bytes.HasPrefix(src.Data, []byte("From ")) {
		if len(bytes.TrimSpace(src.Data)) == 0 {
			return &Document{MediaType: "application/mbox"}, nil
		}
		return nil, wrongType(src.Path, detectType(src.Data)+" that does not begin with \"From \"")
	}
	mails := splitMbox(src.Data)
	if len(mails) > mailsMax {
		return nil, fault.New(fault.Permanent, "too_large", "%s holds more than %d mails", base(src.Path), mailsMax)
	}
	doc := &Document{MediaType: "application/mbox"}
	w := &mdWriter{}
	size, unread := 0, 0
	for i, m := range mails {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		name := fmt.Sprintf("mail %d.eml", i+1)
		l, err := parseMail(name, m)
		if err != nil {
			unread++
			continue // one bad mail does not cost the mailbox
		}
		part, err := l.document(ctx, Source{Path: name, ModTime: src.ModTime, Data: m}, t, 1)
		if err != nil {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			unread++
			continue
		}
		if size += outputSize(part); size > outputMax {
			return nil, tooMuchText(src.Path)
		}
		w.line(fmt.Sprintf("%d. %s — %s, %s", i+1, part.Title, part.Meta["from"], part.Meta["date"]))
		doc.Parts = append(doc.Parts, Part{Name: name, Document: part})
	}
	var err error
	if doc.Text, err = w.finish(src.Path); err != nil {
		return nil, err
	}
	doc.Text.Format = chunk.FormatPlain
	doc.Quality.left("mails", unread, len(mails), "they are damaged or too large")
	fillQuality(doc, doc.Text.Body)
	return doc, nil
}

// splitMbox cuts a mailbox at its "From " lines, which stand at the beginning
// or after a blank line and are followed by a header. ">From " is quoting and
// is undone.
func splitMbox(data []byte) [][]byte {
	var mails [][]byte
	start := -1
	blank := true
	for i := 0; i < len(data); {
		end := bytes.IndexByte(data[i:], '\n')
		if end < 0 {
			end = len(data) - i - 1
		}
		line := data[i : i+end+1]
		if blank && bytes.HasPrefix(line, []byte("From ")) && (start < 0 || headerFollows(data[i+end+1:])) {
			if start >= 0 {
				mails = append(mails, unquoteFrom(data[start:i]))
			}
			start = i + end + 1
		}
		blank = len(bytes.TrimRight(line, "\r\n")) == 0
		i += end + 1
	}
	if start >= 0 && start <= len(data) {
		mails = append(mails, unquoteFrom(data[start:]))
	}
	return mails
}

// headerFollows reports whether a line like "Name: value" comes next.
func headerFollows(rest []byte) bool {
	line, _, _ := bytes.Cut(head(rest, 1000), []byte("\n"))
	name, _, found := bytes.Cut(line, []byte(":"))
	return found && len(name) > 0 && !bytes.ContainsAny(name, " \t")
}

func unquoteFrom(mail []byte) []byte {
	if !bytes.Contains(mail, []byte("\n>")) {
		return mail
	}
	var out bytes.Buffer
	out.Grow(len(mail))
	for line := range bytes.Lines(mail) {
		if trimmed := bytes.TrimLeft(line, ">"); len(trimmed) < len(line) && bytes.HasPrefix(trimmed, []byte("From ")) {
			line = line[1:]
		}
		out.Write(line)
	}
	return out.Bytes()
}
