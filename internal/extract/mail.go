package extract

import (
	"bytes"
	"context"
	"io"
	"path"
	"strings"
	"time"

	"github.com/emersion/go-message"
	"github.com/jhillyerd/enmime/v2"

	"ragd/internal/chunk"
	"ragd/internal/fault"
)

// Limits of mail. Before the parser sees a mail, its multiparts are counted:
// it copies the rest of the mail once for each.
const (
	mailMultipartsMax = 15
	mailBoundariesMax = 5000
	mailDepthMax      = 8 // mails in mails
	mailPartsMax      = 1000
	mailsMax          = 50_000 // of an mbox
	mailHeaderMax     = 2 << 10
)

// letter is what all mail formats come down to.
type letter struct {
	subject, from, to, cc, date string
	text, html                  string
	attachments                 []attachment
	cut                         bool // there are more parts than are read
}

type attachment struct {
	name, mediaType string
	data            []byte
}

func readEML(ctx context.Context, src Source, t fileType) (*Document, error) {
	if err := checkText(src.Path, src.Data); err != nil && !hasMailHeader(src.Data) {
		return nil, err
	}
	if !hasMailHeader(src.Data) {
		return nil, wrongType(src.Path, detectType(src.Data)+" without mail headers")
	}
	l, err := parseMail(src.Path, src.Data)
	if err != nil {
		return nil, err
	}
	return l.document(ctx, src, t, 0)
}

// hasMailHeader looks for a header line that every mail has some of.
func hasMailHeader(data []byte) bool {
	top := strings.ToLower("\n" + string(head(data, 64<<10)))
	for _, h := range []string{"from:", "to:", "subject:", "date:", "received:", "message-id:", "mime-version:", "return-path:", "content-type:"} {
		if strings.Contains(top, "\n"+h) {
			return true
		}
	}
	return false
}

// parseMail reads a mail with enmime, or, when it is built to cost too much or
// enmime fails, with the simpler parser under a budget.
func parseMail(name string, data []byte) (*letter, error) {
	multiparts := bytes.Count(bytes.ToLower(data), []byte("content-type: multipart/"))
	boundaries := bytes.Count(data, []byte("\n--"))
	if multiparts > mailMultipartsMax || boundaries > mailBoundariesMax {
		return simpleMail(name, data)
	}
	env, err := safeEnvelope(data)
	if err != nil {
		return simpleMail(name, data)
	}
	l := &letter{
		subject: env.GetHeader("Subject"), from: env.GetHeader("From"), to: env.GetHeader("To"),
		cc: env.GetHeader("Cc"), date: env.GetHeader("Date"), text: env.Text, html: env.HTML,
	}
	for _, list := range [][]*enmime.Part{env.Attachments, env.OtherParts, env.Inlines} {
		for _, p := range list {
			if l.cut = l.cut || len(l.attachments) == mailPartsMax; !l.cut && p != nil {
				l.attachments = append(l.attachments, attachment{name: p.FileName, mediaType: p.ContentType, data: p.Content})
			}
		}
	}
	return l, nil
}

func safeEnvelope(data []byte) (env *enmime.Envelope, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fault.New(fault.Permanent, "corrupt", "the mail parser failed: %v", p)
		}
	}()
	parser := enmime.NewParser(enmime.DisableTextConversion(true), enmime.SkipMalformedParts(true), enmime.MaxStoredPartErrors(10))
	return parser.ReadEnvelope(bytes.NewReader(data))
}

// simpleMail walks the parts in one pass.
func simpleMail(name string, data []byte) (l *letter, err error) {
	defer func() {
		if p := recover(); p != nil {
			l, err = nil, fault.New(fault.Permanent, "corrupt", "%s cannot be read as mail", base(name))
		}
	}()
	entity, err := message.Read(bytes.NewReader(data))
	if entity == nil {
		return nil, fault.New(fault.Permanent, "corrupt", "%s cannot be read as mail", base(name)).Because(err)
	}
	header := func(key string) string {
		s, err := entity.Header.Text(key)
		if err != nil {
			return entity.Header.Get(key)
		}
		return s
	}
	l = &letter{subject: header("Subject"), from: header("From"), to: header("To"), cc: header("Cc"), date: header("Date")}
	parts := 0
	walk := func(_ []int, e *message.Entity, err error) error {
		if parts++; parts > mailPartsMax {
			l.cut = true
			return io.EOF
		}
		if e == nil || err != nil && !message.IsUnknownCharset(err) {
			return nil
		}
		return l.simplePart(e)
	}
	if err := entity.Walk(walk); err != nil && parts <= 1 && l.text == "" && l.html == "" {
		return nil, fault.New(fault.Permanent, "corrupt", "%s cannot be read as mail", base(name)).Because(err)
	}
	return l, nil
}

func (l *letter) simplePart(e *message.Entity) error {
	kind, params, err := e.Header.ContentType()
	if err != nil {
		kind = "text/plain"
	}
	if strings.HasPrefix(kind, "multipart/") {
		return nil
	}
	body, err := io.ReadAll(io.LimitReader(e.Body, packagePartMax))
	if err != nil && len(body) == 0 {
		return nil // a damaged part; the others are read
	}
	disposition, dparams, err := e.Header.ContentDisposition()
	if err != nil {
		disposition = ""
	}
	name := dparams["filename"]
	if name == "" {
		name = params["name"]
	}
	switch {
	case disposition == "attachment" || name != "":
		l.attachments = append(l.attachments, attachment{name: name, mediaType: kind, data: body})
	case kind == "text/html" && l.html == "":
		l.html = string(body)
	case strings.HasPrefix(kind, "text/"):
		l.text += string(body)
	case kind == "message/rfc822":
		l.attachments = append(l.attachments, attachment{mediaType: kind, data: body})
	}
	return nil
}

