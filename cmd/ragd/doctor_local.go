package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"ragd/internal/config"
	"ragd/internal/usock"
	"ragd/internal/wire"
)

// surroundings checks what can be seen without the index.
func surroundings(cfg *config.Config) []wire.Problem {
	problems := []wire.Problem{}
	for _, w := range cfg.Warnings {
		problems = append(problems, wire.Problem{Part: "config", Code: "config_warning", Detail: w, Warning: true})
	}
	problems = append(problems, checkFolders(cfg)...)
	for setting, path := range map[string]string{"sockets.mcp": cfg.Sockets.MCP, "sockets.admin": cfg.Sockets.Admin} {
		problems = append(problems, checkSocket(path, setting)...)
	}
	return append(problems, checkWatches()...)
}

func checkFolders(cfg *config.Config) []wire.Problem {
	var problems []wire.Problem
	look := func(what, dir string) {
		f, err := os.Open(dir)
		if err == nil {
			_, err = f.Readdirnames(1)
			err = errors.Join(f.Close(), err)
			if err == nil || strings.Contains(err.Error(), "EOF") {
				return
			}
		}
		if errors.Is(err, fs.ErrNotExist) {
			return // a warning of the settings already
		}
		problems = append(problems, wire.Problem{
			Part: "roots", Code: "folder_unreadable", Detail: fmt.Sprintf("the %s %s cannot be read: %v", what, dir, err),
			Hint: "check the owner and mode; what was indexed of it is kept meanwhile",
		})
	}
	for _, r := range cfg.Roots {
		look("root", r.Dir)
	}
	for _, m := range cfg.Mounts {
		look("mount", m.Dir)
	}
	return problems
}

func checkSocket(path, setting string) []wire.Problem {
	if err := usock.CheckPath(path, setting); err != nil {
		return []wire.Problem{{Part: "sockets", Code: "socket_path", Detail: err.Error()}}
	}
	info, err := os.Lstat(path)
	if err != nil {
		return nil // no daemon, or not yet; whether it answers is seen elsewhere
	}
	var problems []wire.Problem
	if info.Mode().Type() != fs.ModeSocket {
		problems = append(problems, wire.Problem{Part: "sockets", Code: "socket_taken", Detail: path + " is no socket",
			Hint: "move that file away, or set " + setting + " to another path"})
	} else if info.Mode().Perm()&0o077 != 0 {
		problems = append(problems, wire.Problem{Part: "sockets", Code: "socket_open", Detail: fmt.Sprintf("others may use the socket %s (%s)", path, info.Mode().Perm()),
			Hint: "restart the daemon"})
	}
	if dir, err := os.Stat(filepath.Dir(path)); err == nil && dir.Mode().Perm()&0o022 != 0 {
		problems = append(problems, wire.Problem{Part: "sockets", Code: "socket_folder", Detail: "others may write in " + filepath.Dir(path),
			Hint: "chmod 700 " + filepath.Dir(path)})
	}
	return problems
}

// fewWatches is a limit that a home folder of documents can exceed.
const fewWatches = 65536

func checkWatches() []wire.Problem {
	if runtime.GOOS != "linux" {
		return nil
	}
	data, err := os.ReadFile("/proc/sys/fs/inotify/max_user_watches")
	if err != nil {
		return nil
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil || n >= fewWatches {
		return nil
	}
	return []wire.Problem{{
		Part: "watches", Code: "watch_limit", Warning: true,
		Detail: fmt.Sprintf("this system lets a user watch %d folders", n),
		Hint:   "if ragd status shows polling, raise it: sudo sysctl fs.inotify.max_user_watches=524288",
	}}
}
