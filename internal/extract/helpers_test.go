package extract

import (
	"os"
	"path/filepath"
	"testing"
)

// TestAHelperThatAppearsIsUsedByWorkersThatRun: a worker that looked for
// tesseract in vain finds it once it is there, and forgets it when it is gone.
func TestAHelperThatAppearsIsUsedByWorkersThatRun(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "tesseract")
	e := &environment{helpers: true, look: func(string) string {
		if _, err := os.Stat(program); err != nil {
			return ""
		}
		return program
	}}
	if _, ok := e.tesseract(); ok {
		t.Fatal("found what is not there")
	}
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho List\necho eng\necho deu\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if tool, ok := e.tesseract(); !ok || tool.program != program || tool.languages != "eng+deu" {
		t.Errorf("after it appeared: %+v, %v", tool, ok)
	}
	if err := os.Remove(program); err != nil {
		t.Fatal(err)
	}
	if _, ok := e.tesseract(); ok {
		t.Error("still there after it was removed")
	}
}
