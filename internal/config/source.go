package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"ragd/internal/fault"
)

// Sources are where settings come from. FromOS fills it for a program; tests fill it by hand.
type Sources struct {
	File    string              // the settings file to read; it must exist. "" = RAGD_CONFIG, else the default place
	Env     map[string]string   // the environment
	Flags   map[string][]string // setting's name → values as given
	Home    string              // "" = unknown
	WorkDir string
	UID     int
}

// FromOS returns the sources of this process; file and flags come from its command line.
func FromOS(file string, flags map[string][]string) Sources {
	s := Sources{File: file, Flags: flags, Env: map[string]string{}, UID: os.Getuid()}
	for _, kv := range os.Environ() {
		if name, value, ok := strings.Cut(kv, "="); ok && name != "" {
			s.Env[name] = value
		}
	}
	// Either may be unknown; what needs it then says so.
	s.Home, _ = os.UserHomeDir()
	s.WorkDir, _ = os.Getwd()
	return s
}

// FilePath returns where the settings file is, or would be, and whether it
// was named by the user (and must therefore exist).
func (s Sources) FilePath() (path string, named bool, err error) {
	if s.File != "" {
		path, err = s.expand(s.File)
		return path, true, err
	}
	if p := s.Env["RAGD_CONFIG"]; p != "" {
		path, err = s.expand(p)
		return path, true, err
	}
	dir, err := s.xdg("XDG_CONFIG_HOME", ".config")
	return filepath.Join(dir, "ragd", "config.toml"), false, err
}

// xdg returns a base folder of the XDG specification, which says that relative values are to be ignored.
func (s Sources) xdg(name, below string) (string, error) {
	if dir := s.Env[name]; filepath.IsAbs(dir) {
		return filepath.Clean(dir), nil
	}
	if !filepath.IsAbs(s.Home) {
		return "", fault.New(fault.Invalid, "no_home", "neither HOME nor %s names a folder", name).
			WithHint("set HOME, or %s to an absolute path", name)
	}
	return filepath.Join(s.Home, below), nil
}

// runtimeDir is the folder of the sockets.
func (s Sources) runtimeDir() string {
	if dir := s.Env["XDG_RUNTIME_DIR"]; filepath.IsAbs(dir) {
		return filepath.Join(dir, "ragd")
	}
	// Shared with all users, hence the number; whoever uses it checks its owner.
	return fmt.Sprintf("/tmp/ragd-%d", s.UID)
}

// expand makes a path absolute: "~" is the home folder, and a relative path
// is relative to the working folder.
func (s Sources) expand(p string) (string, error) {
	switch {
	case p == "":
		return "", fmt.Errorf("the path is empty")
	case strings.ContainsRune(p, 0):
		return "", fmt.Errorf("the path holds a NUL")
	case p == "~" || strings.HasPrefix(p, "~/"):
		if !filepath.IsAbs(s.Home) {
			return "", fmt.Errorf("HOME is not set, so ~ means nothing")
		}
		return filepath.Join(s.Home, p[1:]), nil
	case strings.HasPrefix(p, "~"):
		return "", fmt.Errorf("~ with a user's name is not understood; write the whole path")
	case filepath.IsAbs(p):
		return filepath.Clean(p), nil
	case !filepath.IsAbs(s.WorkDir):
		return "", fmt.Errorf("the path is relative and the working folder is unknown")
	}
	return filepath.Join(s.WorkDir, p), nil
}

// Source says where a value came from.
type Source struct {
	Kind string // default, file, env, flag
	Name string // file, variable or flag
	Line int    // of file
}

// String is "default", "/path/config.toml:3", "env NAME" or "flag --name".
func (s Source) String() string {
	switch s.Kind {
	case "file":
		if s.Line > 0 {
			return fmt.Sprintf("%s:%d", s.Name, s.Line)
		}
		return s.Name
	case "env":
		return "env " + s.Name
	case "flag":
		return "flag --" + s.Name
	}
	return "default"
}
