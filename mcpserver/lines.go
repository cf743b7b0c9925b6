package mcpserver

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// lineReader reads newline-delimited messages without ever holding more than
// max bytes of one. It is not safe for concurrent use.
type lineReader struct {
	r   *bufio.Reader
	max int

	// grow is asked before a line is buffered beyond the reader's own buffer,
	// and done is called when that line has been handed out or dropped. They
	// bound how many large lines are under way in the whole server. grow may
	// block; an error from it ends the reading.
	grow func() error
	done func()
}

// tooLong is a line over the limit: it was skipped, not kept. Head and Tail
// are its ends, from which the request's id may be told.
type tooLong struct {
	Head, Tail []byte
	Size       int64
}

func (e *tooLong) Error() string { return "line too long" }

const (
	readBuffer = 64 << 10
	endsKept   = 1 << 10
)

func newLineReader(r io.Reader, limit int) *lineReader {
	nop := func() {}
	return &lineReader{
		r: bufio.NewReaderSize(r, min(readBuffer, max(limit, 16))), max: limit,
		grow: func() error { return nil }, done: nop,
	}
}

// next returns the next line without its end (LF or CRLF). The bytes are the
// caller's. A line over max gives *tooLong, after which next goes on with the
// line after it. A last line without an end is a line; then comes io.EOF.
func (l *lineReader) next() ([]byte, error) {
	part, err := l.r.ReadSlice('\n')
	switch {
	case err == nil:
		return l.checked(bytes.Clone(trimEnd(part)))
	case errors.Is(err, io.EOF) && len(part) > 0:
		return l.checked(bytes.Clone(trimEnd(part)))
	case !errors.Is(err, bufio.ErrBufferFull):
		return nil, err
	}
	line := bytes.Clone(part)
	if err := l.grow(); err != nil {
		return nil, err
	}
	defer l.done()
	for {
		part, err = l.r.ReadSlice('\n')
		if len(line)+len(part) > l.max+2 {
			return nil, l.skip(line, part, err)
		}
		line = append(line, part...)
		switch {
		case err == nil, errors.Is(err, io.EOF):
			return l.checked(trimEnd(line))
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

func (l *lineReader) checked(line []byte) ([]byte, error) {
	if len(line) > l.max {
		return nil, &tooLong{Head: head(line), Tail: tail(line), Size: int64(len(line))}
	}
	return line, nil
}

// skip reads on to the end of the line, keeping only its two ends.
func (l *lineReader) skip(line, part []byte, err error) error {
	long := &tooLong{Head: bytes.Clone(head(line)), Size: int64(len(line))}
	end := bytes.Clone(tail(line))
	for {
		long.Size += int64(len(part))
		end = tail(append(end, tail(part)...))
		if !errors.Is(err, bufio.ErrBufferFull) {
			break
		}
		part, err = l.r.ReadSlice('\n')
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	long.Tail = bytes.Clone(trimEnd(end))
	return long
}

func head(b []byte) []byte { return b[:min(len(b), endsKept)] }
func tail(b []byte) []byte { return b[max(0, len(b)-endsKept):] }

func trimEnd(b []byte) []byte {
	b = bytes.TrimSuffix(b, []byte("\n"))
	return bytes.TrimSuffix(b, []byte("\r"))
}
