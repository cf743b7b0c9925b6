package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"ragd/internal/adminclient"
	"ragd/internal/tui"
	"ragd/internal/wire"
)

// TestMain lets the test binary stand in for the program: as it is, or with a backend that panics.
func TestMain(m *testing.M) {
	switch os.Getenv("RAGTUI_TEST_AS") {
	case "program":
		main()
	case "panic":
		err := tui.Run(context.Background(), tui.Options{
			Backend: panicking{adminclient.New(os.Getenv("RAGD_ADMIN_SOCKET"))}, Desk: &desk{}, Output: os.Stdout, UTF8: true,
		})
		fmt.Println("ended with:", err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

type panicking struct{ *adminclient.Client }

func (panicking) JobsAfter(context.Context, string, int64, int) (wire.Jobs, error) {
	panic("on purpose")
}

// terminal is a real one: a tmux server of its own with one window.
type terminal struct {
	t    *testing.T
	name string
}

func newTerminal(t *testing.T, w, h int, env []string, command string) *terminal {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("tmux is not installed; this test needs a real terminal")
	}
	x := &terminal{t, fmt.Sprintf("ragtui-test-%d-%d", os.Getpid(), time.Now().UnixNano())}
	args := []string{"-L", x.name, "-f", "/dev/null", "new-session", "-d", "-x", fmt.Sprint(w), "-y", fmt.Sprint(h)}
	for _, kv := range env {
		args = append(args, "-e", kv)
	}
	cmd := exec.Command("tmux", append(args, command)...)
	cmd.Env = append(os.Environ(), "TMUX=", "LC_ALL=C.UTF-8")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("tmux does not start here: %v: %s", err, out)
	}
	t.Cleanup(func() { _ = exec.Command("tmux", "-L", x.name, "kill-server").Run() })
	return x
}

func (x *terminal) tmux(args ...string) string {
	x.t.Helper()
	out, err := exec.Command("tmux", append([]string{"-L", x.name}, args...)...).CombinedOutput()
	if err != nil {
		x.t.Fatalf("tmux %v: %v: %s", args, err, out)
	}
	return string(out)
}

func (x *terminal) screen() string { return x.tmux("capture-pane", "-p") }

func (x *terminal) keys(keys ...string) { x.tmux(append([]string{"send-keys"}, keys...)...) }

func (x *terminal) typed(text string) { x.tmux("send-keys", "-l", text) }

// sees waits for text on the screen.
func (x *terminal) sees(text string) string {
	x.t.Helper()
	for end := time.Now().Add(40 * time.Second); time.Now().Before(end); time.Sleep(30 * time.Millisecond) {
		if s := x.screen(); strings.Contains(s, text) {
			return s
		}
	}
	x.t.Fatalf("the terminal does not show %q:\n%s", text, x.screen())
	return ""
}

// clean says that nothing of the program is left in the terminal's state.
func (x *terminal) clean() {
	x.t.Helper()
	state := strings.TrimSpace(x.tmux("display-message", "-p", "alternate=#{alternate_on} mouse=#{mouse_any_flag} cursor=#{cursor_flag}"))
	if state != "alternate=0 mouse=0 cursor=1" {
		x.t.Errorf("the terminal is left with %s", state)
	}
	x.typed("stty -a | grep -o ' -\\?icanon\\| -\\?echo ' | tr '\\n' ' '; echo '<'")
	x.keys("Enter")
	got := x.sees("<\n")
	if !strings.Contains(got, " icanon") || strings.Contains(got, " -echo <") {
		x.t.Errorf("the terminal is left in raw mode:\n%s", got)
	}
}

type place struct{ socket, dir, opened string }

func newPlace(t *testing.T) (place, []string) {
	t.Helper()
	base, err := os.MkdirTemp("", "ragtui") // a short path: sockets allow about 100 bytes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	p := place{filepath.Join(base, "a.sock"), filepath.Join(base, "notes"), filepath.Join(base, "opened")}
	if err := os.Mkdir(p.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(p.dir, "plan.md"), []byte("\n\nThe harbour lights\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	editor := filepath.Join(base, "vi")
	script := "#!/bin/sh\ntest -t 0 && test -t 1 && test -t 2 && echo \"$@\" > " + p.opened + "\n"
	if err := os.WriteFile(editor, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return p, []string{"RAGD_ADMIN_SOCKET=" + p.socket, "VISUAL=" + editor, "XDG_STATE_HOME=" + base, "HOME=" + base, "RAGTUI_TEST_AS=program", "LC_ALL=C.UTF-8"}
}

func TestInARealTerminalAFailedFileIsFixedFoundAndOpened(t *testing.T) {
	p, env := newPlace(t)
	d := startDaemon(t, p.socket, p.dir)
	x := newTerminal(t, 80, 24, env, "sh")
	x.typed(os.Args[0] + "; echo left=$?")
	x.keys("Enter")
	x.sees("1 failed")
	x.keys("3")
	x.sees("The file is encrypted: save it without a password")
	x.sees("The harbour lights") // the file's head
	x.keys("r")
	x.sees("Nothing has failed")
	d.mu.Lock()
	if d.retried != 1 {
		t.Errorf("the file was retried %d times", d.retried)
	}
	d.mu.Unlock()
	x.keys("4")
	x.typed("harbour")
	x.sees("plan.md:3-4")
	x.sees("lit at dusk")
	x.keys("Enter")
	x.keys("e")
	want := "+3 " + filepath.Join(p.dir, "plan.md")
	for end := time.Now().Add(40 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if got, err := os.ReadFile(p.opened); err == nil && strings.TrimSpace(string(got)) == want {
			break
		} else if time.Now().After(end) {
			t.Fatalf("the editor was called with %q, not %q", got, want)
		}
	}
	x.sees("plan.md:3-4") // and the dashboard is back
	x.keys("5")
	x.sees("plan.md")
	for _, line := range strings.Split(x.screen(), "\n") {
		// tmux draws the family wider than one emoji; the column after it must not move.
		if strings.Contains(line, "家") && !strings.HasSuffix(strings.TrimRight(line, " "), "● indexed") {
			t.Errorf("a joined emoji has moved the columns: %q", line)
		}
	}
	x.tmux("resize-window", "-x", "44", "-y", "12")
	x.sees("5 Docs")
	x.tmux("resize-window", "-x", "4", "-y", "2")
	x.tmux("resize-window", "-x", "80", "-y", "24")
	x.sees("5 Documents")
	x.keys("C-z")
	x.sees("left=") // the shell has the terminal
	x.clean()
	x.typed("clear; fg; echo back=$?")
	x.keys("Enter")
	x.sees("5 Documents")
	x.keys("q")
	x.sees("back=0")
	x.clean()
}

func TestInARealTerminalADaemonMayComeAndGo(t *testing.T) {
	p, env := newPlace(t)
	x := newTerminal(t, 80, 24, env, "sh")
	x.typed(os.Args[0] + "; echo left=$?")
	x.keys("Enter")
	x.sees("ragd serve")
	d := startDaemon(t, p.socket, p.dir)
	x.sees("● live")
	if err := d.server.Close(); err != nil {
		t.Fatal(err)
	}
	x.sees("✗ lost")
	_ = os.Remove(p.socket) // the listener may have done it already
	startDaemon(t, p.socket, p.dir)
	x.sees("● live")
	x.keys("C-c")
	x.sees("left=0")
	x.clean()
}

func TestInARealTerminalAPanicLeavesItClean(t *testing.T) {
	p, env := newPlace(t)
	startDaemon(t, p.socket, p.dir)
	x := newTerminal(t, 100, 30, append(env, "RAGTUI_TEST_AS=panic"), "sh")
	x.typed(os.Args[0] + " 2>/dev/null")
	x.keys("Enter")
	x.sees("● live")
	x.keys("3")
	x.sees("ended with: ragtui failed")
	x.clean()
}

func TestInARealTerminalASignalLeavesItClean(t *testing.T) {
	p, env := newPlace(t)
	startDaemon(t, p.socket, p.dir)
	x := newTerminal(t, 80, 24, env, "sh")
	x.typed("sh -c 'echo $$ > " + p.opened + "; exec " + os.Args[0] + "'; echo left=$?")
	x.keys("Enter")
	x.sees("● live")
	text, err := os.ReadFile(p.opened)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	x.sees("left=0")
	x.clean()
}
