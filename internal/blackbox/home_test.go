package blackbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"ragd/internal/adminclient"
	"ragd/internal/wire"
)

// patience bounds every wait. It says nothing about how fast ragd is: the
// machine may be busy with other tests.
const patience = 60 * time.Second

// home is one user's world: a folder of knowledge bases, settings, data and
// sockets, and the daemon that runs on them, if one does.
type home struct {
	dir  string // everything lies below it; short, since socket paths are bounded
	root string
	env  []string

	mu   sync.Mutex
	proc *process
	mcp  *client
	adm  *adminclient.Client
}

// process is one run of `ragd serve`.
type process struct {
	cmd  *exec.Cmd
	log  string // file with its standard error
	done chan struct{}
	err  error // valid after done
}

// newHome makes an empty world that is removed when the test ends, with
// whatever runs in it.
func newHome(t testing.TB, env ...string) *home {
	t.Helper()
	h, err := makeHome(env...)
	must(t, err)
	t.Cleanup(func() {
		if err := h.shut(); err != nil {
			t.Errorf("%v", err)
		}
		if t.Failed() {
			t.Logf("log of the daemon:\n%s", h.logTail(60))
		}
		_ = os.RemoveAll(h.dir)
	})
	return h
}

func makeHome(env ...string) (*home, error) {
	dir, err := os.MkdirTemp("", "rb")
	if err != nil {
		return nil, err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, err
	}
	h := &home{dir: dir, root: filepath.Join(dir, "kbs")}
	for _, d := range []string{"kbs", "run", "cfg", "data"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o700); err != nil {
			return nil, err
		}
	}
	h.env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "LANG=C.UTF-8", "TMPDIR=" + os.TempDir(),
		"XDG_RUNTIME_DIR=" + dir + "/run", "XDG_CONFIG_HOME=" + dir + "/cfg", "XDG_DATA_HOME=" + dir + "/data",
		"KB_ROOT=" + h.root, "SCAN_INTERVAL=0", "EMBEDDINGS_ENABLED=false", "GORACE=atexit_sleep_ms=0",
	}, env...)
	return h, nil
}

// withDaemon is a world with a running daemon that has made its first scan.
func withDaemon(t testing.TB, env ...string) *home {
	t.Helper()
	h := newHome(t, env...)
	h.serve(t)
	return h
}

// sharedDaemon is the daemon that many tests use at once, each with KBs of
// its own.
func sharedDaemon(t testing.TB) *home {
	t.Helper()
	shared.once.Do(func() {
		h, err := makeHome()
		must(t, err)
		shared.home = h
		h.serve(t)
	})
	if shared.home == nil {
		t.Fatal("the shared daemon did not start")
	}
	return shared.home
}

func (h *home) data(elem ...string) string {
	return filepath.Join(append([]string{h.dir, "data", "ragd"}, elem...)...)
}
func (h *home) socket(name string) string { return filepath.Join(h.dir, "run", "ragd", name) }
func (h *home) config() string            { return filepath.Join(h.dir, "cfg", "ragd", "config.toml") }

// start starts the daemon and returns at once.
func (h *home) start(t testing.TB, args ...string) *process {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	log, err := os.CreateTemp(h.dir, "log-")
	must(t, err)
	defer func() { _ = log.Close() }()
	p := &process{cmd: h.command(append([]string{"serve"}, args...)...), log: log.Name(), done: make(chan struct{})}
	p.cmd.Stderr = log
	must(t, p.cmd.Start())
	go func() {
		p.err = p.cmd.Wait()
		close(p.done)
	}()
	h.proc = p
	return p
}

// serve starts the daemon and waits until its first scan is over.
func (h *home) serve(t testing.TB, args ...string) {
	t.Helper()
	p := h.start(t, args...)
	eventually(t, "the daemon is up", func() string {
		select {
		case <-p.done:
			t.Fatalf("the daemon ended: %v\n%s", p.err, h.logTail(40))
		default:
		}
		health, err := h.admin().Health(context.Background())
		if err != nil {
			return err.Error()
		}
		if health.Status == "warming_up" {
			return health.Status
		}
		return ""
	})
}

