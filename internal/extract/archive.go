package extract

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"path"
	"strings"

	"ragd/internal/chunk"
	"ragd/internal/fault"
)

const (
	archiveFilesMax = 5000
	archiveFileMax  = 50 << 20  // unpacked bytes of one file
	archiveTotalMax = 512 << 20 // unpacked bytes of all
)

// readArchive reads the files of a zip, tar or gzip as documents of their
// own. Archives in archives are not opened. A file that cannot be read does
// not cost the others.
func readArchive(ctx context.Context, src Source, t fileType) (*Document, error) {
	a := archiveReader{ctx: ctx, src: src, env: t.env, left: archiveTotalMax, doc: &Document{MediaType: "application/x-archive"}}
	var err error
	name := strings.ToLower(base(src.Path))
	switch {
	case bytes.HasPrefix(src.Data, []byte("PK")):
		err = a.zip()
	case bytes.HasPrefix(src.Data, []byte("\x1f\x8b")):
		err = a.gzip(name)
	case len(src.Data) > 262 && string(src.Data[257:262]) == "ustar":
		err = a.tar(bytes.NewReader(src.Data))
	default:
		return nil, wrongType(src.Path, detectType(src.Data))
	}
	if err != nil {
		return nil, err
	}
	a.doc.Text = chunk.Text{Body: a.list.String(), Format: chunk.FormatPlain}
	a.doc.Quality.left("files", a.unread, a.files, "they are damaged, protected or too large")
	if a.archives > 0 {
		a.doc.Quality.remark("Archives inside of it (%d) are not opened.", a.archives)
	}
	fillQuality(a.doc, a.doc.Text.Body)
	return a.doc, nil
}

type archiveReader struct {
	ctx   context.Context
	src   Source
	env   *environment
	doc   *Document
	list  strings.Builder
	files int
	size  int
	left  int64

	unread, archives int // files that could not be read, and archives in the archive
}

func (a *archiveReader) zip() error {
	r, err := zip.NewReader(bytes.NewReader(a.src.Data), int64(len(a.src.Data)))
	if err != nil {
		return fault.New(fault.Permanent, "corrupt", "%s is damaged: its directory cannot be read", base(a.src.Path)).Because(err)
	}
	locked := 0
	for _, f := range r.File {
		if f.FileInfo().IsDir() {
			continue
		}
		if f.Flags&1 != 0 {
			locked++
			continue
		}
		in, err := f.Open()
		if err != nil {
			a.files++
			a.unread++
			continue
		}
		err = a.file(f.Name, in)
		in.Close()
		if err != nil {
			return err
		}
	}
	if locked > 0 && a.files == 0 {
		return encrypted(a.src.Path, nil)
	}
	a.files += locked
	a.unread += locked // the others are read
	return nil
}

func (a *archiveReader) tar(in io.Reader) error {
	r := tar.NewReader(in)
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			if a.files > 0 {
				a.doc.Quality.remark("It is cut off or damaged after %d files.", a.files)
				return nil // what came before is good
			}
			return fault.New(fault.Permanent, "corrupt", "%s is damaged", base(a.src.Path)).Because(err)
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		if err := a.file(h.Name, r); err != nil {
			return err
		}
	}
}

// gzip opens a compressed tar, or a single compressed file.
func (a *archiveReader) gzip(name string) error {
	r, err := gzip.NewReader(bytes.NewReader(a.src.Data))
	if err != nil {
		return fault.New(fault.Permanent, "corrupt", "%s is damaged", base(a.src.Path)).Because(err)
	}
	defer r.Close()
	if strings.HasSuffix(name, ".tgz") || strings.HasSuffix(name, ".tar.gz") {
		return a.tar(&budgetReader{r: r, a: a})
	}
	return a.file(strings.TrimSuffix(name, ".gz"), r)
}

// budgetReader stops a compressed stream that unpacks to too much.
type budgetReader struct {
	r io.Reader
	a *archiveReader
}

func (b *budgetReader) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	if b.a.left -= int64(n); b.a.left < 0 {
		return 0, b.a.tooLarge()
	}
	return n, err
}

func (a *archiveReader) tooLarge() error {
	return fault.New(fault.Permanent, "too_large", "%s unpacks to more than %d MiB or %d files", base(a.src.Path), archiveTotalMax>>20, archiveFilesMax)
}

// file reads one file of the archive when its type is one that is read.
func (a *archiveReader) file(name string, in io.Reader) error {
	if err := a.ctx.Err(); err != nil {
		return err
	}
	name = strings.TrimPrefix(path.Clean("/"+strings.ReplaceAll(strings.ToValidUTF8(name, "�"), "\\", "/")), "/")
	if name = cleanLine(name); name == "" {
		return nil
	}
	if a.files++; a.files > archiveFilesMax {
		return a.tooLarge()
	}
	if a.list.Len() < outputMax {
		a.list.WriteString(name + "\n")
	}
	t, _, ok := a.env.registry.lookup(name)
	if ok && t.format.Name == archiveFormat {
		a.archives++
		return nil
	}
	if !ok {
		return nil
	}
	data, err := io.ReadAll(io.LimitReader(in, archiveFileMax+1))
	if a.left -= int64(len(data)); a.left < 0 {
		return a.tooLarge()
	}
	if err != nil || len(data) > archiveFileMax {
		a.unread++
		return nil
	}
	doc, err := run(a.ctx, Source{Path: name, ModTime: a.src.ModTime, Data: data}, t)
	if err != nil {
		a.unread++
		return a.ctx.Err()
	}
	if a.size += outputSize(doc); a.size > outputMax {
		return tooMuchText(a.src.Path)
	}
	a.doc.Parts = append(a.doc.Parts, Part{Name: name, Document: doc})
	return nil
}

const archiveFormat = "archive"
