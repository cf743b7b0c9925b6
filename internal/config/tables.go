package config

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"ragd/internal/fault"
)

// Field is one key of [[root]], [[mount]] or [[agent]].
type Field struct {
	Name    string // root.dir
	Default string
	Allowed string
	Doc     string
}

// Fields returns the keys of [[root]], [[mount]] and [[agent]], for the reference. All of
// them take effect without a restart.
func Fields() []Field { return fields() }

func fields() []Field {
	return []Field{
		{"root.dir", "", allowedPath, "A folder whose first-level folders are knowledge bases."},
		{"root.name", "the folder's name", allowedKBName, "The root's name; it tells knowledge bases of one name apart."},
		{"mount.dir", "", allowedPath, "A folder that is one knowledge base, wherever it lies."},
		{"mount.name", "the folder's name", allowedKBName, "The knowledge base's name."},
		{"mount.writable", "false", "true or false", "Agents may add and delete documents in it. Its folder is never deleted."},
		{"mount.poll", "false", "true or false", "Look at it at intervals instead of relying on file events (network mounts)."},
		{"agent.name", "", allowedAgentName, "The agent's name; it needs one."},
		{"agent.socket", "ragd/agents/NAME.sock in XDG_RUNTIME_DIR", allowedPath, "The socket it connects to."},
		{"agent.kbs", "all", allowedGlobs, "The knowledge bases it sees; [] = none."},
		{"agent.read_only", "false", "true or false", "Refuse every tool that writes."},
		{"agent.tools", "all", "names of tools: " + strings.Join(AgentTools(), ", "), "The tools it may call."},
		{"agent.knowledge", "true", "true or false", "It may call search_knowledge."},
		{"agent.root", "all", "the name of a root or mount", "The root it has selected; knowledge bases of others are not searched."},
	}
}

func fieldDoc(table, key string) *Field {
	for _, f := range fields() {
		if f.Name == table+"."+key {
			return &f
		}
	}
	return nil
}

// tableReader takes the fields of one [[root]], [[mount]] or [[agent]] out of a file.
type tableReader struct {
	f      *file
	expand func(string) (string, error)
	table  string
	nth    int
	values map[string]any
}

func (r tableReader) bad(key string, in input, err error) error {
	f := fieldDoc(r.table, key)
	return valueError(f.Name, f.Allowed, Source{Kind: "file", Name: r.f.path, Line: r.f.lines.of(r.nth, r.table, key)}, in.String(), err)
}

func (r tableReader) source() Source {
	return Source{Kind: "file", Name: r.f.path, Line: r.f.lines.of(r.nth, r.table, "dir")}
}

func (r tableReader) boolean(key string) (bool, error) {
	v, ok := r.values[key]
	if !ok {
		return false, nil
	}
	in := input{toml: v}
	b, err := in.boolean()
	if err != nil {
		return false, r.bad(key, in, err)
	}
	return b, nil
}

// nameAndDir reads what roots and mounts have in common.
func (r tableReader) nameAndDir() (name, dir string, err error) {
	v, ok := r.values["dir"]
	if !ok {
		src := r.source()
		return "", "", fault.New(fault.Invalid, "config_invalid", "a [[%s]] in %s has no dir", r.table, src).
			WithHint("add: dir = \"~/a/folder\"")
	}
	in := input{toml: v, expand: r.expand, abs: true}
	s, err := in.str()
	if err == nil {
		dir, err = in.path(s)
	}
	if err != nil {
		return "", "", r.bad("dir", in, err)
	}
	if v, ok = r.values["name"]; !ok {
		return "", dir, nil // named below, when all given names are known
	}
	in = input{toml: v}
	if name, err = in.str(); err == nil {
		err = checkKBName(name)
	}
	if err != nil {
		return "", "", r.bad("name", in, err)
	}
	return name, dir, nil
}

// readTables fills Roots and Mounts from the file.
func (c *Config) readTables(f *file, expand func(string) (string, error)) error {
	for i, values := range f.roots {
		r := tableReader{f, expand, "root", i, values}
		name, dir, err := r.nameAndDir()
		if err != nil {
			return err
		}
		c.Roots = append(c.Roots, Root{Name: name, Dir: dir, Source: r.source()})
	}
	for i, values := range f.mounts {
		r := tableReader{f, expand, "mount", i, values}
		name, dir, err := r.nameAndDir()
		if err != nil {
			return err
		}
		m := Mount{Name: name, Dir: dir, Source: r.source()}
		if m.Writable, err = r.boolean("writable"); err != nil {
			return err
		}
		if m.Poll, err = r.boolean("poll"); err != nil {
			return err
		}
		c.Mounts = append(c.Mounts, m)
	}
	return nil
}

// rootsFrom makes roots of plain folders.
func rootsFrom(dirs []string, src Source) []Root {
	roots := make([]Root, 0, len(dirs))
	for _, dir := range dirs {
		roots = append(roots, Root{Dir: dir, Source: src})
	}
	return roots
}

// nameFolders gives roots and mounts without a name that of their folder,
// with a number where it is taken.
func (c *Config) nameFolders() {
	taken := map[string]bool{}
	for _, r := range c.Roots {
		taken[r.Name] = true
	}
	for _, m := range c.Mounts {
		taken[m.Name] = true
	}
	free := func(dir string) string {
		base := strings.ToValidUTF8(strings.Trim(filepath.Base(dir), "./ "), "_")
		if checkKBName(base) != nil {
			base = "root"
		}
		name := base
		for n := 2; taken[name]; n++ {
			name = base + "-" + strconv.Itoa(n)
		}
		taken[name] = true
		return name
	}
	for i := range c.Mounts { // first: a mount's name is seen more than a root's
		if c.Mounts[i].Name == "" {
			c.Mounts[i].Name = free(c.Mounts[i].Dir)
		}
	}
	for i := range c.Roots {
		if c.Roots[i].Name == "" {
			c.Roots[i].Name = free(c.Roots[i].Dir)
		}
	}
}

// valueError names the setting, where the value stands, the value, and what is allowed.
func valueError(name, allowed string, src Source, value string, why error) error {
	where := name
	switch src.Kind {
	case "env":
		where = src.Name
	case "flag":
		where = "--" + src.Name
	case "file":
		where = fmt.Sprintf("%s in %s", name, src)
	}
	e := fault.New(fault.Invalid, "config_invalid", "%s is %s; allowed: %s", where, value, allowed)
	if why != nil && why.Error() != "" {
		e.Message += " (" + why.Error() + ")"
	}
	return e.WithHint("what is in force and where it comes from: ragd config")
}
