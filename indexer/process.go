package indexer

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"runtime/debug"
	"time"

	"ragd/internal/chunk"
	"ragd/internal/extract"
	"ragd/internal/fault"
	"ragd/internal/store"
	"ragd/kbroot"
)

// worker turns one job at a time into an outcome. It owns buffers that are
// reused from job to job, so it serves one goroutine.
type worker struct {
	ix     *Indexer
	terms  *Terms
	reader *kbroot.Reader
}

func newWorker(ix *Indexer) *worker {
	return &worker{ix: ix, terms: NewTerms(), reader: ix.root.NewReader()}
}

// run never panics: a panic costs this one job.
func (w *worker) run(ctx context.Context, c claimed) (out store.Outcome) {
	j := c.job
	stage := "extract"
	w.ix.stages.set(j.ID, stage)
	defer func() {
		if r := recover(); r != nil {
			w.ix.log.Error("a file made the pipeline panic", "kb", j.KBName, "path", j.Path, "stage", stage, "panic", r, "stack", string(debug.Stack()))
			w.terms = NewTerms()
			f := w.ix.failure(j, stage, fault.New(fault.Permanent, "panic", "the %s stage failed on this file: %v", stage, r).
				WithHint("Please report the file's format; it is tried again when it changes."))
			out = store.Outcome{Job: j, Failed: &f}
		}
	}()
	return w.process(ctx, c, &stage)
}

func (w *worker) process(ctx context.Context, c claimed, stage *string) store.Outcome {
	j := c.job
	out := store.Outcome{Job: j}
	if ctx.Err() != nil {
		out.Released = true
		return out
	}
	p := kbroot.DocPath{KB: j.KBName, Path: j.Path}
	e, f, info, err := w.reader.OpenEntry(p, c.at)
	if f != nil {
		defer func() { _ = f.Close() }() // read-only: nothing to lose
	}
	if vanished(err) {
		out.Gone = true
		return out
	}
	st := statOf(e)
	if err != nil {
		if st == (store.Stat{}) {
			st = j.Stat
		}
		return w.fail(out, "extract", err, [32]byte{}, st)
	}
	if gone(e.Verdict.Code) || e.Mode.IsDir() {
		out.Gone = true
		return out
	}
	if e.Verdict.Code != kbroot.OK {
		out.Excluded = &store.Exclusion{Stat: st, Code: string(e.Verdict.Code), Why: e.Verdict.Reason}
		return out
	}
	format, reason, ok := w.ix.extractor.Lookup(j.Path)
	if !ok {
		out.Excluded = &store.Exclusion{Stat: st, Code: codeUnsupported, Why: reason}
		return out
	}
	data, st, err := w.read(p, st, f, info)
	if vanished(err) {
		out.Gone = true
		return out
	}
	if err != nil {
		return w.fail(out, "extract", err, [32]byte{}, st)
	}
	hash := sha256.Sum256(data)
	key := w.ix.key(format.Name, format.Version)
	if j.Reason != store.ReasonForced && j.Reason != store.ReasonNew {
		same, err := w.unchanged(ctx, j, hash, key)
		if err != nil {
			return w.fail(out, "insert", err, hash, st)
		}
		if same {
			out.Unchanged = &store.Unchanged{Stat: st}
			return out
		}
	}
	in, err := w.indexed(ctx, j, e, data, hash, key, format, stage)
	if why, not := notADocument(j.Path, err); not {
		out.Excluded = &store.Exclusion{Stat: st, Code: codeContent, Why: why}
		return out
	}
	if err != nil {
		return w.fail(out, *stage, err, hash, st)
	}
	in.Stat = st
	out.Indexed = in
	return out
}

// vanished: the file went away between two looks at it.
func vanished(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || fault.KindOf(err) == fault.NotFound
}

// notADocument: a file without an extension is tried as text; when it turns
// out to be something else, it is not a failure.
func notADocument(p string, err error) (why string, not bool) {
	e, ok := fault.As(err)
	if !ok || path.Ext(p) != "" || e.Code != "binary" && e.Code != "wrong_type" {
		return "", false
	}
	return e.Message, true
}

func (w *worker) unchanged(ctx context.Context, j store.Job, hash [32]byte, key string) (bool, error) {
	doc, ok, err := w.ix.store.DocState(ctx, j.KB, j.Path)
	if err != nil || !ok {
		return false, err
	}
	return doc.Revision && doc.Hash == hash && doc.Key == key, nil
}

// fail makes the outcome of an error. A stop of the program or an outage
// (a root that went away, an embedder that is down) burns no attempt.
func (w *worker) fail(out store.Outcome, stage string, err error, hash [32]byte, st store.Stat) store.Outcome {
	switch fault.KindOf(err) {
	case fault.Cancelled, fault.Unavailable:
		out.Released = true
		return out
	}
	f := w.ix.failure(out.Job, stage, err)
	f.Hash, f.Stat = hash, st
	out.Failed = &f
	return out
}

