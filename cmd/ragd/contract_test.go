package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// served is a daemon of its own process, over real files.
type served struct {
	*box
	cmd *exec.Cmd
	log bytes.Buffer
}

// serve writes files and settings and starts the daemon.
func serve(t *testing.T, settings string, files map[string]string) *served {
	t.Helper()
	return serveWith(t, settings, files, "EMBEDDINGS_ENABLED", "false") // quick, and the same on every machine
}

// serveWith is serve with an environment variable set.
func serveWith(t *testing.T, settings string, files map[string]string, name, value string) *served {
	t.Helper()
	s := &served{box: newBox(t)}
	t.Setenv(name, value)
	for _, dir := range []string{"kbs", "other"} {
		must(t, os.MkdirAll(s.path(dir), 0o755))
	}
	for path, text := range files {
		s.write(path, text)
	}
	s.settings(settings)
	s.cmd = s.program("serve")
	s.cmd.Stderr = &s.log
	must(t, s.cmd.Start())
	t.Cleanup(func() {
		_ = s.cmd.Process.Signal(syscall.SIGTERM)
		_ = s.cmd.Wait()
		if t.Failed() {
			t.Logf("the daemon's log:\n%s", &s.log)
		}
	})
	return s
}

func (s *served) write(path, text string) {
	s.t.Helper()
	must(s.t, os.MkdirAll(filepath.Dir(s.path(path)), 0o755))
	must(s.t, os.WriteFile(s.path(path), []byte(text), 0o644))
}

// settings writes the settings file; the roots are always there.
func (s *served) settings(text string) {
	s.t.Helper()
	s.write(".config/ragd/config.toml", fmt.Sprintf("[[root]]\nname = \"main\"\ndir = %q\n[[root]]\nname = \"other\"\ndir = %q\n%s", s.path("kbs"), s.path("other"), text))
}

func (s *served) agentSocket(name string) string { return s.path("run/ragd/agents", name+".sock") }

// agent connects to the socket of an agent; "" is the main one.
func (s *served) agent(name string) *mcpClient {
	s.t.Helper()
	path := s.mcpSocket()
	if name != "" {
		path = s.agentSocket(name)
	}
	var conn net.Conn
	var err error
	for range 200 {
		if conn, err = net.Dial("unix", path); err == nil {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	must(s.t, err)
	s.t.Cleanup(func() { _ = conn.Close() })
	c := &mcpClient{t: s.t, conn: conn, r: bufio.NewReaderSize(conn, 1<<20)}
	c.request("initialize", map[string]any{"protocolVersion": "2025-06-18", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "contract", "version": "1"}})
	_, err = fmt.Fprintln(conn, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	must(s.t, err)
	return c
}

// fresh returns a client of the main socket when all files are in the index.
func (s *served) fresh() *mcpClient {
	s.t.Helper()
	c := s.agent("")
	c.settle()
	return c
}

type mcpClient struct {
	t    testing.TB
	conn net.Conn
	r    *bufio.Reader
	id   int
}

func (c *mcpClient) request(method string, params any) map[string]any {
	c.t.Helper()
	m, err := c.try(method, params)
	if err != nil {
		c.t.Fatalf("%s: %v", method, err)
	}
	if m["error"] != nil {
		c.t.Fatalf("%s: %v", method, m["error"])
	}
	r, _ := m["result"].(map[string]any)
	return r
}

func (c *mcpClient) try(method string, params any) (m map[string]any, err error) {
	c.id++
	line, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": c.id, "method": method, "params": params})
	if err != nil {
		return nil, err
	}
	if err := c.conn.SetDeadline(time.Now().Add(60 * time.Second)); err != nil {
		return nil, err
	}
	if _, err := c.conn.Write(append(line, '\n')); err != nil {
		return nil, err
	}
	answer, err := c.r.ReadBytes('\n')
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(answer, &m); err != nil {
		return nil, err
	}
	if id, _ := m["id"].(float64); int(id) != c.id {
		return nil, fmt.Errorf("answer to %v, not %d", m["id"], c.id)
	}
	return m, nil
}

// obj is a JSON object.
type obj map[string]any

func (o obj) str(key string) string { s, _ := o[key].(string); return s }
func (o obj) num(key string) int    { n, _ := o[key].(float64); return int(n) }
func (o obj) obj(key string) obj    { m, _ := o[key].(map[string]any); return m }
func (o obj) list(key string) []obj {
	var out []obj
	l, _ := o[key].([]any)
	for _, e := range l {
		m, _ := e.(map[string]any)
		out = append(out, m)
	}
	return out
}

// all joins a field of all rows.
func all(rows []obj, key string) string {
	var out []string
	for _, r := range rows {
		out = append(out, fmt.Sprint(r[key]))
	}
	return strings.Join(out, " ")
}

// call calls a tool that must succeed.
func (c *mcpClient) call(tool string, args obj) obj {
	c.t.Helper()
	got, failed := c.any(tool, args)
	if failed {
		c.t.Fatalf("%s %v: %v", tool, args, got)
	}
	return got
}

// refused calls a tool that must fail.
func (c *mcpClient) refused(tool string, args obj) obj {
	c.t.Helper()
	got, failed := c.any(tool, args)
	if !failed {
		c.t.Errorf("%s %v succeeded: %v", tool, args, got)
	}
	return got
}

func (c *mcpClient) any(tool string, args obj) (got obj, failed bool) {
	c.t.Helper()
	r := c.request("tools/call", map[string]any{"name": tool, "arguments": args})
	got, _ = r["structuredContent"].(map[string]any)
	failed, _ = r["isError"].(bool)
	if got == nil {
		c.t.Fatalf("%s: no structuredContent: %v", tool, r)
	}
	return got, failed
}

// settle waits until all that was written is in the index.
func (c *mcpClient) settle() {
	c.t.Helper()
	for range 20 {
		r := c.call("rag_search", obj{"query": "anything", "wait_ms": 5000})
		if r.obj("freshness").num("pending") == 0 {
			return
		}
	}
	c.t.Fatal("the index is not up to date after a long time")
}

func want(t *testing.T, what string, got, want any) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}
