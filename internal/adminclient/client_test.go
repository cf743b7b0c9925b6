package adminclient_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"ragd/internal/adminclient"
	"ragd/internal/fault"
	"ragd/internal/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// oddDaemon answers every connection with the same bytes after it has read a
// request; hold keeps the connection open afterwards.
func oddDaemon(t *testing.T, answer string, hold bool) *adminclient.Client {
	t.Helper()
	dir, err := os.MkdirTemp("", "ac")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "a.sock")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = c.Close() }()
				buf := make([]byte, 4096)
				if _, err := c.Read(buf); err != nil {
					return
				}
				if _, err := c.Write([]byte(answer)); err == nil && hold {
					<-done
				}
			}()
		}
	}()
	cl := adminclient.New(path)
	t.Cleanup(func() {
		cl.Close()
		close(done)
		_ = l.Close()
		<-ended
		_ = os.RemoveAll(dir)
	})
	return cl
}

func answer(status int, header, body string) string {
	return fmt.Sprintf("HTTP/1.1 %d X\r\n%sContent-Length: %d\r\n\r\n%s", status, header, len(body), body)
}

const api = "Ragd-Api: 1\r\n"

func TestADaemonThatAnswersWronglyIsAnErrorWithACode(t *testing.T) {
	for name, c := range map[string]struct{ answer, code string }{
		"another program":   {answer(200, "", "{}"), "not_ragd"},
		"another version":   {answer(200, "Ragd-Api: 2\r\n", "{}"), "api_version"},
		"long version":      {answer(200, "Ragd-Api: "+strings.Repeat("9", 5000)+"\r\n", "{}"), "api_version"},
		"no JSON":           {answer(200, api, "<html>"), "daemon_bad_answer"},
		"other JSON":        {answer(200, api, "[1]"), "daemon_bad_answer"},
		"bare error":        {answer(500, api, "boom"), "daemon_bad_answer"},
		"error not ours":    {answer(404, api, `{"error":"x"}`), "daemon_bad_answer"},
		"error":             {answer(409, api, `{"error":{"code":"job_not_failed","message":"m","hint":"h"}}`), "job_not_failed"},
		"half an answer":    {"HTTP/1.1 200 OK\r\nRagd-Api: 1\r\nContent-Length: 100\r\n\r\n{", "daemon_gone"},
		"no HTTP":           {"SSH-2.0-x\r\n\r\n", "daemon_gone"},
		"redirect":          {answer(302, api+"Location: http://evil/\r\n", ""), "daemon_bad_answer"},
		"nothing":           {"", "daemon_gone"},
		"control in answer": {answer(400, api, `{"error":{"code":"bad","message":"\u001b[31m"}}`), "bad"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := oddDaemon(t, c.answer, false).Status(t.Context())
			f, ok := fault.As(err)
			if !ok || f.Code != c.code {
				t.Errorf("%v, want %s", err, c.code)
			}
		})
	}
}

func TestADaemonThatHangsIsGivenUp(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := oddDaemon(t, "HTTP/1.1 200 OK\r\n", true).Status(ctx)
	if f, ok := fault.As(err); !ok || f.Code != "daemon_timeout" || f.Hint == "" {
		t.Errorf("%v", err)
	}
}

func TestNoDaemonIsSaidWithTheWayToStartOne(t *testing.T) {
	dir := t.TempDir()
	stale := filepath.Join(dir, "stale")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: stale, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	_ = l.Close()
	for _, path := range []string{filepath.Join(dir, "none"), filepath.Join(dir, "no/folder"), stale} {
		cl := adminclient.New(path)
		_, err := cl.Status(t.Context())
		f, ok := fault.As(err)
		if !ok || !adminclient.IsNotRunning(err) || !strings.Contains(f.Hint, "ragd serve") || !strings.Contains(f.Message, path) {
			t.Errorf("%s: %v", path, err)
		}
	}
	_, err = adminclient.New("/" + strings.Repeat("x", 300)).Status(t.Context())
	if f, ok := fault.As(err); !ok || f.Code != "socket_path" {
		t.Errorf("%v", err)
	}
}

func TestAStreamOfGarbageIsDownWithAReason(t *testing.T) {
	head := "HTTP/1.1 200 OK\r\n" + api + "Content-Type: text/event-stream\r\n\r\n"
	for name, c := range map[string]struct{ body, code string }{
		"no JSON":            {"data: {\n\n", "daemon_bad_answer"},
		"no hello first":     {"data: {\"type\":\"queue\"}\n\n", "daemon_bad_answer"},
		"hello in two lines": {"data: {\"type\":\ndata: \"hello\"}\n\n", "daemon_bad_answer"},
		"broken in mid-line": {"data: {\"type\":\"hel", "daemon_gone"},
		"one endless line":   {"data: " + strings.Repeat("x", 9<<20), "daemon_bad_answer"},
		"nothing":            {"", "daemon_gone"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			events := oddDaemon(t, head+c.body, false).Events(ctx)
			for ev := range events {
				if ev.Type != "link" || ev.Link.State == wire.LinkLive {
					t.Errorf("an event came through: %+v", ev)
				}
				if ev.Link.State == wire.LinkDown {
					if ev.Link.Code != c.code || ev.Link.Reason == "" {
						t.Errorf("%+v", *ev.Link)
					}
					break
				}
			}
			cancel()
			for range events { // until closed
			}
		})
	}
}