func (h *home) command(args ...string) *exec.Cmd {
	cmd := exec.Command(ragdFile(), args...)
	cmd.Env, cmd.Dir = h.env, h.dir
	return cmd
}

// ragd runs a command to its end.
func (h *home) ragd(args ...string) (code int, out, errOut string) {
	var o, e bytes.Buffer
	cmd := h.command(args...)
	cmd.Stdout, cmd.Stderr = &o, &e
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return -1, o.String(), err.Error()
	}
	return cmd.ProcessState.ExitCode(), o.String(), e.String()
}

// ok runs a command that must succeed and returns what it printed.
func (h *home) ok(t testing.TB, args ...string) string {
	t.Helper()
	code, out, errOut := h.ragd(args...)
	if code != 0 {
		t.Fatalf("ragd %q: exit code %d\n%s%s", args, code, out, errOut)
	}
	return out
}

func (h *home) admin() *adminclient.Client {
	if h.adm == nil {
		h.adm = adminclient.New(h.socket("admin.sock"))
	}
	return h.adm
}

// drop forgets the connections to a daemon that is gone.
func (h *home) drop() {
	if h.mcp != nil {
		_ = h.mcp.conn.Close()
		h.mcp = nil
	}
	if h.adm != nil {
		h.adm.Close()
		h.adm = nil
	}
}

// stop ends the daemon as a service manager does and returns how long it took.
func (h *home) stop(t testing.TB) time.Duration {
	t.Helper()
	start := time.Now()
	must(t, h.shut())
	return time.Since(start)
}

// shut stops what runs and reports what must never be in a log.
func (h *home) shut() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	p := h.proc
	if p == nil {
		return nil
	}
	h.proc = nil
	h.drop()
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.done:
	case <-time.After(patience):
		_ = p.cmd.Process.Signal(syscall.SIGQUIT)
		<-p.done
		return fmt.Errorf("the daemon did not end on SIGTERM:\n%s", tail(p.log, 200))
	}
	if p.err != nil {
		return fmt.Errorf("the daemon ended with %w\n%s", p.err, tail(p.log, 80))
	}
	return p.clean()
}

// kill ends the daemon without warning, with all its children.
func (h *home) kill(t testing.TB) {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	p := h.proc
	h.proc = nil
	h.drop()
	_ = p.cmd.Process.Kill()
	<-p.done
	must(t, p.clean())
}

// clean reports a panic or a data race in the log.
func (p *process) clean() error {
	data, err := os.ReadFile(p.log)
	if err != nil {
		return err
	}
	for _, bad := range []string{"DATA RACE", "panic:", "panicked", "fatal error:", "stopping took too long"} {
		if i := bytes.Index(data, []byte(bad)); i >= 0 {
			return fmt.Errorf("%q in the daemon's log:\n%s", bad, data[max(0, i-500):min(len(data), i+4000)])
		}
	}
	return nil
}

func (h *home) pid() int { return h.proc.cmd.Process.Pid }

func (h *home) log() string {
	logs, _ := filepath.Glob(filepath.Join(h.dir, "log-*"))
	var b strings.Builder
	for _, l := range logs {
		data, _ := os.ReadFile(l)
		b.Write(data)
	}
	return b.String()
}

func (h *home) logTail(lines int) string {
	all := strings.Split(h.log(), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}

func tail(file string, lines int) string {
	data, _ := os.ReadFile(file)
	all := strings.Split(string(data), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}

func (h *home) status(t testing.TB) wire.Status {
	t.Helper()
	st, err := h.admin().Status(context.Background())
	must(t, err)
	return st
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// eventually polls until cond returns "", which is what is still wrong.
func eventually(t testing.TB, what string, cond func() string) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for pause := 5 * time.Millisecond; ; pause = min(pause*3/2, 100*time.Millisecond) {
		wrong := cond()
		if wrong == "" {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: not after %s: %s", what, patience, wrong)
		}
		time.Sleep(pause)
	}
}
