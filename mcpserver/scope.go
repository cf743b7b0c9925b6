package mcpserver

import (
	"context"
	"path"
	"slices"
	"strings"

	"ragd/internal/fault"
	"ragd/kbroot"
)

// scope is the set of KBs an agent sees.
type scope struct {
	globs []string // over names; nil = all
	root  string   // "" = all roots
}

func (sc scope) all() bool { return sc.globs == nil && sc.root == "" }

// allows tells by the name alone.
func (sc scope) allows(name string) bool {
	if sc.globs == nil {
		return true
	}
	return slices.ContainsFunc(sc.globs, func(g string) bool {
		ok, err := path.Match(g, name) // a bad glob, refused by the configuration already, matches nothing
		return ok && err == nil
	})
}

// kbRef is a knowledge base as the disk and the store know it.
type kbRef struct {
	name    string
	root    string
	mounted bool
	id      int64 // of the store; 0 = nothing of it has been indexed yet
	onDisk  bool
}

// visible lists the KBs in scope by name, those on disk and those in the
// store: a KB whose root cannot be read just now is still searchable.
func (s *Server) visible(ctx context.Context) ([]kbRef, error) {
	refs, err := s.nameable(ctx)
	if s.scope.root != "" {
		refs = slices.DeleteFunc(refs, func(r kbRef) bool { return r.root != s.scope.root })
	}
	return refs, err
}

// nameable lists the KBs that the agent's globs allow, under any root.
func (s *Server) nameable(ctx context.Context) ([]kbRef, error) {
	stored, err := s.deps.Store.KBs(ctx)
	if err != nil {
		return nil, err
	}
	onDisk, err := s.deps.Files.KBs()
	if err != nil {
		s.log.Warn("listing the knowledge bases on disk failed", "error", err)
	}
	byName := make(map[string]kbRef, len(stored))
	for _, k := range stored {
		byName[k.Name] = kbRef{name: k.Name, root: k.Root, mounted: k.Mounted, id: k.ID}
	}
	for _, k := range onDisk {
		ref := byName[k.Name]
		ref.name, ref.root, ref.mounted, ref.onDisk = k.Name, k.Root, k.Mounted, true
		byName[k.Name] = ref
	}
	refs := make([]kbRef, 0, len(byName))
	for name, ref := range byName {
		if s.scope.allows(name) {
			refs = append(refs, ref)
		}
	}
	slices.SortFunc(refs, func(a, b kbRef) int { return strings.Compare(a.name, b.name) })
	return refs, nil
}

// kb resolves the name of one KB, as it came in an argument.
func (s *Server) kb(ctx context.Context, arg string) (kbRef, error) {
	refs, err := s.visible(ctx)
	if err != nil {
		return kbRef{}, err
	}
	if ref, ok := findKB(refs, decodeName(arg)); ok {
		return ref, nil
	}
	return kbRef{}, unknownKB(arg, refs)
}

// kbSet resolves the kb argument of a search: "" is every KB in scope, one
// name, or several separated by commas; a KB of exactly that name wins.
func (s *Server) kbSet(ctx context.Context, arg string) ([]kbRef, error) {
	refs, err := s.visible(ctx)
	if err != nil || arg == "" {
		return refs, err
	}
	if ref, ok := findKB(refs, decodeName(arg)); ok {
		return []kbRef{ref}, nil
	}
	var found []kbRef
	for part := range strings.SplitSeq(arg, ",") {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		ref, ok := findKB(refs, decodeName(part))
		if !ok {
			return nil, unknownKB(part, refs)
		}
		if !slices.Contains(found, ref) {
			found = append(found, ref)
		}
	}
	if len(found) == 0 {
		return nil, unknownKB(arg, refs)
	}
	return found, nil
}

func findKB(refs []kbRef, name string) (kbRef, bool) {
	i, ok := slices.BinarySearchFunc(refs, name, func(r kbRef, n string) int { return strings.Compare(r.name, n) })
	if !ok {
		return kbRef{}, false
	}
	return refs[i], true
}

const kbsNamed = 20 // in a hint

// unknownKB is the one answer to a KB that does not exist and to one that is
// outside the scope; it tells only what the caller may list anyway.
func unknownKB(arg string, refs []kbRef) error {
	e := fault.New(fault.NotFound, "kb_not_found", "there is no knowledge base %q", clip(arg, 100))
	if len(refs) == 0 {
		return e.WithHint("There are none at all yet; rag_list_kbs says where to put folders.")
	}
	names := make([]string, 0, kbsNamed)
	for _, r := range refs[:min(len(refs), kbsNamed)] {
		names = append(names, clip(encodeName(r.name), 60))
	}
	more := ""
	if len(refs) > kbsNamed {
		more = ", … (rag_list_kbs lists all)"
	}
	return e.WithHint("Use one of: %s%s.", strings.Join(names, ", "), more)
}

// storeIDs are the ids to search: nil, meaning all, only for an unscoped agent
// that named no KB.
func (s *Server) storeIDs(arg string, refs []kbRef) []int64 {
	if arg == "" && s.scope.all() {
		return nil
	}
	ids := make([]int64, 0, len(refs))
	for _, r := range refs {
		if r.id > 0 {
			ids = append(ids, r.id)
		}
	}
	return ids
}

const maxPathBytes = 4096

// docPath checks a path argument. All tricks get one answer, which says
// nothing of what lies outside.
func docPath(arg string) (string, error) {
	p := decodeName(arg)
	good := len(p) <= maxPathBytes && p != "" && !strings.ContainsRune(p, 0)
	for name := range strings.SplitSeq(p, "/") {
		good = good && name != "" && name != "." && name != ".."
	}
	if !good {
		return "", fault.New(fault.Invalid, "bad_path", "path %q is not the path of a document", clip(arg, 100)).
			WithHint("Give it relative to its knowledge base, as rag_list_documents shows it: names with / between them, no . or .. and no / at the ends.")
	}
	return p, nil
}

// doc addresses a document.
func (r kbRef) doc(p string) kbroot.DocPath { return kbroot.DocPath{KB: r.name, Path: p} }
