package admin_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"ragd/internal/admin"
	"ragd/internal/wire"
)

func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }

// next returns the next event of a type, skipping others.
func next(t *testing.T, events <-chan wire.Event, typ string) wire.Event {
	t.Helper()
	deadline := time.After(20 * time.Second)
	for {
		select {
		case ev, ok := <-events:
			if !ok {
				t.Fatalf("the stream ended before a %s", typ)
			}
			if ev.Type == typ {
				return ev
			}
		case <-deadline:
			t.Fatalf("no %s came", typ)
		}
	}
}

func link(t *testing.T, events <-chan wire.Event, state string) wire.Link {
	t.Helper()
	for {
		if l := next(t, events, "link").Link; l.State == state {
			return *l
		}
	}
}

func TestAStreamBeginsWithTheWholeStatusAndThenTellsNews(t *testing.T) {
	r := newRig(t)
	r.start()
	events := r.client.Events(t.Context())
	link(t, events, wire.LinkLive)
	if h := next(t, events, "hello"); h.Status == nil || h.Status.Documents != 6 {
		t.Errorf("%+v", h)
	}
	r.hub.Publish(wire.Event{Type: "document", Document: &wire.DocEvent{KB: "notes", Path: "a\n.md", What: "indexed"}})
	if d := next(t, events, "document"); d.Document.Path != "a\n.md" || d.At.IsZero() {
		t.Errorf("%+v", d)
	}
	if q := next(t, events, "queue"); q.Queue.Failed != 3 {
		t.Errorf("%+v", q)
	}
	slog.New(r.rec).Info("hello there", "n", 1)
	if l := next(t, events, "log"); l.Log.Message != "hello there" || l.Log.Attrs != "n=1" {
		t.Errorf("%+v", l.Log)
	}
}

func TestTheClientReconnectsAndResyncsAfterARestart(t *testing.T) {
	r := newRig(t)
	events := r.client.Events(t.Context())
	if l := link(t, events, wire.LinkDown); l.Code != "daemon_not_running" || l.RetryMS <= 0 {
		t.Errorf("%+v", l)
	}
	stop := r.start()
	link(t, events, wire.LinkLive)
	next(t, events, "hello")
	began := time.Now()
	stop()
	if d := time.Since(began); d > 2*time.Second {
		t.Errorf("an open stream held the stop up for %s", d)
	}
	link(t, events, wire.LinkDown)
	r.start()
	link(t, events, wire.LinkLive)
	next(t, events, "hello")
}

func TestTheEventsChannelIsClosedWhenItsContextEnds(t *testing.T) {
	r := newRig(t)
	r.start()
	ctx, cancel := context.WithCancel(t.Context())
	events := r.client.Events(ctx)
	link(t, events, wire.LinkLive)
	cancel()
	for range events { // ends
	}
}

func TestAClientThatLagsGetsTheWholeStatusInsteadOfAGap(t *testing.T) {
	r := newRig(t)
	r.start()
	conn, err := net.Dial("unix", r.socket)
	must(t, err)
	defer func() { _ = conn.Close() }()
	_, err = fmt.Fprintf(conn, "GET /admin/events HTTP/1.1\r\nHost: ragd\r\n\r\n")
	must(t, err)
	lines := bufio.NewScanner(conn)
	lines.Buffer(nil, 1<<20)
	hellos, docs := 0, 0
	read := func(until func() bool) {
		for !until() && lines.Scan() {
			switch {
			case strings.HasPrefix(lines.Text(), "event: hello"):
				hellos++
			case strings.HasPrefix(lines.Text(), "event: document"):
				docs++
			}
		}
	}
	read(func() bool { return hellos == 1 })
	const sent = 200_000
	long := strings.Repeat("x", 200)
	for i := range sent { // far more than queue and socket hold; nobody reads
		r.hub.Publish(wire.Event{Type: "document", Document: &wire.DocEvent{Path: fmt.Sprint(i), Message: long}})
	}
	must(t, conn.SetReadDeadline(time.Now().Add(20*time.Second)))
	read(func() bool { return hellos == 2 })
	if hellos != 2 || docs >= sent {
		t.Errorf("%d hellos after %d documents", hellos, docs)
	}
	r.hub.Publish(wire.Event{Type: "document", Document: &wire.DocEvent{Path: "after"}})
	before := docs
	read(func() bool { return docs > before })
	if docs == before {
		t.Errorf("nothing came after the resync: %v", lines.Err())
	}
}

func TestStreamsAreBounded(t *testing.T) {
	r := newRig(t)
	r.start()
	ctx, cancel := context.WithCancel(t.Context())
	var last <-chan wire.Event
	var all []<-chan wire.Event
	for range 33 {
		last = r.client.Events(ctx)
		all = append(all, last)
		if len(all) < 33 {
			link(t, last, wire.LinkLive)
		}
	}
	if l := link(t, last, wire.LinkDown); l.Code != "too_many_streams" {
		t.Errorf("%+v", l)
	}
	cancel()
	for _, c := range all {
		for range c { // until closed
		}
	}
}

