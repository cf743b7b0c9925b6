package mcpserver

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestPromptsAreOfferedFilledInAndCompleted(t *testing.T) {
	w := newWorld(t, "notes", "other")
	for i, name := range []string{"old.md", "new.md", "middle\n.md"} {
		w.put("notes", name, "x")
		at := time.Date(2024, 1, []int{1, 3, 2}[i], 0, 0, 0, 0, time.UTC)
		if err := os.Chtimes(filepath.Join(w.root, "notes", name), at, at); err != nil {
			t.Fatal(err)
		}
		w.index("notes", name)
	}
	_, addr := startServer(t, w, Options{Agent: Agent{KBs: []string{"notes"}}})
	c := dial(t, addr)
	if got := c.request("prompts/list", m{}); got.Error != nil || !strings.Contains(string(got.Result), "answer_from_knowledge") || !strings.Contains(string(got.Result), "what_changed") {
		t.Fatalf("%+v %s", got.Error, got.Result)
	}
	got := c.request("prompts/get", m{"name": "answer_from_knowledge", "arguments": m{"question": "How do failed payments retry?", "kb": "notes"}})
	if got.Error != nil || !strings.Contains(string(got.Result), "How do failed payments retry?") || !strings.Contains(string(got.Result), "rag_search") {
		t.Errorf("%+v %s", got.Error, got.Result)
	}
	got = c.request("prompts/get", m{"name": "what_changed", "arguments": m{"kb": "notes"}})
	text := string(got.Result)
	a, b, d := strings.Index(text, "new.md"), strings.Index(text, `middle\\n.md`), strings.Index(text, "old.md")
	if got.Error != nil || a < 0 || b < a || d < b {
		t.Errorf("%+v %s", got.Error, text)
	}
	for _, params := range []m{{"name": "answer_from_knowledge"}, {"name": "what_changed", "arguments": m{"kb": "notes", "x": "y"}}, {"name": "nonsense"}, {"name": "what_changed", "arguments": "x"}, {}, {"name": 5}} {
		if got := c.request("prompts/get", params); got.Error == nil || got.Error.Code != codeInvalidParams {
			t.Errorf("%v: %+v %s", params, got.Error, got.Result)
		}
	}
	x, y := c.request("prompts/get", m{"name": "what_changed", "arguments": m{"kb": "other"}}), c.request("prompts/get", m{"name": "what_changed", "arguments": m{"kb": "unknown"}})
	if x.Error == nil || y.Error == nil || x.Error.Code != codeNoResource || strings.ReplaceAll(y.Error.Message, "unknown", "other") != x.Error.Message {
		t.Errorf("%+v %+v", x.Error, y.Error)
	}
	done := c.request("completion/complete", m{"ref": m{"type": "ref/prompt", "name": "what_changed"}, "argument": m{"name": "kb", "value": ""}})
	if done.Error != nil || !strings.Contains(string(done.Result), `"values":["notes"]`) {
		t.Errorf("%+v %s", done.Error, done.Result)
	}
}
