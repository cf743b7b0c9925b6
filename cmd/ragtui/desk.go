package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"

	"github.com/charmbracelet/x/ansi"

	"ragd/internal/adminclient"
	"ragd/internal/config"
	"ragd/internal/fault"
)

// screen is the terminal; frames and clipboard sequences are written to it one at a time.
type screen struct {
	*os.File
	mu sync.Mutex
}

// TTY is the terminal itself.
func (s *screen) TTY() *os.File { return s.File }

// Write writes p whole before anybody else writes.
func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.File.Write(p)
}

// desk is the machine of the person in front of the terminal.
type desk struct {
	screen  *screen
	sources config.Sources
	client  *adminclient.Client
}

// editorLine says how editors that take no "+line" are told the line.
func editorLine(editor, file string, line int) []string {
	switch strings.TrimSuffix(filepath.Base(editor), ".exe") {
	case "code", "codium", "code-insiders", "cursor", "windsurf":
		return []string{"--wait", "--goto", fmt.Sprintf("%s:%d", file, line)}
	case "subl", "zed", "hx", "helix":
		return []string{fmt.Sprintf("%s:%d", file, line)}
	case "vi", "vim", "nvim", "view", "nano", "emacs", "emacsclient", "micro", "kak", "joe", "ne", "mg", "jed", "vis":
		return []string{fmt.Sprintf("+%d", line), file}
	}
	return []string{file}
}

// Editor follows VISUAL, then EDITOR, then what is installed.
func (d *desk) Editor(file string, line int) ([]string, error) {
	if _, err := os.Stat(file); err != nil {
		return nil, fault.New(fault.NotFound, "file_gone", "the file %s cannot be opened", file).Because(err)
	}
	for _, name := range []string{"VISUAL", "EDITOR"} {
		if words := strings.Fields(d.sources.Env[name]); len(words) > 0 {
			if _, err := exec.LookPath(words[0]); err != nil {
				return nil, fault.New(fault.Invalid, "editor_missing", "%s is %q, which is not installed", name, words[0])
			}
			return append(words, editorLine(words[0], file, line)...), nil
		}
	}
	for _, name := range []string{"sensible-editor", "nvim", "vim", "nano", "vi"} {
		if path, err := exec.LookPath(name); err == nil {
			if name == "sensible-editor" {
				return []string{path, fmt.Sprintf("+%d", line), file}, nil
			}
			return append([]string{path}, editorLine(name, file, line)...), nil
		}
	}
	return nil, fault.New(fault.NotFound, "no_editor", "no editor is known").WithHint("set EDITOR, for example: export EDITOR=nano")
}

// Open starts the system's opener and does not wait for what it opens.
func (d *desk) Open(ctx context.Context, path string) error {
	if _, err := os.Stat(path); err != nil {
		return fault.New(fault.NotFound, "file_gone", "%s is not there", path).Because(err)
	}
	opener := "xdg-open"
	if runtime.GOOS == "darwin" {
		opener = "open"
	}
	if _, err := exec.LookPath(opener); err != nil {
		return fault.New(fault.NotFound, "no_opener", "there is no %s to open it with", opener).WithHint("y copies the path")
	}
	// Not bound to ctx: what was opened outlives the dashboard.
	cmd := exec.Command(opener, path)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("open %s: %w", path, err)
	}
	return cmd.Process.Release()
}

// maxCopy bounds what is put on the clipboard; terminals drop longer sequences.
const maxCopy = 100_000

// Copy uses OSC 52, which works over ssh too. tmux takes it from programs
// only where it is told to, so there it is asked directly as well.
func (d *desk) Copy(ctx context.Context, text string) error {
	if len(text) > maxCopy {
		return fault.New(fault.Invalid, "too_long", "%d bytes are too much for the clipboard; allowed: %d", len(text), maxCopy)
	}
	if d.sources.Env["TMUX"] != "" {
		cmd := exec.CommandContext(ctx, "tmux", "load-buffer", "-w", "-")
		cmd.Stdin = strings.NewReader(text)
		if err := cmd.Run(); err == nil {
			return nil
		}
	}
	if _, err := io.WriteString(d.screen, ansi.SetSystemClipboard(text)); err != nil {
		return fmt.Errorf("copy: %w", err)
	}
	return nil
}

