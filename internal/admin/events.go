package admin

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"time"

	"ragd/internal/wire"
)

const (
	heartbeat  = 10 * time.Second
	streamSlow = 15 * time.Second // a write that takes longer ends the stream
)

// events answers GET /admin/events with server-sent events: a hello with the
// whole status, then news as it comes, a comment when there is none for a
// while, and another hello whenever this client lagged so far behind that
// events had to be left out.
func (s *Server) events(w http.ResponseWriter, c *call) (any, error) {
	st, err := s.hub.subscribe()
	if err != nil {
		return nil, err
	}
	defer st.close()
	hello, err := s.hello(c.Context())
	if err != nil {
		return nil, err
	}
	out := &eventWriter{w: w, rc: http.NewResponseController(w)}
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	if c.Method == http.MethodHead || out.send(hello) != nil {
		return written{}, nil
	}
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	for {
		select {
		case <-c.Context().Done():
			return written{}, nil
		case <-c.stopping:
			return written{}, nil
		case <-beat.C:
			err = out.comment("alive")
		case <-st.ready:
			var news []wire.Event
			if news, err = s.news(c.Context(), st); err == nil {
				err = out.send(news...)
			}
			beat.Reset(heartbeat)
		}
		if err != nil {
			s.log.Debug("an event stream ended", "error", err)
			return written{}, nil
		}
	}
}

func (s *Server) news(ctx context.Context, st *stream) ([]wire.Event, error) {
	events, lost := st.take()
	if !lost {
		return events, nil
	}
	hello, err := s.hello(ctx)
	return []wire.Event{hello}, err
}

func (s *Server) hello(ctx context.Context) (wire.Event, error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	status, err := s.fullStatus(ctx)
	now := time.Now()
	return wire.Event{Type: "hello", At: now, Status: &status, History: s.hub.history(now)}, err
}

func (s *Server) queueEvent(ctx context.Context) (wire.Event, error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	stats, err := s.sv.Index.KBStats(ctx, nil)
	q := s.begun(sumStats(stats).queue)
	return wire.Event{Type: "queue", Queue: &q}, err
}

// eventWriter writes events and sees to it that a client that does not read
// ends the stream instead of holding it.
type eventWriter struct {
	w  http.ResponseWriter
	rc *http.ResponseController
}

func (e *eventWriter) send(events ...wire.Event) error {
	var buf bytes.Buffer
	for _, ev := range events {
		data, err := json.Marshal(ev)
		if err != nil {
			return err
		}
		buf.WriteString("event: " + ev.Type + "\ndata: ")
		buf.Write(data)
		buf.WriteString("\n\n")
	}
	return e.write(buf.Bytes())
}

func (e *eventWriter) comment(text string) error { return e.write([]byte(": " + text + "\n\n")) }

func (e *eventWriter) write(p []byte) error {
	// A writer without deadlines is a test's; it cannot hang either.
	_ = e.rc.SetWriteDeadline(time.Now().Add(streamSlow))
	if _, err := e.w.Write(p); err != nil {
		return err
	}
	return e.rc.Flush()
}
