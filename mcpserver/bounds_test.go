package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"ragd/internal/search"
)

func TestLongLineIsRefusedByIDAndTheConnectionLives(t *testing.T) {
	_, addr := startServer(t, newWorld(t), Options{Limits: Limits{LineBytes: 200_000}})
	c := dial(t, addr)
	filler := strings.Repeat("x", 1_000_000)
	for _, tc := range []struct{ name, line, id string }{
		{"id first", `{"jsonrpc":"2.0","id":71,"method":"tools/call","params":{"x":"` + filler + `"}}`, "71"},
		{"id last", `{"method":"tools/call","params":{"x":"` + filler + `"},"jsonrpc":"2.0","id":"q72"}`, `"q72"`},
		{"id in the middle", `{"method":"a","params":{},"id":73,"x":"` + filler + `","jsonrpc":"2.0"}`, "null"},
		{"inner id last", `{"x":"` + filler + `","params":{"id":74}}`, "null"},
		{"no JSON at all", filler, "null"},
	} {
		c.send(tc.line)
		got := c.recv()
		if got.Error == nil || got.Error.Code != codeInvalidRequest || string(got.ID) != tc.id || !strings.Contains(got.Error.Message, "200000") {
			t.Errorf("%s: id %s, %+v", tc.name, got.ID, got.Error)
		}
		if pong := c.request("ping", m{}); pong.Error != nil {
			t.Errorf("%s: no pong", tc.name)
		}
	}
}

func TestRequestJustUnderTheLimitIsTaken(t *testing.T) {
	w := newWorld(t, "notes")
	_, addr := startServer(t, w, Options{})
	c := dial(t, addr)
	text := strings.Repeat("0123456789abcdef", (8<<20)/16-64)
	out, _ := ok[addOut](c, "rag_add_document", m{"kb": "notes", "path": "big.txt", "content": text})
	if !out.Queued {
		t.Fatalf("%+v", out)
	}
}

func TestSlowReaderLosesItsConnectionAndNobodyElseNotices(t *testing.T) {
	w := newWorld(t, "notes")
	w.put("notes", "a.md", strings.Repeat("lorem ipsum ", 8000))
	s, addr := startServer(t, w, Options{Limits: Limits{WriteTimeout: 200 * time.Millisecond, CallsPerConnection: 2}})
	slow, good := dial(t, addr), dial(t, addr)
	for range 40 { // more than a socket buffers, and never read
		if _, err := slow.conn.Write([]byte(`{"jsonrpc":"2.0","id":` + fmt.Sprint(slow.next.Add(1)) + `,"method":"tools/call","params":{"name":"rag_read","arguments":{"kb":"notes","path":"a.md"}}}` + "\n")); err != nil {
			break
		}
	}
	deadline := time.Now().Add(10 * time.Second)
	for len(s.Sessions()) > 1 {
		if time.Now().After(deadline) {
			t.Fatal("the slow reader is still connected")
		}
		ok[statusOut](good, "rag_status", m{})
		time.Sleep(5 * time.Millisecond)
	}
	ok[readOut](good, "rag_read", m{"kb": "notes", "path": "a.md"})
}

func TestOneClientRunsABoundedNumberOfCallsAndStillPings(t *testing.T) {
	w := newWorld(t, "notes")
	release := make(chan struct{})
	var mu sync.Mutex
	running, most := 0, 0
	w.onSearch = func(context.Context, search.Request) (*search.Response, error) {
		mu.Lock()
		running++
		most = max(most, running)
		mu.Unlock()
		<-release
		mu.Lock()
		running--
		mu.Unlock()
		return &search.Response{}, nil
	}
	_, addr := startServer(t, w, Options{Limits: Limits{CallsPerConnection: 3}})
	c := dial(t, addr)
	for range 30 {
		c.start("tools/call", m{"name": "rag_search", "arguments": m{"query": "x"}})
	}
	if pong := c.request("ping", m{}); pong.Error != nil {
		t.Fatal(pong.Error)
	}
	close(release)
	for range 30 {
		c.recv()
	}
	if most > 3 {
		t.Errorf("%d calls ran at once, want at most 3", most)
	}
}

func TestConnectionsOverTheLimitAreToldSo(t *testing.T) {
	_, addr := startServer(t, newWorld(t), Options{Limits: Limits{Connections: 2}})
	a, b := dial(t, addr), dial(t, addr)
	third := dialRaw(t, addr)
	if got := third.recv(); got.Error == nil || got.Error.Code != codeBusy {
		t.Fatalf("%+v", got)
	}
	if _, err := third.r.ReadByte(); !errors.Is(err, io.EOF) {
		t.Errorf("the third connection stays: %v", err)
	}
	_ = a.conn.Close()
	deadline := time.Now().Add(5 * time.Second)
	for {
		c := dialRaw(t, addr)
		c.start("ping", m{})
		if got := c.recv(); got.Error == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the place of a client that left is not free")
		}
		time.Sleep(5 * time.Millisecond)
	}
	b.request("ping", m{})
}

func TestHalfClosedClientGetsItsAnswers(t *testing.T) {
	w := newWorld(t, "notes")
	w.onSearch = func(context.Context, search.Request) (*search.Response, error) {
		time.Sleep(50 * time.Millisecond)
		return &search.Response{}, nil
	}
	_, addr := startServer(t, w, Options{})
	c := dial(t, addr)
	id := c.start("tools/call", m{"name": "rag_search", "arguments": m{"query": "x"}})
	if err := c.conn.(*net.UnixConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if got := c.recv(); string(got.ID) != id || got.Error != nil {
		t.Fatalf("%+v", got)
	}
	if _, err := c.r.ReadByte(); !errors.Is(err, io.EOF) {
		t.Errorf("connection not closed after the last answer: %v", err)
	}
}

func TestServeEndsInTimeWithCallsUnderWay(t *testing.T) {
	w := newWorld(t, "notes")
	entered := make(chan struct{}, 1)
	w.onSearch = func(ctx context.Context, _ search.Request) (*search.Response, error) {
		entered <- struct{}{}
		<-ctx.Done()
		return nil, ctx.Err()
	}
	s := New(Options{}, w.deps())
	addr := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", addr)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, l) }()
	c := dial(t, addr)
	c.start("tools/call", m{"name": "rag_search", "arguments": m{"query": "x", "wait_ms": 60000}})
	<-entered
	began := time.Now()
	cancel()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if d := time.Since(began); d > 2*time.Second {
		t.Errorf("took %v", d)
	}
	if len(s.Sessions()) != 0 {
		t.Errorf("sessions left: %+v", s.Sessions())
	}
}

func TestABrokenListenerIsAnError(t *testing.T) {
	s := New(Options{}, newWorld(t).deps())
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	if err := s.Serve(context.Background(), l); !errors.Is(err, net.ErrClosed) {
		t.Errorf("got %v", err)
	}
}