// pipeListener serves one end of a net.Pipe, which works under synctest.
type pipeListener struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}
func (l *pipeListener) Close() error   { l.once.Do(func() { close(l.done) }); return nil }
func (l *pipeListener) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "unix"} }

// pipeServer serves on pipes, in the bubble's time; dial gives connections to it.
func pipeServer(t *testing.T, work *fakeWork) (dial func() net.Conn, stop func()) {
	srv := admin.New(admin.Options{
		Services: admin.Services{Index: &fakeIndex{}, Daemon: &fakeDaemon{}, Work: work},
		Hub:      admin.NewHub(), Recorder: admin.NewRecorder(slog.DiscardHandler, slog.LevelInfo, nil), Logger: discard(),
	})
	l := &pipeListener{conns: make(chan net.Conn, 1), done: make(chan struct{})}
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- srv.ServeOwner(ctx, l) }()
	dial = func() net.Conn {
		here, there := net.Pipe()
		l.conns <- there
		return here
	}
	return dial, func() {
		cancel()
		if err := <-served; err != nil && !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	}
}

func TestAQuietStreamIsKeptAliveByHeartbeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dial, stop := pipeServer(t, nil)
		here := dial()
		go func() { _, _ = fmt.Fprintf(here, "GET /admin/events HTTP/1.1\r\nHost: ragd\r\n\r\n") }()
		began := time.Now()
		lines := bufio.NewScanner(here)
		beats := 0
		for beats < 30 && lines.Scan() {
			if strings.HasPrefix(lines.Text(), ": alive") {
				beats++
			}
		}
		if d := time.Since(began); beats != 30 || d != 300*time.Second {
			t.Errorf("%d heartbeats in %s", beats, d)
		}
		_ = here.Close()
		stop()
	})
}

func TestALongCallIsNotCutAndTheConnectionServesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dial, stop := pipeServer(t, &fakeWork{delay: 5 * time.Minute})
		here := dial()
		answers := bufio.NewReader(here)
		for _, c := range []struct {
			request string
			status  int
			pause   time.Duration
		}{
			{"POST /admin/reindex", 200, 100 * time.Second}, {"GET /nowhere", 404, 100 * time.Second},
			{"GET /admin/kbs/none/documents", 404, 100 * time.Second}, {"GET /admin/status", 200, 0},
		} {
			go func() { _, _ = fmt.Fprintf(here, "%s HTTP/1.1\r\nHost: ragd\r\n\r\n", c.request) }()
			resp, err := http.ReadResponse(answers, nil)
			if err != nil {
				t.Fatalf("%s: %v", c.request, err)
			}
			_, _ = io.Copy(io.Discard, resp.Body)
			_ = resp.Body.Close()
			if resp.StatusCode != c.status {
				t.Errorf("%s: status %d", c.request, resp.StatusCode)
			}
			time.Sleep(c.pause)
		}
		_ = here.Close()
		stop()
	})
}

func TestABodyThatDoesNotComeIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dial, stop := pipeServer(t, nil)
		here := dial()
		began := time.Now()
		go func() {
			_, _ = fmt.Fprintf(here, "POST /admin/jobs/bump HTTP/1.1\r\nHost: ragd\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{")
		}()
		resp, err := http.ReadResponse(bufio.NewReader(here), nil)
		if err != nil || resp.StatusCode != http.StatusRequestTimeout || time.Since(began) != time.Minute {
			t.Errorf("%v %v after %s", resp, err, time.Since(began))
		}
		_ = here.Close()
		stop()
	})
}

func TestTheRecorderKeepsTheLastLines(t *testing.T) {
	rec := admin.NewRecorder(slog.DiscardHandler, slog.LevelInfo, nil)
	log := slog.New(rec).With("part", "x y").WithGroup("g")
	log.Debug("not kept")
	for i := range 1500 {
		log.Warn("line", "i", i, slog.Group("in", "a", "\x1b"))
	}
	lines := rec.Lines(0)
	if len(lines) != 1000 || lines[0].Attrs != `part="x y" g.i=500 g.in.a=`+"\x1b" || lines[999].Level != "warn" {
		t.Errorf("%d lines, first %+v", len(lines), lines[0])
	}
	if last := rec.Lines(1); len(last) != 1 || !strings.Contains(last[0].Attrs, "i=1499") {
		t.Errorf("%+v", last)
	}
	log.Info(strings.Repeat("é", 5000))
	if l := rec.Lines(1)[0]; len(l.Message) > 2010 {
		t.Errorf("%d bytes kept", len(l.Message))
	}
}
