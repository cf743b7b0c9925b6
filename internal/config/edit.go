package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"ragd/internal/fault"
)

// NewMount is what AddMount writes.
type NewMount struct {
	Name     string
	Dir      string // absolute
	Writable bool
	Poll     bool
}

// AddMount appends a [[mount]] to the settings file (it makes the file where
// there is none) and returns the file's path. The file's other bytes stay as
// they are. The result is loaded before it replaces the file, so an edit that
// the daemon would refuse is not made.
func AddMount(s Sources, m NewMount) (string, error) {
	return editFile(s, func(path string, data []byte) ([]byte, error) {
		if err := checkKBName(m.Name); err != nil {
			return nil, valueError("mount.name", allowedKBName, Source{}, clip(fmt.Sprintf("%q", m.Name)), err)
		}
		if !utf8.ValidString(m.Dir) {
			return nil, fault.New(fault.Invalid, "config_invalid", "the folder's path %q is not UTF-8, which a settings file cannot hold", m.Dir).
				WithHint("make a link to it with a plain name, or name it in KB_ROOT")
		}
		if err := editable(path, data, "mount"); err != nil {
			return nil, err
		}
		return append(withGap(data), mountText(m)...), nil
	})
}

// RemoveMount takes the [[mount]] of that name out of the settings file.
func RemoveMount(s Sources, name string) (string, error) {
	return editFile(s, func(path string, data []byte) ([]byte, error) {
		if err := editable(path, data, "mount"); err != nil {
			return nil, err
		}
		b, err := findMount(s, path, data, name)
		if err != nil {
			return nil, err
		}
		return cut(data, b), nil
	})
}

func editFile(s Sources, change func(path string, data []byte) ([]byte, error)) (string, error) {
	path, _, err := s.FilePath()
	if err != nil {
		return "", err
	}
	// Through links, such as those of a dotfiles repository, to the file itself.
	target := resolved(path)
	before, err := readFile(target)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return path, err
	}
	if before != nil {
		// A file that is wrong already is to be mended by its owner first.
		if _, err := load(s, path, before); err != nil {
			return path, err
		}
	}
	after, err := change(path, bytes.Clone(before))
	if err != nil {
		return path, err
	}
	if len(after) > maxFile {
		return path, fault.New(fault.Invalid, "config_too_large", "the settings file %s would have more than %d bytes", path, maxFile)
	}
	if _, err := load(s, path, after); err != nil {
		return path, err
	}
	return path, replaceFile(target, before, after)
}

// replaceFile writes atomically and keeps the mode; it refuses when somebody
// else changed the file meanwhile.
func replaceFile(path string, before, after []byte) error {
	fail := func(err error) error {
		return fault.New(fault.Unavailable, "config_unwritable", "the settings file %s cannot be written", path).Because(err).
			WithHint("check the owner and mode of the file and its folder")
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fail(err)
	}
	mode := fs.FileMode(0o600)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".config-*.toml")
	if err != nil {
		return fail(err)
	}
	defer func() { _ = os.Remove(tmp.Name()) }() // gone already when all went well
	_, err = tmp.Write(after)
	err = errors.Join(err, tmp.Chmod(mode), tmp.Sync(), tmp.Close())
	if err != nil {
		return fail(err)
	}
	now, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fail(err)
	}
	if !bytes.Equal(now, before) {
		return fault.New(fault.Conflict, "config_changed", "the settings file %s was changed by someone else just now", path).
			WithHint("try again")
	}
	if err := os.Rename(tmp.Name(), path); err != nil {
		return fail(err)
	}
	return nil
}

// editable refuses a file that writes the tables in another of TOML's forms.
func editable(path string, data []byte, table string) error {
	for _, b := range scanBlocks(data) {
		other := len(b.path) > 0 && b.path[0] == table && (!b.array || len(b.path) > 1)
		for _, k := range b.keys {
			other = other || len(b.path) == 0 && k.path[0] == table
		}
		if other {
			return fault.New(fault.Conflict, "config_form", "%s writes its %ss in a form that ragd does not edit", path, table).
				WithHint("edit the file by hand, or write each as a [[%s]] block", table)
		}
	}
	return nil
}

func findMount(s Sources, path string, data []byte, name string) (block, error) {
	c, err := load(s, path, data)
	if err != nil {
		return block{}, err
	}
	nth := -1
	var names []string
	for i, m := range c.Mounts {
		names = append(names, m.Name)
		if m.Name == name {
			nth = i
		}
	}
	if nth < 0 {
		e := fault.New(fault.NotFound, "mount_not_found", "no mount %q in %s", name, path)
		if len(names) == 0 {
			return block{}, e.WithHint("the file has no mounts; a folder below a root is removed by deleting it")
		}
		return block{}, e.WithHint("its mounts are: %s", strings.Join(names, ", "))
	}
	for _, b := range scanBlocks(data) {
		if b.array && b.nth == nth && joinPath(b.path) == "mount" {
			return b, nil
		}
	}
	return block{}, fault.New(fault.Internal, "config_form", "the place of mount %q in %s was not found", name, path)
}

// cut removes a block and one blank line after it. Comments between it and
// the next block stay: they may belong to that one.
func cut(data []byte, b block) []byte {
	end := b.end
	rest := data[end:]
	if i := bytes.IndexByte(rest, '\n'); i >= 0 && len(bytes.TrimSpace(rest[:i])) == 0 {
		end += i + 1
	}
	start := bytes.LastIndexByte(data[:b.start], '\n') + 1 // with what indents the header
	return append(bytes.Clone(data[:start]), data[end:]...)
}

func withGap(data []byte) []byte {
	switch {
	case len(data) == 0:
		return []byte("# ragd's settings; all of them: ragd config --keys\n\n")
	case bytes.HasSuffix(data, []byte("\n\n")):
		return data
	case bytes.HasSuffix(data, []byte("\n")):
		return append(data, '\n')
	}
	return append(data, '\n', '\n')
}

func mountText(m NewMount) string {
	var b strings.Builder
	fmt.Fprintf(&b, "[[mount]]\nname = %s\ndir = %s\n", quoteTOML(m.Name), quoteTOML(m.Dir))
	if m.Writable {
		b.WriteString("writable = true\n")
	}
	if m.Poll {
		b.WriteString("poll = true\n")
	}
	return b.String()
}

// quoteTOML writes a basic string.
func quoteTOML(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < 0x20 || r == 0x7f:
			fmt.Fprintf(&b, "\\u%04X", r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
