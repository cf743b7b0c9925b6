package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Load reads all sources and returns the settings in force. It writes
// nothing. Its errors are Invalid faults that name setting, place and value.
func Load(s Sources) (*Config, error) {
	path, named, err := s.FilePath()
	if err != nil {
		return nil, err
	}
	data, err := readFile(path)
	if err != nil {
		if named || !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		return load(s, "", nil)
	}
	return load(s, path, data)
}

// load does the work of Load for a file's bytes; path "" = no file.
func load(s Sources, path string, data []byte) (*Config, error) {
	f := &file{path: path}
	if path != "" {
		var err error
		if f, err = parseFile(path, data); err != nil {
			return nil, err
		}
	}
	c := &Config{File: path, origin: map[string]Source{}}
	if err := c.readKeys(s, f); err != nil {
		return nil, err
	}
	if err := c.readTables(f, s.expand); err != nil {
		return nil, err
	}
	if err := c.readAgents(f, s.expand); err != nil {
		return nil, err
	}
	if err := c.finish(s); err != nil {
		return nil, err
	}
	c.warnUnknownEnv(s)
	return c, nil
}

// readKeys sets every key of the table from its strongest source.
func (c *Config) readKeys(s Sources, f *file) error {
	for _, k := range Keys() {
		in, src := pick(s, f, k)
		in.expand = s.expand
		in.abs = src.Kind == "file"
		if err := k.set(c, in); err != nil {
			value := in.String()
			if k.Secret {
				value = "a value that is not shown"
			}
			return valueError(k.Name, k.Allowed, src, value, err)
		}
		c.origin[k.Name] = src
	}
	return nil
}

func pick(s Sources, f *file, k Key) (input, Source) {
	if values := s.Flags[k.Name]; len(values) > 0 {
		return input{texts: values}, Source{Kind: "flag", Name: k.Flag}
	}
	// A variable that is set but empty counts as not set.
	if v := s.Env[k.Env]; v != "" {
		return input{text: v}, Source{Kind: "env", Name: k.Env}
	}
	if v, ok := f.values[k.Name]; ok {
		return input{toml: v}, Source{Kind: "file", Name: f.path, Line: f.lines.of(-1, strings.Split(k.Name, ".")...)}
	}
	return input{text: k.Default}, Source{Kind: "default"}
}

// warnUnknownEnv catches misspelt variables. It does not refuse them: scripts
// may have RAGD_ variables of their own.
func (c *Config) warnUnknownEnv(s Sources) {
	known := []string{"RAGD_CONFIG"}
	for _, k := range Keys() {
		known = append(known, k.Env)
	}
	var unknown []string
	for name := range s.Env {
		if strings.HasPrefix(name, "RAGD_") && !slices.Contains(known, name) {
			unknown = append(unknown, name)
		}
	}
	slices.Sort(unknown)
	for _, name := range unknown {
		c.Warnings = append(c.Warnings, "the variable "+clip(name)+" is no setting of ragd")
	}
}

// finish fills in defaults that depend on the machine and checks what single keys cannot.
func (c *Config) finish(s Sources) error {
	if err := c.placeDefaults(s); err != nil {
		return err
	}
	if err := c.chooseRoots(s); err != nil {
		return err
	}
	c.nameFolders()
	if err := c.placeAgents(s); err != nil {
		return err
	}
	if err := c.checkFolders(); err != nil {
		return err
	}
	if err := c.checkTogether(); err != nil {
		return err
	}
	return c.checkOwnPlace()
}

func (c *Config) placeDefaults(s Sources) error {
	if c.DBPath == "" {
		data, err := s.xdg("XDG_DATA_HOME", ".local/share")
		if err != nil {
			return err
		}
		c.DBPath = filepath.Join(data, "ragd", "index.db")
	}
	if c.Sockets.MCP == "" {
		c.Sockets.MCP = filepath.Join(s.runtimeDir(), "mcp.sock")
	}
	if c.Sockets.Admin == "" {
		c.Sockets.Admin = filepath.Join(s.runtimeDir(), "admin.sock")
	}
	return nil
}

// chooseRoots turns kb_root into roots, or finds the default one.
func (c *Config) chooseRoots(s Sources) error {
	src := c.origin["kb_root"]
	switch {
	case src.Kind == "env" || src.Kind == "flag":
		c.Roots = rootsFrom(c.rootDirs, src) // instead of the file's
		return nil
	case src.Kind == "file" && len(c.Roots) > 0:
		return valueError("kb_root", "either kb_root or [[root]]", src, "given beside [[root]]", nil)
	case src.Kind == "file":
		c.Roots = rootsFrom(c.rootDirs, src) // an empty list means: mounts only
		return nil
	case len(c.Roots) > 0:
		return nil
	}
	if filepath.IsAbs(s.WorkDir) {
		here := filepath.Join(s.WorkDir, "kbs")
		if info, err := os.Stat(here); err == nil && info.IsDir() {
			c.Roots = rootsFrom([]string{here}, src)
			c.Notes = append(c.Notes, fmt.Sprintf("no root is configured; using %s", here))
			return nil
		}
	}
	data, err := s.xdg("XDG_DATA_HOME", ".local/share")
	if err != nil {
		return err
	}
	dir := filepath.Join(data, "ragd", "kbs")
	c.Roots = rootsFrom([]string{dir}, src)
	c.makeRoot = true
	c.Notes = append(c.Notes, fmt.Sprintf("no root is configured; using %s", dir))
	return nil
}
