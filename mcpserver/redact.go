package mcpserver

import (
	"path/filepath"
	"regexp"
	"strings"

	"ragd/internal/fault"
)

var absPath = regexp.MustCompile(`(^|[\s"'(=` + "`" + `])(/[^\s"'()` + "`" + `]+)`)

// discreet returns e without the paths of the owner's machine that lie
// outside the roots (the index, the sockets): agents are not to learn them.
// What quotes the caller's own arguments is left as it is.
func (s *Server) discreet(e *fault.Error) *fault.Error {
	switch e.Kind {
	case fault.Invalid, fault.NotFound, fault.Denied, fault.Cancelled:
		return e
	}
	out := *e
	out.Message, out.Hint = s.redact(e.Message), s.redact(e.Hint)
	return &out
}

func (s *Server) redact(text string) string {
	if !strings.Contains(text, "/") {
		return text
	}
	roots := s.deps.Files.Roots()
	return absPath.ReplaceAllStringFunc(text, func(found string) string {
		m := absPath.FindStringSubmatch(found)
		p := filepath.Clean(strings.TrimRight(m[2], ".,;:"))
		for _, r := range roots {
			if p == r.Dir || strings.HasPrefix(p, r.Dir+"/") {
				return found
			}
		}
		return m[1] + "(a path on this machine)"
	})
}
