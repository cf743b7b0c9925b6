package extract

import (
	"bytes"
	"context"
	"os/exec"
	"strings"
	"time"

	"ragd/internal/chunk"
	"ragd/internal/fault"
)

const oldOfficeLimit = 60 * time.Second

// oldOfficeTools are the programs that read a format from a pipe, the best
// first; "-" stands for the pipe.
var oldOfficeTools = map[string][][]string{
	"doc": {{"antiword", "-w", "0", "-m", "UTF-8.txt", "-"}, {"catdoc", "-w", "-d", "utf-8", "-"}},
	"xls": {{"xls2csv", "-q", "0", "-d", "utf-8", "-"}},
	"ppt": {{"catppt", "-d", "utf-8", "-"}},
}

// readOldOffice reads the formats before 2007 by a helper that is installed.
func readOldOffice(format string) reader {
	return func(ctx context.Context, src Source, t fileType) (*Document, error) {
		if bytes.HasPrefix(src.Data, []byte("{\\rtf")) { // Word writes RTF under .doc as well
			return readRTF(ctx, src, t)
		}
		if !bytes.HasPrefix(src.Data, []byte("\xD0\xCF\x11\xE0")) {
			return nil, wrongType(src.Path, detectType(src.Data))
		}
		var tried []string
		for _, tool := range oldOfficeTools[format] {
			program := findHelper(tool[0])
			tried = append(tried, tool[0])
			if program == "" || !t.env.helpers {
				continue
			}
			return runOldOffice(ctx, src, append([]string{program}, tool[1:]...))
		}
		return nil, fault.New(fault.Permanent, "needs_helper", "%s is in an old Office format; reading it needs %s", base(src.Path), strings.Join(tried, " or ")).
			WithHint("Install it, or save the file in a newer format.")
	}
}

func runOldOffice(ctx context.Context, src Source, tool []string) (*Document, error) {
	limited, cancel := context.WithTimeout(ctx, oldOfficeLimit)
	defer cancel()
	cmd := exec.CommandContext(limited, tool[0], tool[1:]...)
	cmd.Stdin = bytes.NewReader(src.Data)
	var out, errs bytes.Buffer
	cmd.Stdout = &limitedWriter{w: &out, left: outputMax + 1}
	cmd.Stderr = &limitedWriter{w: &errs, left: ocrOutputTail}
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case limited.Err() != nil:
		return nil, fault.New(fault.Permanent, "timeout", "%s took longer than %v to read", base(src.Path), oldOfficeLimit)
	case err != nil && out.Len() == 0:
		said := strings.ToLower(errs.String())
		if strings.Contains(said, "encrypt") || strings.Contains(said, "password") {
			return nil, encrypted(src.Path, err)
		}
		return nil, fault.New(fault.Permanent, "corrupt", "%s cannot be read by %s: %s", base(src.Path), base(tool[0]), clip(oneLine(errs.String()), 200)).Because(err)
	case out.Len() > outputMax:
		return nil, tooMuchText(src.Path)
	}
	body := strings.ReplaceAll(cleanText(out.String()), "\f", "\n")
	doc := &Document{MediaType: "application/x-ole-storage", Text: chunk.Text{Body: body, Format: chunk.FormatPlain}}
	fillQuality(doc, body)
	return doc, nil
}
