package mcpserver

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// startServer serves o and w on a Unix socket until the test ends.
func startServer(t testing.TB, w *world, o Options) (*Server, string) {
	t.Helper()
	if o.Version == "" {
		o.Version = "1.2.3"
	}
	deps := w.deps()
	if w.around != nil {
		deps = w.around(deps)
	}
	s := New(o, deps)
	addr := filepath.Join(t.TempDir(), "mcp.sock")
	l, err := net.Listen("unix", addr)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		select {
		case err := <-done:
			if err != nil {
				t.Errorf("Serve: %v", err)
			}
		case <-time.After(10 * time.Second):
			t.Error("Serve did not end")
		}
	})
	return s, addr
}

// client is a plain JSON-RPC client over a socket.
type client struct {
	t    testing.TB
	conn net.Conn
	r    *bufio.Reader
	next atomic.Int64
}

type message struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
	Result  json.RawMessage `json:"result"`
	Error   *rpcError       `json:"error"`
}

func dialRaw(t testing.TB, addr string) *client {
	t.Helper()
	conn, err := net.Dial("unix", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return &client{t: t, conn: conn, r: bufio.NewReaderSize(conn, 1<<16)}
}

// dial connects and shakes hands.
func dial(t testing.TB, addr string) *client {
	t.Helper()
	c := dialRaw(t, addr)
	c.initialize("2025-06-18")
	return c
}

func (c *client) initialize(version string) message {
	c.t.Helper()
	m := c.request("initialize", map[string]any{
		"protocolVersion": version, "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "test", "version": "0"},
	})
	c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return m
}

func (c *client) send(line string) {
	c.t.Helper()
	if err := c.conn.SetWriteDeadline(time.Now().Add(time.Minute)); err != nil {
		c.t.Fatal(err)
	}
	if _, err := c.conn.Write([]byte(line + "\n")); err != nil {
		c.t.Fatalf("write: %v", err)
	}
}

// recv reads the next message of any kind.
func (c *client) recv() message {
	c.t.Helper()
	if err := c.conn.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		c.t.Fatal(err)
	}
	line, err := c.r.ReadBytes('\n')
	if err != nil {
		c.t.Fatalf("read: %v", err)
	}
	var m message
	if err := json.Unmarshal(line, &m); err != nil {
		c.t.Fatalf("not JSON: %v: %.200s", err, line)
	}
	if m.JSONRPC != "2.0" {
		c.t.Fatalf("jsonrpc is %q in %.200s", m.JSONRPC, line)
	}
	return m
}

// start sends a request and returns its id.
func (c *client) start(method string, params any) string {
	c.t.Helper()
	id := fmt.Sprint(c.next.Add(1))
	p, err := json.Marshal(params)
	if err != nil {
		c.t.Fatal(err)
	}
	c.send(`{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `","params":` + string(p) + `}`)
	return id
}

func (c *client) request(method string, params any) message {
	c.t.Helper()
	id := c.start(method, params)
	for {
		if m := c.recv(); m.Method == "" {
			if string(m.ID) != id {
				c.t.Fatalf("reply to %s carries id %s, want %s", method, m.ID, id)
			}
			return m
		}
	}
}

// result is a tool's answer as a client sees it.
type result struct {
	IsError bool `json:"isError"`
	Content []struct{ Type, Text string }
	Data    json.RawMessage `json:"structuredContent"`
	raw     json.RawMessage
}

func (r result) text() string {
	if len(r.Content) != 1 || r.Content[0].Type != "text" {
		return fmt.Sprintf("<%d content blocks>", len(r.Content))
	}
	return r.Content[0].Text
}

func (c *client) tool(name string, args any) result {
	c.t.Helper()
	m := c.request("tools/call", map[string]any{"name": name, "arguments": args})
	return c.resultOf(name, m)
}

func (c *client) resultOf(name string, m message) result {
	c.t.Helper()
	if m.Error != nil {
		c.t.Fatalf("%s: JSON-RPC error %d %s", name, m.Error.Code, m.Error.Message)
	}
	var r result
	if err := json.Unmarshal(m.Result, &r); err != nil {
		c.t.Fatal(err)
	}
	r.raw = m.Result
	return r
}

// ok calls a tool, requires success, and decodes its structured content.
func ok[T any](c *client, name string, args any) (T, string) {
	c.t.Helper()
	r := c.tool(name, args)
	if r.IsError {
		c.t.Fatalf("%s %v: %s", name, args, r.text())
	}
	var out T
	if err := json.Unmarshal(r.Data, &out); err != nil {
		c.t.Fatalf("%s: %v in %s", name, err, r.Data)
	}
	return out, r.text()
}

// refused calls a tool, requires a failure with that code, and returns it.
func (c *client) refused(name string, args any, code string) failure {
	c.t.Helper()
	r := c.tool(name, args)
	var f failure
	if err := json.Unmarshal(r.Data, &f); err != nil {
		c.t.Fatal(err)
	}
	if !r.IsError || f.Code != code {
		c.t.Fatalf("%s %v: code %q (isError %v), want %q: %s", name, args, f.Code, r.IsError, code, r.text())
	}
	if f.Message == "" || !strings.Contains(r.text(), f.Code) {
		c.t.Fatalf("%s %v: failure without words: %s", name, args, r.text())
	}
	return f
}

type m map[string]any
