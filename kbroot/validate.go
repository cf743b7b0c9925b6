package kbroot

import (
	"fmt"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"ragd/internal/fault"
)

// maxExcludes bounds the configured patterns; each is tried on every path.
const maxExcludes = 1000

// buildTops checks roots and mounts and fills in the names that were left out.
func buildTops(o *Options) ([]*top, error) {
	var tops []*top
	taken := map[string]bool{}
	for _, m := range o.Mounts { // explicit names are given out first
		if err := validTopName("mount", m.Name); err != nil {
			return nil, err
		}
		if taken[m.Name] {
			return nil, fault.New(fault.Invalid, "bad_mount", "two mounts are named %q; names must differ", m.Name)
		}
		taken[m.Name] = true
	}
	for _, r := range o.Roots {
		if r.Name == "" {
			continue
		}
		if err := validTopName("root", r.Name); err != nil {
			return nil, err
		}
		if taken[r.Name] {
			return nil, fault.New(fault.Invalid, "bad_root", "the name %q of a root is used twice; names of roots and mounts must differ", r.Name)
		}
		taken[r.Name] = true
	}
	for i := range o.Roots {
		r := &o.Roots[i]
		dir, err := cleanDir("root", r.Dir)
		if err != nil {
			return nil, err
		}
		r.Dir = dir
		if r.Name == "" {
			r.Name = freeName(rootBase(dir), taken)
		}
		tops = append(tops, &top{name: r.Name, dir: dir})
	}
	for i := range o.Mounts {
		m := &o.Mounts[i]
		dir, err := cleanDir("mount", m.Dir)
		if err != nil {
			return nil, err
		}
		m.Dir = dir
		tops = append(tops, &top{name: m.Name, dir: dir, mounted: true, writable: m.Writable, poll: m.Poll})
	}
	if err := disjoint(tops); err != nil {
		return nil, err
	}
	if err := setOwn(o, tops); err != nil {
		return nil, err
	}
	return tops, nil
}

func validTopName(what, name string) error {
	if err := ValidKBName(name); err != nil {
		return fault.New(fault.Invalid, "bad_"+what, "%s name %q is not allowed: %s", what, clip(name), kbNameRule)
	}
	if !utf8.ValidString(name) || strings.ContainsFunc(name, isControl) {
		return fault.New(fault.Invalid, "bad_"+what, "%s name %q is not allowed: it must be UTF-8 without control characters", what, clip(name))
	}
	return nil
}

func cleanDir(what, dir string) (string, error) {
	if dir == "" || strings.ContainsRune(dir, 0) || !filepath.IsAbs(dir) {
		return "", fault.New(fault.Invalid, "bad_"+what, "the folder %q of a %s is not allowed: it must be an absolute path", clip(dir), what)
	}
	return filepath.Clean(dir), nil
}

func rootBase(dir string) string {
	base := filepath.Base(dir)
	if base == string(filepath.Separator) || base == "." {
		return "root"
	}
	return base
}

func freeName(base string, taken map[string]bool) string {
	name := base
	for i := 2; taken[name]; i++ {
		name = fmt.Sprintf("%s-%d", base, i)
	}
	taken[name] = true
	return name
}

// disjoint refuses folders that are the same or lie in one another, as
// written and, where they exist, as links resolve: a file must belong to one
// KB only.
func disjoint(tops []*top) error {
	real := make([]string, len(tops))
	for i, t := range tops {
		real[i] = t.dir
		if p, err := filepath.EvalSymlinks(t.dir); err == nil {
			real[i] = p
		}
	}
	for i, a := range tops {
		for j, b := range tops[:i] {
			for _, pair := range [][2]string{{a.dir, b.dir}, {real[i], real[j]}} {
				switch {
				case pair[0] == pair[1]:
					return fault.New(fault.Invalid, "duplicate_root", "%q and %q are the same folder (%s)", b.name, a.name, a.dir).
						WithHint("name each folder once")
				case under(pair[0], pair[1]):
					return nested(a, b)
				case under(pair[1], pair[0]):
					return nested(b, a)
				}
			}
		}
	}
	return nil
}

func nested(inner, outer *top) error {
	return fault.New(fault.Invalid, "nested_root", "the folder %s of %q lies inside %s of %q", inner.dir, inner.name, outer.dir, outer.name).
		WithHint("a file can belong to one knowledge base only; take one of the two out of the configuration")
}

// setOwn works out which of the daemon's own paths lie below each top. An own
// folder that a root lies in does not hide the root.
func setOwn(o *Options, tops []*top) error {
	for _, own := range o.OwnDirs {
		if !filepath.IsAbs(own) {
			return fault.New(fault.Invalid, "bad_own_dir", "the daemon's own folder %q is not an absolute path", own)
		}
		own = filepath.Clean(own)
		forms := []string{own}
		if p, err := filepath.EvalSymlinks(own); err == nil && p != own {
			forms = append(forms, p)
		} else if p, err := filepath.EvalSymlinks(filepath.Dir(own)); err == nil && p != filepath.Dir(own) {
			forms = append(forms, filepath.Join(p, filepath.Base(own)))
		}
		for _, t := range tops {
			bases := []string{t.dir}
			if p, err := filepath.EvalSymlinks(t.dir); err == nil && p != t.dir {
				bases = append(bases, p)
			}
			for _, base := range bases {
				for _, form := range forms {
					if rel, ok := relUnder(base, form); ok && rel != "" {
						t.own = append(t.own, rel)
					}
				}
			}
		}
	}
	return nil
}

// under reports whether path lies strictly below dir; both absolute and clean.
func under(path, dir string) bool {
	rel, ok := relUnder(dir, path)
	return ok && rel != ""
}

// relUnder returns path relative to dir with "/" between elements; "" where
// they are equal.
func relUnder(dir, path string) (string, bool) {
	if path == dir {
		return "", true
	}
	prefix := dir
	if !strings.HasSuffix(prefix, string(filepath.Separator)) {
		prefix += string(filepath.Separator)
	}
	if !strings.HasPrefix(path, prefix) {
		return "", false
	}
	return filepath.ToSlash(path[len(prefix):]), true
}
