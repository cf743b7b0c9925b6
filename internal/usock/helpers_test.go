package usock_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"ragd/internal/fault"
	"ragd/internal/usock"
)

const holdEnv = "USOCK_TEST_HOLD"

// TestMain plays a second process when it is told to: it listens or locks,
// says so, and waits to be killed.
func TestMain(m *testing.M) {
	if what, path, ok := strings.Cut(os.Getenv(holdEnv), "="); ok {
		hold(what, path)
	}
	goleak.VerifyTestMain(m)
}

func hold(what, path string) {
	var err error
	if what == "listen" {
		_, err = usock.Listen(path, "sockets.admin")
	} else {
		_, err = usock.Lock(path, "the index")
	}
	if err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
	fmt.Println("held")
	_, _ = io.Copy(io.Discard, os.Stdin) // until the test is done with us
	os.Exit(0)
}

// holder starts another process that holds what until stop is called (kill -9).
func holder(t *testing.T, what, path string) (pid int, kill func()) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), holdEnv+"="+what+"="+path)
	in, err := cmd.StdinPipe()
	must(t, err)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	kill = func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = in.Close()
	}
	t.Cleanup(kill)
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || line != "held\n" {
		t.Fatalf("the other process says %q, %v", line, err)
	}
	return cmd.Process.Pid, kill
}

// sockDir is a short private folder: t.TempDir can be longer than a socket path may be.
func sockDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "us")
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantCode(t *testing.T, err error, code string, words ...string) {
	t.Helper()
	f, ok := fault.As(err)
	if !ok || f.Code != code {
		t.Fatalf("error is %v, want code %s", err, code)
	}
	for _, w := range words {
		if !strings.Contains(f.Message+" "+f.Hint, w) {
			t.Errorf("%q (hint %q) does not name %q", f.Message, f.Hint, w)
		}
	}
}

func modeOf(t *testing.T, path string) os.FileMode {
	t.Helper()
	info, err := os.Lstat(path)
	must(t, err)
	return info.Mode().Perm()
}

func listenAt(t *testing.T, path string) *usock.Listener {
	t.Helper()
	l, err := usock.Listen(path, "sockets.admin")
	must(t, err)
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func join(elem ...string) string { return filepath.Join(elem...) }
