package admin

import (
	"context"
	"encoding/base64"
	"net/http"
	"strings"

	"ragd/internal/fault"
	"ragd/internal/store"
	"ragd/internal/wire"
	"ragd/kbroot"
)

func (s *Server) documents(_ http.ResponseWriter, c *call) (any, error) {
	limit, err := c.number("limit", 100, 1, 1000)
	if err != nil {
		return nil, err
	}
	state, err := c.oneOf("state", "indexed", "pending", "failed", "excluded")
	if err != nil {
		return nil, err
	}
	after, err := base64.RawURLEncoding.DecodeString(c.str("cursor"))
	if err != nil {
		return nil, invalid("cursor", c.str("cursor"), "the next_cursor of the page before")
	}
	kb, err := s.kbByName(c.Context(), c.kb)
	if err != nil {
		return nil, err
	}
	var states []store.State
	if state != "" {
		states = []store.State{store.State(state)}
	}
	docs, total, more, err := s.sv.Index.Documents(c.Context(), kb.ID, store.Page{After: string(after), Limit: int(limit)}, states)
	if err != nil {
		return nil, err
	}
	out := wire.Documents{KB: kb.Name, Documents: make([]wire.Document, 0, len(docs)), Total: total}
	for _, d := range docs {
		out.Documents = append(out.Documents, wireDocument(d))
	}
	if more && len(docs) > 0 {
		out.NextCursor = base64.RawURLEncoding.EncodeToString([]byte(docs[len(docs)-1].Path))
	}
	return out, nil
}

// newDocument is wire.AddDocument with what is missing told from what is empty.
type newDocument struct {
	Path    *string `json:"path"`
	Content *string `json:"content"`
}

func (s *Server) addDocument(w http.ResponseWriter, c *call) (any, error) {
	// JSON may write a character in six bytes; most text takes little more than its size.
	var body newDocument
	if err := decodeBody(w, c, 2*s.opt.MaxFileBytes+smallBody, &body); err != nil {
		return nil, err
	}
	if body.Path == nil || body.Content == nil {
		return nil, badJSON("path and content are required")
	}
	if int64(len(*body.Content)) > s.opt.MaxFileBytes {
		return nil, fault.New(fault.Invalid, "too_large", "the content has %d bytes; allowed: %d", len(*body.Content), s.opt.MaxFileBytes).
			WithHint("raise max_file_bytes, or split the document")
	}
	p, err := docPath(c.kb, *body.Path)
	if err != nil {
		return nil, err
	}
	replaced, err := s.sv.Files.WriteFile(p, []byte(*body.Content))
	if err != nil {
		return nil, err
	}
	// The file is there now: from here on the caller must hear of it, whatever happens to the call.
	ctx := context.WithoutCancel(c.Context())
	if err := s.sv.Work.Enqueue(ctx, p); err != nil {
		s.log.Warn("an added document could not be queued at once; the next scan finds it", "kb", p.KB, "path", p.Path, "error", err)
		return wire.Added{KB: p.KB, Path: p.Path, Replaced: replaced}, nil
	}
	return wire.Added{KB: p.KB, Path: p.Path, Queued: true, Replaced: replaced}, nil
}

func (s *Server) deleteDocument(_ http.ResponseWriter, c *call) (any, error) {
	p, err := docPath(c.kb, c.path)
	if err != nil {
		return nil, err
	}
	if err := s.knownKB(c.Context(), p.KB); err != nil {
		return nil, err
	}
	onDisk, err := s.sv.Files.Remove(p)
	if err != nil {
		return nil, err
	}
	inIndex, err := s.sv.Work.Forget(context.WithoutCancel(c.Context()), p)
	if err != nil {
		return nil, err
	}
	return wire.Deleted{KB: p.KB, Path: p.Path, Existed: onDisk || inIndex}, nil
}

func (s *Server) deleteKB(_ http.ResponseWriter, c *call) (any, error) {
	if _, err := c.boolean("confirm"); err != nil {
		return nil, err
	}
	if err := kbroot.ValidKBName(c.kb); err != nil {
		return nil, err
	}
	if err := s.knownKB(c.Context(), c.kb); err != nil {
		return nil, err
	}
	kb, onDisk := s.sv.Files.KB(c.kb)
	if onDisk && !kb.Mounted { // the files of a mount are never deleted
		if err := s.sv.Files.RemoveKB(c.kb); err != nil && fault.KindOf(err) != fault.NotFound {
			return nil, err
		}
	}
	inIndex, n, err := s.sv.Work.ForgetKB(c.Context(), c.kb)
	if err != nil {
		return nil, err
	}
	return wire.Deleted{KB: c.kb, Existed: onDisk || inIndex, Documents: n}, nil
}

