package extract

import (
	"bytes"
	"context"
	"io"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/richardlehane/mscfb"

	"ragd/internal/fault"
)

const msgStreamMax = 64 << 20

// readMSG reads a mail that Outlook saved.
func readMSG(ctx context.Context, src Source, t fileType) (*Document, error) {
	return readMSGAt(ctx, src, t, 0)
}

func readMSGAt(ctx context.Context, src Source, t fileType, depth int) (*Document, error) {
	if !bytes.HasPrefix(src.Data, []byte("\xD0\xCF\x11\xE0")) {
		return nil, wrongType(src.Path, detectType(src.Data))
	}
	box, err := openMSG(src)
	if err != nil {
		return nil, err
	}
	if len(box.props) == 0 && len(box.children) == 0 {
		return nil, wrongType(src.Path, "application/x-ole-storage without a mail in it")
	}
	l := box.letter(0)
	doc, err := l.document(ctx, src, t, depth)
	if err == nil {
		doc.MediaType = "application/vnd.ms-outlook"
	}
	return doc, err
}

// msgBox is a mail or an attachment: its properties, and the boxes in it.
type msgBox struct {
	props    map[string][]byte // "0037001F" → value
	children map[string]*msgBox
	order    []string
}

func newMsgBox() *msgBox {
	return &msgBox{props: map[string][]byte{}, children: map[string]*msgBox{}}
}

func (b *msgBox) child(name string) *msgBox {
	c := b.children[name]
	if c == nil {
		c = newMsgBox()
		b.children[name] = c
		b.order = append(b.order, name)
	}
	return c
}

// openMSG reads the container's streams into boxes by their storages.
func openMSG(src Source) (box *msgBox, err error) {
	defer func() {
		if p := recover(); p != nil {
			box, err = nil, fault.New(fault.Permanent, "corrupt", "%s is damaged: its container cannot be read", base(src.Path))
		}
	}()
	r, err := mscfb.New(bytes.NewReader(src.Data))
	if err != nil {
		return nil, fault.New(fault.Permanent, "corrupt", "%s is damaged: its container cannot be read", base(src.Path)).Because(err)
	}
	root := newMsgBox()
	left := int64(packageTotalMax)
	for range packageEntriesMax {
		e, err := r.Next()
		if err != nil {
			break
		}
		name, found := strings.CutPrefix(e.Name, "__substg1.0_")
		if !found && e.Name != "__properties_version1.0" || e.Size == 0 || len(e.Path) > 4*mailDepthMax {
			continue
		}
		if e.Size > msgStreamMax || e.Size > left || e.Size > int64(len(src.Data)) {
			return nil, fault.New(fault.Permanent, "too_large", "%s holds a part of more than %d MiB", base(src.Path), msgStreamMax>>20)
		}
		at := root
		for _, storage := range e.Path {
			at = at.child(storage)
		}
		data, err := io.ReadAll(io.LimitReader(e, e.Size))
		if err != nil && len(data) == 0 {
			continue
		}
		left -= int64(len(data))
		if !found {
			name = "properties"
		}
		at.props[strings.ToUpper(name)] = data
	}
	return root, nil
}

// text returns a text property, Unicode or not.
func (b *msgBox) text(id string) string {
	if v, ok := b.props[id+"001F"]; ok {
		units := make([]uint16, len(v)/2)
		for i := range units {
			units[i] = uint16(v[2*i]) | uint16(v[2*i+1])<<8
		}
		return strings.TrimRight(string(utf16.Decode(units)), "\x00")
	}
	if v, ok := b.props[id+"001E"]; ok {
		return strings.TrimRight(string(decode(v, "").text), "\x00")
	}
	return ""
}

func (b *msgBox) letter(depth int) *letter {
	l := &letter{subject: b.text("0037"), from: b.text("0C1A"), to: b.text("0E04"), cc: b.text("0E03"), text: b.text("1000"), date: b.date()}
	if mail := b.text("5D01"); mail != "" || b.text("0C1F") != "" {
		if mail == "" {
			mail = b.text("0C1F")
		}
		if strings.Contains(mail, "@") && !strings.Contains(l.from, mail) {
			l.from = strings.TrimSpace(l.from + " <" + mail + ">")
		}
	}
	if v, ok := b.props["10130102"]; ok {
		l.html = string(decode(v, declaredCharset(v)).text)
	} else {
		l.html = b.text("1013")
	}
	if v, ok := b.props["10090102"]; ok && l.text == "" && l.html == "" {
		l.text = readPackedRTF(v)
	}
	for _, name := range b.order {
		if !strings.HasPrefix(name, "__attach_version1.0_") {
			continue
		}
		if l.cut = len(l.attachments) >= mailPartsMax; l.cut {
			break
		}
		l.attachments = append(l.attachments, b.children[name].attachment(depth)...)
	}
	return l
}

