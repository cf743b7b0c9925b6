package indexer

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// A claim that was made while files were quick must not hold up a file that
// was just saved when slow ones follow in it.
func TestAFileJustSavedWaitsBehindFewSlowOnes(t *testing.T) {
	r := newRig(t)
	r.must(os.MkdirAll(filepath.Join(r.dir, "other"), 0o755))
	var slow, before atomic.Int64
	begun, saved := make(chan struct{}), make(chan struct{})
	const each = 40 * time.Millisecond
	r.ext.interfere(func(p string) error {
		switch {
		case strings.HasSuffix(p, ".html"):
			if slow.Add(1) == 5 {
				close(begun)
				<-saved
			}
			time.Sleep(each)
		case p == "saved.md":
			before.Store(slow.Load())
		}
		return nil
	})
	now := time.Now()
	for i := range 600 { // the newest come first
		r.write(fmt.Sprintf("kb/quick%03d.md", i), fmt.Sprintf("# Note %d\n\nsome words\n", i))
		r.must(os.Chtimes(filepath.Join(r.dir, fmt.Sprintf("kb/quick%03d.md", i)), now, now.Add(-time.Hour)))
	}
	for i := range 200 {
		p := fmt.Sprintf("kb/slow%03d.html", i)
		r.write(p, fmt.Sprintf("<p>page %d</p>", i))
		r.must(os.Chtimes(filepath.Join(r.dir, p), now, now.Add(-2*time.Hour)))
	}
	r.hintRoot()
	<-begun
	r.write("other/saved.md", "# Saved\n\njust now\n")
	r.hint("other", "saved.md")
	close(saved)
	r.eventually("the saved file is extracted", func() bool { return before.Load() > 0 })
	// What was claimed before it, and what was claimed until its plan was made.
	if n, most := before.Load(), int64(3*r.ix.ahead.budget()/each); n > most {
		t.Errorf("it waited behind %d slow files, want at most %d", n, most)
	}
	r.settle()
}
