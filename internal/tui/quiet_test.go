package tui

import (
	"bytes"
	"log"
	"strings"
	"testing"
)

func TestWhatLibrariesLogDoesNotReachTheTerminalWhileItIsTaken(t *testing.T) {
	var out bytes.Buffer
	was := log.Writer()
	defer log.SetOutput(was)
	log.SetOutput(&out)
	restore := quietLog()
	log.Print("Unsolicited response received \x1b[2J")
	restore()
	if out.Len() > 0 {
		t.Errorf("%q", out.String())
	}
	if log.Print("afterwards"); !strings.Contains(out.String(), "afterwards") {
		t.Error("the log is not given back")
	}
}
