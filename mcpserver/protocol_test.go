package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"ragd/internal/fault"
	"ragd/internal/search"
	"ragd/kbroot"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestVersionsAreNegotiatedNeverEchoed(t *testing.T) {
	_, addr := startServer(t, newWorld(t), Options{})
	for asked, want := range map[string]string{
		"2024-11-05": "2024-11-05", "2025-03-26": "2025-03-26", "2025-06-18": "2025-06-18", "2025-11-25": "2025-11-25",
		"2026-07-28": "2025-11-25", "1999-01-01": "2025-11-25", "2999-01-01": "2025-11-25", "nonsense": "2025-11-25",
	} {
		var r struct {
			ProtocolVersion string
			ServerInfo      struct{ Name, Version string }
		}
		if err := json.Unmarshal(dialRaw(t, addr).initialize(asked).Result, &r); err != nil {
			t.Fatal(err)
		}
		if r.ProtocolVersion != want || r.ServerInfo.Name != "ragd" || r.ServerInfo.Version != "1.2.3" {
			t.Errorf("asked %s: got %+v, want %s", asked, r, want)
		}
	}
}

func TestHandshakelessProtocolIsServed(t *testing.T) {
	w := newWorld(t, "notes")
	w.put("notes", "a.md", "the quick fox")
	_, addr := startServer(t, w, Options{})
	c := dialRaw(t, addr)
	meta := m{"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": m{}}
	got := c.request("server/discover", m{"_meta": meta})
	if got.Error != nil || !strings.Contains(string(got.Result), "2026-07-28") || !strings.Contains(string(got.Result), "2024-11-05") {
		t.Fatalf("discover: %+v %s", got.Error, got.Result)
	}
	call := c.request("tools/call", m{"name": "rag_search", "arguments": m{"query": "fox"}, "_meta": meta})
	if call.Error != nil || !strings.Contains(string(call.Result), "a.md") {
		t.Fatalf("call: %+v %s", call.Error, call.Result)
	}
	list := c.request("resources/list", m{"_meta": meta})
	if list.Error != nil || !strings.Contains(string(list.Result), "rag://notes/a.md") {
		t.Fatalf("list: %+v %s", list.Error, list.Result)
	}
}

