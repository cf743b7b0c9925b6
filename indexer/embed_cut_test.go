package indexer

import (
	"slices"
	"strings"
	"testing"

	"ragd/internal/embed"
	"ragd/internal/store"
)

// roomy is a model with room for a whole function.
type roomy struct{ *fakeEmbedder }

func (roomy) Identity() embed.Identity {
	return embed.Identity{Name: "roomy", Dim: fakeDim, MaxTokens: 512}
}

func TestAFunctionStaysWholeWhereProseIsCut(t *testing.T) {
	e := roomy{&fakeEmbedder{name: "roomy"}}
	text := strings.TrimSpace(strings.Repeat("word ", 200))
	for _, tc := range []struct {
		name  string
		chunk store.EmbedChunk
		want  int
	}{
		{"prose", store.EmbedChunk{Content: text}, 2},
		{"source code", store.EmbedChunk{Content: text, Code: true}, 1},
		{"source code longer than a window", store.EmbedChunk{Content: text + " " + text, Code: true}, 2},
	} {
		if got := windowsOf(e, tc.chunk, ""); len(got) != tc.want {
			t.Errorf("%s: %d windows, want %d", tc.name, len(got), tc.want)
		}
	}
}

func TestSourceFilesAreEmbeddedAsCode(t *testing.T) {
	r := newRig(t)
	r.write("kb/a.py", "def wait():\n    return 1\n")
	r.write("kb/b.md", "# Waiting\n\nWaiting is done in vain.\n")
	r.hintRoot()
	r.settle()
	list, err := r.store.PendingChunks(t.Context(), 10)
	if err != nil {
		t.Fatal(err)
	}
	var code []string
	for _, c := range list {
		if c.Code {
			code = append(code, c.Path)
		}
	}
	if len(list) != 2 || !slices.Equal(code, []string{"a.py"}) {
		t.Errorf("%d chunks, code is %v", len(list), code)
	}
}
