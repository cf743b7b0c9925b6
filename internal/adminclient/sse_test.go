package adminclient

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"ragd/internal/fault"
	"ragd/internal/wire"
)

// FuzzEvents reads a stream of any bytes: it ends, with an error, without panic,
// and every event before that is whole.
func FuzzEvents(f *testing.F) {
	for _, s := range []string{"", ": alive\n\n", "event: hello\ndata: {\"type\":\"hello\",\"status\":{}}\n\n", "data:{}\r\n\r\n", "data: {\ndata: }\n\n", "data\n\n", "data: {\"type\":\"log\"}"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		lines := 0
		rd := newEventReader(bytes.NewReader(data), func() { lines++ })
		var last wire.Event
		for {
			ev, err := rd.next()
			if err != nil {
				if fl, ok := fault.As(err); !errors.Is(err, io.EOF) && (!ok || fl.Code != "daemon_bad_answer") {
					t.Fatalf("%v", err)
				}
				break
			}
			last = ev
		}
		if lines > bytes.Count(data, []byte("\n"))+1 {
			t.Fatalf("%d lines from %d bytes", lines, len(data))
		}
		_ = last
	})
}

func TestEventsAreReadInEveryForm(t *testing.T) {
	stream := ": alive\n\nevent: queue\ndata: {\"type\":\"queue\",\ndata: \"queue\":{\"pending\":3}}\n\nid: 7\r\ndata:{\"type\":\"phase\",\"phase\":\"idle\"}\r\n\r\n\n\ndata: {\"type\":\"lost\"}\n"
	rd := newEventReader(bytes.NewReader([]byte(stream)), func() {})
	q, err := rd.next()
	if err != nil || q.Queue == nil || q.Queue.Pending != 3 {
		t.Fatalf("%+v %v", q, err)
	}
	p, err := rd.next()
	if err != nil || p.Phase != "idle" {
		t.Fatalf("%+v %v", p, err)
	}
	if ev, err := rd.next(); !errors.Is(err, io.EOF) {
		t.Fatalf("half an event was returned: %+v %v", ev, err)
	}
}
