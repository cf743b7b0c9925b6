package blackbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestWalkThroughTheDashboard runs the script that records the walk in docs/tui.md.
func TestWalkThroughTheDashboard(t *testing.T) {
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("tmux is not installed; the walk needs a real terminal")
	}
	out := t.TempDir()
	cmd := exec.Command("bash", filepath.Join("..", "..", "docs", "walk.sh"))
	cmd.Env = append(os.Environ(), "BIN="+binDir, "OUT="+out, "EMBEDDINGS_ENABLED=false")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	for name, want := range map[string]string{
		"failed":   "is not a notebook",
		"retried":  "Nothing has failed",
		"searched": "onboarding.ipynb:",
		"read":     "Ask Nordheim for the keys of the boiler room.",
		"opened":   "editor: vi +1 ~/kbs/handbook/onboarding.ipynb",
	} {
		frame, err := os.ReadFile(filepath.Join(out, name+".txt"))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(frame), want) {
			t.Errorf("the frame %s does not show %q:\n%s", name, want, frame)
		}
	}
}
