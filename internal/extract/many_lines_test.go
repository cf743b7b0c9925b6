package extract

import (
	"context"
	"runtime"
	"strings"
	"testing"

	"ragd/internal/fault"
)

// TestTextsOfManyLinesTakeLittle: what is read in the daemon must not take
// many times its size there.
func TestTextsOfManyLinesTakeLittle(t *testing.T) {
	r, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path, text string
		code       string
		mib        uint64
	}{
		{"a.ics", strings.Repeat("A:b\n x\n", 900_000), "ok", 40},
		{"a.vtt", "WEBVTT\n" + strings.Repeat("a\n", 1_900_000), "ok", 30},
		{"a.json", strings.Repeat("1\n", 1_900_000), "ok", 30},
		{"a.txt", strings.Repeat("a\r\n", 1_900_000), "ok", 50},
		{"a.txt", strings.Repeat("\n", textLinesMax+1), "too_large", 1},
		{"a.go", strings.Repeat("\n", 20<<20), "too_large", 1},
		{"a.rst", strings.Repeat("=\n", 10<<20), "too_large", 1},
	} {
		var before, after runtime.MemStats
		data := []byte(c.text)
		runtime.GC()
		runtime.ReadMemStats(&before)
		doc, err := r.Extract(context.Background(), Source{Path: c.path, Data: data})
		runtime.ReadMemStats(&after)
		code := "ok"
		if f, ok := fault.As(err); ok {
			code = f.Code
		}
		if took := (after.TotalAlloc - before.TotalAlloc) >> 20; code != c.code || took > c.mib {
			t.Errorf("%s of %d bytes: %s, took %d MiB, at most %d are right", c.path, len(data), code, took, c.mib)
		}
		runtime.KeepAlive(doc)
	}
}