// document makes a document of a letter; depth counts mails in mails.
func (l *letter) document(ctx context.Context, src Source, t fileType, depth int) (*Document, error) {
	w := &mdWriter{}
	doc := &Document{MediaType: "message/rfc822", Title: oneLine(l.subject), Meta: map[string]string{}}
	for _, f := range []struct{ name, value string }{{"from", l.from}, {"to", l.to}, {"cc", l.cc}, {"date", mailDate(l.date)}, {"subject", l.subject}} {
		if v := clip(oneLine(f.value), mailHeaderMax); v != "" {
			doc.Meta[f.name] = v
			w.line(strings.ToUpper(f.name[:1]) + f.name[1:] + ": " + v)
		}
	}
	if body := l.body(ctx); body != "" {
		w.block()
		w.line(body)
	}
	if err := l.parts(ctx, src, t, depth, doc, w); err != nil {
		return nil, err
	}
	var err error
	if doc.Text, err = w.finish(src.Path); err != nil {
		return nil, err
	}
	doc.Text.Format = chunk.FormatMarkdown
	fillQuality(doc, doc.Text.Body)
	return doc, nil
}

// body is the text once: of the alternatives, the plain one, unless it only
// says that the mail is HTML.
func (l *letter) body(ctx context.Context) string {
	text := strings.TrimSpace(cleanText(l.text))
	if l.html == "" || len(l.html) > htmlMax {
		return text
	}
	page := strings.TrimSpace(htmlToMarkdown(ctx, cleanText(l.html)).body)
	if len(text)*3 > len(page) {
		return text
	}
	return page
}

// parts reads the attachments of supported types as documents of their own;
// the names of the others stand in the text. One bad attachment does not cost
// the mail, and is noted.
func (l *letter) parts(ctx context.Context, src Source, t fileType, depth int, doc *Document, w *mdWriter) error {
	if l.cut {
		doc.Quality.remark("Only the first %d parts were read.", mailPartsMax)
	}
	for i, a := range l.attachments {
		name := partName(a, i)
		part, err := readAttachment(ctx, src, t, depth+1, name, a)
		if cause := ctx.Err(); cause != nil {
			return cause
		}
		if err != nil {
			doc.Quality.remark("%s was not read: %s.", name, whyNot(err))
		}
		if part == nil {
			w.paragraph("Attachment: " + name)
			continue
		}
		doc.Parts = append(doc.Parts, Part{Name: name, Document: part})
		if outputSize(doc) > outputMax {
			return tooMuchText(src.Path)
		}
	}
	return nil
}

// readAttachment returns nil without an error for what nobody expects to be
// read: an empty attachment, or one of a type that is not.
func readAttachment(ctx context.Context, src Source, t fileType, depth int, name string, a attachment) (*Document, error) {
	if len(a.data) == 0 {
		return nil, nil
	}
	if depth > mailDepthMax {
		return nil, fault.New(fault.Permanent, "too_deep", "mails are nested deeper than %d", mailDepthMax)
	}
	sub := Source{Path: name, ModTime: src.ModTime, Data: a.data}
	var doc *Document
	var err error
	switch kind := path.Ext(strings.ToLower(name)); {
	case a.mediaType == "message/rfc822" || kind == ".eml":
		var inner *letter
		if inner, err = parseMail(name, a.data); err == nil {
			doc, err = inner.document(ctx, sub, t, depth)
		}
	case kind == ".msg":
		doc, err = readMSGAt(ctx, sub, t, depth)
	default:
		ft, _, ok := t.env.registry.lookup(name)
		if !ok {
			return nil, nil
		}
		doc, err = run(ctx, sub, ft)
	}
	if err != nil {
		return nil, err
	}
	return doc, nil
}

// whyNot is an error in few words, for a note.
func whyNot(err error) string {
	if f, ok := fault.As(err); ok {
		return clip(oneLine(f.Message), 120)
	}
	return "it is damaged"
}

// partName gives an attachment a name with an extension that fits its type.
func partName(a attachment, i int) string {
	name := oneLine(strings.NewReplacer("/", "_", "\\", "_", "\x00", "").Replace(a.name))
	name = clip(name, 200)
	if name == "" || name == "." || name == ".." {
		name = "part " + countLabel("decimal", i+1)
	}
	if path.Ext(name) == "" {
		switch {
		case a.mediaType == "message/rfc822":
			name += ".eml"
		case a.mediaType == "application/pdf":
			name += ".pdf"
		case a.mediaType == "text/html":
			name += ".html"
		case strings.HasPrefix(a.mediaType, "text/"):
			name += ".txt"
		case a.mediaType != "":
			name += ".bin"
		}
	}
	return name
}

// mailDate writes a date as ISO 8601 where it can be read.
func mailDate(s string) string {
	s = strings.TrimSpace(s)
	plain, _, _ := strings.Cut(s, " (")
	for _, layout := range []string{time.RFC1123Z, time.RFC1123, "Mon, 2 Jan 2006 15:04:05 -0700", "2 Jan 2006 15:04:05 -0700", "Mon, 2 Jan 2006 15:04:05 MST", "Mon, 2 Jan 06 15:04:05 -0700", time.RFC3339} {
		if t, err := time.Parse(layout, plain); err == nil {
			return t.Format(time.RFC3339)
		}
	}
	return s
}