func TestBadMessagesAreAnsweredAndTheConnectionLives(t *testing.T) {
	_, addr := startServer(t, newWorld(t), Options{})
	c := dial(t, addr)
	for _, tc := range []struct {
		name, line string
		code       int
		id         string
	}{
		{"garbage", `garbage`, codeParse, "null"},
		{"HTTP", `GET / HTTP/1.1`, codeParse, "null"},
		{"half an object", `{"jsonrpc":"2.0","id":1`, codeParse, "null"},
		{"a string", `"hello"`, codeInvalidRequest, "null"},
		{"a number", `7`, codeInvalidRequest, "null"},
		{"null", `null`, codeInvalidRequest, "null"},
		{"empty batch", `[]`, codeInvalidRequest, "null"},
		{"batch in a version without", `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, codeInvalidRequest, "null"},
		{"broken batch", `[{"jsonrpc"`, codeParse, "null"},
		{"no version", `{"id":5,"method":"ping"}`, codeInvalidRequest, "5"},
		{"version 1.0", `{"jsonrpc":"1.0","id":5,"method":"ping"}`, codeInvalidRequest, "5"},
		{"null id", `{"jsonrpc":"2.0","id":null,"method":"ping"}`, codeInvalidRequest, "null"},
		{"object id", `{"jsonrpc":"2.0","id":{},"method":"ping"}`, codeInvalidRequest, "null"},
		{"boolean id", `{"jsonrpc":"2.0","id":true,"method":"ping"}`, codeInvalidRequest, "null"},
		{"giant id", `{"jsonrpc":"2.0","id":"` + strings.Repeat("x", 300) + `","method":"ping"}`, codeInvalidRequest, "null"},
		{"no method", `{"jsonrpc":"2.0","id":5}`, codeInvalidRequest, "5"},
		{"method of a wrong type", `{"jsonrpc":"2.0","id":5,"method":7}`, codeInvalidRequest, "5"},
		{"unknown method", `{"jsonrpc":"2.0","id":5,"method":"no/such"}`, codeNoMethod, "5"},
		{"endless method", `{"jsonrpc":"2.0","id":5,"method":"` + strings.Repeat("x", 5000) + `"}`, codeNoMethod, "5"},
		{"params as a list", `{"jsonrpc":"2.0","id":5,"method":"ping","params":[1]}`, codeInvalidParams, "5"},
		{"params as a string", `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":"x"}`, codeInvalidParams, "5"},
		{"call without name", `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{}}`, codeInvalidParams, "5"},
		{"call without params", `{"jsonrpc":"2.0","id":5,"method":"tools/call"}`, codeInvalidParams, "5"},
		{"name of a wrong type", `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":7}}`, codeInvalidParams, "5"},
		{"unknown tool", `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"no_such"}}`, codeInvalidParams, "5"},
		{"initialize of a wrong shape", `{"jsonrpc":"2.0","id":5,"method":"initialize","params":{"protocolVersion":7}}`, codeInvalidParams, "5"},
		{"large _meta", `{"jsonrpc":"2.0","id":5,"method":"tools/list","params":{"_meta":{"x":"` + strings.Repeat("x", maxMeta) + `"}}}`, codeInvalidParams, "5"},
		{"not UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"p\xffng\"}", codeParse, "5"},
		{"deep nesting", `{"jsonrpc":"2.0","id":5,"method":"ping","params":{"x":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + `}}`, codeParse, "null"},
		{"fractional cursor", `{"jsonrpc":"2.0","id":5,"method":"resources/list","params":{"cursor":1.5}}`, codeInvalidParams, "5"},
		{"foreign cursor", `{"jsonrpc":"2.0","id":5,"method":"resources/list","params":{"cursor":"AAAA"}}`, codeInvalidParams, "5"},
		{"bad level", `{"jsonrpc":"2.0","id":5,"method":"logging/setLevel","params":{"level":"shout"}}`, codeInvalidParams, "5"},
		{"unknown completion", `{"jsonrpc":"2.0","id":5,"method":"completion/complete","params":{"ref":{"type":"x"},"argument":{"name":"a","value":"b"}}}`, codeInvalidParams, "5"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c.t = t
			c.send(tc.line)
			got := c.recv()
			if got.Error == nil || got.Error.Code != tc.code || string(got.ID) != tc.id {
				t.Fatalf("got id %s error %+v result %s, want id %s code %d", got.ID, got.Error, got.Result, tc.id, tc.code)
			}
			for _, leak := range []string{"Go struct", "goroutine", ".go:", "unmarshal"} {
				if strings.Contains(got.Error.Message, leak) {
					t.Errorf("message shows insides: %s", got.Error.Message)
				}
			}
			if pong := c.request("ping", m{}); pong.Error != nil {
				t.Fatalf("no pong after it: %+v", pong.Error)
			}
		})
	}
}

func TestIgnoredMessagesGetNoReply(t *testing.T) {
	_, addr := startServer(t, newWorld(t), Options{})
	c := dial(t, addr)
	for _, line := range []string{
		``, `   `, "\r", `{"jsonrpc":"2.0","id":99,"result":{}}`, `{"jsonrpc":"2.0","id":99,"error":{"code":1,"message":"x"}}`,
		`{"jsonrpc":"2.0","method":"notifications/unknown"}`, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":12345}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}`, `{"jsonrpc":"2.0","method":"notifications/cancelled"}`,
		`{"jsonrpc":"2.0","method":"tools/call","params":{"name":"rag_status"}}`,
	} {
		c.send(line)
		if pong := c.request("ping", m{}); pong.Error != nil {
			t.Fatalf("after %q: %+v", line, pong.Error)
		}
	}
}

func TestIDsComeBackAsTheyWere(t *testing.T) {
	_, addr := startServer(t, newWorld(t), Options{})
	c := dial(t, addr)
	for _, id := range []string{`0`, `-7`, `9007199254740993`, `123456789012345678901234567890`, `1.5`, `"1"`, `""`, `"a\"b"`, `"😀\u0000"`} {
		for _, method := range []string{"ping", "tools/list"} {
			c.send(`{"method":"` + method + `","jsonrpc":"2.0","id":` + id + `}`)
			if got := c.recv(); string(got.ID) != id || got.Error != nil {
				t.Errorf("%s %s came back as %s (%+v)", method, id, got.ID, got.Error)
			}
		}
	}
}

func TestBatchesAreAnsweredTogether(t *testing.T) {
	_, addr := startServer(t, newWorld(t), Options{})
	c := dialRaw(t, addr)
	c.initialize("2025-03-26")
	c.send(`[{"jsonrpc":"2.0","id":"a","method":"ping"},{"jsonrpc":"2.0","method":"notifications/x"},{"jsonrpc":"2.0","id":"b","method":"tools/call","params":{"name":"rag_status"}},5]`)
	line, err := c.r.ReadBytes('\n')
	if err != nil {
		t.Fatal(err)
	}
	var got []message
	if err := json.Unmarshal(line, &got); err != nil || len(got) != 3 {
		t.Fatalf("%v: %s", err, line)
	}
	ids := []string{string(got[0].ID), string(got[1].ID), string(got[2].ID)}
	slices.Sort(ids)
	if !slices.Equal(ids, []string{`"a"`, `"b"`, "null"}) {
		t.Errorf("ids %v", ids)
	}
}

func TestTwentyClientsGetTheirOwnAnswers(t *testing.T) {
	w := newWorld(t)
	for i := range 20 {
		w.addKB(fmt.Sprintf("kb%02d", i))
		w.put(fmt.Sprintf("kb%02d", i), fmt.Sprintf("doc%02d.md", i), fmt.Sprintf("word%02d is here", i))
	}
	s, addr := startServer(t, w, Options{})
	var wg sync.WaitGroup
	for i := range 20 {
		c := dial(t, addr)
		wg.Go(func() {
			kb, path, word := fmt.Sprintf("kb%02d", i), fmt.Sprintf("doc%02d.md", i), fmt.Sprintf("word%02d", i)
			waiting := map[string]string{}
			for n := range 50 {
				var id string
				switch n % 4 {
				case 0:
					id = c.start("tools/call", m{"name": "rag_search", "arguments": m{"query": word}})
				case 1:
					id = c.start("tools/call", m{"name": "rag_read", "arguments": m{"kb": kb, "path": path}})
				case 2:
					id = c.start("tools/call", m{"name": "rag_list_documents", "arguments": m{"kb": kb}})
				case 3:
					id = c.start("resources/read", m{"uri": "rag://" + kb + "/" + path})
				}
				waiting[id] = path
			}
			for range 50 {
				got := c.recv()
				want, known := waiting[string(got.ID)]
				delete(waiting, string(got.ID))
				if !known || got.Error != nil || !strings.Contains(string(got.Result), want) {
					t.Errorf("client %d: reply %s: %+v %.200s", i, got.ID, got.Error, got.Result)
					return
				}
				for j := range 20 {
					if j != i && strings.Contains(string(got.Result), fmt.Sprintf("doc%02d", j)) {
						t.Errorf("client %d got the answer of %d", i, j)
					}
				}
			}
		})
	}
	wg.Wait()
	infos := s.Sessions()
	if len(infos) != 20 {
		t.Fatalf("%d sessions", len(infos))
	}
	for _, x := range infos {
		if x.Client != "test 0" || x.Calls != 38 && x.Calls != 37 || x.LastTool == "" || !strings.HasPrefix(x.LastQuery, "word") {
			t.Errorf("%+v", x)
		}
	}
}

func TestCancelledCallEndsAndGetsNoReply(t *testing.T) {
	w := newWorld(t, "notes")
	entered, ended := make(chan struct{}, 1), make(chan error, 1)
	w.onSearch = func(ctx context.Context, req search.Request) (*search.Response, error) {
		entered <- struct{}{}
		<-ctx.Done()
		ended <- ctx.Err()
		return nil, ctx.Err()
	}
	_, addr := startServer(t, w, Options{})
	c := dial(t, addr)
	for _, id := range []string{`7`, `"7"`} {
		c.send(`{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"rag_search","arguments":{"query":"x"}}}`)
		<-entered
		other := `"7"`
		if id == other {
			other = `7`
		}
		c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + other + `}}`)
		select {
		case <-ended:
			t.Fatalf("cancelling %s ended %s", other, id)
		case <-time.After(20 * time.Millisecond):
		}
		c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}`)
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
	if pong := c.request("ping", m{}); pong.Error != nil { // fails on any other reply
		t.Fatal(pong.Error)
	}
}

func TestSecondRequestWithAnIDInUseIsRefused(t *testing.T) {
	w := newWorld(t, "notes")
	release := make(chan struct{})
	w.onSearch = func(context.Context, search.Request) (*search.Response, error) {
		<-release
		return &search.Response{}, nil
	}
	_, addr := startServer(t, w, Options{})
	c := dial(t, addr)
	call := `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"rag_search","arguments":{"query":"x"}}}`
	c.send(call)
	c.send(call)
	if got := c.recv(); got.Error == nil || got.Error.Code != codeInvalidRequest {
		t.Fatalf("%+v", got)
	}
	close(release)
	if got := c.recv(); got.Error != nil || string(got.ID) != "7" {
		t.Fatalf("%+v", got)
	}
}

func TestPanicIsAnInternalErrorOfThatCallOnly(t *testing.T) {
	w := newWorld(t, "notes")
	w.put("notes", "a.md", "text")
	w.onSearch = func(context.Context, search.Request) (*search.Response, error) { panic("secret /home/x SELECT") }
	_, addr := startServer(t, w, Options{})
	c, other := dial(t, addr), dial(t, addr)
	f := c.refused("rag_search", m{"query": "x"}, "internal_error")
	if strings.Contains(f.Message+f.Hint, "secret") {
		t.Errorf("the panic shows: %+v", f)
	}
	for _, x := range []*client{c, other} {
		ok[readOut](x, "rag_read", m{"kb": "notes", "path": "a.md"})
	}
}

func TestInternalErrorsDoNotShowTheirInsides(t *testing.T) {
	w := newWorld(t, "notes")
	w.put("notes", "a.md", "text")
	w.fail = errors.New("SQL logic error: no such column near \"/var/lib/ragd\"")
	_, addr := startServer(t, w, Options{})
	c := dial(t, addr)
	for name, args := range map[string]m{
		"rag_search": {"query": "x"}, "rag_list_kbs": {}, "rag_status": {}, "rag_jobs": {}, "rag_read": {"kb": "notes", "path": "a.md"},
		"rag_list_documents": {"kb": "notes"}, "rag_delete_kb": {"kb": "notes"}, "rag_delete_document": {"kb": "notes", "path": "a.md"}, "rag_reindex": {"kb": "notes"},
	} {
		if f := c.refused(name, args, "internal_error"); strings.Contains(f.Message+f.Hint, "SQL") {
			t.Errorf("%s: %+v", name, f)
		}
	}
	for _, got := range []message{c.request("resources/list", m{}), c.request("resources/read", m{"uri": "rag://notes/a.md"}), c.completeKB("")} {
		if got.Error == nil || got.Error.Code != codeInternal || strings.Contains(got.Error.Message, "SQL") {
			t.Errorf("%+v %s", got.Error, got.Result)
		}
	}
}

func TestFailuresDoNotNamePathsOutsideTheRoots(t *testing.T) {
	w := newWorld(t, "notes")
	inside := filepath.Join(w.root, "notes")
	w.fail = fault.New(fault.Unavailable, "disk_error", "the index /var/x.db: cannot be read (\"/home/me/y\")").
		WithHint("Check /var/lib/ragd/index.db. Also %s, and a/b, and https://example.org/x", inside)
	_, addr := startServer(t, w, Options{})
	c := dial(t, addr)
	f := c.refused("rag_search", m{"query": "x"}, "disk_error")
	for _, leak := range []string{"/var", "/home", "index.db"} {
		if strings.Contains(f.Message+f.Hint, leak) {
			t.Errorf("%s is in %+v", leak, f)
		}
	}
	for _, keep := range []string{inside, "a/b", "https://example.org/x"} {
		if !strings.Contains(f.Hint, keep) {
			t.Errorf("%s is not in %+v", keep, f)
		}
	}
	if got := c.request("resources/list", m{}); got.Error == nil || strings.Contains(got.Error.Message+fmt.Sprint(got.Error.Data), "/var") {
		t.Errorf("%+v", got.Error)
	}
}

func (c *client) completeKB(value string) message {
	c.t.Helper()
	return c.request("completion/complete", m{"ref": m{"type": "ref/resource", "uri": uriTemplate}, "argument": m{"name": "kb", "value": value}})
}

func TestProgressComesBeforeTheAnswerAndOnlyWhenAsked(t *testing.T) {
	w := newWorld(t, "notes")
	w.onWait = func(ctx context.Context, _ []string) ([]kbroot.DocPath, int, []string, error) {
		sleep(ctx, 3*progressBeat)
		return nil, 0, nil, nil
	}
	_, addr := startServer(t, w, Options{})
	c := dial(t, addr)
	id := c.start("tools/call", m{"name": "rag_search", "arguments": m{"query": "x", "wait_ms": 5000}, "_meta": m{"progressToken": "tok"}})
	last, seen := -1.0, 0
	for {
		got := c.recv()
		if got.Method == "" {
			if string(got.ID) != id {
				t.Fatalf("%+v", got)
			}
			break
		}
		var p struct {
			ProgressToken   string
			Progress, Total float64
		}
		if err := json.Unmarshal(got.Params, &p); err != nil || got.Method != "notifications/progress" || p.ProgressToken != "tok" || p.Progress <= last || p.Total != 5000 {
			t.Fatalf("%v %s %s", err, got.Method, got.Params)
		}
		last = p.Progress
		seen++
	}
	if seen == 0 {
		t.Error("no progress")
	}
	id = c.start("tools/call", m{"name": "rag_search", "arguments": m{"query": "x", "wait_ms": 5000}})
	if got := c.recv(); string(got.ID) != id {
		t.Errorf("unasked: %+v", got)
	}
}

func TestLogMessagesOnlyAtTheLevelAskedFor(t *testing.T) {
	w := newWorld(t, "notes")
	w.onSearch = func(context.Context, search.Request) (*search.Response, error) { return nil, errors.New("boom") }
	_, addr := startServer(t, w, Options{})
	c := dial(t, addr)
	count := func() (logs int) {
		id := c.start("tools/call", m{"name": "rag_search", "arguments": m{"query": "x"}})
		for {
			got := c.recv()
			if string(got.ID) == id {
				return logs
			}
			if got.Method != "notifications/message" || strings.Contains(string(got.Params), "boom") {
				t.Fatalf("%s %s", got.Method, got.Params)
			}
			logs++
		}
	}
	if n := count(); n != 0 {
		t.Errorf("%d log messages without asking", n)
	}
	for level, want := range map[string]int{"debug": 1, "error": 1, "critical": 0} {
		if got := c.request("logging/setLevel", m{"level": level}); got.Error != nil {
			t.Fatal(got.Error)
		}
		if n := count(); n != want {
			t.Errorf("level %s: %d log messages, want %d", level, n, want)
		}
	}
}
