package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"ragd/internal/wire"
)

const asProgram = "RAGD_TEST_AS_PROGRAM"

// TestMain lets this test binary play the program, for tests that need a process.
func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// box is a machine of its own for one test: home, folders, sockets.
type box struct {
	t    *testing.T
	home string
}

func newBox(t *testing.T) *box {
	t.Helper()
	home, err := os.MkdirTemp("", "rd")
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	b := &box{t, home}
	for _, kv := range os.Environ() {
		if name, _, _ := strings.Cut(kv, "="); strings.HasPrefix(name, "RAGD_") && name != asProgram {
			t.Setenv(name, "")
		}
	}
	for name, value := range map[string]string{
		"HOME": home, "XDG_CONFIG_HOME": "", "XDG_DATA_HOME": "", "XDG_RUNTIME_DIR": filepath.Join(home, "run"), "KB_ROOT": "", "DB_PATH": "", "SCAN_INTERVAL": "", "LOG_LEVEL": "",
	} {
		t.Setenv(name, value)
	}
	must(t, os.MkdirAll(filepath.Join(home, "run", "ragd"), 0o700))
	return b
}

func (b *box) path(elem ...string) string {
	return filepath.Join(append([]string{b.home}, elem...)...)
}
func (b *box) mcpSocket() string   { return b.path("run/ragd/mcp.sock") }
func (b *box) adminSocket() string { return b.path("run/ragd/admin.sock") }

// ragd runs a command in this process.
func (b *box) ragd(args ...string) (code int, out, errOut string) {
	b.t.Helper()
	var o, e bytes.Buffer
	code = run(args, strings.NewReader(""), &o, &e)
	return code, o.String(), e.String()
}

// ok runs a command that must succeed and returns what it printed.
func (b *box) ok(args ...string) string {
	b.t.Helper()
	code, out, errOut := b.ragd(args...)
	if code != 0 || errOut != "" {
		b.t.Errorf("ragd %q: exit code %d\n%s%s", args, code, out, errOut)
	}
	return out
}

// fails runs a command that must fail like this, with nothing on standard output.
func (b *box) fails(code int, errHas string, args ...string) {
	b.t.Helper()
	got, out, errOut := b.ragd(args...)
	if got != code || !strings.Contains(errOut, errHas) || !strings.HasPrefix(errOut, "ragd: ") || out != "" {
		b.t.Errorf("ragd %q: exit code %d, want %d with %q\nout: %q\nerr: %q", args, got, code, errHas, out, errOut)
	}
}

// program starts the program as a process of its own.
func (b *box) program(args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	return cmd
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// fakeDaemon answers on the admin socket with what it is given, and remembers what it was asked.
type fakeDaemon struct {
	mu      sync.Mutex
	asked   []string
	answers map[string]any // "GET /admin/status" → value; a wire.Error is sent as one
	status  map[string]int
}

func (b *box) daemon() *fakeDaemon {
	b.t.Helper()
	d := &fakeDaemon{answers: map[string]any{}, status: map[string]int{}}
	l, err := net.Listen("unix", b.adminSocket())
	must(b.t, err)
	must(b.t, os.Chmod(b.adminSocket(), 0o600))
	srv := &http.Server{Handler: d}
	go func() { _ = srv.Serve(l) }()
	b.t.Cleanup(func() { _ = srv.Close() })
	return d
}

func (d *fakeDaemon) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	key := r.Method + " " + r.URL.Path
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked = append(d.asked, r.Method+" "+r.URL.RequestURI())
	w.Header().Set(wire.APIHeader, "1")
	if code := d.status[key]; code != 0 {
		w.WriteHeader(code)
	}
	if v, ok := d.answers[key]; ok {
		_ = json.NewEncoder(w).Encode(v)
		return
	}
	_, _ = io.WriteString(w, "{}")
}

func (d *fakeDaemon) was(asked string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, a := range d.asked {
		if a == asked {
			return true
		}
	}
	return false
}

func (d *fakeDaemon) fail(key string, status int, code, message, hint string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.status[key] = status
	d.answers[key] = wire.Error{Error: wire.ErrorBody{Code: code, Message: message, Hint: hint}}
}
