package main

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"ragd/internal/wire"
)

// fakeDaemon answers on an admin socket with one KB in which one file has failed.
type fakeDaemon struct {
	mu      sync.Mutex
	dir     string // of the KB
	failed  bool
	retried int
	events  []chan wire.Event
	server  *http.Server
}

func startDaemon(t *testing.T, socket, dir string) *fakeDaemon {
	t.Helper()
	d := &fakeDaemon{dir: dir, failed: true}
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	d.server = &http.Server{Handler: d, ReadHeaderTimeout: 5 * time.Second}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = d.server.Serve(l) // ends with Close
	}()
	t.Cleanup(func() { _ = d.server.Close(); <-done })
	return d
}

func (d *fakeDaemon) status() wire.Status {
	s := wire.Status{Version: "0.0-test", Started: time.Now().Add(-time.Hour), Phase: "idle", KBCount: 1, Documents: 2, Chunks: 3,
		Watchers: []wire.Watcher{{Root: "kbs", Dir: d.dir, Mode: "events", Watches: 1}}}
	if d.failed {
		s.Queue.Failed = 1
	}
	return s
}

func (d *fakeDaemon) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set(wire.APIHeader, strconv.Itoa(wire.APIVersion))
	if r.URL.Path == "/admin/events" {
		d.stream(w, r)
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	var v any
	switch path := r.URL.Path; {
	case path == "/admin/status":
		v = d.status()
	case path == "/admin/kbs":
		v = wire.KBs{KBs: []wire.KB{{Name: "notes", Dir: d.dir, Available: true, Documents: 2, Chunks: 3, Queue: d.status().Queue}}}
	case path == "/admin/jobs":
		v = d.jobs(r.URL.Query().Get("state"))
	case strings.HasSuffix(path, "/retry"):
		d.retried++
		d.failed = false
		v = wire.RetriedJob{ID: 7, State: "pending"}
		q := wire.Queue{}
		for _, c := range d.events {
			c <- wire.Event{Type: "queue", At: time.Now(), Queue: &q}
			c <- wire.Event{Type: "document", At: time.Now(), Document: &wire.DocEvent{KB: "notes", Path: "plan.md", What: "indexed", Chunks: 1}}
		}
	case path == "/search":
		text := "The harbour lights were lit at dusk."
		v = wire.SearchResult{Query: r.URL.Query().Get("query"), TookMS: 1, Results: []wire.Hit{{KB: "notes", Path: "plan.md", Title: "Plan",
			Lines: wire.Lines{First: 3, Last: 4}, Score: 0.8, Match: "keyword", Content: text, Marks: [][2]int{{4, 11}}}}}
	case path == "/document":
		v = wire.DocumentView{Document: wire.Document{KB: "notes", Path: "plan.md", Title: "Plan", Status: "indexed"}, Content: "The harbour lights were lit at dusk.\n",
			Borders: []wire.ChunkBorder{{Index: 0, CharStart: 0, CharEnd: 37, FirstLine: 3, LastLine: 4}}, TotalChars: 37}
	case path == "/admin/log":
		v = wire.Log{Lines: []wire.LogLine{{At: time.Now(), Level: "INFO", Message: "ready"}}}
	case strings.HasSuffix(path, "/documents"):
		v = wire.Documents{KB: "notes", Documents: []wire.Document{{KB: "notes", Path: "👨‍👩‍👧 家.md", Status: "indexed", Chunks: 1}, {KB: "notes", Path: "plan.md", Status: "indexed", Chunks: 1}}, Total: 2}
	default:
		w.WriteHeader(http.StatusNotFound)
		v = wire.Error{Error: wire.ErrorBody{Code: "no_such_route", Message: "nothing at " + path}}
	}
	_ = json.NewEncoder(w).Encode(v) // a client that has gone needs no answer
}

func (d *fakeDaemon) jobs(state string) wire.Jobs {
	out := wire.Jobs{Queue: d.status().Queue}
	if state == "failed" && d.failed {
		out.Total = 1
		out.Jobs = []wire.Job{{ID: 7, KB: "notes", Path: "plan.md", State: "failed", Stage: "extract", Class: "permanent", Code: "encrypted",
			Message: "the file asks for a password", Attempts: 1, Created: time.Now().Add(-time.Hour), Updated: time.Now().Add(-time.Minute)}}
	}
	return out
}

func (d *fakeDaemon) stream(w http.ResponseWriter, r *http.Request) {
	c := make(chan wire.Event, 64)
	d.mu.Lock()
	s := d.status()
	d.events = append(d.events, c)
	d.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(ev wire.Event) {
		data, _ := json.Marshal(ev) // wire values always can be
		_, _ = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", ev.Type, data)
		w.(http.Flusher).Flush()
	}
	send(wire.Event{Type: "hello", At: time.Now(), Status: &s})
	for {
		select {
		case ev := <-c:
			send(ev)
		case <-r.Context().Done():
			return
		}
	}
}
