package tui

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

// TestFramesInTheDocumentationAreThoseOfTheProgram keeps docs/tui.md up to
// date: after each "<!-- frame NAME WxH -->" stands that frame (-update writes it).
func TestFramesInTheDocumentationAreThoseOfTheProgram(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "tui.md")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	marker := regexp.MustCompile("(?s)<!-- frame ([a-z-]+) ([0-9]+x[0-9]+) -->\n(```text\n.*?\n```\n)?")
	found := 0
	got := marker.ReplaceAllStringFunc(string(data), func(s string) string {
		m := marker.FindStringSubmatch(s)
		w, h, err := ParseSize(m[2])
		if err != nil {
			t.Fatal(err)
		}
		for _, sc := range scenes {
			if sc.name == m[1] {
				found++
				lines := strings.Split(ansi.Strip(scene(t, sc.set, sc.open, [2]int{w, h}, nil)), "\n")
				for i := range lines {
					lines[i] = strings.TrimRight(lines[i], " ")
				}
				return fmt.Sprintf("<!-- frame %s %s -->\n```text\n%s\n```\n", m[1], m[2], strings.Join(lines, "\n"))
			}
		}
		t.Errorf("there is no scene %q", m[1])
		return s
	})
	if found < pageCount {
		t.Errorf("docs/tui.md shows %d frames; each page should be there", found)
	}
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got != string(data) {
		t.Error("docs/tui.md is out of date; make it with: go test ./internal/tui -update")
	}
}
