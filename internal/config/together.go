package config

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ragd/internal/fault"
	"ragd/kbroot"
)

// checkFolders refuses folders that contradict one another, and warns of those that are not there.
func (c *Config) checkFolders() error {
	type folder struct {
		what, name, dir string
		src             Source
	}
	var all []folder
	for _, r := range c.Roots {
		all = append(all, folder{"root", r.Name, r.Dir, r.Source})
	}
	for _, m := range c.Mounts {
		all = append(all, folder{"mount", m.Name, m.Dir, m.Source})
	}
	for i, a := range all {
		for _, b := range all[:i] {
			switch {
			case a.dir == b.dir:
				return fault.New(fault.Invalid, "config_invalid", "%s is both %s %q (%s) and %s %q (%s)", a.dir, b.what, b.name, b.src, a.what, a.name, a.src).
					WithHint("remove one of them")
			case a.name == b.name:
				return fault.New(fault.Invalid, "config_invalid", "the name %q is given twice: to %s (%s) and to %s (%s)", a.name, b.dir, b.src, a.dir, a.src).
					WithHint("give one of them another name")
			}
		}
		if err := c.lookAt(a.what, a.dir, a.src); err != nil {
			return err
		}
	}
	c.checkPatterns()
	// What is left to check (folders in one another, bad patterns) is the root's to know.
	_, err := kbroot.New(c.KBRoot())
	return err
}

// KBRoot returns the settings that are kbroot's.
func (c *Config) KBRoot() kbroot.Options {
	o := kbroot.Options{Hidden: c.Hidden, MaxFileBytes: c.MaxFileBytes, Exclude: c.Exclude, OwnDirs: c.ownPaths()}
	for _, r := range c.Roots {
		o.Roots = append(o.Roots, kbroot.RootSpec{Name: r.Name, Dir: r.Dir})
	}
	for _, m := range c.Mounts {
		o.Mounts = append(o.Mounts, kbroot.MountSpec{Name: m.Name, Dir: m.Dir, Writable: m.Writable, Poll: m.Poll || c.polled(m.Dir)})
	}
	return o
}

// polled reports whether a folder is at or below one of watch.poll.
func (c *Config) polled(dir string) bool {
	return slices.ContainsFunc(c.Watch.Poll, func(p string) bool { return inside(dir, p) })
}

// ownPaths are the daemon's files, which must not be indexed. Of the index it
// is the whole folder only where that is ragd's own: a folder the user named
// may hold documents as well.
func (c *Config) ownPaths() []string {
	own := []string{c.LockPath()}
	if c.origin["db_path"].Kind == "default" {
		own = append(own, c.DataDir())
	} else {
		for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
			own = append(own, c.DBPath+suffix)
		}
		own = append(own, c.DBPath+".corrupt-*") // set aside when they were damaged
		for _, name := range []string{"barrier", "cache", "audit.jsonl*"} {
			own = append(own, filepath.Join(c.DataDir(), name))
		}
	}
	for _, sock := range []string{c.Sockets.MCP, c.Sockets.Admin} {
		own = append(own, sock, sock+".lock")
	}
	for _, a := range c.Agents {
		own = append(own, a.Socket, a.Socket+".lock")
	}
	if c.File != "" {
		own = append(own, c.File)
	}
	return own
}

// lookAt refuses a file in place of a folder. A missing folder is a warning:
// it may be on a disk that is plugged in later.
func (c *Config) lookAt(what, dir string, src Source) error {
	info, err := os.Stat(dir)
	switch {
	case err == nil && !info.IsDir():
		return fault.New(fault.Invalid, "config_invalid", "the %s %s (%s) is a file, not a folder", what, dir, src).
			WithHint("name the folder the file lies in")
	case errors.Is(err, fs.ErrNotExist) && !c.makeRoot:
		w := fmt.Sprintf("the %s %s (%s) does not exist; it is indexed when it appears", what, dir, src)
		if strings.Contains(dir, ",") && (src.Kind == "env" || src.Kind == "flag") {
			w += fmt.Sprintf(" (several folders are separated by %q, not by a comma)", filepath.ListSeparator)
		}
		if strings.ContainsAny(dir, "*?[") {
			w += " (a folder is named as it is; no pattern stands for several)"
		}
		c.Warnings = append(c.Warnings, w)
	}
	return nil
}

