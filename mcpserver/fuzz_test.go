package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"testing"
	"time"
)

// memConn is a connection whose client has said everything already.
type memConn struct {
	in  *bytes.Reader
	out bytes.Buffer
}

func (c *memConn) Read(p []byte) (int, error)       { return c.in.Read(p) }
func (c *memConn) Write(p []byte) (int, error)      { return c.out.Write(p) }
func (c *memConn) Close() error                     { return nil }
func (c *memConn) LocalAddr() net.Addr              { return &net.UnixAddr{} }
func (c *memConn) RemoteAddr() net.Addr             { return &net.UnixAddr{} }
func (c *memConn) SetDeadline(time.Time) error      { return nil }
func (c *memConn) SetReadDeadline(time.Time) error  { return nil }
func (c *memConn) SetWriteDeadline(time.Time) error { return nil }

// FuzzConnection sends any bytes to a server: whatever they are, each line of
// the answer is one JSON-RPC message (or a batch of them), no request gets an
// internal error, and the connection ends in order.
func FuzzConnection(f *testing.F) {
	for _, method := range []string{
		`"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"x","version":"1"}}`, `"ping"`, `"tools/list"`,
		`"tools/call","params":{"name":"rag_search","arguments":{"query":"fox","top_k":"5"}}`, `"tools/call","params":{"name":"rag_read","arguments":{"kb":"notes","path":"a.md","offset":1}}`,
		`"tools/call","params":{"name":"list_chunks","arguments":{"prefix":"n"}}`, `"tools/call","params":{"name":"capsid_find_docs","arguments":{"action":"glob","glob":"*"}}`,
		`"tools/call","params":{"name":"search_knowledge","arguments":{"knowledge_item_id":"notes/a.md"}}`, `"tools/call","params":{"name":"rag_jobs","arguments":{},"_meta":{"progressToken":1}}`,
		`"resources/list","params":{"cursor":"eyJ0IjoicmVzb3VyY2VzL2xpc3QifQ=="}`, `"resources/read","params":{"uri":"rag://notes/a.md?offset=2"}`, `"resources/templates/list"`,
		`"prompts/get","params":{"name":"what_changed","arguments":{"kb":"notes"}}`, `"completion/complete","params":{"ref":{"type":"ref/resource","uri":"rag://{kb}/{+path}"},"argument":{"name":"path","value":"a"},"context":{"arguments":{"kb":"notes"}}}`,
		`"logging/setLevel","params":{"level":"debug"}`, `"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}`,
		`"subscriptions/listen","params":{"notifications":{},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}`,
		`"notifications/cancelled","params":{"requestId":1}`,
	} {
		f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":` + method + "}\n"))
		f.Add([]byte(`[{"jsonrpc":"2.0","id":"a","method":` + method + "}]\n{}\n\xff\n"))
	}
	w := newWorld(f, "notes")
	w.put("notes", "a.md", "the quick fox")
	s := New(Options{Agent: Agent{ReadOnly: true}, Limits: Limits{LineBytes: 1 << 16}}, w.deps())
	f.Fuzz(func(t *testing.T, data []byte) {
		c := &memConn{in: bytes.NewReader(data)}
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		s.serveConn(ctx, c)
		if ctx.Err() != nil {
			t.Fatal("the connection did not end")
		}
		for line := range bytes.Lines(c.out.Bytes()) {
			var msgs []message
			if line[0] == '[' {
				if err := json.Unmarshal(line, &msgs); err != nil {
					t.Fatalf("%v: %q", err, line)
				}
			} else {
				msgs = make([]message, 1)
				if err := json.Unmarshal(line, &msgs[0]); err != nil {
					t.Fatalf("%v: %q", err, line)
				}
			}
			for _, m := range msgs {
				if m.JSONRPC != "2.0" || m.Method == "" && m.Result == nil && m.Error == nil {
					t.Fatalf("not a message: %q", line)
				}
				if m.Error != nil && m.Error.Code == codeInternal || bytes.Contains(m.Result, []byte("internal_error")) {
					t.Fatalf("internal error for %q: %q", data, line)
				}
			}
		}
		if n := len(s.Sessions()); n != 0 {
			t.Fatalf("%d sessions left", n)
		}
	})
}