// knownKB refuses a name that is neither on disk nor in the index.
func (s *Server) knownKB(ctx context.Context, name string) error {
	if _, ok := s.sv.Files.KB(name); ok {
		return nil
	}
	_, err := s.kbByName(ctx, name)
	return err
}

// docPath refuses everything that could leave the KB's folder, before
// anything is looked at, so that the answer tells nothing about the disk.
func docPath(kb, path string) (kbroot.DocPath, error) {
	if err := kbroot.ValidKBName(kb); err != nil {
		return kbroot.DocPath{}, err
	}
	clean, err := kbroot.CleanPath(path)
	return kbroot.DocPath{KB: kb, Path: clean}, err
}

// document answers GET /document: metadata, a page of text, revisions, and the borders of the chunks in that page.
func (s *Server) document(_ http.ResponseWriter, c *call) (any, error) {
	offset, err := c.number("offset", 0, 0, 1<<40)
	if err != nil {
		return nil, err
	}
	limit, err := c.number("limit", 20_000, 1, 100_000)
	if err != nil {
		return nil, err
	}
	if c.str("kb") == "" || c.str("path") == "" {
		return nil, fault.New(fault.Invalid, "bad_parameter", "kb and path are required")
	}
	if err := plainPath(c.str("path")); err != nil {
		return nil, err
	}
	kb, err := s.kbByName(c.Context(), c.str("kb"))
	if err != nil {
		return nil, err
	}
	doc, ok, err := s.sv.Index.Document(c.Context(), kb.ID, c.str("path"))
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, fault.New(fault.NotFound, "document_not_found", "there is no document %.200q in %q", c.str("path"), kb.Name).
			WithHint("GET /admin/kbs/%s/documents lists them; ragd ignored FILE tells why a file is not among them", kb.Name)
	}
	return s.view(c.Context(), kb.ID, doc, int(offset), int(limit))
}

// plainPath checks a path of the index: of a file, or of a part in one ("mail.eml › report.pdf").
func plainPath(path string) error {
	file, _, _ := strings.Cut(path, " › ")
	_, err := kbroot.CleanPath(file)
	return err
}

func (s *Server) view(ctx context.Context, kb int64, doc store.DocRecord, offset, limit int) (wire.DocumentView, error) {
	v := wire.DocumentView{
		Document: wireDocument(doc), FrontMatter: doc.Meta.Front, FrontError: doc.Meta.FrontError, Meta: doc.Meta.Meta,
		Offset: offset, Limit: limit, Stale: s.stale(doc),
	}
	text, ok, err := s.sv.Index.ReadDocument(ctx, kb, doc.Path, offset, limit)
	if err != nil || !ok {
		return v, err
	}
	v.Content, v.TotalChars, v.Revisions = text.Content, text.TotalChars, text.Revisions
	end := offset + limit
	v.Truncated = end < text.TotalChars
	chunks, err := s.sv.Index.DocumentChunks(ctx, doc.ID)
	if err != nil {
		return v, err
	}
	for _, ch := range chunks {
		if ch.CharEnd <= offset || ch.CharStart >= end {
			continue
		}
		v.Borders = append(v.Borders, wire.ChunkBorder{
			Index: ch.Index, CharStart: ch.CharStart, CharEnd: ch.CharEnd,
			FirstLine: ch.FirstLine, LastLine: ch.LastLine, Headings: ch.Headings, Page: ch.Page,
		})
	}
	return v, nil
}

// stale reports whether the file differs from what was indexed. Where the
// disk cannot be asked, nothing is claimed.
func (s *Server) stale(doc store.DocRecord) bool {
	file, _, _ := strings.Cut(doc.Path, " › ")
	e, err := s.sv.Files.Stat(kbroot.DocPath{KB: doc.KB, Path: file})
	if err != nil {
		return false
	}
	if e.Verdict.Code == kbroot.Missing {
		return true
	}
	return doc.Stat.MTimeNS != 0 && (e.Size != doc.Stat.Size || e.ModTime.UnixNano() != doc.Stat.MTimeNS)
}
