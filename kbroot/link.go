package kbroot

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// followLink judges the link name of d and, where it is to be followed, puts
// its target into f.
//
// A link is followed when its target lies inside the same root, and only once
// on the way to a document: a link to a folder behind a followed link is not
// followed. What is in the KB under its own path anyway is not taken a second
// time, and a link to a folder that the link is in is not followed. So every
// walk ends, and whether a path is a document depends on that path alone, not
// on the order of a walk.
func (d *dir) followLink(name string, f *found) {
	s := d.s
	top, err := s.realTop()
	if err != nil {
		f.verdict = excludedLink("the link cannot be resolved: %s", causeOf(err))
		return
	}
	self := join(d.real, name)
	if d.s.trace {
		f.hops = s.hops(filepath.Join(top, filepath.FromSlash(self)))
	}
	abs, err := filepath.EvalSymlinks(filepath.Join(top, filepath.FromSlash(self)))
	if err != nil {
		f.verdict = brokenLink(err)
		return
	}
	target, inside := relUnder(top, abs)
	switch {
	case !inside:
		f.verdict = excludedLink("the link leads out of the root")
	case target == "" || strings.HasPrefix(self, target+"/"):
		f.verdict = excludedLink("the link leads back to a folder it is in")
	case d.linked:
		f.verdict = excludedLink("it is a link behind a link, and links are followed once")
	default:
		f.verdict = d.judgeTarget(target)
	}
	if f.verdict.Code != OK {
		return
	}
	fi, err := s.root.Lstat(target)
	if err != nil {
		f.verdict = brokenLink(err)
		return
	}
	f.fi, f.target, f.follow = fi, target, true
}

// inTop is the absolute path of one relative to the root, as the root is
// written in the configuration.
func (s *session) inTop(rel string) string {
	return filepath.Join(s.top.dir, filepath.FromSlash(rel))
}

// hops lists the paths a chain of links leads over and to, as absolute paths
// below the root, each as it is written in the link and with the links of its
// folder resolved. A change of any of them may change what the first link is.
func (s *session) hops(abs string) []string {
	var list []string
	note := func(path string) {
		if rel, ok := relUnder(s.real, path); ok && rel != "" && !slices.Contains(list, s.inTop(rel)) {
			list = append(list, s.inTop(rel))
		}
	}
	for range maxHops {
		to, err := os.Readlink(abs)
		if err != nil {
			break
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(abs), to)
		}
		note(to)
		abs = resolveFolder(to)
		note(abs)
	}
	return list
}

// maxHops is the length of chain the system follows.
const maxHops = 40

func brokenLink(err error) Verdict {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return excludedLink("the link leads nowhere")
	case errors.Is(err, fs.ErrPermission):
		return excludedLink("there is no permission to follow the link")
	}
	return excludedLink("the link cannot be resolved: %s", causeOf(err))
}

// judgeTarget looks at the target's own path: secrets and the daemon's data
// are not reached through a link either, and what is indexed under its own
// path in this KB is not indexed twice.
func (d *dir) judgeTarget(target string) Verdict {
	for at := target; at != "." && at != "/"; at = path.Dir(at) {
		if d.s.top.owns(at) {
			return ownVerdict(target)
		}
	}
	v := hasElem(target, func(elem string) Verdict {
		if e := builtins.find(elem); e != nil {
			return builtinVerdict(elem, e)
		}
		return Verdict{Code: OK}
	})
	if v.Code != OK {
		return v
	}
	if d.path == "" && !d.s.top.mounted {
		return v // the link is a KB of its own
	}
	rest := target
	if d.kb != "" {
		if !strings.HasPrefix(target, d.kbReal+"/") {
			return v
		}
		rest = target[len(d.kbReal)+1:]
	}
	if d.s.indexed(d.kb, rest) {
		return excludedLink("the link leads to %q, which is indexed under its own path", DisplayPath(rest))
	}
	return v
}

// indexed reports whether a path without links in it is a file that is
// listed, or a folder that is walked.
func (s *session) indexed(folder, path string) bool {
	kb, v, err := s.kbDir(folder)
	if err != nil || v.Code != OK {
		return false
	}
	elems := splitPath(path)
	d, _, v, err := kb.reach(elems[:len(elems)-1])
	if err != nil || v.Code != OK {
		return false
	}
	defer d.close()
	f, err := d.look(elems[len(elems)-1])
	return err == nil && f.verdict.Code == OK && (f.fi.IsDir() || f.fi.Mode().IsRegular())
}
