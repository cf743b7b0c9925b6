package blackbox

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// pipes is the bridge's standard input and output as one connection.
type pipes struct {
	io.Reader
	io.WriteCloser
}

// bridge starts `ragd mcp` and hands over its pipes.
func (h *home) bridge(t testing.TB, env ...string) (*exec.Cmd, pipes, *bytes.Buffer) {
	t.Helper()
	cmd := h.command("mcp")
	cmd.Env = append(cmd.Env, env...)
	in, err := cmd.StdinPipe()
	must(t, err)
	out, err := cmd.StdoutPipe()
	must(t, err)
	var errOut bytes.Buffer
	cmd.Stderr = &errOut
	must(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	return cmd, pipes{out, in}, &errOut
}

func TestEveryLineOfTheBridgeIsJSON(t *testing.T) {
	t.Parallel()
	h := withDaemon(t, "LOG_LEVEL=debug")
	h.write(t, "kb/a.md", "ocelot \x1b[31m with \x08 control \u2028 characters")
	h.finds(t, "kb", "ocelot", "a.md")
	cmd, p, errOut := h.bridge(t, "LOG_LEVEL=debug")
	c := newClient(p)
	must(t, c.handshake())
	for i, line := range []string{
		`{"jsonrpc":"2.0","id":"a","method":"tools/list"}`, `not json at all`, `{"jsonrpc":"2.0","id":"b","method":"nope"}`, `[]`, `{}`, `null`, ``,
		`{"jsonrpc":"2.0","id":"c","method":"tools/call","params":{"name":"rag_search","arguments":{"query":"ocelot"}}}`,
		`{"jsonrpc":"2.0","id":"d","method":"tools/call","params":{"name":"rag_read","arguments":{"kb":"kb","path":"a.md"}}}`,
		`{"jsonrpc":"2.0","id":"e","method":"logging/setLevel","params":{"level":"debug"}}`,
		`{"jsonrpc":"2.0","id":"f","method":"resources/list"}`, `{"jsonrpc":"2.0","id":"z","method":"ping"}`,
	} {
		if _, err := io.WriteString(p, line+"\n"); err != nil {
			t.Fatalf("line %d: %v", i, err)
		}
	}
	must(t, p.Close())
	lines, last := 0, false
	s := bufio.NewScanner(c.r)
	s.Buffer(nil, 16<<20)
	for s.Scan() {
		lines++
		if !json.Valid(s.Bytes()) {
			t.Errorf("not JSON: %q", s.Text())
		}
		last = last || strings.Contains(s.Text(), `"z"`)
	}
	must(t, s.Err())
	_ = cmd.Wait()
	if lines < 8 || !last {
		t.Errorf("%d lines, ping answered: %v\n%s", lines, last, errOut.String())
	}
}

func TestTheBridgeDiesWithItsClientAndTheDaemonStays(t *testing.T) {
	t.Parallel()
	h := withDaemon(t)
	h.write(t, "kb/a.md", "bridge over water")
	h.finds(t, "kb", "bridge", "a.md")
	for _, how := range []string{"input closed", "terminated", "killed in mid-call"} {
		cmd, p, _ := h.bridge(t)
		c := newClient(p)
		must(t, c.handshake())
		switch how {
		case "input closed":
			must(t, p.Close())
		case "terminated":
			must(t, cmd.Process.Signal(syscall.SIGTERM))
		default:
			_, err := io.WriteString(p, `{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"rag_search","arguments":{"query":"bridge","wait_ms":60000}}}`+"\n")
			must(t, err)
			must(t, cmd.Process.Kill())
		}
		ended := make(chan struct{})
		go func() { _, _ = io.Copy(io.Discard, c.r); _ = cmd.Wait(); close(ended) }()
		select {
		case <-ended:
		case <-time.After(patience):
			t.Fatalf("%s: the bridge lives on", how)
		}
		h.finds(t, "kb", "bridge", "a.md")
	}
	eventually(t, "the daemon has forgotten the sessions", func() string {
		if a := h.status(t).Agents; len(a) > 1 { // the test's own
			return fmt.Sprint(a)
		}
		return ""
	})
}

func TestTheBridgeEndsWhenTheDaemonIsKilled(t *testing.T) {
	t.Parallel()
	h := withDaemon(t)
	cmd, p, errOut := h.bridge(t)
	c := newClient(p)
	must(t, c.handshake())
	h.kill(t)
	_, _ = io.Copy(io.Discard, c.r)
	if err := cmd.Wait(); err == nil || errOut.Len() == 0 {
		t.Errorf("%v, stderr %q", err, errOut.String())
	}
}

func TestTwentyClientsAtOnceAreAllAnsweredRight(t *testing.T) {
	t.Parallel()
	h := sharedDaemon(t)
	kb := h.newKB(t)
	for i := range 20 {
		h.write(t, fmt.Sprintf("%s/c%d.md", kb, i), fmt.Sprintf("mixture for client%d alone", i))
	}
	h.synced(t, kb, "mixture")
	var wg sync.WaitGroup
	for i := range 20 {
		c := h.connect(t)
		wg.Go(func() {
			for round := range 15 {
				path := fmt.Sprintf("c%d.md", i)
				f, err := get[found](c, "rag_search", args{"query": fmt.Sprintf("client%d", i), "kb": kb})
				if err != nil || len(f.Results) != 1 || f.Results[0].Path != path {
					t.Errorf("client %d round %d: %v %q", i, round, err, f.paths())
					return
				}
				r, err := get[readOut](c, "rag_read", args{"kb": kb, "path": path})
				if err != nil || !strings.Contains(r.Content, fmt.Sprintf("client%d alone", i)) {
					t.Errorf("client %d reads %q, %v", i, r.Content, err)
					return
				}
				if _, err := get[map[string]any](c, "rag_status", args{}); err != nil {
					t.Errorf("client %d: %v", i, err)
				}
			}
		})
	}
	wg.Wait()
}

func TestAnOverlongLineIsRefusedWhileOthersGoOn(t *testing.T) {
	t.Parallel()
	h := sharedDaemon(t)
	kb := h.newKB(t)
	h.write(t, kb+"/a.md", "loris among long lines")
	h.synced(t, kb, "loris")
	conn, err := net.Dial("unix", h.socket("mcp.sock"))
	must(t, err)
	defer func() { _ = conn.Close() }()
	long := newClient(conn)
	must(t, long.handshake())
	must(t, conn.SetDeadline(time.Now().Add(patience)))
	sent := make(chan error, 1)
	go func() {
		_, err := fmt.Fprintf(conn, `{"jsonrpc":"2.0","id":77,"method":"tools/call","params":{"name":"rag_search","arguments":{"query":"%s"}}}`+"\n", strings.Repeat("x", 9<<20))
		sent <- err
	}()
	for range 20 {
		h.finds(t, kb, "loris", "a.md")
	}
	m, err := long.read()
	must(t, err)
	if m.Error == nil || string(m.ID) != "77" {
		t.Errorf("%+v", m)
	}
	must(t, <-sent)
	if f, err := get[found](long, "rag_search", args{"query": "loris", "kb": kb}); err != nil || len(f.Results) != 1 {
		t.Errorf("the connection is of no use any more: %v", err)
	}
	// A document close to the limit is taken.
	text := "loris in bulk\n\n" + strings.Repeat("seven letters in a line of text.\n", 200_000)
	if _, err := get[map[string]any](long, "rag_add_document", args{"kb": kb, "path": "big.md", "content": text}); err != nil {
		t.Errorf("a document of %d bytes: %v", len(text), err)
	}
}

func TestPathTricksAllGetOneRefusal(t *testing.T) {
	t.Parallel()
	h := sharedDaemon(t)
	kb := h.newKB(t)
	h.write(t, kb+"/a.md", "inside")
	h.synced(t, kb, "inside")
	answers := map[string][]string{}
	for _, path := range []string{"../../etc/passwd", "/etc/passwd", "a/../../x.md", "..", ".", "", "a//b.md", "./a.md", "a.md/", "a.md/..", `..\..\x`, "\x00", "%2e%2e/x", "../" + kb + "/a.md", strings.Repeat("../", 40) + "etc/passwd"} {
		for _, tool := range []string{"rag_read", "rag_delete_document", "rag_add_document"} {
			a := args{"kb": kb, "path": path}
			if tool == "rag_add_document" {
				a["content"] = "written outside"
			}
			r, err := h.client(t).call(tool, a)
			if err != nil {
				continue // refused before the tool
			}
			var f struct {
				Code, Message string
				Existed       bool
			}
			must(t, json.Unmarshal(r.Data, &f))
			if !r.IsError && !(tool == "rag_delete_document" && !f.Existed) && !(tool == "rag_add_document" && (path == "%2e%2e/x" || path == `..\..\x`)) {
				t.Errorf("%s %q: %s", tool, path, r.Data)
			}
			answers[f.Code] = append(answers[f.Code], path)
			if strings.Contains(string(r.Data), h.root) || strings.Contains(string(r.Data), "/etc/passwd\" does") {
				t.Errorf("%s %q tells too much: %s", tool, path, r.Data)
			}
		}
	}
	// Whether a file outside exists makes no difference to the answer.
	there, err := h.client(t).call("rag_read", args{"kb": kb, "path": "../../../../etc/passwd"})
	must(t, err)
	nowhere, err := h.client(t).call("rag_read", args{"kb": kb, "path": "../../../../etc/passwx"})
	must(t, err)
	if strings.ReplaceAll(string(there.Data), "passwd", "passwx") != string(nowhere.Data) {
		t.Errorf("%s differs from %s", there.Data, nowhere.Data)
	}
	for _, name := range []string{"..", "../" + kb, "/etc", "no such kb", ""} {
		if r, err := h.client(t).call("rag_read", args{"kb": name, "path": "a.md"}); err == nil && !r.IsError {
			t.Errorf("kb %q: %s", name, r.Data)
		}
	}
}
