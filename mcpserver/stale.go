package mcpserver

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"ragd/internal/store"
	"ragd/kbroot"
)

// partSign stands between a document and a part of it (a sheet of a workbook,
// a file in an archive).
const partSign = " › "

// stale reports whether a document's file differs from what its current
// revision was made of. When size and times say "perhaps", the bytes decide.
func (s *Server) stale(ctx context.Context, ref kbRef, doc store.DocRecord) bool {
	at := ref.doc(doc.Path)
	entry, err := s.deps.Files.Stat(at)
	if err == nil && entry.Verdict.Code == kbroot.Missing {
		whole, _, isPart := strings.Cut(doc.Path, partSign)
		parent, ok, parentErr := s.deps.Store.Document(ctx, ref.id, whole)
		if !isPart || parentErr != nil || !ok {
			return !isPart
		}
		at, doc = ref.doc(whole), parent
		entry, err = s.deps.Files.Stat(at)
	}
	switch {
	case err != nil:
		return false // the root cannot be read: freshness says so, the file may be the same
	case entry.Verdict.Code != kbroot.OK:
		return true
	case doc.State == store.StateIndexed && statOf(entry) == doc.Stat:
		return false
	case entry.Size != doc.Size && doc.State == store.StateIndexed:
		return true
	}
	hash, ok := s.hashFile(at)
	return !ok || hash != doc.Hash
}

func statOf(e kbroot.Entry) store.Stat {
	return store.Stat{Size: e.Size, MTimeNS: e.ModTime.UnixNano(), CTimeNS: e.CTime.UnixNano(), Inode: e.Inode}
}

// hashFile is the SHA-256 of a document's file; false when it cannot be read
// or is over the size limit.
func (s *Server) hashFile(p kbroot.DocPath) (sum [32]byte, ok bool) {
	f, info, err := s.deps.Files.Open(p)
	if err != nil {
		return sum, false
	}
	defer func() { _ = f.Close() }() // only read from
	limit := s.opts.Limits.DocumentBytes
	if info.Size() > limit {
		return sum, false
	}
	h := sha256.New()
	n, err := io.Copy(h, io.LimitReader(f, limit+1))
	if err != nil || n > limit {
		return sum, false
	}
	h.Sum(sum[:0])
	return sum, true
}

// hexHash is for the audit: "" when there is no such file.
func (s *Server) hexHash(p kbroot.DocPath) string {
	sum, ok := s.hashFile(p)
	if !ok {
		return ""
	}
	return hex.EncodeToString(sum[:])
}

// spellings are a path as given and in both Unicode normal forms.
func spellings(p string) []string {
	all := []string{p}
	for _, form := range []norm.Form{norm.NFC, norm.NFD} {
		if q := form.String(p); !slices.Contains(all, q) {
			all = append(all, q)
		}
	}
	return all
}

func rawValue(b []byte) any { return json.RawMessage(b) }
