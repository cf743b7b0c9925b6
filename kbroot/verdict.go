package kbroot

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
)

// ignored judges one name of a folder by the ignore rules. The folders above
// it are known not to be ignored. Order: the daemon's own data, built-in
// excludes, hidden names, configured patterns, ignore files (deepest first).
func (d *dir) ignored(path, name string, isDir bool) Verdict {
	if v := d.fixed(path, name); v.Code != OK {
		return v
	}
	st := d.s.st
	if name[0] == '.' && !st.opts.Hidden {
		return Verdict{Code: IgnoredHidden, Reason: fmt.Sprintf("%q is hidden (its name begins with a dot)", DisplayPath(name)), Rule: "hidden = false"}
	}
	if p := st.extra.last(d.doc(path), name, isDir); p != nil {
		if p.negate {
			return Verdict{Code: OK}
		}
		return Verdict{Code: IgnoredRule, Reason: fmt.Sprintf("a pattern of the configuration ignores %q", DisplayPath(name)), Rule: "exclude: " + p.text}
	}
	return d.byRules(path, name, isDir)
}

// ignoredFirst judges a first-level name of a root. Hidden folders are never KBs.
func (d *dir) ignoredFirst(name string, isDir bool) Verdict {
	if v := d.fixed(name, name); v.Code != OK {
		return v
	}
	if name[0] == '.' {
		return Verdict{Code: IgnoredHidden, Reason: fmt.Sprintf("%q is hidden, and hidden folders are no knowledge bases", DisplayPath(name)), Rule: "hidden folder of a root"}
	}
	return d.byRules(name, name, isDir)
}

func (d *dir) byRules(path, name string, isDir bool) Verdict {
	p, f := d.rules.decide(path, name, isDir)
	if p == nil || p.negate {
		return Verdict{Code: OK}
	}
	return Verdict{Code: IgnoredRule, Reason: fmt.Sprintf("a rule of %s ignores %q", DisplayPath(f.name), DisplayPath(name)), Rule: ruleText(f, p)}
}

// fixed are the rules no configuration takes away.
func (d *dir) fixed(path, name string) Verdict {
	t := d.s.top
	if len(t.own) > 0 {
		real := path
		if d.real != d.path {
			real = join(d.real, name)
		}
		if t.owns(path) || t.owns(real) {
			return ownVerdict(name)
		}
	}
	if e := builtins.find(name); e != nil {
		return builtinVerdict(name, e)
	}
	return Verdict{Code: OK}
}

// owns reports whether a path is one of the daemon's own. One that ends in *
// stands for all names of its folder that begin so.
func (t *top) owns(path string) bool {
	return slices.ContainsFunc(t.own, func(own string) bool {
		start, many := strings.CutSuffix(own, "*")
		rest, ok := strings.CutPrefix(path, start)
		return ok && (rest == "" || many && !strings.Contains(rest, "/"))
	})
}

func ownVerdict(name string) Verdict {
	return Verdict{Code: IgnoredBuiltin, Reason: fmt.Sprintf("%q holds the daemon's own data", DisplayPath(name)), Rule: "built-in: own data"}
}

func builtinVerdict(name string, e *exclude) Verdict {
	return Verdict{Code: IgnoredBuiltin, Reason: fmt.Sprintf("%q is left out: %s", DisplayPath(name), e.why), Rule: "built-in: " + e.pattern}
}

// judge finishes the verdict of a file by what stat shows.
func (d *dir) judge(name string, f *found) {
	st := d.s.st
	switch mode := f.fi.Mode(); {
	case mode.IsDir():
	case !mode.IsRegular():
		f.verdict = Verdict{Code: ExcludedSpecial, Reason: "it is " + kindOf(mode) + ", not a file"}
	case f.fi.Size() > st.opts.MaxFileBytes:
		f.verdict = Verdict{
			Code:   ExcludedSize,
			Reason: fmt.Sprintf("it has %d bytes; files over %d bytes are not indexed", f.fi.Size(), st.opts.MaxFileBytes),
			Rule:   "max_file_bytes",
		}
	case !d.readable(name, f):
		f.verdict = Verdict{Code: ExcludedAccess, Reason: "there is no permission to read it"}
	}
}

func kindOf(m fs.FileMode) string {
	switch {
	case m&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case m&fs.ModeSocket != 0:
		return "a socket"
	case m&fs.ModeDevice != 0:
		return "a device"
	}
	return "a special file"
}

// readable decides by owner and mode where they are clear, which spares a
// system call for nearly every file, and tries an open where they are not.
func (d *dir) readable(name string, f *found) bool {
	uid := d.s.st.uid
	perm := f.fi.Mode().Perm()
	if uid <= 0 || perm&0o444 == 0o444 { // 0 reads all; below 0 there are no owners
		return true
	}
	if _, _, _, owner := sysStat(f.fi); owner == uid {
		return perm&0o400 != 0
	}
	var h *os.File
	var err error
	if f.follow {
		h, err = d.s.root.OpenFile(f.target, os.O_RDONLY|openNonblock, 0)
	} else {
		h, err = d.r.OpenFile(name, os.O_RDONLY|openNonblock, 0)
	}
	if err != nil {
		return !errors.Is(err, fs.ErrPermission)
	}
	_ = h.Close()
	return true
}

// fill copies what stat showed into an entry.
func (e *Entry) fill(fi fs.FileInfo) {
	e.Size, e.ModTime, e.Mode = fi.Size(), fi.ModTime(), fi.Mode()
	e.Dev, e.Inode, e.CTime, _ = sysStat(fi)
}

func excludedLink(format string, args ...any) Verdict {
	return Verdict{Code: ExcludedSymlink, Reason: fmt.Sprintf(format, args...)}
}

func hasElem(path string, test func(string) Verdict) Verdict {
	for rest := path; rest != ""; {
		elem, tail, _ := strings.Cut(rest, "/")
		if v := test(elem); v.Code != OK {
			return v
		}
		rest = tail
	}
	return Verdict{Code: OK}
}