// checkPatterns warns of a pattern that looks like a list, which is one name
// with a comma in it and matches nothing.
func (c *Config) checkPatterns() {
	for _, p := range c.Exclude {
		if strings.Contains(p, ",") && strings.ContainsAny(p, "*?[/") {
			c.Warnings = append(c.Warnings, fmt.Sprintf("exclude (%s): the pattern %s matches only names with a comma; write each pattern by itself", c.origin["exclude"], clip(p)))
		}
	}
}

// checkTogether refuses settings that are fine alone but not with one another.
func (c *Config) checkTogether() error {
	bad := func(name, format string, args ...any) error {
		return fault.New(fault.Invalid, "config_invalid", "%s (%s) %s", name, c.origin[name], fmt.Sprintf(format, args...))
	}
	switch {
	case c.Sockets.MCP == c.Sockets.Admin:
		return bad("sockets.mcp", "and sockets.admin (%s) are the same path, %s", c.origin["sockets.admin"], c.Sockets.MCP)
	case c.Watch.MaxDelay < c.Watch.Quiet:
		return bad("watch.max_delay_ms", "is %d, which is less than watch.quiet_ms, %d", c.Watch.MaxDelay.Milliseconds(), c.Watch.Quiet.Milliseconds())
	case c.Admin.Address != "" && c.Admin.Key == "" && !Loopback(c.Admin.Address):
		return bad("admin.address", "is %s, which others can reach; allowed without admin.key: loopback addresses (127.0.0.1, [::1], localhost)", c.Admin.Address)
	case c.Embeddings.BaseURL != "" && c.Embeddings.ModelDir != "":
		return bad("embeddings.base_url", "and embeddings.model_dir (%s) are both given; allowed: one of them", c.origin["embeddings.model_dir"])
	case c.Embeddings.BaseURL != "" && c.Embeddings.Model == "":
		return bad("embeddings.base_url", "is given without embeddings.model, the model to ask that server for")
	case c.Contextual.Enabled && (c.Contextual.BaseURL == "" || c.Contextual.Model == ""):
		return bad("contextual_chunking.enabled", "is true without contextual_chunking.base_url and contextual_chunking.model, the server and model that write the sentences")
	}
	return nil
}

// Loopback reports whether a host:port can be reached from this machine only.
func Loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}

// checkOwnPlace refuses a settings file where agents may write: whoever can
// write it decides what the daemon reads and serves. It also warns of a key
// that others can read.
func (c *Config) checkOwnPlace() error {
	if c.File == "" {
		return nil
	}
	own := resolved(c.File)
	refuse := func(what, dir string) error {
		if !inside(own, resolved(dir)) {
			return nil
		}
		return fault.New(fault.Invalid, "config_watched", "the settings file %s lies in the %s %s, where agents may write", c.File, what, dir).
			WithHint("keep it outside, for example as ~/.config/ragd/config.toml")
	}
	for _, r := range c.Roots {
		if err := refuse("root", r.Dir); err != nil {
			return err
		}
	}
	for _, m := range c.Mounts {
		if m.Writable {
			if err := refuse("mount", m.Dir); err != nil {
				return err
			}
		}
	}
	for _, k := range Keys() {
		if k.Secret && c.origin[k.Name].Kind == "file" {
			if info, err := os.Stat(c.File); err == nil && info.Mode().Perm()&0o077 != 0 {
				c.Warnings = append(c.Warnings, fmt.Sprintf("%s holds %s and others can read it; close it with: chmod 600 %s", c.File, k.Name, c.File))
			}
		}
	}
	return nil
}

// inside reports whether path is dir or lies below it.
func inside(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && (rel == "." || filepath.IsLocal(rel))
}

func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}
