package store

import (
	"encoding/binary"
	"errors"
	"strings"

	"ragd/internal/chunk"
)

// A chunk's id is its sequence number shifted left, with the step of its
// body's length in the low bits, where the ranking function finds it.
const (
	seqShift = 5
	lenMask  = 1<<seqShift - 1
)

// headingSep separates the parts of a stored heading path; inside a part it
// becomes a space.
const headingSep = "\x1f"

func joinHeadings(h []string) any {
	if len(h) == 0 {
		return nil
	}
	joined := strings.Join(h, headingSep)
	if strings.Count(joined, headingSep) != len(h)-1 {
		clean := make([]string, len(h))
		for i, part := range h {
			clean[i] = strings.ReplaceAll(part, headingSep, " ")
		}
		joined = strings.Join(clean, headingSep)
	}
	return joined
}

func splitHeadings(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, headingSep)
}

// packPlace stores a chunk's ranges as varints: the byte range, then each
// other number as its difference from the one it usually equals.
func packPlace(dst []byte, c chunk.Chunk) []byte {
	put := func(n int64) { dst = binary.AppendVarint(dst, n) }
	start, length := int64(c.Start), int64(c.End-c.Start)
	put(start)
	put(length)
	put(start - int64(c.CharStart))
	put(length - int64(c.CharEnd-c.CharStart))
	put(c.SourceStart - start)
	put(c.SourceEnd - c.SourceStart - length)
	put(c.SourceCharS - int64(c.CharStart))
	put(c.SourceCharEnd - c.SourceCharS - int64(c.CharEnd-c.CharStart))
	put(int64(c.FirstLine))
	put(int64(c.LastLine - c.FirstLine))
	if c.Page != 0 {
		put(int64(c.Page))
	}
	return dst
}

var errPlace = errors.New("store: a chunk's place is malformed")

// unpackPlace is the inverse of packPlace.
func unpackPlace(b []byte) (c chunk.Chunk, err error) {
	get := func() int64 {
		n, size := binary.Varint(b)
		if size <= 0 {
			err = errPlace
			return 0
		}
		b = b[size:]
		return n
	}
	start, length := get(), get()
	c.Start, c.End = int(start), int(start+length)
	c.CharStart = int(start - get())
	c.CharEnd = c.CharStart + int(length-get())
	c.SourceStart = start + get()
	c.SourceEnd = c.SourceStart + length + get()
	c.SourceCharS = int64(c.CharStart) + get()
	c.SourceCharEnd = c.SourceCharS + int64(c.CharEnd-c.CharStart) + get()
	c.FirstLine = int(get())
	c.LastLine = c.FirstLine + int(get())
	if len(b) > 0 {
		c.Page = int(get())
	}
	if err != nil || c.Start < 0 || c.End < c.Start || len(b) > 0 {
		return chunk.Chunk{}, errPlace
	}
	return c, nil
}
