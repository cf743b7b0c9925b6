package tui

import (
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/charmbracelet/x/ansi"

	"ragd/internal/wire"
)

// wcLine is what a line looks like in a terminal that gives every character
// but a mark a cell of its own, as tmux and most older ones do.
func wcLine(line string, w int) []string {
	cells := make([]string, w)
	x := 0
	put := func(s string, n int) {
		for i := range n {
			if x+i < w {
				cells[x+i] = ""
			}
		}
		if x < w {
			cells[x] = s
		}
		x += n
	}
	var state byte
	for len(line) > 0 {
		seq, _, n, next := ansi.DecodeSequence(line, state, nil)
		line, state = line[n:], next
		if strings.HasPrefix(seq, "\x1b[") {
			arg, _ := strconv.Atoi(seq[2 : len(seq)-1])
			switch seq[len(seq)-1] {
			case 'G':
				x = arg - 1
			case 'X':
				for i := x; i < min(x+arg, w); i++ {
					cells[i] = " "
				}
			}
			continue
		}
		for _, r := range seq {
			if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
				if x > 0 && x <= w {
					cells[x-1] += string(r)
				}
				continue
			}
			put(string(r), ansi.StringWidthWc(string(r)))
		}
	}
	return cells
}

func TestNamesInIndicScriptsLoseNoLettersWhereTerminalsCountThemWider(t *testing.T) {
	for _, name := range []string{"हिन्दी.md", "தமிழ் கோப்பு.txt", "বাংলা.md", "ಕನ್ನಡ.md", "ภาษาไทยกำ.md", "മലയാളം.md", "සිංහල.md", "ខ្មែរ.md"} {
		for _, line := range []string{
			"   " + fit(name, 30) + " │ rest",
			"\x1b[1m " + fit("notes/"+name, 40) + "\x1b[0m\x1b[2m│\x1b[0m rest",
			" " + name + "  4 chunks in 6 ms" + spaces(20) + "│ rest",
			" " + fit(clipPath("a/long/path/to/"+name, 34), 42) + "│ rest",
		} {
			pinned := pin(line)
			cells := wcLine(pinned, 80)
			if got := strings.Join(cells, ""); !strings.Contains(got, name) {
				t.Errorf("%q is drawn as %q", line, got)
			}
			at := width(line[:strings.Index(line, "│")])
			if cells[at] != "│" {
				t.Errorf("%q: the border is not in column %d: %q", line, at, cells)
			}
			if width(pinned) != width(line) {
				t.Errorf("%q is %d cells wide when pinned, not %d", line, width(pinned), width(line))
			}
		}
	}
}

func TestTheTimeLeftOfEmbeddingIsNeverCutForWhatIsKnownAnyway(t *testing.T) {
	a := newApp(t, emptyBackend(), 80, 24, nil)
	e := wire.Embedder{State: "ready", Model: "all-MiniLM-L6-v2", Dimension: 384, Total: 98_211, Embedded: 94_091, Backlog: 4120, Rate: 85, ETASeconds: 48}
	p := a.m.pages[pageOverview].(*overview)
	for _, w := range []int{200, 73, 72, 66, 65, 60, 55} {
		text, _ := p.embedder(e, w)
		if width(text) > w || !strings.HasSuffix(text, "about 48 s left") || !strings.HasPrefix(text, e.Model) {
			t.Errorf("in %d cells: %q", w, text)
		}
	}
	if text, _ := p.embedder(e, 200); !strings.Contains(text, "(384) · 95%") {
		t.Errorf("with room for all: %q", text)
	}
}

func TestAHeadingThatIsTheTitleIsNotRepeatedAboveThePreview(t *testing.T) {
	a := newApp(t, emptyBackend(), 100, 30, nil)
	p := &a.m.pages[pageSearch].(*searchPage).prev
	h := wire.Hit{KB: "notes", Path: "a.md", Title: "Harbour", Headings: []string{"Harbour"}}
	if head := strings.Join(p.head(h, 60, 20), "\n"); strings.Count(head, "Harbour") != 1 {
		t.Errorf("%s", head)
	}
	h.Headings = []string{"Harbour", "Lights"}
	if head := strings.Join(p.head(h, 60, 20), "\n"); !strings.Contains(head, "Harbour › Lights") {
		t.Errorf("%s", head)
	}
}
