package config

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/BurntSushi/toml"

	"ragd/internal/fault"
)

const (
	maxFile    = 256 << 10
	maxNesting = 32 // of brackets; settings need three
)

// file is a settings file that was read, before its values are judged.
type file struct {
	path   string
	values map[string]any // leaf → value; sections are joined with dots
	roots  []map[string]any
	mounts []map[string]any
	agents []map[string]any
	lines  lines
}

// readFile reads at most maxFile bytes of a regular file.
func readFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fileError(path, err)
	}
	if !info.Mode().IsRegular() {
		return nil, fault.New(fault.Invalid, "config_unreadable", "the settings file %s is not a regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fileError(path, err)
	}
	defer func() { _ = f.Close() }() // it was only read
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, fileError(path, err)
	}
	if len(data) > maxFile {
		return nil, fault.New(fault.Invalid, "config_too_large", "the settings file %s has more than %d bytes", path, maxFile)
	}
	return data, nil
}

func fileError(path string, err error) error {
	e := fault.New(fault.Invalid, "config_unreadable", "the settings file %s cannot be read", path).Because(err)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e.Message = "the settings file " + path + " does not exist"
		e.Code = "config_missing"
		_ = e.WithHint("check --config and RAGD_CONFIG; without either ragd needs no file")
	case errors.Is(err, fs.ErrPermission):
		_ = e.WithHint("check the file's owner and mode")
	}
	return e
}

// parseFile reads TOML and refuses what is no setting.
func parseFile(path string, data []byte) (*file, error) {
	if !utf8.Valid(data) {
		return nil, fault.New(fault.Invalid, "config_syntax", "%s is not valid UTF-8", path).WithHint("save it as UTF-8")
	}
	if line := tooDeep(data); line > 0 {
		return nil, fault.New(fault.Invalid, "config_syntax", "%s:%d: more than %d nested brackets", path, line, maxNesting)
	}
	tree := map[string]any{}
	if _, err := toml.Decode(string(data), &tree); err != nil {
		var pe toml.ParseError
		if errors.As(err, &pe) {
			return nil, fault.New(fault.Invalid, "config_syntax", "%s:%d: %s", path, pe.Position.Line, firstLine(pe.Message, pe.Error())).
				WithHint("see https://toml.io for how the file is to be written")
		}
		return nil, fault.New(fault.Invalid, "config_syntax", "%s is not valid TOML: %s", path, firstLine(err.Error()))
	}
	f := &file{path: path, values: map[string]any{}, lines: lines{scanBlocks(data)}}
	return f, f.sort(tree)
}

func firstLine(candidates ...string) string {
	for _, s := range candidates {
		if s, _, _ = strings.Cut(s, "\n"); s != "" {
			return clip(s)
		}
	}
	return "syntax error"
}

// tooDeep returns the line of a bracket nested too deep, or 0. It counts
// brackets in strings too, only until a line that closes as many.
func tooDeep(data []byte) int {
	s := &scanner{data: data, line: 1}
	depth := 0
	for s.pos < len(s.data) {
		switch s.data[s.pos] {
		case '"', '\'':
			s.skipString()
			continue
		case '#':
			s.toNewline()
			continue
		case '[', '{':
			if depth++; depth > maxNesting {
				return s.line
			}
		case ']', '}':
			depth = max(0, depth-1)
		case '\n':
			s.line++
		}
		s.pos++
	}
	return 0
}

// sort puts the tree's values where they belong.
func (f *file) sort(tree map[string]any) error {
	known := map[string]bool{}
	sections := map[string]bool{}
	for _, k := range Keys() {
		known[k.Name] = true
		if section, _, ok := strings.Cut(k.Name, "."); ok {
			sections[section] = true
		}
	}
	var unknown []unknownKey
	for name, v := range tree {
		switch {
		case name == "root" || name == "mount" || name == "agent":
			list, err := f.tables(name, v)
			if err != nil {
				return err
			}
			switch name {
			case "root":
				f.roots = list
			case "mount":
				f.mounts = list
			default:
				f.agents = list
			}
		case sections[name]:
			table, ok := v.(map[string]any)
			if !ok {
				return f.shapeError(name, "a section, written ["+name+"]")
			}
			for sub, v := range table {
				if full := name + "." + sub; known[full] {
					f.values[full] = v
				} else {
					unknown = append(unknown, unknownKey{full, f.lines.of(-1, name, sub)})
				}
			}
		case known[name]:
			f.values[name] = v
		default:
			unknown = append(unknown, unknownKey{name, f.lines.of(-1, name)})
		}
	}
	return f.refuseUnknown(unknown)
}

// tables reads [[root]], [[mount]] and [[agent]].
func (f *file) tables(name string, v any) ([]map[string]any, error) {
	var list []map[string]any
	switch v := v.(type) {
	case []map[string]any:
		list = v
	case []any: // mount = [{…}, {…}]
		for _, e := range v {
			m, ok := e.(map[string]any)
			if !ok {
				return nil, f.shapeError(name, "tables, written [["+name+"]]")
			}
			list = append(list, m)
		}
	default:
		return nil, f.shapeError(name, "tables, written [["+name+"]]")
	}
	var unknown []unknownKey
	for i, m := range list {
		for key := range m {
			if fieldDoc(name, key) == nil {
				unknown = append(unknown, unknownKey{name + "." + key, f.lines.of(i, name, key)})
			}
		}
	}
	return list, f.refuseUnknown(unknown)
}

func (f *file) shapeError(name, want string) error {
	line := f.lines.of(-1, name)
	return fault.New(fault.Invalid, "config_invalid", "%s in %s:%d is not %s", name, f.path, line, want)
}

type unknownKey struct {
	name string
	line int
}

func (f *file) refuseUnknown(unknown []unknownKey) error {
	if len(unknown) == 0 {
		return nil
	}
	sort.Slice(unknown, func(i, j int) bool {
		if unknown[i].line != unknown[j].line {
			return unknown[i].line < unknown[j].line
		}
		return unknown[i].name < unknown[j].name
	})
	first := unknown[0]
	e := fault.New(fault.Invalid, "config_unknown_key", "unknown setting %q in %s:%d", clip(first.name), f.path, first.line).
		WithHint("all settings: ragd config --keys")
	if near := nearestKey(first.name); near != "" {
		e.Hint = "did you mean " + near + "? " + e.Hint
	}
	return e
}
