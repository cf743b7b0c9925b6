package blackbox

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// client is a plain MCP client: line-delimited JSON-RPC, one call at a time.
type client struct {
	mu   sync.Mutex
	conn io.ReadWriteCloser
	r    *bufio.Reader
	next int
}

type message struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Result  json.RawMessage `json:"result"`
	Error   *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

type toolResult struct {
	IsError bool `json:"isError"`
	Content []struct{ Type, Text string }
	Data    json.RawMessage `json:"structuredContent"`
}

type hit struct {
	KB, Path, Title string
	Lines           struct{ First, Last int }
	Headings        []string
	Score           float64
	Content         string
	Revision        string `json:"revision_id"`
	Chunk           int    `json:"chunk_index"`
}

type freshness struct {
	Pending, Failed int
	Degraded        []string
	NotYet          []struct{ KB, Path string } `json:"not_yet"`
}

type found struct {
	Results   []hit
	Reason    string
	Freshness freshness
}

func (f found) paths() []string {
	var out []string
	for _, h := range f.Results {
		if !slices.Contains(out, h.Path) {
			out = append(out, h.Path)
		}
	}
	slices.Sort(out)
	return out
}

// connect opens a connection of its own to the MCP socket.
func (h *home) connect(t testing.TB) *client {
	t.Helper()
	conn, err := net.Dial("unix", h.socket("mcp.sock"))
	must(t, err)
	c := newClient(conn)
	must(t, c.handshake())
	t.Cleanup(func() { _ = conn.Close() })
	return c
}

func newClient(conn io.ReadWriteCloser) *client {
	return &client{conn: conn, r: bufio.NewReaderSize(conn, 1<<16)}
}

func (c *client) handshake() error {
	_, err := c.request("initialize", map[string]any{
		"protocolVersion": "2025-06-18", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "blackbox", "version": "0"},
	})
	if err != nil {
		return err
	}
	_, err = io.WriteString(c.conn, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n")
	return err
}

// request sends one request and reads up to its reply.
func (c *client) request(method string, params any) (message, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.next++
	line, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": c.next, "method": method, "params": params})
	if err != nil {
		return message{}, err
	}
	if d, ok := c.conn.(net.Conn); ok {
		if err := d.SetDeadline(time.Now().Add(patience)); err != nil {
			return message{}, err
		}
	}
	if _, err := c.conn.Write(append(line, '\n')); err != nil {
		return message{}, err
	}
	for {
		m, err := c.read()
		if err != nil {
			return m, err
		}
		if m.Method != "" {
			continue
		}
		if m.Error != nil {
			return m, fmt.Errorf("%s: error %d: %s", method, m.Error.Code, m.Error.Message)
		}
		if string(m.ID) != fmt.Sprint(c.next) {
			return m, fmt.Errorf("the reply carries id %s, want %d", m.ID, c.next)
		}
		return m, nil
	}
}

func (c *client) read() (message, error) {
	var m message
	line, err := c.r.ReadBytes('\n')
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(line, &m); err != nil {
		return m, fmt.Errorf("not JSON: %w: %.200s", err, line)
	}
	return m, nil
}

// call calls a tool; a failure of the tool is in the result.
func (c *client) call(tool string, args any) (toolResult, error) {
	m, err := c.request("tools/call", map[string]any{"name": tool, "arguments": args})
	var r toolResult
	if err != nil {
		return r, err
	}
	return r, json.Unmarshal(m.Result, &r)
}

// get calls a tool that must succeed and decodes its answer.
func get[T any](c *client, tool string, args any) (out T, err error) {
	r, err := c.call(tool, args)
	if err != nil {
		return out, err
	}
	if r.IsError {
		return out, fmt.Errorf("%s %v: %s", tool, args, r.Data)
	}
	return out, json.Unmarshal(r.Data, &out)
}

type args = map[string]any

// client is the connection that the tests of this home share.
func (h *home) client(t testing.TB) *client {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.mcp == nil {
		conn, err := net.Dial("unix", h.socket("mcp.sock"))
		must(t, err)
		h.mcp = newClient(conn)
		must(t, h.mcp.handshake())
	}
	return h.mcp
}

// search searches one KB ("" = all).
func (h *home) search(t testing.TB, kb, query string, more ...args) found {
	t.Helper()
	f, err := h.trySearch(t, kb, query, more...)
	must(t, err)
	return f
}

func (h *home) trySearch(t testing.TB, kb, query string, more ...args) (found, error) {
	a := args{"query": query}
	if kb != "" {
		a["kb"] = kb
	}
	for _, m := range more {
		for k, v := range m {
			a[k] = v
		}
	}
	return get[found](h.client(t), "rag_search", a)
}

// synced searches after everything written before the call is in.
func (h *home) synced(t testing.TB, kb, query string) found {
	t.Helper()
	f := h.search(t, kb, query, args{"wait_ms": 60_000})
	if len(f.Freshness.NotYet) > 0 {
		t.Fatalf("not in after a minute: %v", f.Freshness.NotYet)
	}
	return f
}

// finds waits until a query finds exactly these documents of a KB. Nobody is
// asked to hurry: it is the watcher alone that brings the change in.
func (h *home) finds(t testing.TB, kb, query string, paths ...string) {
	t.Helper()
	slices.Sort(paths)
	eventually(t, fmt.Sprintf("%q in %s finds %q", query, kb, paths), func() string {
		f, err := h.trySearch(t, kb, query, args{"top_k": 100})
		if err != nil {
			if len(paths) == 0 && strings.Contains(err.Error(), "kb_not_found") {
				return ""
			}
			return err.Error()
		}
		if got := f.paths(); !slices.Equal(got, paths) {
			return fmt.Sprintf("%q", got)
		}
		return ""
	})
}

type docRow struct {
	Path, Status, Reason string
	Chunks, Bytes        int
}

// documents lists a whole KB.
func (h *home) documents(t testing.TB, kb string) map[string]docRow {
	t.Helper()
	type list struct {
		Documents []docRow
		Next      string `json:"next_cursor"`
	}
	out := map[string]docRow{}
	for cursor := ""; ; {
		a := args{"kb": kb, "limit": 1000}
		if cursor != "" {
			a["cursor"] = cursor
		}
		l, err := get[list](h.client(t), "rag_list_documents", a)
		must(t, err)
		for _, d := range l.Documents {
			out[d.Path] = d
		}
		if cursor = l.Next; cursor == "" {
			return out
		}
	}
}

// indexed lists the paths of a KB's indexed documents.
func (h *home) indexed(t testing.TB, kb string) []string {
	t.Helper()
	var out []string
	for p, d := range h.documents(t, kb) {
		if d.Status == "indexed" {
			out = append(out, p)
		}
	}
	slices.Sort(out)
	return out
}

// holds waits until exactly these documents of a KB are indexed.
func (h *home) holds(t testing.TB, kb string, paths ...string) {
	t.Helper()
	slices.Sort(paths)
	eventually(t, fmt.Sprintf("%s holds %d documents", kb, len(paths)), func() string {
		got := h.indexed(t, kb)
		if slices.Equal(got, paths) {
			return ""
		}
		return fmt.Sprintf("%d: %.400q", len(got), got)
	})
}

type readOut struct {
	Content  string
	Revision string `json:"revision_id"`
	Stale    bool
	Title    string
	Total    int  `json:"content_total_chars"`
	Cut      bool `json:"content_truncated"`
}

func (h *home) read(t testing.TB, kb, path string) readOut {
	t.Helper()
	out, err := get[readOut](h.client(t), "rag_read", args{"kb": kb, "path": path})
	must(t, err)
	return out
}
