package adminclient

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"ragd/internal/wire"
)

// maxEvent bounds one event, a hello with its whole Status included.
const maxEvent = 8 << 20

// eventReader reads server-sent events. Comments (heartbeats) and fields other
// than data are skipped: the JSON carries the event's type itself.
type eventReader struct {
	lines *bufio.Scanner
	alive func() // called for every line that comes
}

func newEventReader(r io.Reader, alive func()) *eventReader {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 4096), maxEvent)
	return &eventReader{lines: lines, alive: alive}
}

// next returns the next event; io.EOF at an orderly end of the stream. An
// event that the stream breaks off in the middle of is not returned.
func (r *eventReader) next() (wire.Event, error) {
	var data []byte
	for r.lines.Scan() {
		r.alive()
		line := r.lines.Bytes()
		switch {
		case len(line) == 0 && data != nil:
			var ev wire.Event
			if err := json.Unmarshal(data, &ev); err != nil {
				return ev, badAnswer("an event that is not the expected JSON").Because(err)
			}
			return ev, nil
		case bytes.HasPrefix(line, []byte("data:")):
			if len(data)+len(line) > maxEvent {
				return wire.Event{}, badAnswer("an event of more than %d bytes", maxEvent)
			}
			if data != nil {
				data = append(data, '\n')
			}
			data = append(data, bytes.TrimPrefix(line[len("data:"):], []byte(" "))...)
			if data == nil {
				data = []byte{}
			}
		}
	}
	if err := r.lines.Err(); err != nil {
		if errors.Is(err, bufio.ErrTooLong) {
			return wire.Event{}, badAnswer("an event of more than %d bytes", maxEvent)
		}
		return wire.Event{}, err
	}
	return wire.Event{}, io.EOF
}