// Head reads the beginning of a regular file; it waits for no pipe or device.
func (d *desk) Head(path string, limit int) ([]byte, int64, error) {
	fi, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, 0, fault.New(fault.NotFound, "file_gone", "it is not there any more")
	case err != nil:
		return nil, 0, fault.New(fault.Denied, "file_unreadable", "it cannot be looked at").Because(err)
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, 0, fault.New(fault.Denied, "file_unreadable", "it cannot be opened (mode %s)", fi.Mode()).Because(err)
	}
	defer func() { _ = f.Close() }()
	if fi, err = f.Stat(); err != nil || !fi.Mode().IsRegular() {
		return nil, 0, fault.New(fault.Invalid, "not_a_file", "it is not a regular file")
	}
	buf := make([]byte, limit)
	n, err := io.ReadFull(f, buf)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, 0, fault.New(fault.Denied, "file_unreadable", "it cannot be read").Because(err)
	}
	return buf[:n], fi.Size(), nil
}

// AddFolder writes a mount into the settings and has the daemon read them again.
func (d *desk) AddFolder(ctx context.Context, dir, name string) error {
	if name == "" {
		name = filepath.Base(dir)
	}
	file, err := config.AddMount(d.sources, config.NewMount{Name: name, Dir: dir})
	if err != nil {
		return err
	}
	reloaded, err := d.client.Reload(ctx)
	if err != nil {
		return fmt.Errorf("it is in %s, but the daemon has not taken it up: %w", file, err)
	}
	if len(reloaded.Applied) == 0 && len(reloaded.NeedRestart) > 0 {
		return fault.New(fault.Conflict, "need_restart", "it is in %s; the daemon takes it up when it is restarted", file)
	}
	return nil
}

// historyFile is below XDG_STATE_HOME; its folder is made when the first query is kept.
func (d *desk) historyFile() (string, error) {
	state := d.sources.Env["XDG_STATE_HOME"]
	if !filepath.IsAbs(state) {
		if d.sources.Home == "" {
			return "", fault.New(fault.Invalid, "no_home", "neither HOME nor XDG_STATE_HOME names a folder")
		}
		state = filepath.Join(d.sources.Home, ".local", "state")
	}
	return filepath.Join(state, "ragd", "queries"), nil
}

const (
	keepQueries    = 200
	maxHistoryFile = 1 << 20
)

// History returns the queries kept, oldest first.
func (d *desk) History() ([]string, error) {
	path, err := d.historyFile()
	if err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("read the queries: %w", err)
	}
	defer func() { _ = f.Close() }()
	var out []string
	lines := bufio.NewScanner(io.LimitReader(f, maxHistoryFile))
	lines.Buffer(nil, 64<<10)
	for lines.Scan() {
		if s := strings.TrimSpace(lines.Text()); s != "" {
			out = append(out, s)
		}
	}
	return out[max(len(out)-keepQueries, 0):], nil
}

// Remember puts a query at the end of the file, for the owner's eyes only.
func (d *desk) Remember(query string) error {
	path, err := d.historyFile()
	if err != nil {
		return err
	}
	old, err := d.History()
	if err != nil {
		return err
	}
	kept := make([]string, 0, len(old)+1)
	for _, q := range old {
		if q != query {
			kept = append(kept, q)
		}
	}
	kept = append(kept, strings.ReplaceAll(query, "\n", " "))
	kept = kept[max(len(kept)-keepQueries, 0):]
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(dir, "queries-*") // created with mode 0600
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(tmp.Name()) }() // gone already when all went well
	if _, err := tmp.WriteString(strings.Join(kept, "\n") + "\n"); err != nil {
		_ = tmp.Close()
		return err
	}
	if err := tmp.Close(); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}
