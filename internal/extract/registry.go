package extract

import (
	"context"
	"fmt"
	"path"
	"regexp"
	"runtime/debug"
	"strings"
	"sync"
	"unicode/utf8"

	"ragd/internal/chunk"
	"ragd/internal/fault"
)

// Options configure a Registry. The zero value is usable.
type Options struct {
	// TextExtensions are further file name extensions, with or without the
	// dot, that are read as plain text. One that has a reader of its own
	// keeps it.
	TextExtensions []string

	// Pool runs the formats whose readers may crash or grow. Without it they
	// are not supported, unless InProcess says that this process may run them
	// itself: that is for the worker and for tests.
	Pool      *WorkerPool
	InProcess bool

	// The rest matters where readers run, so with a Pool it is set there.
	Helpers  bool   // tesseract, antiword … may be started where they are installed
	Archives bool   // look into zip and tar files
	CacheDir string // for compiled code; empty = none
}

// Registry knows the formats by file name and extracts them. It is safe for
// concurrent use.
type Registry struct {
	byExt  map[string]fileType
	byName map[string]fileType
	pool   *WorkerPool
	here   bool // formats of the worker run in this process
	env    *environment
}

var _ Extractor = (*Registry)(nil)

// fileType is what a name leads to.
type fileType struct {
	format   Format
	read     reader
	language string // of source code
	ocr      bool   // may take as long as OCR does
	safe     bool   // of the worker's formats: may run in the daemon where there is no worker
	size     int    // of the worker's formats: a larger file runs in the daemon; 0 = none does
	env      *environment
}

// environment is what readers share. Only the process that reads has one.
type environment struct {
	registry *Registry
	helpers  bool
	archives bool
	cacheDir string
	parse    bool // source code may be parsed here
	pdf      pdfEngine

	look  func(name string) string // finds an installed helper; findHelper but in tests
	ocrMu sync.Mutex               // guards ocr
	ocr   ocrTool                  // as it was found last
}

// reader extracts one format. Errors that are not *fault.Error or context
// errors count as the file being corrupt.
type reader func(ctx context.Context, src Source, t fileType) (*Document, error)

var extensionPattern = regexp.MustCompile(`^[^\s/.\\,*?]{1,32}$`)

// New makes a registry. Its error is a *fault.Error of kind Invalid that
// names the extension that is not one.
func New(o Options) (*Registry, error) {
	r := &Registry{byExt: make(map[string]fileType), byName: make(map[string]fileType), pool: o.Pool, here: o.InProcess}
	r.env = &environment{registry: r, look: findHelper, helpers: o.Helpers, archives: o.Archives, cacheDir: o.CacheDir, parse: o.InProcess}
	for _, g := range formatGroups(o.archives(), o.helpers()) {
		t := fileType{format: g.format, read: g.read, language: g.language, ocr: g.ocr, safe: g.safe, size: g.size, env: r.env}
		for ext := range strings.FieldsSeq(g.extensions) {
			r.byExt[ext] = t
		}
		for name := range strings.FieldsSeq(g.names) {
			r.byName[name] = t
		}
	}
	for _, ext := range o.TextExtensions {
		key := strings.ToLower(strings.TrimPrefix(strings.TrimSpace(ext), "."))
		if key == "" && strings.TrimSpace(ext) == "" {
			continue
		}
		if !extensionPattern.MatchString(key) {
			return nil, fault.New(fault.Invalid, "invalid_extension",
				"text extension %q is not a file name extension such as \".log\"", ext)
		}
		if _, known := r.byExt[key]; !known {
			r.byExt[key] = plainText()
		}
	}
	return r, nil
}

// archives and helpers say what is allowed where the readers run.
func (o Options) archives() bool { return o.Archives || o.Pool != nil && o.Pool.limits.Archives }
func (o Options) helpers() bool  { return o.Helpers || o.Pool != nil && o.Pool.limits.Helpers }

// Lookup implements Extractor. Names without an extension are taken for
// text; whether they are shows when they are read.
func (r *Registry) Lookup(p string) (Format, string, bool) {
	t, reason, ok := r.lookup(p)
	if ok && !r.canRun(t) {
		return Format{}, t.format.Name + " files need the worker process, which is not set up", false
	}
	return t.format, reason, ok
}

