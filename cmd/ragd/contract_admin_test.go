package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

// door is an HTTP client of the admin API.
type door struct {
	t    *testing.T
	http *http.Client
	base string
}

func (s *served) adminDoor() *door {
	return &door{s.t, &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", s.path("run/ragd/admin.sock"))
	}}, Timeout: time.Minute}, "http://ragd"}
}

// ask returns the status and the answer; headers come in pairs.
func (d *door) ask(method, path, body string, headers ...string) (int, obj) {
	d.t.Helper()
	req, err := http.NewRequest(method, d.base+path, strings.NewReader(body))
	must(d.t, err)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
		if headers[i] == "Host" {
			req.Host = headers[i+1]
		}
	}
	res, err := d.http.Do(req)
	must(d.t, err)
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(res.Body)
	must(d.t, err)
	var out obj
	if json.Unmarshal(raw, &out) != nil {
		out = obj{"text": string(raw)}
	}
	if res.StatusCode >= 400 && res.StatusCode != http.StatusServiceUnavailable {
		if e := out.obj("error"); len(out) != 1 || e.str("code") == "" || e.str("message") == "" {
			d.t.Errorf("%s %s: not the one shape of errors: %s", method, path, raw)
		}
	}
	return res.StatusCode, out
}

func TestAdminAPI(t *testing.T) {
	port := freePort(t)
	s := serveWith(t, fmt.Sprintf("[embeddings]\nenabled = false\n[admin]\naddress = \"127.0.0.1:%d\"\nkey = \"a-long-enough-key\"\n[[mount]]\nname = \"fixed\"\ndir = \"~/fixed\"\n", port), map[string]string{
		"kbs/al/a.md": "# Pump\n\nThe pump.", "kbs/al/bad.docx": "PK\x03\x04 no", "kbs/be/b.md": "be", "fixed/m.md": "mounted",
	}, "RAGD_MAX_FILE_BYTES", "65536")
	s.fresh()
	own := s.adminDoor()
	body := func(path, content string) string {
		b, err := json.Marshal(obj{"path": path, "content": content})
		must(t, err)
		return string(b)
	}

	t.Run("each route answers, and what is wrong has its status and one shape", func(t *testing.T) {
		for _, c := range []struct {
			what, method, path, body string
			status                   int
		}{
			{"health", "GET", "/health", "", 200}, {"KBs", "GET", "/admin/kbs", "", 200}, {"documents", "GET", "/admin/kbs/al/documents", "", 200},
			{"status", "GET", "/admin/status", "", 200}, {"jobs", "GET", "/admin/jobs", "", 200}, {"metrics", "GET", "/metrics", "", 200},
			{"document", "GET", "/document?kb=al&path=a.md", "", 200}, {"search", "GET", "/search?query=pump&kb=al&top_k=3", "", 200},
			{"add", "POST", "/admin/kbs/al/documents", body("n.md", "new"), 200}, {"delete", "DELETE", "/admin/kbs/al/documents/n.md", "", 200},
			{"reindex", "POST", "/admin/reindex", "", 200}, {"reindex all", "POST", "/admin/reindex?force=true", "", 200},
			{"delete a KB", "DELETE", "/admin/kbs/be", "", 200}, {"delete a mount's index", "DELETE", "/admin/kbs/fixed", "", 200},
			{"bad JSON", "POST", "/admin/kbs/al/documents", "{x", 400}, {"another type", "POST", "/admin/kbs/al/documents", `{"path":5,"content":"x"}`, 400}, {"unknown field", "POST", "/admin/kbs/al/documents", `{"path":"x","content":"x","y":1}`, 400},
			{"traversal in a body", "POST", "/admin/kbs/al/documents", body("../n.md", "x"), 400}, {"traversal escaped", "DELETE", "/admin/kbs/al/documents/..%2f..%2fx", "", 400},
			{"traversal plain", "DELETE", "/admin/kbs/al/documents/../x", "", 400}, {"traversal in a query", "GET", "/document?kb=al&path=../x", "", 400}, {"NUL", "GET", "/document?kb=al&path=%00", "", 400},
			{"too large", "POST", "/admin/kbs/al/documents", body("n.md", strings.Repeat("x", 1<<16+1)), 413},
			{"far too large", "POST", "/admin/kbs/al/documents", body("n.md", strings.Repeat("x", 1<<20)), 413},
			{"unknown KB", "GET", "/admin/kbs/no/documents", "", 404}, {"unknown document", "GET", "/document?kb=al&path=no.md", "", 404}, {"unknown route", "GET", "/no", "", 404},
			{"unknown job", "POST", "/admin/jobs/99999/retry", "", 404}, {"no job's id", "POST", "/admin/jobs/x/retry", "", 400}, {"no query", "GET", "/search", "", 400},
			{"top_k", "GET", "/search?query=x&top_k=101", "", 400}, {"unknown parameter", "GET", "/search?query=x&limit=1", "", 400}, {"method", "PUT", "/admin/kbs", "", 405},
		} {
			if status, out := own.ask(c.method, c.path, c.body); status != c.status {
				t.Errorf("%s: status %d, want %d: %.200v", c.what, status, c.status, out)
			}
		}
		if !s.exists("fixed/m.md") || s.exists("kbs/be") {
			t.Error("a mount's files went, or a KB's stayed")
		}
	})
	t.Run("a failed job can be retried, one in another state is a conflict", func(t *testing.T) {
		_, out := own.ask("GET", "/admin/jobs?state=failed", "")
		for i := 0; len(out.list("jobs")) == 0 && i < 600; i++ {
			time.Sleep(50 * time.Millisecond)
			_, out = own.ask("GET", "/admin/jobs?state=failed", "")
		}
		if len(out.list("jobs")) == 0 {
			t.Fatal("no job is failed, though a file is broken")
		}
		path := fmt.Sprintf("/admin/jobs/%d/retry", out.list("jobs")[0].num("id"))
		status, _ := own.ask("POST", path, "")
		want(t, "retry", status, 200)
		if status, _ := own.ask("POST", path, ""); status != 409 && status != 200 { // it may have failed again already
			t.Errorf("a job that is not failed: status %d", status)
		}
	})
	t.Run("events stream", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, own.base+"/admin/events", nil)
		must(t, err)
		res, err := own.http.Do(req)
		must(t, err)
		defer func() { _ = res.Body.Close() }()
		want(t, "type", res.Header.Get("Content-Type"), "text/event-stream")
		lines := bufio.NewScanner(res.Body)
		lines.Buffer(nil, 1<<20)
		s.write("kbs/al/event.md", "an event")
		for lines.Scan() {
			if strings.Contains(lines.Text(), "event.md") {
				return
			}
		}
		t.Error("no event of a new document: ", lines.Err())
	})
	t.Run("on TCP a key, a Host and an Origin of its own are wanted", func(t *testing.T) {
		tcp := &door{t, http.DefaultClient, fmt.Sprintf("http://127.0.0.1:%d", port)}
		key := []string{"Authorization", "Bearer a-long-enough-key"}
		for name, c := range map[string]struct {
			headers []string
			status  int
		}{
			"no key": {nil, 401}, "wrong key": {[]string{"Authorization", "Bearer x"}, 401}, "key": {key, 200}, "by name": {append(key, "Host", fmt.Sprintf("localhost:%d", port)), 200},
			"another host": {append(key, "Host", "evil.example.com"), 403}, "another port": {append(key, "Host", "127.0.0.1:1"), 403},
			"another origin": {append(key, "Origin", "http://evil.example.com"), 403}, "null origin": {append(key, "Origin", "null"), 403}, "another site": {append(key, "Sec-Fetch-Site", "cross-site"), 403},
		} {
			if status, _ := tcp.ask("GET", "/admin/kbs", "", c.headers...); status != c.status {
				t.Errorf("%s: status %d, want %d", name, status, c.status)
			}
		}
	})
	t.Run("over the rate it is 429, and passes", func(t *testing.T) {
		var mu sync.Mutex
		got := map[int]int{}
		var wg sync.WaitGroup
		for range 8 {
			d := s.adminDoor()
			wg.Go(func() {
				for range 1200 {
					status, _ := d.ask("GET", "/no", "")
					mu.Lock()
					got[status]++
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		if got[429] == 0 || got[404] == 0 {
			t.Skipf("this machine is too slow to go over the rate: %v", got)
		}
		time.Sleep(1100 * time.Millisecond)
		status, _ := own.ask("GET", "/health", "")
		want(t, "a second later", status, 200)
	})
	t.Run("health is 503 and names the part that does not work", func(t *testing.T) {
		must(t, os.Rename(s.path(".local/share/ragd/index.db"), s.path("moved.db")))
		status, out := own.ask("GET", "/health", "")
		if status != 503 || out.str("status") != "degraded" || out.obj("degraded").str("index") == "" {
			t.Errorf("%d %v", status, out)
		}
		must(t, os.Rename(s.path("moved.db"), s.path(".local/share/ragd/index.db")))
		status, _ = own.ask("GET", "/health", "")
		want(t, "when it is back", status, 200)
	})
}

func TestANonLoopbackAddressWithoutAKeyRefusesToStart(t *testing.T) {
	b := newBox(t)
	must(t, os.MkdirAll(b.path("kbs"), 0o755))
	t.Setenv("KB_ROOT", b.path("kbs"))
	t.Setenv("RAGD_ADMIN_ADDRESS", fmt.Sprintf("0.0.0.0:%d", freePort(t)))
	if out, err := b.program("serve").CombinedOutput(); err == nil || !strings.Contains(string(out), "admin.key") {
		t.Errorf("%v %s", err, out)
	}
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer func() { must(t, l.Close()) }()
	return l.Addr().(*net.TCPAddr).Port
}