// read reads the whole of an open file. When it changes under the reading it
// is opened and read again, a few times at most: a file that never rests is
// indexed as it was read, and the hint of its next change brings the rest.
func (w *worker) read(p kbroot.DocPath, st store.Stat, f *os.File, before fs.FileInfo) ([]byte, store.Stat, error) {
	for try := 1; ; try++ {
		data, err := readAll(f, before.Size(), w.ix.opt.MaxFileBytes)
		after, statErr := f.Stat()
		if err = errors.Join(err, statErr); err != nil {
			return nil, st, readFault(p, err)
		}
		if try == 3 || int64(len(data)) == st.Size && unmoved(before, st) && unmoved(after, st) {
			return data, st, nil
		}
		e, again, info, err := w.reader.OpenEntry(p, time.Now())
		if err != nil {
			return nil, st, err
		}
		if again == nil {
			return nil, st, fs.ErrNotExist
		}
		defer func() { _ = again.Close() }()
		f, before, st = again, info, statOf(e)
	}
}

// unmoved: the file still is what lstat said.
func unmoved(info fs.FileInfo, st store.Stat) bool {
	return info.Size() == st.Size && info.ModTime().UnixNano() == st.MTimeNS
}

func readFault(p kbroot.DocPath, err error) error {
	if _, ok := fault.As(err); ok {
		return err
	}
	if errors.Is(err, fs.ErrPermission) {
		return fault.New(fault.Permanent, "unreadable", "%s cannot be read: permission denied", kbroot.DisplayPath(p.Path)).
			WithHint("Give the daemon's user permission to read the file.").Because(err)
	}
	return fault.New(fault.Transient, "read_failed", "%s cannot be read just now", kbroot.DisplayPath(p.Path)).Because(err)
}

func readAll(f io.Reader, size, limit int64) ([]byte, error) {
	buf := make([]byte, 0, min(size, limit)+512)
	for {
		n, err := f.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if errors.Is(err, io.EOF) {
			return buf, nil
		}
		if err != nil {
			return nil, err
		}
		if int64(len(buf)) > limit {
			return nil, fault.New(fault.Permanent, "too_large", "the file grew past the limit of %d bytes while it was read", limit)
		}
		if len(buf) == cap(buf) {
			buf = append(buf, 0)[:len(buf)]
		}
	}
}

// indexed extracts, chunks and analyses, or takes an earlier extraction of
// the same bytes.
func (w *worker) indexed(ctx context.Context, j store.Job, e kbroot.Entry, data []byte, hash [32]byte, key string, format extract.Format, stage *string) (*store.Indexed, error) {
	in := &store.Indexed{Path: j.Path, Hash: hash, Key: key}
	if j.Reason != store.ReasonForced {
		old, ok, err := w.ix.store.ContentFor(ctx, hash, key)
		if err != nil {
			return nil, err
		}
		if ok {
			w.reuse(in, old)
			return in, nil
		}
	}
	doc, err := w.ix.extractor.Extract(ctx, extract.Source{Path: j.Path, ModTime: e.ModTime, Data: data})
	if err != nil {
		return nil, err
	}
	*stage = "chunk"
	w.ix.stages.set(j.ID, *stage)
	in.Format = format.Name
	w.fill(in, doc)
	for i, part := range doc.Parts {
		w.addPart(in, in.Path, part, i, hash, key, 0)
	}
	*stage = "insert"
	return in, nil
}

// maxPartDepth bounds how deep documents inside documents are followed. The
// readers nest less deep, and note what they leave out.
const maxPartDepth = 16

func (w *worker) addPart(in *store.Indexed, parent string, part extract.Part, i int, hash [32]byte, key string, depth int) {
	if part.Document == nil || depth >= maxPartDepth {
		return
	}
	sub := store.Indexed{
		Path:   parent + " › " + part.Name,
		Key:    key,
		Format: in.Format,
		// A part has no file of its own: its identity is its parent's bytes and its place in them.
		Hash: sha256.Sum256(fmt.Appendf(hash[:], "/%d/%s", i, part.Name)),
	}
	w.fill(&sub, part.Document)
	in.Parts = append(in.Parts, sub)
	for k, p := range part.Document.Parts {
		w.addPart(in, sub.Path, p, k, sub.Hash, key, depth+1)
	}
}

// fill puts an extracted document's text, metadata and chunks into in.
func (w *worker) fill(in *store.Indexed, doc *extract.Document) {
	in.MediaType = doc.MediaType
	in.Text = doc.Text.Body
	in.Meta = metaOf(doc)
	if in.Meta.Title == "" {
		in.Meta.Title, in.Meta.TitleFromName = baseTitle(in.Path), true
	}
	chunks := chunk.Split(doc.Text, chunk.Options{Max: w.ix.opt.ChunkMaxChars})
	in.Chunks = w.terms.Chunks(in.Path, in.Meta.Title, in.Text, chunks)
}

func (w *worker) reuse(in *store.Indexed, old *store.StoredContent) {
	in.ContentID = old.ID
	in.Format, in.MediaType, in.Meta = old.Format, old.MediaType, old.Meta
	if in.Meta.Title == "" || in.Meta.TitleFromName {
		in.Meta.Title, in.Meta.TitleFromName = baseTitle(in.Path), true
	}
	in.Text = old.Text
	in.Chunks = w.terms.Chunks(in.Path, in.Meta.Title, old.Text, old.Chunks)
}
