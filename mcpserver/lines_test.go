package mcpserver

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// readAll reads a stream into lines, with a marker for those refused.
func readAll(r io.Reader, limit int) ([]string, error) {
	l := newLineReader(r, limit)
	var got []string
	for {
		line, err := l.next()
		var long *tooLong
		switch {
		case errors.As(err, &long):
			got = append(got, "<long>")
		case err != nil:
			return got, err
		default:
			got = append(got, string(line))
		}
	}
}

// split is what readAll must give, the plain way.
func split(s string, limit int) []string {
	var want []string
	for s != "" {
		line, rest, _ := strings.Cut(s, "\n")
		s = rest
		line = strings.TrimSuffix(line, "\r")
		if len(line) > limit {
			line = "<long>"
		}
		want = append(want, line)
	}
	return want
}

func TestLinesOfAnyLengthAreReadOrRefusedWhole(t *testing.T) {
	for _, n := range []int{0, 1, 15, 16, 17, 99, 100, 101, 102, 103, 1000, readBuffer - 1, readBuffer, readBuffer + 1, 3 * readBuffer} {
		for _, limit := range []int{100, readBuffer, 2 * readBuffer} {
			for _, end := range []string{"\n", "\r\n"} {
				in := "first" + end + strings.Repeat("x", n) + end + "last"
				got, err := readAll(strings.NewReader(in), limit)
				if want := split(in, limit); !equal(got, want) || !errors.Is(err, io.EOF) {
					t.Errorf("n=%d limit=%d end=%q: %d lines, want %d (%v)", n, limit, end, len(got), len(want), err)
				}
			}
		}
	}
}

func TestLongLinesAreNotKept(t *testing.T) {
	const limit, size = 1 << 20, 64 << 20
	grown := 0
	l := newLineReader(io.MultiReader(io.LimitReader(zeros{}, size), strings.NewReader("\nnext\n")), limit)
	l.grow = func() error { grown++; return nil }
	var long *tooLong
	if _, err := l.next(); !errors.As(err, &long) || long.Size < size || len(long.Head) > endsKept || len(long.Tail) > endsKept {
		t.Fatalf("%v %+v", err, long)
	}
	if line, err := l.next(); string(line) != "next" || err != nil || grown != 1 {
		t.Errorf("%q %v, grown %d", line, err, grown)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'z'
	}
	return len(p), nil
}

func TestARefusedGrowthEndsTheReading(t *testing.T) {
	l := newLineReader(strings.NewReader(strings.Repeat("x", 2*readBuffer)), 8<<20)
	stop := errors.New("stop")
	l.grow = func() error { return stop }
	if _, err := l.next(); !errors.Is(err, stop) {
		t.Error(err)
	}
}

func equal(a, b []string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

func FuzzLineReader(f *testing.F) {
	f.Add([]byte("a\nbb\r\n\nccc"), 2)
	f.Add(bytes.Repeat([]byte("x"), 200), 20)
	f.Add([]byte("\r\r\n\r\n"), 0)
	f.Fuzz(func(t *testing.T, data []byte, limit int) {
		if limit < 0 || limit > 1<<20 {
			return
		}
		want := split(string(data), limit)
		for _, r := range []io.Reader{bytes.NewReader(data), iotest.OneByteReader(bytes.NewReader(data)), iotest.DataErrReader(bytes.NewReader(data))} {
			got, err := readAll(r, limit)
			if !equal(got, want) || !errors.Is(err, io.EOF) {
				t.Fatalf("limit %d: got %q %v, want %q", limit, got, err, want)
			}
		}
	})
}

func FuzzEnvelope(f *testing.F) {
	for _, s := range []string{`{"jsonrpc":"2.0","id":1,"method":"ping"}`, `{"jsonrpc":"2.0","id":"x","method":"m","params":{}}`, `[]`, `{"id":{}}`, "\xff", `{"jsonrpc":"2.0","result":1}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		env, err := parseEnvelope(line)
		if err == nil && env.method == "" && env.Result == nil && env.Error == nil {
			t.Fatalf("accepted without a method: %q", line)
		}
		if err != nil && !bytes.Contains(errorReply(env.ID, err), []byte(`"error"`)) {
			t.Fatalf("no reply for %q", line)
		}
		if id := salvageID(&tooLong{Head: head(line), Tail: tail(line)}); id != nil && !validID(id) {
			t.Fatalf("salvaged %q", id)
		}
	})
}