func (r *Registry) canRun(t fileType) bool {
	return !t.format.Worker || r.pool != nil || r.here || t.safe
}

// Close frees what readers hold in this process; the pool is its owner's.
func (r *Registry) Close() { r.env.pdf.close() }

func (r *Registry) lookup(p string) (fileType, string, bool) {
	name := strings.ToLower(base(p))
	if t, ok := r.byName[name]; ok {
		return t, "", true
	}
	ext := strings.TrimPrefix(path.Ext(name), ".")
	if t, ok := r.byExt[ext]; ok && ext != name[1:] {
		return t, "", true
	}
	stem, _, _ := strings.Cut(name, ".") // Dockerfile.dev, Makefile.am
	if t, ok := r.byName[stem]; ok && stem != "" && ext != "" && unsupported(ext) == "" {
		return t, "", true
	}
	switch {
	case ext == "" || ext == name[1:]: // no extension, or a dotfile
		return plainText(), "", true
	case isNumber(ext): // syslog.1, ls.8
		return plainText(), "", true
	}
	if reason := unsupported(ext); reason != "" {
		return fileType{}, reason, false
	}
	shown := ext
	if !utf8.ValidString(shown) {
		shown = strings.ToValidUTF8(shown, "�")
	}
	return fileType{}, fmt.Sprintf("unknown type .%s; name it in TEXT_EXTENSIONS to index it as text", clip(shown, 40)), false
}

// Extract implements Extractor.
func (r *Registry) Extract(ctx context.Context, src Source) (doc *Document, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	t, reason, ok := r.lookup(src.Path)
	switch {
	case !ok:
		return nil, fault.New(fault.Permanent, "unsupported", "%s: %s", base(src.Path), reason)
	case !r.canRun(t):
		return nil, fault.New(fault.Permanent, "unsupported", "%s: %s files need the worker process, which is not set up", base(src.Path), t.format.Name)
	case !t.format.Worker || r.pool == nil || t.size > 0 && len(src.Data) > t.size:
		return run(ctx, src, t)
	}
	doc, err = r.pool.extract(ctx, src, t)
	if t.size > 0 && lostWorker(err) {
		return run(ctx, src, t) // as text, which it is
	}
	return doc, err
}

// lostWorker reports whether a file was too much for the worker.
func lostWorker(err error) bool {
	f, ok := fault.As(err)
	return ok && (f.Code == "timeout" || f.Code == "out_of_memory" || f.Code == "crashed")
}

// run calls a reader so that neither a panic nor an unclassified error gets out.
func run(ctx context.Context, src Source, t fileType) (doc *Document, err error) {
	defer func() {
		if p := recover(); p != nil {
			doc = nil
			err = fault.New(fault.Permanent, "corrupt", "%s: the %s reader failed on this file", base(src.Path), t.format.Name).
				Because(fmt.Errorf("panic: %v\n%s", p, debug.Stack()))
		}
	}()
	doc, err = t.read(ctx, src, t)
	if err != nil {
		return nil, classify(ctx, src, t, err)
	}
	if err := checkOutput(src.Path, doc); err != nil {
		return nil, err
	}
	finish(doc)
	return doc, nil
}

// classify makes every error a *fault.Error or a context error.
func classify(ctx context.Context, src Source, t fileType, err error) error {
	if _, ok := fault.As(err); ok {
		return err
	}
	if cause := ctx.Err(); cause != nil {
		return cause
	}
	return fault.New(fault.Permanent, "corrupt", "%s cannot be read as %s", base(src.Path), t.format.Name).Because(err)
}

// Defaults of the front matter fields that every document has.
const (
	defaultType   = "note"
	defaultStatus = "published"
)

// finish sets what holds for every document.
func finish(doc *Document) {
	if doc.Front.Type == "" {
		doc.Front.Type = defaultType
	}
	if doc.Front.Status == "" {
		doc.Front.Status = defaultStatus
	}
	doc.Title = clip(strings.Join(strings.Fields(doc.Title), " "), titleMax)
	doc.Quality.judge(doc.Text.Body, doc.Text.Format != chunk.FormatCode)
	for _, p := range doc.Parts {
		if p.Document != nil {
			finish(p.Document)
		}
	}
}

func isNumber(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != "" && len(s) <= 8
}
