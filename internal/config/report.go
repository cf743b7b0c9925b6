package config

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"ragd/internal/fault"
)

// Value is a setting in force and where it came from.
type Value struct {
	Name   string
	Value  string // "(set)" for a secret that is given
	Source Source
}

// Values lists every setting in force, in the order of Keys, then roots, mounts and agents.
func (c *Config) Values() []Value {
	var out []Value
	for _, k := range Keys() {
		if k.Name == "kb_root" {
			continue // the roots below are what came of it
		}
		v := k.show(c)
		if k.Secret && v != "" {
			v = "(set)"
		}
		out = append(out, Value{k.Name, v, c.origin[k.Name]})
	}
	for _, r := range c.Roots {
		out = append(out, Value{fmt.Sprintf("root %q", r.Name), r.Dir, r.Source})
	}
	for _, m := range c.Mounts {
		v := m.Dir
		if m.Writable {
			v += " (writable)"
		}
		if m.Poll {
			v += " (polled)"
		}
		out = append(out, Value{fmt.Sprintf("mount %q", m.Name), v, m.Source})
	}
	for _, a := range c.Agents {
		out = append(out, Value{fmt.Sprintf("agent %q", a.Name), a.show(), a.Source})
	}
	return out
}

// Diff names the settings that differ between two configurations: those that
// can take effect at once, and those that need a restart.
func Diff(before, after *Config) (live, restart []string) {
	for _, k := range Keys() {
		if k.Name == "kb_root" || k.show(before) == k.show(after) {
			continue
		}
		if k.Reload {
			live = append(live, k.Name)
		} else {
			restart = append(restart, k.Name)
		}
	}
	sameRoot := func(a, b Root) bool { return a.Name == b.Name && a.Dir == b.Dir }
	if !slices.EqualFunc(before.Roots, after.Roots, sameRoot) {
		live = append(live, "root")
	}
	sameMount := func(a, b Mount) bool {
		return a.Name == b.Name && a.Dir == b.Dir && a.Writable == b.Writable && a.Poll == b.Poll
	}
	if !slices.EqualFunc(before.Mounts, after.Mounts, sameMount) {
		live = append(live, "mount")
	}
	if !slices.EqualFunc(before.Agents, after.Agents, Agent.Same) {
		live = append(live, "agent")
	}
	return live, restart
}

// Prepare makes the folders the daemon needs: the index's, and the default
// root where that is used. Only the daemon calls it.
func (c *Config) Prepare() error {
	if err := makeDir(filepath.Dir(c.DBPath), "db_path (DB_PATH)"); err != nil {
		return err
	}
	if c.makeRoot {
		return makeDir(c.Roots[0].Dir, "kb_root (KB_ROOT)")
	}
	return nil
}

func makeDir(dir, setting string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fault.New(fault.Invalid, "folder_failed", "the folder %s cannot be made", dir).
			WithHint("set %s to a place where you may write", setting).Because(err)
	}
	return nil
}

// DataDir is the folder of the index, where the daemon may keep other files of its own.
func (c *Config) DataDir() string { return filepath.Dir(c.DBPath) }

// LockPath is the file whose lock decides which daemon owns the index.
func (c *Config) LockPath() string { return c.DBPath + ".lock" }