// attachment returns the file in an attachment's box, or what an attached
// mail says.
func (b *msgBox) attachment(depth int) []attachment {
	a := attachment{name: b.text("3707"), mediaType: b.text("370E"), data: b.props["37010102"]}
	if a.name == "" {
		a.name = b.text("3704")
	}
	if a.name == "" {
		a.name = b.text("3001")
	}
	inner := b.children["__substg1.0_3701000D"]
	if inner == nil || depth >= mailDepthMax {
		return []attachment{a}
	}
	l := inner.letter(depth + 1)
	a.mediaType = "message/rfc822"
	a.data = l.asMail()
	if a.name == "" {
		a.name = l.subject
	}
	if !strings.HasSuffix(strings.ToLower(a.name), ".eml") {
		a.name += ".eml"
	}
	return append([]attachment{a}, l.attachments...)
}

// asMail writes a letter as a plain mail, so that it is read like any other.
func (l *letter) asMail() []byte {
	var b bytes.Buffer
	for _, h := range []struct{ name, value string }{{"Subject", l.subject}, {"From", l.from}, {"To", l.to}, {"Cc", l.cc}, {"Date", l.date}} {
		if h.value != "" {
			b.WriteString(h.name + ": " + oneLine(h.value) + "\r\n")
		}
	}
	kind, body := "text/plain", l.text
	if body == "" && l.html != "" {
		kind, body = "text/html", l.html
	}
	b.WriteString("MIME-Version: 1.0\r\nContent-Type: " + kind + "; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\n" + body)
	return b.Bytes()
}

// date finds the time the mail was sent or delivered in the fixed properties.
func (b *msgBox) date() string {
	p := b.props["PROPERTIES"]
	for _, skip := range []int{32, 24, 8} { // of a mail, of one in a mail, of an attachment
		for at := skip; at+16 <= len(p); at += 16 {
			kind := uint32(p[at]) | uint32(p[at+1])<<8 | uint32(p[at+2])<<16 | uint32(p[at+3])<<24
			if kind != 0x00390040 && kind != 0x0E060040 {
				continue
			}
			var ticks uint64
			for i := range 8 {
				ticks |= uint64(p[at+8+i]) << (8 * i)
			}
			const toUnix = 116444736000000000 // 100 ns from 1601 to 1970
			if ticks > toUnix && ticks < toUnix+4e17 {
				return time.Unix(0, int64(ticks-toUnix)*100).UTC().Format(time.RFC3339)
			}
		}
	}
	for _, line := range strings.Split(b.text("007D"), "\n") {
		if d, ok := strings.CutPrefix(line, "Date:"); ok {
			return strings.TrimSpace(d)
		}
	}
	return ""
}

// readPackedRTF unpacks the compressed RTF of a mail and reads it.
func readPackedRTF(v []byte) string {
	data := unpackRTF(v)
	if len(data) == 0 {
		return ""
	}
	doc, err := readRTF(context.Background(), Source{Path: "body.rtf", Data: data}, fileType{})
	if err != nil {
		return ""
	}
	return doc.Text.Body
}

// rtfDictionary is what the compression of RTF in mail begins with.
const rtfDictionary = "{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern \\fscript \\fdecor MS Sans SerifSymbolArialTimes New RomanCourier{\\colortbl\\red0\\green0\\blue0\r\n\\par \\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx"

// unpackRTF undoes the LZ77 variant of mail bodies; nil when it is damaged.
func unpackRTF(v []byte) []byte {
	if len(v) < 16 {
		return nil
	}
	size := int(uint32(v[4]) | uint32(v[5])<<8 | uint32(v[6])<<16 | uint32(v[7])<<24)
	switch string(v[8:12]) {
	case "MELA":
		return v[16:]
	case "LZFu":
	default:
		return nil
	}
	size = min(size, outputMax)
	window := make([]byte, 4096)
	at := copy(window, rtfDictionary)
	var out []byte
	put := func(c byte) {
		out = append(out, c)
		window[at] = c
		at = (at + 1) & 4095
	}
	for i := 16; i < len(v) && len(out) < size; {
		flags := v[i]
		i++
		for bit := range 8 {
			if i >= len(v) || len(out) >= size {
				break
			}
			if flags>>bit&1 == 0 {
				put(v[i])
				i++
				continue
			}
			if i+1 >= len(v) {
				return out
			}
			ref := int(v[i])<<8 | int(v[i+1])
			i += 2
			from, n := ref>>4, ref&15+2
			if from == at {
				return out
			}
			for range n {
				put(window[from])
				from = (from + 1) & 4095
			}
		}
	}
	return out
}
