package mcpserver

import (
	"bufio"
	"io"
	"net/url"
	"os"
	"strings"
)

const (
	maxGitConfig = 64 << 10
	maxRemotes   = 20
)

// gitRemotes reads the remotes of the git checkout in dir, [] where it is
// none. Only addresses of other machines are given, without the credentials
// some people keep in them: a path would tell of what lies outside the roots.
func gitRemotes(dir string) []string {
	remotes := []string{}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return remotes
	}
	defer func() { _ = root.Close() }() // only read from
	info, err := root.Lstat(".git/config")
	if err != nil || !info.Mode().IsRegular() {
		return remotes // no checkout; and never block on a FIFO
	}
	f, err := root.Open(".git/config")
	if err != nil {
		return remotes
	}
	defer func() { _ = f.Close() }()
	return parseRemotes(io.LimitReader(f, maxGitConfig))
}

func parseRemotes(r io.Reader) []string {
	remotes := []string{}
	inRemote := false
	lines := bufio.NewScanner(r)
	for lines.Scan() && len(remotes) < maxRemotes {
		line := strings.TrimSpace(lines.Text())
		if strings.HasPrefix(line, "[") {
			inRemote = strings.HasPrefix(strings.ToLower(line), "[remote ")
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		if !inRemote || !ok || !strings.EqualFold(strings.TrimSpace(key), "url") {
			continue
		}
		if u := publicRemote(strings.Trim(strings.TrimSpace(value), `"`)); u != "" {
			remotes = append(remotes, u)
		}
	}
	return remotes
}

// publicRemote strips credentials; "" for a path on this machine.
func publicRemote(remote string) string {
	remote = clip(strings.ToValidUTF8(remote, "�"), 500)
	if strings.Contains(remote, "://") {
		u, err := url.Parse(remote)
		if err != nil || u.Host == "" || u.Scheme == "file" {
			return ""
		}
		if u.User != nil {
			if u.User = url.User(u.User.Username()); u.Scheme != "ssh" && u.Scheme != "git+ssh" {
				u.User = nil // a user name in https may be a token
			}
		}
		u.RawQuery, u.Fragment = "", ""
		return u.String()
	}
	host, path, ok := strings.Cut(remote, ":") // user@host:path
	if !ok || host == "" || path == "" || strings.ContainsAny(host, `/\`) || len(host) == 1 {
		return ""
	}
	return remote
}
