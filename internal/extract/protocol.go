package extract

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"ragd/internal/fault"
)

// The pipe between the daemon and a worker carries frames: four bytes of
// length, big end first, and so many bytes. A request is a header frame (JSON)
// and a frame with the file's bytes; an answer is one frame of JSON.
const (
	frameHeaderMax = 1 << 20
	outputMax      = 32 << 20 // bytes of text that one file may give
	answerMax      = 4*outputMax + (1 << 20)
)

// workerRequest is a request's header.
type workerRequest struct {
	Path    string    `json:"path"`
	ModTime time.Time `json:"mod_time"`
	Format  string    `json:"format"`
	Light   bool      `json:"light,omitempty"` // the reader takes little and leaves nothing behind
}

// workerAnswer holds a document or a fault.
type workerAnswer struct {
	Document *Document    `json:"document,omitempty"`
	Fault    *workerFault `json:"fault,omitempty"`
	Retire   bool         `json:"retire,omitempty"` // the worker ends after this answer
}

type workerFault struct {
	Kind    string `json:"kind"`
	Code    string `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
	Cause   string `json:"cause,omitempty"`
}

func packFault(err error) *workerFault {
	f, ok := fault.As(err)
	if !ok {
		return &workerFault{Kind: fault.Transient.String(), Code: "worker", Message: err.Error()}
	}
	w := &workerFault{Kind: f.Kind.String(), Code: f.Code, Message: f.Message, Hint: f.Hint}
	if f.Err != nil {
		w.Cause = clip(f.Err.Error(), 8<<10)
	}
	return w
}

func (w *workerFault) unpack() error {
	f := fault.New(fault.ParseKind(w.Kind), w.Code, "%s", w.Message)
	f.Hint = w.Hint
	if w.Cause != "" {
		f.Err = errors.New(w.Cause)
	}
	return f
}

func writeFrame(w io.Writer, b []byte) error {
	var size [4]byte
	binary.BigEndian.PutUint32(size[:], uint32(len(b)))
	if _, err := w.Write(size[:]); err != nil {
		return err
	}
	_, err := w.Write(b)
	return err
}

// readFrame reads a frame of at most limit bytes.
func readFrame(r io.Reader, limit int) ([]byte, error) {
	var size [4]byte
	if _, err := io.ReadFull(r, size[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(size[:])
	if int64(n) > int64(limit) {
		return nil, fmt.Errorf("frame of %d bytes, at most %d are allowed", n, limit)
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(r, b); err != nil {
		return nil, err
	}
	return b, nil
}

func writeRequest(w io.Writer, req workerRequest, data []byte) error {
	header, err := json.Marshal(req)
	if err != nil {
		return err
	}
	if err := writeFrame(w, header); err != nil {
		return err
	}
	return writeFrame(w, data)
}
