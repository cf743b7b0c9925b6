package admin

import (
	"net/http"
	"path/filepath"
	"strings"

	"ragd/internal/fault"
	"ragd/internal/wire"
)

func (s *Server) reindex(_ http.ResponseWriter, c *call) (any, error) {
	force, err := c.boolean("force")
	if err != nil {
		return nil, err
	}
	if name := c.str("kb"); name != "" {
		if err := s.knownKB(c.Context(), name); err != nil {
			return nil, err
		}
	}
	counts, err := s.sv.Work.Reindex(c.Context(), c.str("kb"), force)
	if err != nil {
		return nil, err
	}
	return counts, nil
}

func (s *Server) pause(_ http.ResponseWriter, c *call) (any, error)  { return s.setPaused(c, true) }
func (s *Server) resume(_ http.ResponseWriter, c *call) (any, error) { return s.setPaused(c, false) }

func (s *Server) setPaused(c *call, paused bool) (any, error) {
	kb := c.str("kb")
	if err := s.sv.Work.SetPaused(c.Context(), kb, paused); err != nil {
		return nil, err
	}
	return wire.Paused{KB: kb, Paused: paused}, nil
}

func (s *Server) reload(_ http.ResponseWriter, c *call) (any, error) {
	r, err := s.sv.Daemon.Reload(c.Context())
	if err != nil {
		return nil, err
	}
	if r.Applied == nil {
		r.Applied = []string{}
	}
	if r.NeedRestart == nil {
		r.NeedRestart = []string{}
	}
	return r, nil
}

func (s *Server) check(_ http.ResponseWriter, c *call) (any, error) {
	deep, err := c.boolean("deep")
	if err != nil {
		return nil, err
	}
	return problems(s.sv.Daemon.Check(c.Context(), deep))
}

func (s *Server) repair(_ http.ResponseWriter, c *call) (any, error) {
	return problems(s.sv.Daemon.Repair(c.Context()))
}

func problems(r wire.Check, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	if r.Problems == nil {
		r.Problems = []wire.Problem{}
	}
	return r, nil
}

// ignored answers GET /admin/ignored: what becomes of a file, and what its state in the index is.
func (s *Server) ignored(_ http.ResponseWriter, c *call) (any, error) {
	path := c.str("path")
	if !filepath.IsAbs(path) || strings.ContainsRune(path, 0) {
		return nil, fault.New(fault.Invalid, "bad_path", "path is %.200q; allowed: an absolute path", path)
	}
	entry, verdict, err := s.sv.Files.Explain(filepath.Clean(path))
	if err != nil {
		return nil, err
	}
	out := wire.Verdict{
		Path: path, KB: entry.KB, Doc: entry.Path,
		Code: string(verdict.Code), Reason: verdict.Reason, Rule: verdict.Rule,
	}
	if entry.KB == "" || entry.Path == "" {
		return out, nil
	}
	kb, err := s.kbByName(c.Context(), entry.KB)
	if fault.KindOf(err) == fault.NotFound {
		return out, nil // not indexed yet
	}
	if err != nil {
		return nil, err
	}
	doc, ok, err := s.sv.Index.Document(c.Context(), kb.ID, entry.Path)
	if err != nil || !ok {
		return out, err
	}
	out.State = string(doc.State)
	out.Indexed = doc.RevisionID != ""
	if out.Reason == "" {
		out.Reason = doc.Reason
	}
	return out, nil
}
